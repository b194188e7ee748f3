//! The best `k` of a stream of scores.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use crate::vector::{Filter, Hit, VectorId};

/// Scores that are looked at together: most of them can be passed over with one look.
const LOOK: usize = 16;

/// Order of hits: a better hit is smaller. Scores are never NaN here, and `-0.0` was made `0.0`.
#[derive(Debug, PartialEq)]
struct Ranked(Hit);

impl Eq for Ranked {}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        other.0.score.total_cmp(&self.0.score).then(self.0.id.cmp(&other.0.id))
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Collects the best `k` hits.
#[derive(Debug)]
pub(super) struct Nearest {
    k: usize,
    /// The worst hit is on top.
    heap: BinaryHeap<Ranked>,
}

impl Nearest {
    /// `k` is at most the number of vectors, so the allocation is bounded by the index.
    pub(super) fn new(k: usize) -> Self {
        Self { k, heap: BinaryHeap::with_capacity(k) }
    }

    /// Takes the scores of some vectors, `scores[i]` for `ids[i]`; asks the filter only of those that could enter.
    pub(super) fn offer(&mut self, ids: &[VectorId], scores: &[f32], filter: Option<Filter<'_>>) {
        for (ids, scores) in ids.chunks(LOOK).zip(scores.chunks(LOOK)) {
            let bound = self.bound();
            if none_reaches(scores, bound) {
                continue;
            }
            for (&id, &score) in ids.iter().zip(scores) {
                // NaN passes on to be made comparable.
                if reaches(score, self.bound()) && filter.is_none_or(|allowed| allowed(id)) {
                    self.push(id, score);
                }
            }
        }
    }

    fn push(&mut self, id: VectorId, score: f32) {
        // The products of huge finite values may overflow to NaN; such a hit comes last.
        let score = if score.is_nan() { f32::NEG_INFINITY } else { score + 0.0 };
        let candidate = Ranked(Hit { id, score });
        if self.heap.len() < self.k {
            self.heap.push(candidate);
        } else if let Some(mut worst) = self.heap.peek_mut().filter(|worst| candidate < **worst) {
            *worst = candidate;
        }
    }

    /// Takes what another has collected.
    pub(super) fn absorb(&mut self, other: Self) {
        for Ranked(hit) in other.heap {
            self.push(hit.id, hit.score);
        }
    }

    /// Whether there are `k` hits already.
    pub(super) fn is_full(&self) -> bool {
        self.heap.len() == self.k
    }

    /// Scores below this can no longer enter.
    fn bound(&self) -> f32 {
        match self.heap.peek() {
            Some(worst) if self.heap.len() == self.k => worst.0.score,
            _ => f32::NEG_INFINITY,
        }
    }

    /// The hits, best first.
    pub(super) fn into_hits(self) -> Vec<Hit> {
        self.heap.into_sorted_vec().into_iter().map(|ranked| ranked.0).collect()
    }
}

/// Whether a score may enter. NaN may: what it stands for is decided later.
#[inline]
fn reaches(score: f32, bound: f32) -> bool {
    score >= bound || score.is_nan()
}

/// Whether no score reaches the bound. Counts instead of leaving at the first that does, so that it becomes vector
/// instructions.
#[inline]
fn none_reaches(scores: &[f32], bound: f32) -> bool {
    scores.iter().filter(|&&score| score < bound).count() == scores.len()
}

/// Collects the rows that can be among the best `k`, given scores that may be wrong by up to an error.
///
/// With every score within `error` of the true one, a row of the true best `k` scores at most `2 * error` less than
/// the `k`-th best score that was seen.
#[derive(Debug)]
pub(super) struct Sieve {
    k: usize,
    margin: f32,
    /// The best `k` scores, the least on top.
    best: BinaryHeap<Reverse<Finite>>,
    kept: Vec<(f32, usize)>,
    /// Rows are sorted out again when there are so many.
    limit: usize,
}

#[derive(Debug, PartialEq)]
struct Finite(f32);

impl Eq for Finite {}

impl Ord for Finite {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Finite {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Sieve {
    /// `error` bounds how far each score may be from the true one.
    pub(super) fn new(k: usize, error: f32) -> Self {
        Self {
            k,
            margin: 2.0 * error,
            best: BinaryHeap::with_capacity(k),
            kept: Vec::new(),
            limit: 4096.max(8 * k),
        }
    }

