//! `cargo xtask bench index`: every back end for vectors on clustered unit vectors, beside peers and limits.
//!
//! ```text
//! cargo xtask bench index -- [--sizes 10000,100000] [--threads 1,2] [--only PART,..] [--peers PYTHON] [--json FILE]
//! ```
//!
//! Contenders take turns in blocks, so that whatever else the machine does meets all of them; ratios are of medians.
//! `--peers` names a Python that has `benches/peers/index/requirements.txt`.

mod contenders;
mod data;
mod peer;
mod report;

use std::{path::PathBuf, time::Duration};

use anyhow::{Context as _, Result, bail};
use fta_index::{
    ExactIndex, VectorIndex,
    exact::{ExactConfig, Precision},
};

use contenders::{Contender, K, Run, Search};
use data::DIM;
use peer::Peer;
use report::{Limit, Report, Row};

const SEED: u64 = 7;
const N_QUERIES: usize = 256;
const BATCH: usize = 64;
/// Blocks per contender, and queries in a block that are searched one by one.
const ROUNDS: usize = 8;
const SINGLES: usize = 32;
/// A contender's block ends early for what would take longer.
const SLOW: Duration = Duration::from_millis(40);

struct Arguments {
    sizes: Vec<usize>,
    threads: Vec<usize>,
    only: Vec<String>,
    peers: Option<PathBuf>,
    json: Option<PathBuf>,
}

#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark talks to people")]
fn main() -> Result<()> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let mut peer = arguments.peers.as_deref().map(Peer::start).transpose()?;
    let mut report = Report {
        dim: DIM,
        seed: SEED,
        processor: processor(),
        load_before: load(),
        load_after: String::new(),
        peers: Vec::new(),
        limits: Vec::new(),
        rows: Vec::new(),
    };
    for &size in &arguments.sizes {
        eprintln!("{size} vectors");
        measure(size, &arguments, peer.as_mut(), &mut report).with_context(|| format!("{size} vectors"))?;
    }
    println!("{}", report.table());
    Ok(())
}

impl Arguments {
    fn parse(words: impl Iterator<Item = String>) -> Result<Self> {
        let mut arguments = Self {
            sizes: vec![10_000, 100_000],
            threads: vec![1, 2],
            only: Vec::new(),
            peers: None,
            json: None,
        };
        // cargo adds `--bench`; `--` may come through.
        let mut words = words.filter(|word| word != "--bench" && word != "--");
        while let Some(word) = words.next() {
            let value = words.next().with_context(|| format!("`{word}` needs a value"))?;
            let numbers = || value.split(',').map(|n| Ok(n.parse()?)).collect::<Result<Vec<usize>>>();
            match word.as_str() {
                "--sizes" => arguments.sizes = numbers()?,
                "--threads" => arguments.threads = numbers()?,
                // Kinds have commas of their own.
                "--only" => arguments.only = value.split(';').map(str::to_owned).collect(),
                "--peers" => arguments.peers = Some(value.into()),
                "--json" => arguments.json = Some(value.into()),
                _ => {
                    bail!("`{word}` is no argument; there are --sizes, --threads, --only, --peers and --json")
                }
            }
        }
        if arguments.sizes.iter().chain(&arguments.threads).any(|&n| n == 0) {
            bail!("sizes and threads are 1 or more");
        }
        Ok(arguments)
    }

    fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }
}

#[expect(clippy::print_stderr, reason = "a benchmark says how far it is")]
fn measure(
    size: usize,
    arguments: &Arguments,
    mut peer: Option<&mut Peer>,
    report: &mut Report,
) -> Result<()> {
    let (base, queries) = (data::vectors(size, SEED), data::vectors(N_QUERIES, SEED + 1));
    let ids: Vec<u64> = (0..size as u64).collect();
    let truth = truth(&base, &ids, &queries)?;
    let mut contenders = Vec::new();
    for name in contenders::ours().iter().filter(|name| arguments.wants(name)) {
        let contender = Contender::build(name, &base, &ids)?;
        eprintln!("  {name}: built in {:.1} s", contender.build_seconds[0]);
        contenders.push(contender);
    }
    if let Some(peer) = peer.as_deref_mut() {
        let folder = tempfile::tempdir()?;
        peer.data(folder.path(), &base, &queries)?;
        for name in ["wheel Flat", "wheel HNSW32", "wheel SQ8", "usearch f32"] {
            if !arguments.wants(name) {
                continue;
            }
            let (seconds, version) = peer.build(name)?;
            eprintln!("  {name}: built in {:.1} s", seconds[0]);
            report.peers.push(format!("{name} {version} ({size})"));
            contenders.push(Contender::peer(name, seconds));
        }
    }
    for &threads in &arguments.threads {
        for contender in &mut contenders {
            contender.set_threads(threads, &base, &ids)?;
        }
        let bytes_per_second = contenders::bandwidth(&base, threads);
        report.limits.push(Limit {
            size,
            threads,
            gigabytes_per_second: bytes_per_second / 1e9,
            pass_ms: 4e3 * base.len() as f64 / bytes_per_second,
        });
        let all = Search { base: &base, queries: &queries, first: 0, count: 1, batch: 1, threads };
        let mut runs: Vec<[Run; 2]> = contenders.iter().map(|_| Default::default()).collect();
        for round in 0..ROUNDS {
            for (contender, runs) in contenders.iter().zip(&mut runs) {
                block(contender, all, round, runs, peer.as_deref_mut())?;
            }
        }
        let rows =
            contenders.iter().zip(&runs).map(|(contender, runs)| row(size, threads, contender, runs, &truth));
        let mut rows: Vec<Row> = rows.collect();
        report::compare(&mut rows);
        report.rows.extend(rows);
        // A long run that is ended keeps what it has.
        report.load_after = load();
        if let Some(path) = &arguments.json {
            std::fs::write(path, serde_json::to_vec_pretty(&report)?)?;
        }
    }
    Ok(())
}

