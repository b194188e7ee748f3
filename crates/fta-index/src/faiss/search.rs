//! Searching: what faiss finds, made to keep the contract.

use super::{Factory, FaissConfig, Ready, ffi::Scope, rows::Mask};
use crate::{error::IndexError, vector::Hit};

/// Places beyond `k` that are asked for, so that ties at the end and rows that are gone seldom ask for another try.
const MARGIN: usize = 8;
/// Scores of vectors as they were given may differ by this between the ways in which faiss computes them.
const ROUNDING: f32 = 1e-6;
/// Queries that are searched in one call.
const BATCH: usize = 1024;
/// Fewer queries are over before another thread has started.
const QUERIES_WORTH_A_THREAD: usize = 8;
/// A graph is not walked if a filter leaves fewer vectors than this, or less than a quarter of them.
const FEW_ALLOWED: usize = 10_000;
/// Lists that are scanned at least.
const FEWEST_PROBES: usize = 8;

/// A query, and the same with norm 1 for faiss, whose sums overflow on others.
struct Query<'a> {
    given: &'a [f32],
    unit: Vec<f32>,
    norm: f64,
}

impl<'a> Query<'a> {
    fn new(given: &'a [f32]) -> Self {
        let norm = given.iter().map(|&x| f64::from(x) * f64::from(x)).sum::<f64>().sqrt();
        let scale = if norm > 0.0 { 1.0 / norm } else { 0.0 };
        let unit = given.iter().map(|&x| (f64::from(x) * scale) as f32).collect();
        Self { given, unit, norm }
    }
}

/// What became of an attempt.
enum Outcome {
    Complete(Vec<Hit>),
    /// Fewer than asked for, though there are more.
    Short,
    /// Vectors beyond those found may be as near as the last.
    Tied,
}

impl Ready {
    /// The `k` nearest rows of those in `mask`.
    pub(super) fn search(
        &self,
        config: &FaissConfig,
        query: &[f32],
        k: usize,
        mask: Option<&Mask>,
    ) -> Result<Vec<Hit>, IndexError> {
        let allowed = mask.map_or(self.rows.live(), Mask::count);
        let k = k.min(allowed);
        if k == 0 {
            return Ok(Vec::new());
        }
        let query = Query::new(query);
        if !self.must_scan(config, k, mask) {
            let scope = Scope { mask, probes: self.probes(config) };
            let found = self.native.search(&query.unit, self.fetch(k, mask), scope)?;
            let asked = self.asked(k, mask);
            if let Outcome::Complete(hits) = self.judge(&query, asked, &found.scores, &found.labels)? {
                return Ok(hits);
            }
        }
        self.scan(&query, k, mask)
    }

    /// As [`Ready::search`], for many queries.
    pub(super) fn search_batch(
        &self,
        config: &FaissConfig,
        queries: &[f32],
        k: usize,
    ) -> Result<Vec<Vec<Hit>>, IndexError> {
        let dim = self.native.dim();
        let k = k.min(self.rows.live());
        if k == 0 || self.must_scan(config, k, None) {
            return queries.chunks_exact(dim).map(|query| self.search(config, query, k, None)).collect();
        }
        let n = queries.len() / dim;
        let part = n.div_ceil(config.threads.min(n / QUERIES_WORTH_A_THREAD).max(1)).clamp(1, BATCH) * dim;
        // Threads of our own: those of faiss wait for each other in a loop, and for long where a processor is busy.
        let mut all = Vec::with_capacity(n);
        for parts in queries.chunks(part * config.threads) {
            let found: Vec<Result<Vec<Vec<Hit>>, IndexError>> = std::thread::scope(|scope| {
                let mut parts = parts.chunks(part);
                let first = parts.next().unwrap_or_default();
                let others: Vec<_> =
                    parts.map(|part| scope.spawn(move || self.search_part(config, part, k))).collect();
                let first = self.search_part(config, first, k);
                let others = others.into_iter().map(|thread| thread.join().expect("a search does not panic"));
                std::iter::once(first).chain(others).collect()
            });
            for hits in found {
                all.extend(hits?);
            }
        }
        Ok(all)
    }

