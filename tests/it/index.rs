//! The file of a vector index is a cache: used when it is right, and never missed when it is not. And changing the
//! embedder of a memory.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use fta_index::{EmbedError, Embedder, Embeddings, IndexSpec, testing::HashEmbedder};
use fta_mem::{Error, ListFilter, Memory, RetrieveOptions, UserMemory, segment::Session, units::Namespace};

use crate::support::{export, open, session, user};

const THINGS: [&str; 8] = ["canoe", "kettle", "violin", "lantern", "saddle", "carpet", "telescope", "anvil"];
const PLACES: [&str; 7] = ["Lindau", "Graz", "Bergen", "Porto", "Gdansk", "Tartu", "Cork"];
const FEELINGS: [&str; 5] = ["happy", "sad", "nervous", "proud", "tired"];

/// Sessions that differ in every sentence, many enough for a file.
fn long_story() -> Vec<Session> {
    (0..16)
        .map(|s| {
            let texts: Vec<String> = (0..50)
                .map(|t| {
                    let (thing, place) = (THINGS[(s + t) % 8], PLACES[(s * 3 + t) % 7]);
                    let (feeling, n) = (FEELINGS[t % 5], s * 50 + t);
                    format!("I bought {thing} number {n} in {place} yesterday. I was {feeling} about it all day {n}.")
                })
                .collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            session(&format!("s{s}"), &format!("2024-01-{:02}", s + 1), &texts)
        })
        .collect()
}

fn open_with(directory: &Path, index: &str) -> Memory {
    Memory::builder()
        .path(directory)
        .embedder(Arc::new(HashEmbedder::default()))
        .index(index.parse().unwrap())
        .build()
        .unwrap()
}

/// What retrieval gives for some questions.
async fn found(user: &UserMemory) -> String {
    let mut text = String::new();
    for question in ["Where did I buy the violin number 42?", "Who was proud in Bergen?", "kettle 301"] {
        let packet = user.retrieve(question, &RetrieveOptions::default()).await.unwrap();
        writeln!(text, "{packet:?}").unwrap();
    }
    text
}

