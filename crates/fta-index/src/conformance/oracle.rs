//! The naive search that back ends are compared with.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::vector::{Hit, VectorId, VectorIndex};

/// How far scores of back ends may be apart: they sum in different orders.
const SCORE_TOLERANCE: f32 = 1e-5;

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

    /// Compares hits of a back end with those of the oracle.
    ///
    /// The scores must agree place by place within 1e-5, and each hit's score must be that of its vector; two
    /// vectors whose scores differ by less may change places.
    pub fn compare(&self, query: &[f32], k: usize, allowed: impl Fn(VectorId) -> bool, found: &[Hit]) {
        let expect = self.search(query, k, &allowed);
        let all = self.search(query, usize::MAX, &allowed);
        assert_eq!(found.len(), expect.len(), "number of hits for k = {k}");
        for (place, (hit, best)) in found.iter().zip(&expect).enumerate() {
            assert!(
                (hit.score - best.score).abs() <= SCORE_TOLERANCE,
                "place {place}: {hit:?}, expected {best:?}"
            );
            let own = all.iter().find(|candidate| candidate.id == hit.id);
            let own = own.unwrap_or_else(|| panic!("{hit:?} is no allowed vector"));
            assert!((hit.score - own.score).abs() <= SCORE_TOLERANCE, "{hit:?} has the score {}", own.score);
        }
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

    /// Compares an index with the oracle: its size, and searches by all of `queries` (`[n, dim]`) for some `k`.
    pub fn compare_index(&self, index: &dyn VectorIndex, queries: &[f32]) {
        assert_eq!(index.len(), self.len());
        assert_eq!(index.is_empty(), self.is_empty());
        for k in [0, 1, 3, self.len(), self.len() + 5, usize::MAX] {
            for query in queries.chunks_exact(index.dim()) {
                let found = index.search(query, k, None).expect("a legal query");
                self.compare(query, k, |_| true, &found);
            }
        }
    }
}

/// Deterministic pseudo-random numbers (SplitMix64), good enough for test data.
pub(super) struct Numbers(pub(super) u64);

impl Numbers {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// `[n, dim]` vectors of norm 1.
    pub(super) fn unit_vectors(&mut self, n: usize, dim: usize) -> Vec<f32> {
        let mut rows = Vec::with_capacity(n * dim);
        for _ in 0..n {
            let row: Vec<f32> =
                (0..dim).map(|_| (self.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect();
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            // A row of nothing but zeros is as good as impossible, but must not make NaN.
            if norm > 1e-3 {
                rows.extend(row.iter().map(|x| x / norm));
            } else {
                rows.extend((0..dim).map(|i| if i == 0 { 1.0 } else { 0.0 }));
            }
        }
        rows
    }
}