    fn search_part(
        &self,
        config: &FaissConfig,
        queries: &[f32],
        k: usize,
    ) -> Result<Vec<Vec<Hit>>, IndexError> {
        let scope = Scope { mask: None, probes: self.probes(config) };
        let each: Vec<Query<'_>> = queries.chunks_exact(self.native.dim()).map(Query::new).collect();
        let units: Vec<f32> = each.iter().flat_map(|query| query.unit.iter().copied()).collect();
        let found = self.native.search(&units, self.fetch(k, None), scope)?;
        let judged = each.iter().zip(found.queries()).map(|(query, (scores, labels))| {
            match self.judge(query, self.asked(k, None), scores, labels)? {
                Outcome::Complete(hits) => Ok(hits),
                Outcome::Short | Outcome::Tied => self.scan(query, k, None),
            }
        });
        judged.collect()
    }

    fn asked(&self, k: usize, mask: Option<&Mask>) -> Asked {
        let reachable = mask.map_or(self.native.len(), Mask::count);
        Asked { k, reachable, exhaustive: self.factory.is_scan() }
    }

    /// Whether a graph or lists gain nothing, or would lose too much.
    fn must_scan(&self, config: &FaissConfig, k: usize, mask: Option<&Mask>) -> bool {
        if self.factory.is_scan() {
            return false;
        }
        let live = self.rows.live();
        let few = mask.is_some_and(|mask| mask.count() < FEW_ALLOWED.max(live / 4));
        let many = k > live / 4;
        let is_graph = matches!(self.factory, Factory::Hnsw { .. });
        few || many || (is_graph && self.fetch(k, mask) > 2 * config.ef_search.max(MARGIN))
    }

    /// Places to ask for.
    fn fetch(&self, k: usize, mask: Option<&Mask>) -> usize {
        // Without a mask, rows that are gone take places.
        let dead = if mask.is_none() { self.rows.dead() } else { 0 };
        let gone = (k * dead).div_ceil(self.rows.live()) * 2;
        // A kind that may miss a neighbour anyway does not look for ties.
        let margin = if self.factory.is_scan() || dead > 0 { MARGIN } else { 0 };
        (k + margin + gone).min(mask.map_or(self.native.len(), Mask::count))
    }

    fn probes(&self, config: &FaissConfig) -> usize {
        let lists = self.factory.lists().unwrap_or(1) as usize;
        ((lists as f32 * config.probe_share) as usize).clamp(FEWEST_PROBES.min(lists), lists)
    }

    /// Looks at every row of the mask, so nothing is missed.
    fn scan(&self, query: &Query<'_>, k: usize, mask: Option<&Mask>) -> Result<Vec<Hit>, IndexError> {
        let all;
        let mask = match mask {
            None if self.rows.dead() > 0 || matches!(self.factory, Factory::Hnsw { .. }) => {
                all = self.rows.mask(|_| true);
                Some(&all)
            }
            given => given,
        };
        if let (Factory::Hnsw { .. }, Some(mask)) = (self.factory, mask) {
            return self.scan_rows(query, k, mask);
        }
        let allowed = mask.map_or(self.rows.live(), Mask::count);
        let probes = self.factory.lists().unwrap_or(1) as usize;
        let mut fetch = k + MARGIN;
        loop {
            fetch = fetch.min(allowed);
            let found = self.native.search(&query.unit, fetch, Scope { mask, probes })?;
            let asked = Asked { k, reachable: allowed, exhaustive: true };
            match self.judge(query, asked, &found.scores, &found.labels)? {
                Outcome::Complete(hits) => return Ok(hits),
                // All there is was found.
                _ if fetch == allowed => {
                    return Ok(hits(&best(self.candidates(query, &found.scores, &found.labels)?, k)));
                }
                _ => fetch = fetch.saturating_mul(4),
            }
        }
    }