fn index_file(directory: &Path) -> Option<PathBuf> {
    let mut files = std::fs::read_dir(directory.join("index")).ok()?;
    let file = files.next()?.unwrap().path();
    assert!(files.next().is_none(), "one file for one user");
    Some(file)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_memory_opens_from_its_index_file_and_does_without_a_wrong_one() {
    let directory = tempfile::tempdir().unwrap();
    let story = long_story();
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    for s in &story[..15] {
        ines.ingest(s).await.unwrap();
    }
    let (before, vectors) = (found(&ines).await, ines.stats().vectors);
    assert!(vectors > 2_000, "{vectors}");
    drop((ines, memory));

    // The first opening writes the file, the second one uses it.
    for _ in 0..2 {
        let ines = user(&open(directory.path()), "ines");
        assert!(index_file(directory.path()).is_some());
        assert_eq!((found(&ines).await, ines.stats().vectors), (before.clone(), vectors));
    }
    // Every kind of damage, wherever it is: the header, the ids, the vectors.
    let path = index_file(directory.path()).unwrap();
    let good = std::fs::read(&path).unwrap();
    let flipped = |at: usize| {
        let mut bytes = good.clone();
        bytes[at] ^= 0x20;
        bytes
    };
    let half = good.len() / 2;
    for bytes in
        [good[..100].to_vec(), good[..half].to_vec(), flipped(30), flipped(2000), flipped(half), Vec::new()]
    {
        std::fs::write(&path, &bytes).unwrap();
        let ines = user(&open(directory.path()), "ines");
        assert_eq!((found(&ines).await, ines.stats().vectors), (before.clone(), vectors));
    }
    // What was added since the file was written comes from the store, and the file stays.
    user(&open(directory.path()), "ines");
    let good = std::fs::read(&path).unwrap();
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    ines.ingest(&story[15]).await.unwrap();
    let after = found(&ines).await;
    drop((ines, memory));
    let ines = user(&open(directory.path()), "ines");
    assert_eq!(found(&ines).await, after);
    assert!(ines.stats().vectors > vectors);
    assert_eq!(std::fs::read(&path).unwrap(), good);
    drop(ines);
    // Another index is made from the store; the same things are found.
    for index in ["exact", "exact-int8", "exact-int8 threads=2", "auto"] {
        let ines = user(&open_with(directory.path(), index), "ines");
        assert_eq!(found(&ines).await, after, "{index}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_deleted_or_corrected_is_not_in_an_old_file() {
    let directory = tempfile::tempdir().unwrap();
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    for s in &long_story() {
        ines.ingest(s).await.unwrap();
    }
    drop((ines, memory));
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    let path = index_file(directory.path()).unwrap();
    let unit = ines.list(&ListFilter::default()).remove(7);
    ines.correct(unit.id, &claim("I never bought anything in Zanzibar.")).await.unwrap();
    assert!(!path.exists(), "the file had the unit as it was");
    drop((ines, memory));
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    assert!(path.exists());
    let packet = ines.retrieve("Zanzibar", &RetrieveOptions::default()).await.unwrap();
    assert!(packet.primary.iter().any(|p| p.unit.id == unit.id));
    ines.delete_unit(unit.id).await.unwrap();
    assert!(!path.exists());
    let packet = ines.retrieve("Zanzibar", &RetrieveOptions::default()).await.unwrap();
    assert!(packet.primary.iter().all(|p| p.unit.id != unit.id));
    drop((ines, memory));
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    assert!(path.exists());
    ines.delete_all().await.unwrap();
    assert!(!path.exists());
}

/// A store that was replaced by another one does not go with the file that lies there.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_of_another_store_is_not_used() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let story = long_story();
    let backwards: Vec<Session> = story.iter().rev().cloned().collect();
    for (directory, story) in [(&one, &story), (&two, &backwards)] {
        let memory = open(directory.path());
        let ines = user(&memory, "ines");
        for s in story {
            ines.ingest(s).await.unwrap();
        }
        drop((ines, memory));
        user(&open(directory.path()), "ines");
    }
    let expect = found(&user(&open(one.path()), "ines")).await;
    let (from, to) = (index_file(two.path()).unwrap(), index_file(one.path()).unwrap());
    std::fs::copy(from, to).unwrap();
    assert_eq!(found(&user(&open(one.path()), "ines")).await, expect);
}

fn claim(text: &str) -> fta_mem::Correction {
    let at = "2024-07-01T12:00:00".parse().unwrap();
    fta_mem::Correction { claim: Some(text.to_owned()), at: Some(at), ..fta_mem::Correction::default() }
}

/// Counts texts, and fails from a number of batches on.
struct Counting {
    inner: HashEmbedder,
    texts: AtomicUsize,
    batches_left: AtomicUsize,
}

impl Counting {
    fn new(batches: usize) -> Arc<Self> {
        let inner = HashEmbedder::new(128);
        Arc::new(Self { inner, texts: AtomicUsize::new(0), batches_left: AtomicUsize::new(batches) })
    }
}

impl Embedder for Counting {
    fn model_id(&self) -> &str {
        self.inner.model_id()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let left = self.batches_left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1));
        if left.is_err() {
            return Err(EmbedError::Model { model: "hash-128".to_owned(), message: "pulled out".to_owned() });
        }
        self.texts.fetch_add(texts.len(), Ordering::SeqCst);
        self.inner.embed(texts)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn another_embedder_is_refused_until_the_memory_is_embedded_anew() {
    let directory = tempfile::tempdir().unwrap();
    let name = Namespace::new("ines").unwrap();
    let story = &long_story()[..4];
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    for s in story {
        ines.ingest(s).await.unwrap();
    }
    let (old, exported) = (found(&ines).await, export(&ines));
    drop((ines, memory));

    let with = |embedder: Arc<dyn Embedder>| {
        Memory::builder().path(directory.path()).embedder(embedder).index(IndexSpec::Auto).build().unwrap()
    };
    // The first run breaks off: the memory is as it was.
    let first = Counting::new(2);
    let memory = with(first.clone());
    let error = memory.user(name.clone()).err().unwrap();
    assert!(matches!(&error, Error::Embedder { .. }), "{error}");
    assert!(error.to_string().contains("fta reindex"), "{error}");
    let mut steps = Vec::new();
    let error = memory.reindex(&name, &mut |p| steps.push((p.done, p.total))).await.unwrap_err();
    assert!(matches!(error, Error::Embed(_)), "{error}");
    assert_eq!(steps.iter().map(|s| s.0).collect::<Vec<_>>(), [0, 64, 128]);
    drop(memory);
    let memory = open(directory.path());
    assert_eq!(found(&user(&memory, "ines")).await, old);
    drop(memory);

    // The second one goes on from there.
    let second = Counting::new(usize::MAX);
    let memory = with(second.clone());
    let mut steps = Vec::new();
    let n_vectors = memory.reindex(&name, &mut |p| steps.push((p.done, p.total))).await.unwrap();
    assert_eq!(steps[0].0, 128);
    assert!(steps.iter().all(|s| s.1 == steps[0].1) && steps.last().unwrap().0 == steps[0].1);
    let texts = |c: &Counting| c.texts.load(Ordering::SeqCst);
    assert_eq!(texts(&first) + texts(&second), n_vectors, "no text is embedded twice");
    assert_eq!(memory.reindex(&name, &mut |_| {}).await.unwrap(), 0, "there is nothing left to do");
    assert!(!directory.path().join("reindex.redb").exists());

    // Nothing else has changed, and it is what it would be if it had been made with the new one.
    let ines = user(&memory, "ines");
    assert_eq!(ines.stats().embedder, "hash-128");
    assert_eq!(ines.stats().vectors, n_vectors);
    assert_eq!(
        export(&ines).lines().skip(1).collect::<Vec<_>>(),
        exported.lines().skip(1).collect::<Vec<_>>()
    );
    let (fresh, fresh_directory) = (HashEmbedder::new(128), tempfile::tempdir().unwrap());
    let fresh = Memory::builder().path(fresh_directory.path()).embedder(Arc::new(fresh)).build().unwrap();
    let other = user(&fresh, "ines");
    for s in story {
        other.ingest(s).await.unwrap();
    }
    assert_eq!(found(&ines).await, found(&other).await);
    for s in story {
        let report = ines.ingest(s).await.unwrap();
        assert_eq!(report.outcome, fta_mem::IngestOutcome::Unchanged);
    }
    drop((ines, memory));
    assert!(open(directory.path()).user(name).is_err(), "the old one is refused now");
}

/// What was gathered for texts that have changed since is not used.
#[tokio::test(flavor = "multi_thread")]
async fn a_memory_that_changed_is_embedded_from_the_start() {
    let directory = tempfile::tempdir().unwrap();
    let name = Namespace::new("ines").unwrap();
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    for s in &long_story()[..4] {
        ines.ingest(s).await.unwrap();
    }
    drop((ines, memory));
    let with = |embedder: Arc<dyn Embedder>| {
        Memory::builder().path(directory.path()).embedder(embedder).build().unwrap()
    };
    assert!(with(Counting::new(1)).reindex(&name, &mut |_| {}).await.is_err());
    assert!(directory.path().join("reindex.redb").exists());
    let memory = open(directory.path());
    let ines = user(&memory, "ines");
    let first = ines.list(&ListFilter::default()).remove(0).id;
    ines.correct(first, &claim("I sold it again.")).await.unwrap();
    drop((ines, memory));
    let whole = Counting::new(usize::MAX);
    let memory = with(whole.clone());
    let n_vectors = memory.reindex(&name, &mut |_| {}).await.unwrap();
    assert_eq!(whole.texts.load(Ordering::SeqCst), n_vectors);

    // What an interrupted run has gathered goes with what it was made from.
    drop(memory);
    assert!(with(Arc::new(HashEmbedder::default())).reindex(&name, &mut |_| {}).await.is_ok());
    assert!(with(Counting::new(1)).reindex(&name, &mut |_| {}).await.is_err());
    let memory = open(directory.path());
    user(&memory, "ines").delete_all().await.unwrap();
    assert!(!directory.path().join("reindex.redb").exists());
}
