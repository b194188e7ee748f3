//! Searches by several threads while another adds and removes, as the facade of a memory does it: behind a lock.

use std::sync::{
    RwLock,
    atomic::{AtomicBool, Ordering},
};

use super::{
    Suite,
    numbers::Numbers,
    oracle::{Oracle, assert_order},
};
use crate::vector::{Hit, VectorId, VectorIndex};

const DIM: usize = 16;
const N_READERS: usize = 3;
const N_ROUNDS: usize = 30;

pub(super) fn readers_and_a_writer(suite: &Suite<'_>) {
    let mut numbers = Numbers(8);
    let queries = numbers.clustered_vectors(30, DIM, 10);
    let lock = RwLock::new(suite.make(DIM));
    let done = AtomicBool::new(false);
    let mut oracle = Oracle::default();
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..N_READERS).map(|_| scope.spawn(|| read(&lock, &queries, &done))).collect();
        for round in 0..N_ROUNDS {
            let ids: Vec<VectorId> = (0..40).map(|i| (round as u64 * 37 + i) * 13 % 2003).collect();
            let vectors = numbers.clustered_vectors(ids.len(), DIM, 10);
            let mut index = lock.write().expect("no reader panics");
            if round % 5 == 4 {
                assert_eq!(index.remove(&ids).expect("removal"), oracle.remove(&ids));
            } else {
                index.add(&ids, &vectors).expect("legal vectors");
                oracle.add(&ids, &vectors);
            }
            drop(index);
            std::thread::yield_now();
        }
        done.store(true, Ordering::Release);
        let n_searches: usize =
            readers.into_iter().map(|reader| reader.join().expect("no reader panics")).sum();
        assert!(n_searches >= N_READERS);
    });
    let index = lock.into_inner().expect("no one panics");
    suite.compare_index(&oracle, &*index, &queries[..2 * DIM]);

    // Searches side by side find what one after the other finds.
    let alone: Vec<Vec<Hit>> = search_all(&*index, &queries);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..N_READERS).map(|_| scope.spawn(|| search_all(&*index, &queries))).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("no search panics"), alone);
        }
    });
}

fn search_all(index: &dyn VectorIndex, queries: &[f32]) -> Vec<Vec<Hit>> {
    queries.chunks_exact(DIM).map(|query| index.search(query, 10, None).expect("a legal query")).collect()
}

/// Searches until the writer is done; returns how often.
fn read(lock: &RwLock<Box<dyn VectorIndex>>, queries: &[f32], done: &AtomicBool) -> usize {
    let mut n_searches = 0;
    loop {
        let last = done.load(Ordering::Acquire);
        for query in queries.chunks_exact(DIM) {
            let index = lock.read().expect("the writer does not panic");
            let hits = index.search(query, 10, None).expect("a legal query");
            assert_eq!(hits.len(), index.len().min(10));
            assert!(hits.iter().all(|hit| index.contains(hit.id)), "{hits:?}");
            assert_order(&hits);
            let odd = index.search(query, 10, Some(&|id| id % 2 == 1)).expect("a legal query");
            assert!(odd.iter().all(|hit| hit.id % 2 == 1 && index.contains(hit.id)), "{odd:?}");
            drop(index);
            n_searches += 1;
        }
        if last {
            return n_searches;
        }
    }
}