    /// A scan of our own, over rows that faiss gives back.
    fn scan_rows(&self, query: &Query<'_>, k: usize, mask: &Mask) -> Result<Vec<Hit>, IndexError> {
        let mut candidates = Vec::with_capacity(mask.count());
        let mut row_values = vec![0.0; self.native.dim()];
        for row in mask.rows() {
            let Some(id) = self.rows.id_of(row) else { continue };
            self.native.read_rows(row, 1, &mut row_values)?;
            let score = product(query.given, &row_values);
            candidates.push(Candidate { hit: Hit { id, score }, found: score });
        }
        Ok(hits(&best(candidates, k)))
    }

    /// What to make of the `scores` and `labels` that faiss found.
    fn judge(
        &self,
        query: &Query<'_>,
        asked: Asked,
        scores: &[f32],
        labels: &[i64],
    ) -> Result<Outcome, IndexError> {
        let candidates = self.candidates(query, scores, labels)?;
        let best = best(candidates, asked.k);
        if best.len() < asked.k {
            return Ok(Outcome::Short);
        }
        // A kind that may miss a neighbour anyway need not look for more of the same score.
        let more = labels.len() < asked.reachable && labels.last().is_some_and(|&label| label >= 0);
        let rounding = if self.factory.keeps_rows() { ROUNDING } else { 0.0 };
        let least = best.iter().map(|candidate| candidate.found).fold(f32::INFINITY, f32::min);
        let tied = scores.last().is_some_and(|&last| last >= least - rounding);
        if asked.exhaustive && more && tied { Ok(Outcome::Tied) } else { Ok(Outcome::Complete(hits(&best))) }
    }

    fn candidates(
        &self,
        query: &Query<'_>,
        scores: &[f32],
        labels: &[i64],
    ) -> Result<Vec<Candidate>, IndexError> {
        let mut candidates = Vec::with_capacity(labels.len());
        let mut row_values = vec![0.0; self.native.dim()];
        for (&label, &found) in labels.iter().zip(scores) {
            let Some(id) = self.rows.id(label) else { continue };
            let score = if self.factory.keeps_rows() {
                // The same sum whichever way faiss took, so that equal vectors have equal scores.
                self.native.read_rows(label as usize, 1, &mut row_values)?;
                product(query.given, &row_values)
            } else {
                comparable((f64::from(found) * query.norm) as f32)
            };
            candidates.push(Candidate { hit: Hit { id, score }, found });
        }
        Ok(candidates)
    }
}

/// What a search asks for.
#[derive(Clone, Copy)]
struct Asked {
    k: usize,
    /// Rows that it can find.
    reachable: usize,
    /// Whether the best are found, and not only good ones.
    exhaustive: bool,
}

/// A hit, and the score that faiss gave it.
struct Candidate {
    hit: Hit,
    found: f32,
}

fn hits(candidates: &[Candidate]) -> Vec<Hit> {
    candidates.iter().map(|candidate| candidate.hit).collect()
}

fn best(mut candidates: Vec<Candidate>, k: usize) -> Vec<Candidate> {
    let order =
        |a: &Candidate, b: &Candidate| b.hit.score.total_cmp(&a.hit.score).then(a.hit.id.cmp(&b.hit.id));
    if k < candidates.len() {
        candidates.select_nth_unstable_by(k, order);
        candidates.truncate(k);
    }
    candidates.sort_unstable_by(order);
    candidates
}

/// The inner product. `O(dim)`; equal input gives equal bits.
fn product(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let mut sums = [0.0_f32; 16];
    for (x, y) in a.iter().zip(b) {
        for ((sum, x), y) in sums.iter_mut().zip(x).zip(y) {
            *sum += x * y;
        }
    }
    comparable(sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum::<f32>())
}

/// The products of huge finite values may overflow to NaN; such a hit comes last. No zero is negative.
fn comparable(score: f32) -> f32 {
    if score.is_nan() { f32::NEG_INFINITY } else { score + 0.0 }
}
