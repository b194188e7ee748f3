//! The parts of the suite that need no files.

use super::{Suite, numbers::Numbers, oracle::Oracle};
use crate::error::IndexError;
use crate::vector::{Hit, VectorId, VectorIndex};

impl Suite<'_> {
    /// Compares an index with the oracle.
    pub(super) fn compare_index(&self, oracle: &Oracle, index: &dyn VectorIndex, queries: &[f32]) {
        let (found, wanted) = oracle.compare_index_within(self.bounds, index, queries);
        self.tally(found, wanted);
    }

    /// Compares what a search found with the oracle.
    fn compare(
        &self,
        oracle: &Oracle,
        (query, k): (&[f32], usize),
        allowed: impl Fn(VectorId) -> bool,
        found: &[Hit],
    ) {
        self.tally(oracle.compare_within(self.bounds, (query, k), allowed, found), found.len());
    }

    /// Whether these hits were found, scores within the bounds.
    fn assert_hits(&self, found: &[Hit], expect: &[Hit]) {
        let near =
            |(a, b): (&Hit, &Hit)| a.id == b.id && (a.score - b.score).abs() <= self.bounds.score_error;
        assert!(
            found.len() == expect.len() && found.iter().zip(expect).all(near),
            "{found:?} for {expect:?}"
        );
    }
}

pub(super) fn empty(suite: &Suite<'_>) {
    let mut index = suite.make(5);
    assert_eq!((index.dim(), index.len(), index.is_empty()), (5, 0, true));
    assert!(!index.contains(0));
    let query = [1.0, 0.0, 0.0, 0.0, 0.0];
    for k in [0, 1, usize::MAX] {
        assert_eq!(index.search(&query, k, None).expect("an empty index can be searched"), []);
        assert_eq!(index.search(&query, k, Some(&|_| true)).expect("with a filter too"), []);
        assert_eq!(
            index.search_batch(&[query, query].concat(), k).expect("in a batch"),
            [[], []] as [[Hit; 0]; 2]
        );
    }
    assert_eq!(index.search_batch(&[], 3).expect("no queries"), [[]; 0] as [[Hit; 0]; 0]);
    assert_eq!(index.remove(&[1, 2]).expect("unknown ids are skipped"), 0);
    index.add(&[], &[]).expect("an empty batch is legal");
    assert_eq!(index.len(), 0);
}

pub(super) fn one_vector(suite: &Suite<'_>) {
    // A dimension of 1 and an id at the upper bound, too.
    let id = (1 << 63) - 1;
    let mut index = suite.make(1);
    index.add(&[id], &[-1.0]).expect("a legal vector");
    for k in [1, 2, usize::MAX] {
        let hits = index.search(&[0.5], k, None).expect("a query need not have norm 1");
        suite.assert_hits(&hits, &[Hit { id, score: -0.5 }]);
    }
    assert_eq!(index.search(&[1.0], 0, None).expect("k = 0 is legal"), []);
    assert_eq!(index.search(&[1.0], 1, Some(&|_| false)).expect("nothing is allowed"), []);
    suite.assert_hits(&index.search(&[0.0], 1, None).expect("the zero query"), &[Hit { id, score: 0.0 }]);
    assert!(index.contains(id) && !index.contains(0));
    assert_eq!(index.remove(&[id, id]).expect("the second finds nothing"), 1);
    assert!(index.is_empty());
}

