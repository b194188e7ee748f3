//! The indexes of faiss against the contract.

use fta_index::{
    ExactIndex, IndexError, Label, VectorId, VectorIndex,
    conformance::{self, Bounds, Oracle},
    faiss::{Factory, FaissConfig, FaissIndex},
};

fn config(factory: &str) -> FaissConfig {
    FaissConfig::new(factory.parse().expect("a legal factory"))
}

fn boxed(dim: usize, config: FaissConfig) -> Box<dyn VectorIndex> {
    Box::new(FaissIndex::new(dim, config).expect("a legal index"))
}

/// As few vectors as training can do with, so that small suites are about trained indexes.
fn early(factory: &str) -> FaissConfig {
    FaissConfig { train_from: Some(40), ..config(factory) }
}

#[test]
fn flat_keeps_the_contract() {
    conformance::vector_index(|dim| boxed(dim, config("Flat")));
}

#[test]
fn hnsw_keeps_the_contract() {
    let bounds = Bounds { recall: 0.97, score_error: 1e-5 };
    conformance::approximate_index(|dim| boxed(dim, config("HNSW32")), bounds);
}

#[test]
fn ivf_flat_keeps_the_contract() {
    let bounds = Bounds { recall: 0.9, score_error: 1e-5 };
    conformance::approximate_index(|dim| boxed(dim, early("IVF32,Flat")), bounds);
}

#[test]
fn growing_ivf_flat_keeps_the_contract() {
    let bounds = Bounds { recall: 0.9, score_error: 1e-5 };
    conformance::approximate_index(|dim| boxed(dim, early("IVF,Flat")), bounds);
}

#[test]
fn ivf_sq8_keeps_the_contract() {
    // Trained from 40 vectors, codes cut off what lies outside of these.
    let bounds = Bounds { recall: 0.8, score_error: 0.5 };
    conformance::approximate_index(|dim| boxed(dim, early("IVF,SQ8")), bounds);
}

#[test]
fn ivf_pq_keeps_the_contract() {
    let bounds = Bounds { recall: 0.5, score_error: 0.5 };
    // As many bytes as divide the dimension.
    let bytes = |dim: usize| if dim.is_multiple_of(2) { dim / 2 } else { dim };
    conformance::approximate_index(|dim| boxed(dim, early(&format!("IVF16,PQ{}", bytes(dim)))), bounds);
}

#[test]
fn sq8_keeps_the_contract() {
    let bounds = Bounds { recall: 0.9, score_error: 0.5 };
    conformance::approximate_index(|dim| boxed(dim, early("SQ8")), bounds);
}

#[test]
fn settings_that_make_no_index_are_refused() {
    let refused = |dim, config| FaissIndex::new(dim, config).expect_err("an illegal setting");
    assert!(matches!(refused(0, config("Flat")), IndexError::Shape { .. }));
    assert!(matches!(refused(1 << 20, config("Flat")), IndexError::Shape { .. }));
    assert!(matches!(refused(10, config("IVF4,PQ4")), IndexError::Spec { .. }));
    for config in [
        FaissConfig { ef_search: 0, ..config("HNSW32") },
        FaissConfig { ef_construction: 0, ..config("HNSW32") },
        FaissConfig { threads: 0, ..config("Flat") },
        FaissConfig { probe_share: 0.0, ..config("IVF,Flat") },
        FaissConfig { probe_share: 1.5, ..config("IVF,Flat") },
        FaissConfig { probe_share: f32::NAN, ..config("IVF,Flat") },
    ] {
        assert!(matches!(refused(4, config), IndexError::Setting { .. }));
    }
    assert!("HNSW1".parse::<Factory>().is_err());
}

/// `n` vectors of norm 1, the same for the same seed.
fn vectors(n: usize, dim: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut rows: Vec<f32> = std::iter::repeat_with(|| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    })
    .take(n * dim)
    .collect();
    for row in rows.chunks_exact_mut(dim) {
        let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        for x in row {
            *x /= norm;
        }
    }
    rows
}

fn ids(n: usize) -> Vec<VectorId> {
    (0..n as u64).collect()
}

