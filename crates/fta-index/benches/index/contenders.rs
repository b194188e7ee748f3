//! What is measured: our back ends through the port, peers in a process of their own, and two limits.

use std::{hint::black_box, time::Instant};

use anyhow::{Context as _, Result};
use fta_index::{
    ExactIndex, Label, VectorIndex,
    exact::{ExactConfig, Precision},
};

use crate::{data::DIM, peer::Peer};

/// Results that are asked for.
pub(crate) const K: usize = 10;

/// Something that searches.
pub(crate) struct Contender {
    pub(crate) name: String,
    /// By the clock, and on processors.
    pub(crate) build_seconds: [f64; 2],
    /// Of its file, which holds what it holds in memory but for the table of ids; not for peers.
    pub(crate) bytes_per_vector: Option<f64>,
    kind: Kind,
}

enum Kind {
    Exact(Precision, ExactIndex),
    #[cfg(feature = "faiss")]
    Faiss(fta_index::faiss::FaissIndex),
    Peer,
    /// A loop over all vectors as anyone would write it.
    Plain,
}

/// Times of calls by the clock, and the ids that each query got.
#[derive(Default)]
pub(crate) struct Run {
    pub(crate) seconds: Vec<f64>,
    /// Time on processors, of all threads.
    pub(crate) processor: Vec<f64>,
    pub(crate) ids: Vec<Vec<u64>>,
}

/// Names of our back ends that this build has.
pub(crate) fn ours() -> Vec<String> {
    let mut names = vec!["plain loop".to_owned(), "exact f32".to_owned(), "exact int8".to_owned()];
    if cfg!(feature = "faiss") {
        names.extend(
            ["Flat", "HNSW32", "IVF,Flat", "SQ8", "IVF,SQ8", "IVF,PQ48"].map(|kind| format!("faiss {kind}")),
        );
    }
    names
}

impl Contender {
    /// Builds one of [`ours`] on one thread.
    pub(crate) fn build(name: &str, base: &[f32], ids: &[u64]) -> Result<Self> {
        let (start, start_processor) = (Instant::now(), processor_seconds());
        let kind = match name {
            "plain loop" => Kind::Plain,
            "exact f32" => Kind::Exact(Precision::F32, exact(Precision::F32, 1, base, ids)?),
            "exact int8" => Kind::Exact(Precision::Int8, exact(Precision::Int8, 1, base, ids)?),
            #[cfg(feature = "faiss")]
            _ => {
                let factory = name.strip_prefix("faiss ").context("a name of a back end")?.parse()?;
                let config = fta_index::faiss::FaissConfig::new(factory);
                let mut index = fta_index::faiss::FaissIndex::new(DIM, config)?;
                index.add(ids, base)?;
                Kind::Faiss(index)
            }
            #[cfg(not(feature = "faiss"))]
            _ => anyhow::bail!("there is no back end `{name}` in this build"),
        };
        let build_seconds = [start.elapsed().as_secs_f64(), processor_seconds() - start_processor];
        let mut contender = Self { name: name.to_owned(), build_seconds, bytes_per_vector: None, kind };
        if let Some(index) = contender.index() {
            let folder = tempfile::tempdir()?;
            let path = folder.path().join("index");
            index.save(&path, &Label::default())?;
            contender.bytes_per_vector = Some(std::fs::metadata(path)?.len() as f64 / ids.len() as f64);
        }
        Ok(contender)
    }

    /// The index, of those that are ours.
    fn index(&self) -> Option<&dyn VectorIndex> {
        match &self.kind {
            Kind::Exact(_, index) => Some(index),
            #[cfg(feature = "faiss")]
            Kind::Faiss(index) => Some(index),
            Kind::Peer | Kind::Plain => None,
        }
    }

    pub(crate) fn peer(name: &str, build_seconds: [f64; 2]) -> Self {
        Self { name: name.to_owned(), build_seconds, bytes_per_vector: None, kind: Kind::Peer }
    }

    /// Lets every call take so many threads.
    pub(crate) fn set_threads(&mut self, threads: usize, base: &[f32], ids: &[u64]) -> Result<()> {
        match &mut self.kind {
            Kind::Exact(precision, index) => *index = exact(*precision, threads, base, ids)?,
            #[cfg(feature = "faiss")]
            Kind::Faiss(index) => index.set_threads(threads)?,
            Kind::Peer | Kind::Plain => {}
        }
        Ok(())
    }

