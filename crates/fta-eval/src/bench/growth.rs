//! What a memory costs as it grows: bytes on disk and in memory for each unit, and the time to open and search it.
//!
//! Memories are made, not ingested: real units of one session, told again with other words and other vectors, written
//! to the store directly. Each is opened in a process of its own, so that what it holds is what is measured.

use std::{
    io,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Instant,
};

use fta_mem::{
    ListFilter, Memory, RetrieveOptions,
    index::{Embedder, HashEmbedder, IndexSpec},
    segment::{Role, Session, SessionId, Turn},
    units::{
        MemoryMeta, Namespace, StoreOp, StoredSession, StoredVector, Unit, UnitId, UnitStore as _,
        store::RedbStore,
    },
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore as _, SeedableRng as _},
};
use serde::{Deserialize, Serialize};

use super::{BenchError, table::Table};

/// Values of a vector, as MiniLM has them.
const DIM: usize = 384;
const TURNS: usize = 40;
const WORDS_PER_TURN: usize = 18;
/// Vectors of a unit: retrieval text, context and two sentences, which is what real units have on average.
const VIEWS: u16 = 4;
const SESSIONS_PER_WRITE: usize = 25;
const VOCABULARY: u64 = 20_000;
const SEARCHES: usize = 21;
const USER: &str = "growth";

/// What opening a memory took and holds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Opened {
    /// Seconds until it can be asked.
    pub seconds: f64,
    /// Bytes of memory of its own, once it is open.
    pub own_bytes: u64,
    /// Bytes of mapped files that are in memory, once it is open.
    pub mapped_bytes: u64,
    /// Milliseconds of the first search, which reads and checks what was left in the file.
    pub first_search_ms: f64,
    /// Milliseconds of a later one, median.
    pub search_ms: f64,
    /// Bytes of memory of its own after the searches.
    pub own_bytes_after: u64,
    /// Bytes of mapped files in memory after the searches.
    pub mapped_bytes_after: u64,
}

/// One size.
#[derive(Debug, Clone, Serialize)]
pub struct Growth {
    /// Units.
    pub units: usize,
    /// Vectors.
    pub vectors: usize,
    /// Index, as it is written in settings.
    pub index: String,
    /// Seconds to write the store.
    pub write_seconds: f64,
    /// Bytes of the store.
    pub store_bytes: u64,
    /// Bytes of the index's file.
    pub index_bytes: u64,
    /// The first opening, which builds the index from the store.
    pub built: Opened,
    /// The second, which finds its file.
    pub found: Opened,
}

/// Makes a memory of `units` in `directory` and opens it twice, by running `program` with `open` and the directory.
///
/// # Errors
/// [`BenchError`] if the memory cannot be written or opened.
pub fn run(
    units: usize,
    index: &IndexSpec,
    directory: &Path,
    open: &dyn Fn() -> Command,
) -> Result<Growth, BenchError> {
    let start = Instant::now();
    write(units, directory)?;
    let write_seconds = start.elapsed().as_secs_f64();
    let built = child(open())?;
    let found = child(open())?;
    Ok(Growth {
        units,
        vectors: units * usize::from(VIEWS),
        index: index.to_string(),
        write_seconds,
        store_bytes: bytes_of(&directory.join("memory.redb"))?,
        index_bytes: bytes_of(&directory.join("index"))?,
        built,
        found,
    })
}

fn user_name() -> Result<Namespace, BenchError> {
    Ok(Namespace::new(USER).map_err(fta_mem::Error::Store)?)
}

fn child(mut command: Command) -> Result<Opened, BenchError> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(BenchError::Io(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| BenchError::Io(error.into()))
}

fn bytes_of(path: &Path) -> Result<u64, BenchError> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_file() {
        return Ok(metadata.len());
    }
    let mut sum = 0;
    for entry in std::fs::read_dir(path)? {
        sum += bytes_of(&entry?.path())?;
    }
    Ok(sum)
}

