//! The cache of vectors on disk.

use std::sync::atomic::{AtomicUsize, Ordering};

use fta_index::cached::{CacheError, CachedEmbedder};
use fta_index::testing::HashEmbedder;
use fta_index::{EmbedError, Embedder, Embeddings, conformance};

/// Counts texts that it embeds; fails when it is told to.
struct Counting {
    inner: HashEmbedder,
    id: &'static str,
    texts: AtomicUsize,
    fails: bool,
}

impl Counting {
    fn new(id: &'static str) -> Self {
        Self { inner: HashEmbedder::new(16), id, texts: 0.into(), fails: false }
    }

    fn count(&self) -> usize {
        self.texts.load(Ordering::Relaxed)
    }
}

impl Embedder for Counting {
    fn model_id(&self) -> &str {
        self.id
    }
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        if self.fails {
            return Err(EmbedError::Tokenize("told to fail".to_owned()));
        }
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        self.inner.embed(texts)
    }
}

#[test]
fn keeps_the_contract() {
    let folder = tempfile::tempdir().expect("a folder");
    for capacity in [0, 3, 1000] {
        let path = folder.path().join(capacity.to_string());
        let cache = CachedEmbedder::open(HashEmbedder::new(32), &path, capacity).expect("a cache");
        conformance::embedder(&cache);
        conformance::embedder(&cache);
        assert!(cache.len().expect("a number") <= capacity as u64);
    }
}

#[test]
fn texts_are_embedded_once() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cache");
    let texts = ["b", "a", "b", "", "b", "a"];
    let plain = HashEmbedder::new(16).embed(&texts).expect("vectors");
    {
        let cache = CachedEmbedder::open(Counting::new("m"), &path, 100).expect("a cache");
        assert_eq!(cache.embed(&texts).expect("vectors"), plain);
        assert_eq!(cache.inner().count(), 3, "each text of a batch once");
        assert_eq!(cache.embed(&["a", "c"]).expect("vectors").row(0), plain.row(1));
        assert_eq!(cache.inner().count(), 4, "only what is new");
    }
    let cache = CachedEmbedder::open(Counting::new("m"), &path, 100).expect("the same cache");
    assert_eq!(cache.embed(&texts).expect("vectors"), plain);
    assert_eq!(cache.inner().count(), 0, "nothing that an earlier process embedded");
    drop(cache);
    let other = CachedEmbedder::open(Counting::new("m2"), &path, 100).expect("the same cache");
    other.embed(&["a"]).expect("a vector");
    assert_eq!(other.inner().count(), 1, "vectors of another model are not served");
}

#[test]
fn the_oldest_go_first_and_all_can_go() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut cache = CachedEmbedder::open(Counting::new("m"), &folder.path().join("c"), 3).expect("a cache");
    for text in ["a", "b", "c", "d"] {
        cache.embed(&[text]).expect("a vector");
    }
    assert_eq!((cache.len().expect("a number"), cache.inner().count()), (3, 4));
    cache.embed(&["b", "c", "d"]).expect("vectors");
    assert_eq!(cache.inner().count(), 4, "the newest are there");
    cache.embed(&["a"]).expect("a vector");
    assert_eq!(cache.inner().count(), 5, "the oldest is not");
    assert!(!cache.is_empty().expect("a number"));
    cache.clear().expect("an empty cache");
    assert!(cache.is_empty().expect("a number"));
    cache.embed(&["d"]).expect("a vector");
    assert_eq!(cache.inner().count(), 6);
}

#[test]
fn threads_may_share_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let cache = CachedEmbedder::open(Counting::new("m"), &folder.path().join("c"), 50).expect("a cache");
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let cache = &cache;
            scope.spawn(move || {
                for i in 0..40 {
                    let text = format!("text {}", (i * 7 + thread) % 60);
                    let expect = HashEmbedder::new(16).embed(&[&text]).expect("a vector");
                    assert_eq!(cache.embed(&[&text]).expect("a vector"), expect);
                }
            });
        }
    });
    assert!(cache.len().expect("a number") <= 50);
}

#[test]
fn a_failing_model_leaves_no_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let failing = Counting { fails: true, ..Counting::new("m") };
    let cache = CachedEmbedder::open(failing, &folder.path().join("c"), 50).expect("a cache");
    cache.embed(&["a"]).expect_err("the error of the model");
    assert!(cache.is_empty().expect("a number"));
}

#[test]
fn other_files_are_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("diary");
    let content = "not a cache ".repeat(2000);
    std::fs::write(&path, &content).expect("writing");
    let error = CachedEmbedder::open(HashEmbedder::new(4), &path, 5).expect_err("no cache");
    assert!(matches!(error, CacheError::Unusable { .. }), "{error}");
    assert_eq!(std::fs::read_to_string(&path).expect("the file"), content);

    let path = folder.path().join("cache");
    let first = CachedEmbedder::open(HashEmbedder::new(4), &path, 5).expect("a cache");
    let error = CachedEmbedder::open(HashEmbedder::new(4), &path, 5).expect_err("in use");
    assert!(matches!(error, CacheError::InUse { .. }), "{error}");
    drop(first);
}

/// Vectors that can be told from everything else in a file.
struct Telling;

impl Embedder for Telling {
    fn model_id(&self) -> &'static str {
        "telling"
    }
    fn dim(&self) -> usize {
        4
    }
    fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let row = |text: &&str| {
            let x = 0.1 + text.len() as f32 / 1e3;
            [x, -x, (0.5 - 2.0 * x * x).sqrt(), 0.5_f32.sqrt()]
        };
        Embeddings::new(4, texts.iter().flat_map(row).collect())
    }
}

#[test]
fn clearing_leaves_no_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("cache");
    let texts: Vec<String> = (0..300).map(|n| "x".repeat(n)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let mut cache = CachedEmbedder::open(Telling, &path, 1000).expect("a cache");
    let vectors = cache.embed(&texts).expect("vectors");
    let holds = |row: &[f32]| {
        let bytes: Vec<u8> = row.iter().flat_map(|x| x.to_le_bytes()).collect();
        let file = std::fs::read(&path).expect("the file");
        file.windows(bytes.len()).any(|window| window == bytes)
    };
    assert!(vectors.rows().step_by(37).all(holds), "it was there");
    cache.clear().expect("an empty cache");
    assert!(!vectors.rows().step_by(37).any(holds), "it is still there");
    assert_eq!(cache.embed(&texts).expect("vectors"), vectors);
    assert_eq!(cache.len().expect("a number"), 300);
    drop(cache);
    assert!(vectors.rows().step_by(37).all(holds), "it is kept in the file again");
}