pub(super) fn bad_input_changes_nothing(suite: &Suite<'_>) {
    let mut numbers = Numbers(1);
    let dim = 4;
    let (ids, vectors) = ([3, 5, 8], numbers.unit_vectors(3, dim));
    let mut index = suite.make(dim);
    index.add(&ids, &vectors).expect("legal vectors");
    let mut oracle = Oracle::default();
    oracle.add(&ids, &vectors);
    let good = numbers.unit_vectors(1, dim);

    // Each batch starts with a good vector, of a known and of a new id, that must not slip in.
    let mut refuse = |ids: &[VectorId], tail: &[f32], right: fn(&IndexError) -> bool| {
        for first in [3, 1000] {
            let (mut ids, mut vectors) = (ids.to_vec(), good.clone());
            ids.insert(0, first);
            vectors.extend_from_slice(tail);
            let error = index.add(&ids, &vectors).expect_err("bad input");
            assert!(right(&error), "{error:?} for {tail:?}");
            assert!(!index.contains(1000));
            suite.compare_index(&oracle, &*index, &good);
        }
    };
    let unit = [0.0, 1.0, 0.0, 0.0];
    refuse(&[9], &unit[..3], |e| matches!(e, IndexError::Shape { dim: 4, values: 7 }));
    refuse(&[9, 10], &unit, |e| matches!(e, IndexError::Count { ids: 3, vectors: 2 }));
    refuse(&[], &unit, |e| matches!(e, IndexError::Count { ids: 1, vectors: 2 }));
    refuse(&[9, 9], &[unit, unit].concat(), |e| matches!(e, IndexError::Id { id: 9 }));
    refuse(&[1 << 63], &unit, |e| matches!(e, IndexError::Id { id: 0x8000_0000_0000_0000 }));
    refuse(&[u64::MAX], &unit, |e| matches!(e, IndexError::Id { id: u64::MAX }));
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        refuse(&[9], &[0.0, 1.0, bad, 0.0], |e| matches!(e, IndexError::NotFinite { row: 1 }));
    }
    for bad in [[0.0; 4], [2.0, 0.0, 0.0, 0.0], [f32::MAX; 4], [0.99, 0.0, 0.0, 0.0]] {
        refuse(&[9], &bad, |e| matches!(e, IndexError::NotUnit { row: 1, .. }));
    }

    for query in [&[][..], &unit[..3], &[0.5; 5]] {
        for filter in [None, Some(&(|_| true) as crate::Filter<'_>)] {
            let error = index.search(query, 1, filter).expect_err("a wrong length");
            assert!(matches!(error, IndexError::Shape { dim: 4, .. }), "{error:?}");
        }
    }
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for k in [0, 2] {
            let error = index.search(&[0.0, bad, 0.0, 0.0], k, None).expect_err("not finite");
            assert!(matches!(error, IndexError::NotFinite { .. }), "{error:?}");
        }
        let queries = [[0.5; 4], [0.0, bad, 0.0, 0.0]].concat();
        let error = index.search_batch(&queries, 2).expect_err("not finite");
        assert!(matches!(error, IndexError::NotFinite { .. }), "{error:?}");
    }
    let error = index.search_batch(&[0.5; 7], 2).expect_err("no whole rows");
    assert!(matches!(error, IndexError::Shape { dim: 4, values: 7 }), "{error:?}");
    // Huge finite values overflow, but are no reason to fail or to lose a hit.
    assert_eq!(index.search(&[f32::MAX, f32::MAX, f32::MIN, f32::MIN], 9, None).expect("finite").len(), 3);
}

pub(super) fn replacement_and_removal(suite: &Suite<'_>) {
    let mut numbers = Numbers(2);
    let dim = 7;
    let (mut index, mut oracle) = (suite.make(dim), Oracle::default());
    let queries = numbers.unit_vectors(2, dim);
    for ids in [&[4, 2, 9, 1][..], &[2, 7], &[7, 2, 4]] {
        let vectors = numbers.unit_vectors(ids.len(), dim);
        index.add(ids, &vectors).expect("legal vectors");
        oracle.add(ids, &vectors);
        suite.compare_index(&oracle, &*index, &queries);
    }
    // First, last, in the middle, unknown, twice, all.
    for ids in [&[4][..], &[7], &[55], &[2, 2, 99], &[], &[9, 1]] {
        let expect = oracle.remove(ids);
        assert_eq!(index.remove(ids).expect("removal"), expect, "removing {ids:?}");
        assert!(ids.iter().all(|&id| !index.contains(id)));
        suite.compare_index(&oracle, &*index, &queries);
    }
    assert!(index.is_empty());
    let vectors = numbers.unit_vectors(2, dim);
    index.add(&[9, 4], &vectors).expect("removed ids can come back");
    oracle.add(&[9, 4], &vectors);
    suite.compare_index(&oracle, &*index, &queries);
}

