//! This crate's embedder in each precision.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use fta_index::Embedder;
use fta_index::candle::{BertEmbedder, Precision};
use fta_index::weights::{ALL_MINILM_L6_V2, ModelFiles, WeightsResolver};

use crate::data::Data;
use crate::{Contender, Latency, Result, Throughput};

/// Depths at which recall is measured.
pub(crate) const DEPTHS: [usize; 3] = [5, 10, 50];

pub(crate) struct Ours<'a> {
    name: String,
    embedder: BertEmbedder,
    data: &'a Data,
}

/// Mean share of the turns of evidence among the first of a search.
#[derive(Debug)]
pub(crate) struct Recall {
    pub(crate) name: String,
    pub(crate) at: [f64; DEPTHS.len()],
    pub(crate) questions: usize,
    /// Least and mean cosine to the vectors of `f32`, over all turns.
    pub(crate) cosine: (f64, f64),
}

/// Finds the weights.
pub(crate) fn files(directory: Option<PathBuf>) -> Result<ModelFiles> {
    let resolver = WeightsResolver { directory, ..WeightsResolver::default() };
    Ok(resolver.resolve(&ALL_MINILM_L6_V2, &mut |_| {})?)
}

/// One for each precision.
pub(crate) fn all<'a>(files: &ModelFiles, data: &'a Data) -> Result<Vec<Ours<'a>>> {
    let precisions = [
        ("ours f32", Precision::F32),
        ("ours bf16", Precision::Bf16),
        ("ours int16", Precision::Int16),
        ("ours int8", Precision::Int8),
    ];
    let load = |(name, precision): (&str, _)| {
        let embedder = BertEmbedder::from_files_with(files, precision)?;
        Ok(Ours { name: name.to_owned(), embedder, data })
    };
    precisions.into_iter().map(load).collect()
}

impl Contender for Ours<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn throughput(&mut self, threads: usize) -> Result<Throughput> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        let texts: Vec<&str> = self.data.turns.iter().map(String::as_str).collect();
        // Threads start, and the processor changes its pace, outside of what is measured.
        pool.install(|| self.embedder.embed(&texts[..texts.len().min(200)]))?;
        let (cpu, start) = (cpu_time(), Instant::now());
        pool.install(|| self.embedder.embed(&texts))?;
        let wall_seconds = start.elapsed().as_secs_f64();
        let spent = cpu_time().zip(cpu).map(|(after, before)| after.as_secs_f64() - before.as_secs_f64());
        Ok(Throughput { cpu_seconds: spent, wall_seconds })
    }

    fn latency(&mut self) -> Result<Latency> {
        let mut milliseconds = Vec::new();
        for (i, query) in self.data.queries.iter().enumerate() {
            let start = Instant::now();
            self.embedder.embed(&[query])?;
            if i >= self.data.queries.len() / 10 {
                milliseconds.push(start.elapsed().as_secs_f64() * 1e3);
            }
        }
        milliseconds.sort_by(f64::total_cmp);
        let at =
            |percent: usize| milliseconds[(milliseconds.len() * percent / 100).min(milliseconds.len() - 1)];
        Ok(Latency { p50: at(50), p99: at(99) })
    }
}

impl Ours<'_> {
    /// Searches each conversation for the evidence of its questions.
    pub(crate) fn recall(&self, data: &Data) -> Result<Recall> {
        let mut sums = [0.0; DEPTHS.len()];
        let mut questions = 0;
        for conversation in &data.conversations {
            let texts: Vec<&str> = conversation.turns.iter().map(|(_, text)| text.as_str()).collect();
            let turns = self.embedder.embed(&texts)?;
            let texts: Vec<&str> = conversation.questions.iter().map(|(text, _)| text.as_str()).collect();
            let queries = self.embedder.embed(&texts)?;
            for (query, (_, evidence)) in queries.rows().zip(&conversation.questions) {
                let mut scored: Vec<(f32, &str)> = turns
                    .rows()
                    .zip(&conversation.turns)
                    .map(|(row, (id, _))| (row.iter().zip(query).map(|(x, y)| x * y).sum(), id.as_str()))
                    .collect();
                scored.sort_by(|a, b| b.0.total_cmp(&a.0));
                let evidence: BTreeSet<&str> = evidence.iter().map(String::as_str).collect();
                for (sum, depth) in sums.iter_mut().zip(DEPTHS) {
                    let found = scored.iter().take(depth).filter(|(_, id)| evidence.contains(id)).count();
                    *sum += found as f64 / evidence.len() as f64;
                }
                questions += 1;
            }
        }
        let at = sums.map(|sum| sum / f64::from(questions));
        Ok(Recall { name: self.name.clone(), at, questions: questions as usize, cosine: self.cosine(data)? })
    }

    fn cosine(&self, data: &Data) -> Result<(f64, f64)> {
        let exact = BertEmbedder::from_files_with(&files(None)?, Precision::F32)?;
        let texts: Vec<&str> = data.turns.iter().map(String::as_str).collect();
        let (ours, exact) = (self.embedder.embed(&texts)?, exact.embed(&texts)?);
        let cosines = ours
            .rows()
            .zip(exact.rows())
            .map(|(a, b)| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>());
        let (least, sum) = cosines.fold((1.0_f64, 0.0), |(least, sum), x| (least.min(x), sum + x));
        Ok((least, sum / texts.len() as f64))
    }
}

/// User and system time of all threads, as Linux accounts for it.
fn cpu_time() -> Option<Duration> {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let line = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        sum += line.split(' ').next()?.parse::<u64>().ok()?;
    }
    Some(Duration::from_nanos(sum))
}