    /// Searches `count` queries from `first` on, `batch` in a call.
    pub(crate) fn run(&self, search: Search<'_>, peer: Option<&mut Peer>) -> Result<Run> {
        let Some(index) = self.index() else {
            return match &self.kind {
                Kind::Peer => peer.context("the peer has gone")?.search(&self.name, &search),
                _ => Ok(plain(&search)),
            };
        };
        let mut run = Run::default();
        let queries = &search.queries[search.first * DIM..(search.first + search.count) * DIM];
        for queries in queries.chunks(search.batch * DIM) {
            let (start, start_processor) = (Instant::now(), processor_seconds());
            let hits = if search.batch == 1 {
                vec![index.search(queries, K, None)?]
            } else {
                index.search_batch(queries, K)?
            };
            run.seconds.push(start.elapsed().as_secs_f64());
            run.processor.push(processor_seconds() - start_processor);
            run.ids.extend(hits.iter().map(|hits| hits.iter().map(|hit| hit.id).collect::<Vec<_>>()));
        }
        Ok(run)
    }
}

/// Which queries to search, and how.
#[derive(Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) base: &'a [f32],
    pub(crate) queries: &'a [f32],
    pub(crate) first: usize,
    pub(crate) count: usize,
    pub(crate) batch: usize,
    pub(crate) threads: usize,
}

fn exact(precision: Precision, threads: usize, base: &[f32], ids: &[u64]) -> Result<ExactIndex> {
    let mut index = ExactIndex::with_config(DIM, ExactConfig { precision, threads })?;
    index.add(ids, base)?;
    Ok(index)
}

fn plain(search: &Search<'_>) -> Run {
    let mut run = Run::default();
    let queries = &search.queries[search.first * DIM..(search.first + search.count) * DIM];
    for queries in queries.chunks(search.batch * DIM) {
        let (start, start_processor) = (Instant::now(), processor_seconds());
        for query in queries.chunks_exact(DIM) {
            let mut scores: Vec<(f32, u64)> = search
                .base
                .chunks_exact(DIM)
                .zip(0..)
                .map(|(row, id)| (row.iter().zip(query).map(|(a, b)| a * b).sum::<f32>(), id))
                .collect();
            let k = K.min(scores.len());
            scores.select_nth_unstable_by(k - 1, |a, b| b.0.total_cmp(&a.0));
            run.ids.push(scores[..k].iter().map(|(_, id)| *id).collect());
        }
        run.seconds.push(start.elapsed().as_secs_f64());
        run.processor.push(processor_seconds() - start_processor);
    }
    run
}

/// Bytes per second at which this machine reads the vectors, the best of some passes.
pub(crate) fn bandwidth(base: &[f32], threads: usize) -> f64 {
    let part = base.len().div_ceil(threads);
    let passes = (1 << 30) / (4 * base.len()) + 3;
    let mut best = f64::INFINITY;
    for _ in 0..passes {
        let start = Instant::now();
        std::thread::scope(|scope| {
            for part in base.chunks(part) {
                scope.spawn(move || black_box(read(part)));
            }
        });
        best = best.min(start.elapsed().as_secs_f64());
    }
    4.0 * base.len() as f64 / best
}

/// Touches every value with as little arithmetic as a compiler lets stand, in the widest loads of this machine.
fn read(values: &[f32]) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn avx512(values: &[f32]) -> u32 {
            read_in::<128>(values)
        }
        if is_x86_feature_detected!("avx512f") {
            #[expect(unsafe_code, reason = "a vector unit that was just detected")]
            // SAFETY: the processor has what the function is compiled for.
            return unsafe { avx512(values) };
        }
    }
    read_in::<32>(values)
}

/// `SUMS` is as many sums as eight registers hold: more would be kept in memory, and that would be measured.
#[inline]
fn read_in<const SUMS: usize>(values: &[f32]) -> u32 {
    let mut sums = [0_u32; SUMS];
    for chunk in values.as_chunks::<SUMS>().0 {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum ^= value.to_bits();
        }
    }
    sums.iter().fold(0, |all, sum| all ^ sum)
}

/// What all threads of this process have computed.
#[cfg(unix)]
#[expect(unsafe_code, reason = "the standard library knows no clock of processors")]
fn processor_seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes to `time` alone.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    if code == 0 { time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64 } else { 0.0 }
}

#[cfg(not(unix))]
fn processor_seconds() -> f64 {
    0.0
}