/// Share of the hits of an exact index that another finds too, with and without a filter.
fn recall(index: &dyn VectorIndex, exact: &dyn VectorIndex, queries: &[f32], modulus: u64) -> f64 {
    let filter = |id| id % modulus == 0;
    let mut found = (0, 0);
    for query in queries.chunks_exact(index.dim()) {
        let expect = exact.search(query, 10, Some(&filter)).expect("a legal query");
        let hits = index.search(query, 10, Some(&filter)).expect("a legal query");
        assert_eq!(hits.len(), expect.len());
        assert!(hits.iter().all(|hit| filter(hit.id)));
        found.0 += hits.iter().filter(|hit| expect.iter().any(|right| right.id == hit.id)).count();
        found.1 += expect.len();
    }
    f64::from(found.0 as u32) / f64::from(found.1 as u32)
}

#[test]
fn filters_that_leave_many_are_searched_and_few_are_scanned() {
    let (n, dim) = (26_000, 12);
    let (rows, queries) = (vectors(n, dim, 1), vectors(30, dim, 2));
    let mut exact = ExactIndex::new(dim).expect("a legal dimension");
    exact.add(&ids(n), &rows).expect("legal vectors");
    for (factory, least) in [("Flat", 1.0), ("HNSW16", 0.9), ("IVF,Flat", 0.7)] {
        let mut index = boxed(dim, config(factory));
        index.add(&ids(n), &rows).expect("legal vectors");
        // Half of the rows are searched; of a hundredth, none is missed.
        assert!(recall(&*index, &exact, &queries, 1) >= least, "{factory}");
        assert!(recall(&*index, &exact, &queries, 2) >= least, "{factory}");
        assert!(recall(&*index, &exact, &queries, 100) >= 1.0, "{factory}");
    }
}

#[test]
fn lists_are_trained_when_there_is_enough_and_grow() {
    let dim = 8;
    let growing = FaissConfig { train_from: Some(200), ..config("IVF,Flat") };
    let mut index = FaissIndex::new(dim, growing).expect("a legal index");
    let rows = vectors(4000, dim, 3);
    let mut lists = Vec::new();
    for (ids, rows) in ids(4000).chunks(150).zip(rows.chunks(150 * dim)) {
        index.add(ids, rows).expect("legal vectors");
        lists.push(index.trained().map(|factory| factory.to_string()));
    }
    lists.dedup();
    let expect = [None, Some("IVF7,Flat"), Some("IVF30,Flat")].map(|text| text.map(str::to_owned));
    assert_eq!(lists, expect);
    assert_eq!(index.len(), 4000);
    let found = index.search(&rows[..dim], 1, None).expect("a legal query");
    assert_eq!(found[0].id, 0);
}

#[test]
fn what_is_removed_is_not_found_and_what_lies_behind_is() {
    for factory in ["Flat", "HNSW16", "IVF16,Flat"] {
        let (n, dim) = (2000, 8);
        let rows = vectors(n, dim, 4);
        let mut index = boxed(dim, FaissConfig { probe_share: 1.0, ..early(factory) });
        index.add(&ids(n), &rows).expect("legal vectors");
        let query = &rows[..dim];
        let all = index.search(query, 400, None).expect("a legal query");
        // The nearest go, too few to build anew: the next must come up.
        let nearest: Vec<_> = all[..300].iter().map(|hit| hit.id).collect();
        assert_eq!(index.remove(&nearest).expect("removal"), 300);
        let next = index.search(query, 10, None).expect("a legal query");
        assert_eq!(next[..], all[300..310], "{factory}");
        let batch = index.search_batch(&query.repeat(3), 10).expect("legal queries");
        assert_eq!(batch, vec![next; 3], "{factory}");
    }
}

