//! The naive search that back ends are compared with.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::vector::{Hit, VectorId, VectorIndex};

/// What a back end may miss.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    /// Least share of the true neighbours that must be found, of clustered vectors.
    pub recall: f64,
    /// How far a score may be from the inner product.
    pub score_error: f32,
}

impl Bounds {
    /// Nothing; scores of exact back ends differ only in the order in which they sum.
    pub const EXACT: Self = Self { recall: 1.0, score_error: 1e-5 };

    /// Whether nothing may be missed.
    pub fn is_exact(&self) -> bool {
        self.recall >= 1.0
    }
}

/// A map of vectors, searched by the plainest code there is.
#[derive(Debug, Clone, Default)]
pub struct Oracle {
    vectors: BTreeMap<VectorId, Vec<f32>>,
}

impl Oracle {
    /// Adds or replaces vectors, `[ids.len(), dim]`.
    pub fn add(&mut self, ids: &[VectorId], vectors: &[f32]) {
        if ids.is_empty() {
            return;
        }
        let rows = vectors.chunks_exact(vectors.len() / ids.len());
        self.vectors.extend(ids.iter().copied().zip(rows.map(<[f32]>::to_vec)));
    }

    /// Removes vectors and returns how many were there.
    pub fn remove(&mut self, ids: &[VectorId]) -> usize {
        ids.iter().filter(|id| self.vectors.remove(id).is_some()).count()
    }

    /// Number of vectors.
    pub fn len(&self) -> usize {
        self.vectors.len()
    }

    /// Whether there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.vectors.is_empty()
    }

    /// The `k` best of the allowed vectors, by falling score, equal scores by rising id.
    pub fn search(&self, query: &[f32], k: usize, allowed: impl Fn(VectorId) -> bool) -> Vec<Hit> {
        let mut hits: Vec<Hit> = self
            .vectors
            .iter()
            .filter(|(id, _)| allowed(**id))
            .map(|(&id, vector)| {
                let score: f64 = vector.iter().zip(query).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
                Hit { id, score: score as f32 }
            })
            .collect();
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        hits.truncate(k);
        hits
    }

    /// Compares hits of an exact back end with those of the oracle.
    ///
    /// The scores must agree place by place within 1e-5, and each hit's score must be that of its vector; two
    /// vectors whose scores differ by less may change places.
    pub fn compare(&self, query: &[f32], k: usize, allowed: impl Fn(VectorId) -> bool, found: &[Hit]) {
        let n_right = self.compare_within(Bounds::EXACT, (query, k), allowed, found);
        assert_eq!(n_right, found.len(), "neighbours are missing in {found:?}");
    }

    /// As [`Oracle::compare`], for a back end that may miss some of the `k` nearest to the query; returns how many it
    /// found.
    pub fn compare_within(
        &self,
        bounds: Bounds,
        (query, k): (&[f32], usize),
        allowed: impl Fn(VectorId) -> bool,
        found: &[Hit],
    ) -> usize {
        let all = self.search(query, usize::MAX, &allowed);
        let expect = &all[..k.min(all.len())];
        assert_eq!(found.len(), expect.len(), "number of hits for k = {k}");
        let scores: BTreeMap<VectorId, f32> = all.iter().map(|hit| (hit.id, hit.score)).collect();
        let mut n_right = 0;
        for (place, (hit, best)) in found.iter().zip(expect).enumerate() {
            let own = scores.get(&hit.id).unwrap_or_else(|| panic!("{hit:?} is no allowed vector"));
            assert!((hit.score - own).abs() <= bounds.score_error, "{hit:?} has the score {own}");
            if bounds.is_exact() {
                let error = (hit.score - best.score).abs();
                assert!(error <= bounds.score_error, "place {place}: {hit:?}, expected {best:?}");
            }
            n_right += usize::from(*own >= expect[expect.len() - 1].score - Bounds::EXACT.score_error);
        }
        assert_order(found);
        n_right
    }

    /// Compares an exact index with the oracle: its size, and searches by all of `queries` (`[n, dim]`) for some `k`.
    pub fn compare_index(&self, index: &dyn VectorIndex, queries: &[f32]) {
        self.compare_index_within(Bounds::EXACT, index, queries);
    }

    /// As [`Oracle::compare_index`], for a back end that may miss some; returns how many neighbours it found, and of
    /// how many.
    pub fn compare_index_within(
        &self,
        bounds: Bounds,
        index: &dyn VectorIndex,
        queries: &[f32],
    ) -> (usize, usize) {
        assert_eq!(index.len(), self.len());
        assert_eq!(index.is_empty(), self.is_empty());
        let mut tally = (0, 0);
        for k in [0, 1, 3, self.len(), self.len() + 5, usize::MAX] {
            for query in queries.chunks_exact(index.dim()) {
                let found = index.search(query, k, None).expect("a legal query");
                tally.0 += self.compare_within(bounds, (query, k), |_| true, &found);
                tally.1 += found.len();
            }
        }
        tally
    }
}

/// Hits come by falling score, equal scores by rising id, and no id comes twice.
pub(super) fn assert_order(found: &[Hit]) {
    for pair in found.windows(2) {
        // Equal bits are a tie; scores that differ at all are none.
        let in_order = match pair[0].score.partial_cmp(&pair[1].score) {
            Some(Ordering::Greater) => true,
            Some(Ordering::Equal) => pair[0].id < pair[1].id,
            _ => false,
        };
        assert!(in_order, "{pair:?} are out of order or twice");
    }
    let mut ids: Vec<_> = found.iter().map(|hit| hit.id).collect();
    ids.sort_unstable();
    assert!(ids.windows(2).all(|pair| pair[0] != pair[1]), "an id was found twice: {ids:?}");
}