pub(super) fn ties_come_by_id(suite: &Suite<'_>) {
    let mut numbers = Numbers(3);
    let dim = 19;
    let vector = numbers.unit_vectors(1, dim);
    let ids: Vec<VectorId> = (0..600).map(|i| (i * 7919) % 1009).collect();
    let mut index = suite.make(dim);
    index.add(&ids, &vector.repeat(ids.len())).expect("legal vectors");
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    for k in [1, 5, 599, 600] {
        let check = |hits: &[Hit], expect: &[VectorId]| {
            assert_eq!(hits.len(), expect.len());
            let found: Vec<_> = hits.iter().map(|hit| hit.id).collect();
            // Who may miss a neighbour may miss the first of many that are the same.
            if suite.bounds.is_exact() {
                assert_eq!(found, expect);
            }
            assert!(
                found.is_sorted()
                    && hits.windows(2).all(|pair| pair[0].score.to_bits() == pair[1].score.to_bits()),
                "{hits:?}"
            );
        };
        check(&index.search(&vector, k, None).expect("legal"), &sorted[..k]);
        check(&index.search_batch(&vector, k).expect("legal")[0], &sorted[..k]);
        let odd: Vec<_> = sorted.iter().copied().filter(|id| id % 2 == 1).take(k).collect();
        check(&index.search(&vector, k, Some(&|id| id % 2 == 1)).expect("legal"), &odd);
        check(&index.search_among(&vector, k, &odd).expect("legal"), &odd);
    }
}

pub(super) fn filters_are_exact(suite: &Suite<'_>) {
    let mut numbers = Numbers(4);
    let dim = 16;
    let ids: Vec<VectorId> = (0..700).collect();
    let vectors = numbers.unit_vectors(ids.len(), dim);
    let (mut index, mut oracle) = (suite.make(dim), Oracle::default());
    index.add(&ids, &vectors).expect("legal vectors");
    oracle.add(&ids, &vectors);
    let query = numbers.unit_vectors(1, dim);
    let filters: [&(dyn Fn(VectorId) -> bool + Sync); 6] =
        [&|_| true, &|_| false, &|id| id == 699, &|id| id < 20, &|id| id % 3 == 0, &|id| id >= 256];
    for allowed in filters {
        for k in [1, 10, 400, usize::MAX] {
            let found = index.search(&query, k, Some(allowed)).expect("a legal query");
            suite.compare(&oracle, (&query, k), allowed, &found);
            // The same by ids: in no order, twice, and some that are not there.
            let mut named: Vec<VectorId> = (0..900).rev().filter(|&id| allowed(id)).collect();
            named.extend_from_within(..named.len() / 2);
            let among = index.search_among(&query, k, &named).expect("a legal query");
            suite.compare(&oracle, (&query, k), allowed, &among);
        }
    }
}

pub(super) fn random_history(suite: &Suite<'_>) {
    let mut numbers = Numbers(5);
    let dim = 33;
    let (mut index, mut oracle) = (suite.make(dim), Oracle::default());
    for _ in 0..60 {
        let mut ids: Vec<VectorId> = (0..numbers.below(40)).map(|_| numbers.below(400)).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.reverse();
        if numbers.below(3) == 0 {
            assert_eq!(index.remove(&ids).expect("removal"), oracle.remove(&ids));
        } else {
            let vectors = numbers.unit_vectors(ids.len(), dim);
            index.add(&ids, &vectors).expect("legal vectors");
            oracle.add(&ids, &vectors);
        }
        let queries = numbers.unit_vectors(3, dim);
        suite.compare_index(&oracle, &*index, &queries);
        for (query, hits) in
            queries.chunks_exact(dim).zip(index.search_batch(&queries, 6).expect("legal queries"))
        {
            suite.compare(&oracle, (query, 6), |_| true, &hits);
        }
        let modulus = 2 + numbers.below(5);
        let found = index.search(&queries[..dim], 8, Some(&|id| id % modulus == 0)).expect("legal");
        suite.compare(&oracle, (&queries[..dim], 8), |id| id % modulus == 0, &found);
    }
}