/// One turn of a contender: single queries, then batches.
fn block(
    contender: &Contender,
    all: Search<'_>,
    round: usize,
    [single, batch]: &mut [Run; 2],
    mut peer: Option<&mut Peer>,
) -> Result<()> {
    // Warms up, and says how slow it is.
    let first = contender.run(all, peer.as_deref_mut())?;
    let is_slow = first.seconds[0] > SLOW.as_secs_f64();
    let count = if is_slow { 4 } else { SINGLES };
    let singles = Search { first: round * SINGLES % N_QUERIES, count, ..all };
    append(single, contender.run(singles, peer.as_deref_mut())?, singles);
    if is_slow && contender.name == "plain loop" && round > 1 {
        return Ok(());
    }
    let count = if is_slow { BATCH } else { N_QUERIES };
    let batches = Search { first: round * BATCH % N_QUERIES, count: BATCH, batch: BATCH, ..all };
    for first in (0..count).step_by(BATCH) {
        let batches = Search { first: (batches.first + first) % N_QUERIES, ..batches };
        append(batch, contender.run(batches, peer.as_deref_mut())?, batches);
    }
    Ok(())
}

/// Adds a run; the ids of a query stand at its place.
fn append(all: &mut Run, run: Run, search: Search<'_>) {
    all.seconds.extend(run.seconds);
    all.processor.extend(run.processor);
    all.ids.resize(N_QUERIES, Vec::new());
    for (at, ids) in run.ids.into_iter().enumerate() {
        all.ids[search.first + at] = ids;
    }
}

fn row(
    size: usize,
    threads: usize,
    contender: &Contender,
    [single, batch]: &[Run; 2],
    truth: &[Vec<u64>],
) -> Row {
    let sorted = |seconds: &[f64]| {
        let mut seconds = seconds.to_vec();
        seconds.sort_by(f64::total_cmp);
        seconds
    };
    let (single_seconds, batch_seconds) = (sorted(&single.seconds), sorted(&batch.seconds));
    let (single_processor, batch_processor) = (sorted(&single.processor), sorted(&batch.processor));
    let at = |seconds: &[f64], share: f64| seconds[((seconds.len() - 1) as f64 * share).round() as usize];
    Row {
        size,
        threads,
        name: contender.name.clone(),
        single_ratio: 0.0,
        batch_ratio: 0.0,
        single_against_wheel: None,
        batch_against_wheel: None,
        single_processor_against_wheel: None,
        batch_processor_against_wheel: None,
        recall_at_10: recall(&batch.ids, truth),
        p50_ms: 1e3 * at(&single_seconds, 0.5),
        p99_ms: 1e3 * at(&single_seconds, 0.99),
        least_ms: 1e3 * single_seconds[0],
        processor_ms: 1e3 * at(&single_processor, 0.5),
        processor_ms_in_batches: 1e3 * at(&batch_processor, 0.5) / BATCH as f64,
        queries_per_second: BATCH as f64 / at(&batch_seconds, 0.5),
        most_queries_per_second: BATCH as f64 / batch_seconds[0],
        build_seconds: contender.build_seconds[0],
        build_processor_seconds: contender.build_seconds[1],
        bytes_per_vector: contender.bytes_per_vector,
    }
}

/// Of the queries that were searched.
fn recall(found: &[Vec<u64>], truth: &[Vec<u64>]) -> f64 {
    let searched = found.iter().zip(truth).filter(|(found, _)| !found.is_empty());
    let (mut n_found, mut n_wanted) = (0, 0);
    for (found, truth) in searched {
        n_found += truth.iter().filter(|id| found.contains(id)).count();
        n_wanted += truth.len();
    }
    n_found as f64 / f64::from(n_wanted.max(1) as u32)
}

fn truth(base: &[f32], ids: &[u64], queries: &[f32]) -> Result<Vec<Vec<u64>>> {
    let config = ExactConfig { precision: Precision::F32, threads: 2 };
    let mut index = ExactIndex::with_config(DIM, config)?;
    index.add(ids, base)?;
    let hits = index.search_batch(queries, K)?;
    Ok(hits.iter().map(|hits| hits.iter().map(|hit| hit.id).collect()).collect())
}

fn processor() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':'));
    model.map_or("unknown processor", |(_, name)| name.trim()).to_owned()
}

/// Processes that waited for a processor in the last minute.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_ascii_whitespace().next().unwrap_or("unknown").to_owned()
}
