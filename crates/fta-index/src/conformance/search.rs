//! The parts of the suite that need no files.

use super::oracle::{Numbers, Oracle};
use crate::error::IndexError;
use crate::vector::{Hit, VectorId, VectorIndex};

type Make<'a> = &'a dyn Fn(usize) -> Box<dyn VectorIndex>;

pub(super) fn empty(make: Make<'_>) {
    let mut index = make(5);
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

pub(super) fn one_vector(make: Make<'_>) {
    // A dimension of 1 and an id at the upper bound, too.
    let id = (1 << 63) - 1;
    let mut index = make(1);
    index.add(&[id], &[-1.0]).expect("a legal vector");
    for k in [1, 2, usize::MAX] {
        let hits = index.search(&[0.5], k, None).expect("a query need not have norm 1");
        assert_eq!(hits, [Hit { id, score: -0.5 }]);
    }
    assert_eq!(index.search(&[1.0], 0, None).expect("k = 0 is legal"), []);
    assert_eq!(index.search(&[1.0], 1, Some(&|_| false)).expect("nothing is allowed"), []);
    assert_eq!(index.search(&[0.0], 1, None).expect("the zero query"), [Hit { id, score: 0.0 }]);
    assert!(index.contains(id) && !index.contains(0));
    assert_eq!(index.remove(&[id, id]).expect("the second finds nothing"), 1);
    assert!(index.is_empty());
}

pub(super) fn bad_input_changes_nothing(make: Make<'_>) {
    let mut numbers = Numbers(1);
    let dim = 4;
    let (ids, vectors) = ([3, 5, 8], numbers.unit_vectors(3, dim));
    let mut index = make(dim);
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
            oracle.compare_index(&*index, &good);
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

pub(super) fn replacement_and_removal(make: Make<'_>) {
    let mut numbers = Numbers(2);
    let dim = 7;
    let (mut index, mut oracle) = (make(dim), Oracle::default());
    let queries = numbers.unit_vectors(2, dim);
    for ids in [&[4, 2, 9, 1][..], &[2, 7], &[7, 2, 4]] {
        let vectors = numbers.unit_vectors(ids.len(), dim);
        index.add(ids, &vectors).expect("legal vectors");
        oracle.add(ids, &vectors);
        oracle.compare_index(&*index, &queries);
    }
    // First, last, in the middle, unknown, twice, all.
    for ids in [&[4][..], &[7], &[55], &[2, 2, 99], &[], &[9, 1]] {
        let expect = oracle.remove(ids);
        assert_eq!(index.remove(ids).expect("removal"), expect, "removing {ids:?}");
        assert!(ids.iter().all(|&id| !index.contains(id)));
        oracle.compare_index(&*index, &queries);
    }
    assert!(index.is_empty());
    let vectors = numbers.unit_vectors(2, dim);
    index.add(&[9, 4], &vectors).expect("removed ids can come back");
    oracle.add(&[9, 4], &vectors);
    oracle.compare_index(&*index, &queries);
}

pub(super) fn ties_come_by_id(make: Make<'_>) {
    let mut numbers = Numbers(3);
    let dim = 19;
    let vector = numbers.unit_vectors(1, dim);
    let ids: Vec<VectorId> = (0..600).map(|i| (i * 7919) % 1009).collect();
    let mut index = make(dim);
    index.add(&ids, &vector.repeat(ids.len())).expect("legal vectors");
    let mut sorted = ids.clone();
    sorted.sort_unstable();
    for k in [1, 5, 599, 600] {
        let found = |hits: Vec<Hit>| hits.iter().map(|hit| hit.id).collect::<Vec<_>>();
        assert_eq!(found(index.search(&vector, k, None).expect("legal")), sorted[..k]);
        assert_eq!(found(index.search_batch(&vector, k).expect("legal").remove(0)), sorted[..k]);
        let odd: Vec<_> = sorted.iter().copied().filter(|id| id % 2 == 1).take(k).collect();
        assert_eq!(found(index.search(&vector, k, Some(&|id| id % 2 == 1)).expect("legal")), odd);
    }
}

pub(super) fn filters_are_exact(make: Make<'_>) {
    let mut numbers = Numbers(4);
    let dim = 16;
    let ids: Vec<VectorId> = (0..700).collect();
    let vectors = numbers.unit_vectors(ids.len(), dim);
    let (mut index, mut oracle) = (make(dim), Oracle::default());
    index.add(&ids, &vectors).expect("legal vectors");
    oracle.add(&ids, &vectors);
    let query = numbers.unit_vectors(1, dim);
    let filters: [&(dyn Fn(VectorId) -> bool + Sync); 6] =
        [&|_| true, &|_| false, &|id| id == 699, &|id| id < 20, &|id| id % 3 == 0, &|id| id >= 256];
    for allowed in filters {
        for k in [1, 10, 400, usize::MAX] {
            let found = index.search(&query, k, Some(allowed)).expect("a legal query");
            oracle.compare(&query, k, allowed, &found);
        }
    }
}

pub(super) fn random_history(make: Make<'_>) {
    let mut numbers = Numbers(5);
    let dim = 33;
    let (mut index, mut oracle) = (make(dim), Oracle::default());
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
        oracle.compare_index(&*index, &queries);
        for (query, hits) in
            queries.chunks_exact(dim).zip(index.search_batch(&queries, 6).expect("legal queries"))
        {
            oracle.compare(query, 6, |_| true, &hits);
        }
        let modulus = 2 + numbers.below(5);
        let found = index.search(&queries[..dim], 8, Some(&|id| id % modulus == 0)).expect("legal");
        oracle.compare(&queries[..dim], 8, |id| id % modulus == 0, &found);
    }
}