/// Opens the memory in `directory` and searches it: what the process that `run` starts does.
///
/// # Errors
/// [`BenchError`] if it cannot be opened or searched, or the system does not say what memory a process has.
pub async fn open(directory: &Path, index: IndexSpec) -> Result<Opened, BenchError> {
    let start = Instant::now();
    let embedder: Arc<dyn Embedder> = Arc::new(HashEmbedder::new(DIM));
    let memory = Memory::builder().path(directory).embedder(embedder).index(index).build()?;
    let user = memory.user(user_name()?)?;
    let seconds = start.elapsed().as_secs_f64();
    let (own_bytes, mapped_bytes) = resident()?;
    let mut words = Words::new(7);
    let mut times = Vec::with_capacity(SEARCHES);
    for _ in 0..SEARCHES {
        let question = words.sentence();
        let start = Instant::now();
        user.retrieve(&question, &RetrieveOptions::default()).await?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    let first_search_ms = times.remove(0);
    times.sort_by(f64::total_cmp);
    let (own_bytes_after, mapped_bytes_after) = resident()?;
    let search_ms = times[times.len() / 2];
    Ok(Opened {
        seconds,
        own_bytes,
        mapped_bytes,
        first_search_ms,
        search_ms,
        own_bytes_after,
        mapped_bytes_after,
    })
}

/// Bytes in memory of this process: its own, and those of mapped files.
fn resident() -> Result<(u64, u64), BenchError> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let kilobytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let own = kilobytes("RssAnon:").zip(kilobytes("RssFile:"));
    let (own, mapped) = own.ok_or_else(|| BenchError::Io(io::Error::other("the system does not say")))?;
    Ok((own * 1024, mapped * 1024))
}

fn write(n_units: usize, directory: &Path) -> Result<(), BenchError> {
    let template = template()?;
    std::fs::create_dir_all(directory)?;
    let path: PathBuf = directory.join("memory.redb");
    let store = RedbStore::open(&path).map_err(fta_mem::Error::Store)?;
    let user = user_name()?;
    let mut words = Words::new(1);
    let mut next = 0;
    let mut ordinal = 0;
    while next < n_units {
        let mut changes = Vec::new();
        for _ in 0..SESSIONS_PER_WRITE {
            let n_turns = TURNS.min(n_units - next);
            if n_turns > 0 {
                let session = session(ordinal, n_turns, &template.0, &mut words);
                changes.extend(
                    (0..n_turns).flat_map(|turn| {
                        unit(next + turn + 1, turn, &session.session, &template.1, &mut words)
                    }),
                );
                changes.push(StoreOp::PutSession(session));
                next += n_turns;
                ordinal += 1;
            }
        }
        changes.push(StoreOp::PutMeta(MemoryMeta {
            embedder: HashEmbedder::new(DIM).model_id().to_owned(),
            dim: DIM as u32,
            next_unit: next as u64 + 1,
            next_session: ordinal,
        }));
        store.apply(&user, &changes).map_err(fta_mem::Error::Store)?;
    }
    Ok(())
}

/// A session and a unit that the rules make of it.
fn template() -> Result<(StoredSession, Unit), BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(async {
        let memory = Memory::builder().embedder(Arc::new(HashEmbedder::new(DIM))).build()?;
        let user = memory.user(user_name()?)?;
        let text = "I bought a canoe in Lindau last Saturday, and I am proud of it.";
        let turn = Turn {
            index: 0,
            source_id: "s:1".to_owned(),
            speaker: "Ines".to_owned(),
            role: Role::Seeker,
            at: None,
            text: text.to_owned(),
            caption: None,
        };
        let started_at = Some(jiff::civil::date(2024, 3, 4).at(18, 30, 0, 0));
        user.ingest(&Session { id: SessionId::from("s"), started_at, turns: vec![turn] }).await?;
        let unit = user.list(&ListFilter::default()).into_iter().next();
        let session = user.sessions().into_iter().next();
        session.zip(unit).ok_or_else(|| BenchError::Io(io::Error::other("the template made no unit")))
    })
}

