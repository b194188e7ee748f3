//! The best `k` of a stream of scores.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::vector::{Hit, VectorId};

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

    /// Takes the scores of some vectors, `scores[i]` for `ids[i]`.
    pub(super) fn offer(&mut self, ids: &[VectorId], scores: &[f32]) {
        let mut bound = self.bound();
        for (&id, &score) in ids.iter().zip(scores) {
            // Most scores end here. NaN passes on to be made comparable.
            if score < bound {
                continue;
            }
            // The products of huge finite values may overflow to NaN; such a hit comes last.
            let score = if score.is_nan() { f32::NEG_INFINITY } else { score + 0.0 };
            let candidate = Ranked(Hit { id, score });
            if self.heap.len() < self.k {
                self.heap.push(candidate);
            } else if let Some(mut worst) = self.heap.peek_mut().filter(|worst| candidate < **worst) {
                *worst = candidate;
            }
            bound = self.bound();
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn check(k: usize, scores: &[f32], expect: &[VectorId]) {
        let ids: Vec<VectorId> = (0..scores.len() as u64).collect();
        let mut nearest = Nearest::new(k);
        nearest.offer(&ids, scores);
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
}