#[test]
fn files_of_other_kinds_are_refused_and_of_other_lists_are_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let (n, dim) = (300, 8);
    let rows = vectors(n, dim, 5);
    let kinds =
        ["Flat", "HNSW16", "HNSW32", "SQ8", "IVF8,Flat", "IVF,Flat", "IVF8,SQ8", "IVF8,PQ4", "IVF8,PQ8"];
    for from in kinds {
        let mut index = boxed(dim, early(from));
        index.add(&ids(n), &rows).expect("legal vectors");
        index.save(&path, &Label::default()).expect("saving");
        for to in kinds {
            let loaded = boxed(dim, early(to)).load(&path);
            assert_eq!(loaded.is_ok(), from == to, "{from} as {to}: {loaded:?}");
        }
        let mut exact = ExactIndex::new(dim).expect("a legal dimension");
        assert!(matches!(exact.load(&path), Err(IndexError::File { .. })));
    }
    // Vectors that waited for training wait on, or are trained if that is enough now.
    let mut waiting = FaissIndex::new(dim, config("IVF,Flat")).expect("a legal index");
    waiting.add(&ids(n), &rows).expect("legal vectors");
    waiting.save(&path, &Label::default()).expect("saving");
    let mut index = FaissIndex::new(dim, early("IVF,Flat")).expect("a legal index");
    index.load(&path).expect("the same kind");
    assert_eq!((index.len(), index.trained()), (n, None));
    index.add(&[9999], &rows[..dim]).expect("a legal vector");
    assert_eq!((index.len(), index.trained().is_some()), (n + 1, true));
}

#[test]
fn threads_change_no_result() {
    let (n, dim) = (3000, 16);
    let (rows, queries) = (vectors(n, dim, 6), vectors(80, dim, 7));
    for factory in ["Flat", "HNSW16", "IVF16,Flat", "SQ8"] {
        let [one, two] = [1, 2].map(|threads| {
            let mut index = boxed(dim, FaissConfig { threads, ..early(factory) });
            // A graph depends on the order in which threads link vectors, so it is built by one.
            if factory.starts_with("HNSW") {
                index = boxed(dim, FaissConfig { threads: 1, ..early(factory) });
            }
            index.add(&ids(n), &rows).expect("legal vectors");
            index
        });
        let batch = two.search_batch(&queries, 5).expect("legal queries");
        assert_eq!(batch, one.search_batch(&queries, 5).expect("legal queries"), "{factory}");
        let single = queries.chunks_exact(dim).map(|query| one.search(query, 5, None).expect("legal"));
        assert_eq!(batch, single.collect::<Vec<_>>(), "{factory}");
    }
}

#[test]
fn a_life_of_additions_removals_and_restarts_keeps_every_vector() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let dim = 8;
    let pool = vectors(3000, dim, 8);
    for (factory, score_error) in [
        ("Flat", 1e-5),
        ("HNSW8", 1e-5),
        ("IVF,Flat", 1e-5),
        ("SQ8", 0.5),
        ("IVF,SQ8", 0.5),
        ("IVF4,PQ4", 1.0),
    ] {
        let bounds = Bounds { recall: 0.0, score_error };
        let mut index = boxed(dim, early(factory));
        let mut oracle = Oracle::default();
        for step in 0..60_usize {
            let ids: Vec<VectorId> =
                (0..70).map(|i| ((step * 53 + i * (1 + step % 7)) % 900) as u64).collect();
            let first = step * 47 % 2900;
            match step % 4 {
                3 => assert_eq!(index.remove(&ids).expect("removal"), oracle.remove(&ids)),
                _ => {
                    let rows = &pool[first * dim..(first + ids.len()) * dim];
                    index.add(&ids, rows).expect("legal vectors");
                    oracle.add(&ids, rows);
                }
            }
            if step % 5 == 4 {
                let label = Label { model_id: factory.to_owned(), generation: step as u64 };
                index.save(&path, &label).expect("saving");
                index = boxed(dim, early(factory));
                assert_eq!(index.load(&path).expect("loading"), label);
            }
            assert_eq!(index.len(), oracle.len(), "{factory}");
            let query = &pool[first * dim..(first + 1) * dim];
            for k in [1, 10, usize::MAX] {
                let found = index.search(query, k, None).expect("a legal query");
                oracle.compare_within(bounds, (query, k), |_| true, &found);
                let odd = index.search(query, k, Some(&|id| id % 2 == 1)).expect("a legal query");
                oracle.compare_within(bounds, (query, k), |id| id % 2 == 1, &odd);
            }
        }
    }
}