    /// Takes the scores of the rows from `first` on; asks `allowed` only of rows that could enter.
    pub(super) fn offer(&mut self, first: usize, scores: &[f32], allowed: impl Fn(usize) -> bool) {
        for (i, scores) in scores.chunks(LOOK).enumerate() {
            if none_reaches(scores, self.bound()) {
                continue;
            }
            for (j, &score) in scores.iter().enumerate() {
                let row = first + i * LOOK + j;
                if reaches(score, self.bound()) && allowed(row) {
                    self.push(score, row);
                }
            }
        }
    }

    fn push(&mut self, score: f32, row: usize) {
        if score.is_finite() {
            if self.best.len() < self.k {
                self.best.push(Reverse(Finite(score)));
            } else if let Some(mut least) = self.best.peek_mut().filter(|least| least.0.0 < score) {
                *least = Reverse(Finite(score));
            }
        }
        self.kept.push((score, row));
        if self.kept.len() >= self.limit {
            self.sort_out();
            self.limit = self.limit.max(2 * self.kept.len());
        }
    }

    fn bound(&self) -> f32 {
        match self.best.peek() {
            Some(least) if self.best.len() == self.k => least.0.0 - self.margin,
            _ => f32::NEG_INFINITY,
        }
    }

    fn sort_out(&mut self) {
        let bound = self.bound();
        self.kept.retain(|&(score, _)| reaches(score, bound));
    }

    /// Takes what another has collected.
    pub(super) fn absorb(&mut self, other: Self) {
        for (score, row) in other.kept {
            if reaches(score, self.bound()) {
                self.push(score, row);
            }
        }
    }

    /// The rows, in rising order if they came so.
    pub(super) fn into_rows(mut self) -> impl Iterator<Item = usize> {
        self.sort_out();
        self.kept.into_iter().map(|(_, row)| row)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(k: usize, scores: &[f32], expect: &[VectorId]) {
        let ids: Vec<VectorId> = (0..scores.len() as u64).collect();
        let mut nearest = Nearest::new(k);
        nearest.offer(&ids, scores, None);
        let found: Vec<_> = nearest.into_hits().iter().map(|hit| hit.id).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn best_first_and_ties_by_id() {
        check(3, &[0.1, 0.9, 0.5, 0.9], &[1, 3, 2]);
        check(2, &[0.5, 0.5, 0.5], &[0, 1]);
        check(2, &[-0.0, 0.0], &[0, 1]);
        check(9, &[0.2, 0.1], &[0, 1]);
        check(0, &[0.2, 0.1], &[]);
    }

    #[test]
    fn overflow_comes_last() {
        check(3, &[f32::NAN, -1.0, f32::INFINITY], &[2, 1, 0]);
        check(1, &[-1.0, f32::NAN], &[0]);
    }

    proptest! {
        #[test]
        fn the_sieve_keeps_the_true_best(
            exact in prop::collection::vec(-1.0_f32..1.0, 0..400),
            noise in prop::collection::vec(-1.0_f32..1.0, 400),
            k in 1_usize..12,
            error in 0.0_f32..0.3,
            split in 0_usize..400,
        ) {
            let scores: Vec<f32> = exact.iter().zip(&noise).map(|(x, noise)| x + 0.999 * error * noise).collect();
            let split = split.min(scores.len());
            let mut sieve = Sieve::new(k, error);
            sieve.limit = 16;
            sieve.offer(0, &scores[..split], |row| row % 3 != 0);
            let mut other = Sieve::new(k, error);
            other.offer(split, &scores[split..], |row| row % 3 != 0);
            sieve.absorb(other);
            let kept: Vec<usize> = sieve.into_rows().collect();
            let mut order: Vec<usize> = (0..exact.len()).filter(|row| row % 3 != 0).collect();
            order.sort_by(|&a, &b| exact[b].total_cmp(&exact[a]));
            prop_assert!(order.iter().take(k).all(|row| kept.contains(row)));
            prop_assert!(kept.iter().all(|row| row % 3 != 0));
        }
    }
}