pub(super) fn duplicates(suite: &Suite<'_>) {
    let mut numbers = Numbers(6);
    let (dim, n_distinct, n_copies) = (12, 60, 7);
    let distinct = numbers.unit_vectors(n_distinct, dim);
    let ids: Vec<VectorId> = (0..(n_distinct * n_copies) as u64).collect();
    let vectors = distinct.repeat(n_copies);
    let (mut index, mut oracle) = (suite.make(dim), Oracle::default());
    index.add(&ids, &vectors).expect("legal vectors");
    oracle.add(&ids, &vectors);
    let check = |index: &dyn VectorIndex, oracle: &Oracle| {
        let batch = index.search_batch(&distinct, n_copies).expect("legal queries");
        for (query, hits) in distinct.chunks_exact(dim).zip(&batch) {
            suite.compare(oracle, (query, n_copies), |_| true, hits);
        }
    };
    check(&*index, &oracle);
    let gone: Vec<VectorId> = ids.iter().copied().filter(|id| id % 11 == 0).collect();
    assert_eq!(index.remove(&gone).expect("removal"), oracle.remove(&gone));
    check(&*index, &oracle);
}

/// Where an approximate index shows what it misses: more vectors than it looks at.
pub(super) fn clusters(suite: &Suite<'_>) {
    let mut numbers = Numbers(7);
    let (dim, n, k) = (24, 3000, 10);
    let ids: Vec<VectorId> = (0..n as u64).map(|i| i * 3).collect();
    let vectors = numbers.clustered_vectors(n, dim, 40);
    let (mut index, mut oracle) = (suite.make(dim), Oracle::default());
    // In parts, as a memory grows.
    for (ids, vectors) in ids.chunks(700).zip(vectors.chunks(700 * dim)) {
        index.add(ids, vectors).expect("legal vectors");
        oracle.add(ids, vectors);
    }
    let queries = numbers.clustered_vectors(64, dim, 40);
    let check = |index: &dyn VectorIndex, oracle: &Oracle, what: &str| {
        suite.reset_recall();
        let batch = index.search_batch(&queries, k).expect("legal queries");
        for (query, hits) in queries.chunks_exact(dim).zip(&batch) {
            suite.compare(oracle, (query, k), |_| true, hits);
            suite.compare(
                oracle,
                (query, k),
                |_| true,
                &index.search(query, k, None).expect("a legal query"),
            );
            for modulus in [2, 300] {
                let filter = |id| id % modulus == 0;
                let found = index.search(query, k, Some(&filter)).expect("a legal query");
                suite.compare(oracle, (query, k), filter, &found);
            }
        }
        let (recall, least) = (suite.recall(), suite.bounds.recall);
        assert!(recall >= least, "{what}: recall {recall:.3}, expected {least} at least");
    };
    check(&*index, &oracle, "after adding");
    let gone: Vec<VectorId> = ids.iter().copied().filter(|id| id % 7 == 0).collect();
    assert_eq!(index.remove(&gone).expect("removal"), oracle.remove(&gone));
    check(&*index, &oracle, "after removal");
    let gone: Vec<VectorId> = ids.iter().copied().filter(|id| id % 5 != 0).collect();
    assert_eq!(index.remove(&gone).expect("removal"), oracle.remove(&gone));
    check(&*index, &oracle, "after removal of most");
    let moved: Vec<VectorId> = ids.iter().copied().take(300).collect();
    let vectors = numbers.clustered_vectors(moved.len(), dim, 40);
    index.add(&moved, &vectors).expect("legal vectors");
    oracle.add(&moved, &vectors);
    check(&*index, &oracle, "after replacement");
}