fn session(ordinal: u64, n_turns: usize, template: &StoredSession, words: &mut Words) -> StoredSession {
    let mut stored = template.clone();
    let turn = &template.session.turns[0];
    stored.session.id = SessionId(format!("s{ordinal}"));
    stored.session.turns = (0..n_turns)
        .map(|index| Turn {
            index: index as u32,
            source_id: format!("s{ordinal}:{}", index + 1),
            text: format!("{} {}", words.sentence(), words.sentence()),
            ..turn.clone()
        })
        .collect();
    stored.ordinal = ordinal;
    stored
}

fn unit(id: usize, turn: usize, session: &Session, template: &Unit, words: &mut Words) -> Vec<StoreOp> {
    let mut unit = template.clone();
    let text = &session.turns[turn].text;
    unit.id = UnitId(id as u64);
    unit.fact.claim.clone_from(text);
    unit.evidence.session = session.id.clone();
    unit.evidence.turns = fta_mem::segment::TurnSpan::new(turn as u32, turn as u32 + 1);
    unit.evidence.quotes.truncate(1);
    for quote in &mut unit.evidence.quotes {
        (quote.turn, quote.start, quote.end) = (turn as u32, 0, text.len() as u32);
    }
    let vectors = (0..VIEWS)
        .map(|view| StoredVector { unit: unit.id, view, values: words.vector() })
        .map(StoreOp::PutVector);
    let vectors: Vec<StoreOp> = vectors.collect();
    std::iter::once(StoreOp::PutUnit(unit)).chain(vectors).collect()
}

/// Words and vectors by chance, the same in every run. Words are as unevenly common as real ones.
struct Words(ChaCha8Rng);

impl Words {
    fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Evenly from 0 to 1.
    fn share(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn sentence(&mut self) -> String {
        let words: Vec<String> = (0..WORDS_PER_TURN / 2)
            .map(|_| {
                // The inverse of the distribution with density 1 / rank.
                let rank = (VOCABULARY as f64).powf(self.share()) as u64;
                let syllables = ["ba", "ke", "li", "mo", "nu", "sa", "te", "vi"];
                let mut left = rank;
                let mut word = String::new();
                while left > 0 {
                    word.push_str(syllables[(left % 8) as usize]);
                    left /= 8;
                }
                word
            })
            .collect();
        format!("I {}.", words.join(" "))
    }

    fn vector(&mut self) -> Vec<f32> {
        let mut values: Vec<f32> =
            (0..DIM).map(|_| (self.share() + self.share() + self.share() - 1.5) as f32).collect();
        let norm = values.iter().map(|x| x * x).sum::<f32>().sqrt();
        for x in &mut values {
            *x /= norm;
        }
        values
    }
}

/// The table, as Markdown.
pub fn render(rows: &[Growth]) -> String {
    let mut table = Table::new(&[
        "units",
        "index",
        "store B/unit",
        "index B/unit",
        "own B/unit",
        "mapped B/unit",
        "after searches",
        "open s (built)",
        "open s (found)",
        "first search ms",
        "search ms",
    ]);
    for row in rows {
        let per_unit = |bytes: u64| format!("{:.0}", bytes as f64 / row.units as f64);
        table.row(vec![
            row.units.to_string(),
            row.index.clone(),
            per_unit(row.store_bytes),
            per_unit(row.index_bytes),
            per_unit(row.found.own_bytes),
            per_unit(row.found.mapped_bytes),
            per_unit(row.found.own_bytes_after + row.found.mapped_bytes_after),
            format!("{:.2}", row.built.seconds),
            format!("{:.2}", row.found.seconds),
            format!("{:.1}", row.found.first_search_ms),
            format!("{:.1}", row.found.search_ms),
        ]);
    }
    table.render()
}
