//! An index that leaves its vectors in the file: the same hits, and no damaged vector is ever used.

use fta_index::{
    ExactIndex, IndexError, Label, VectorIndex,
    conformance::Oracle,
    exact::{ExactConfig, Precision},
};

const DIM: usize = 24;

fn new(precision: Precision) -> ExactIndex {
    ExactIndex::with_config(DIM, ExactConfig { precision, ..ExactConfig::default() }).expect("legal")
}

/// Unit vectors by chance, the same each time.
fn vectors(n: usize, seed: u64) -> Vec<f32> {
    let mut state = seed;
    let mut value = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1_u32 << 24) as f32 - 0.5
    };
    let mut values: Vec<f32> = (0..n * DIM).map(|_| value()).collect();
    for row in values.chunks_exact_mut(DIM) {
        let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
        for x in row {
            *x /= norm;
        }
    }
    values
}

#[test]
fn an_opened_index_is_searched_and_changed_like_any_other() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    for precision in [Precision::F32, Precision::Int8] {
        // Whole blocks, and some rows more; and blocks alone.
        for n in [1000, 512, 3, 0] {
            let (mut saved, mut oracle) = (new(precision), Oracle::default());
            let ids: Vec<u64> = (0..n as u64).map(|i| i * 7 % 1009).collect();
            let rows = vectors(n, 5);
            saved.add(&ids, &rows).expect("legal");
            oracle.add(&ids, &rows);
            let label = Label { model_id: "m".to_owned(), generation: 3 };
            saved.save(&path, &label).expect("saving");
            let mut opened = new(precision);
            assert_eq!(opened.open(&path).expect("opening"), label);
            let queries = vectors(5, 9);
            let agree = |index: &ExactIndex, oracle: &Oracle| {
                assert_eq!(index.len(), oracle.len());
                for query in queries.chunks_exact(DIM) {
                    oracle.compare(query, 9, |_| true, &index.search(query, 9, None).expect("legal"));
                    let odd = index.search(query, 9, Some(&|id| id % 2 == 1)).expect("legal");
                    oracle.compare(query, 9, |id| id % 2 == 1, &odd);
                }
                let batch = index.search_batch(&queries, 9).expect("legal");
                for (query, hits) in queries.chunks_exact(DIM).zip(&batch) {
                    assert_eq!(hits, &index.search(query, 9, None).expect("legal"));
                }
            };
            agree(&opened, &oracle);
            // Replaced, removed and added rows, in blocks of the file and behind them.
            let more = vectors(700, 6);
            let new_ids: Vec<u64> = (0..700).map(|i| if i % 3 == 0 { i } else { 5000 + i }).collect();
            opened.add(&new_ids, &more).expect("legal");
            oracle.add(&new_ids, &more);
            agree(&opened, &oracle);
            let gone: Vec<u64> = (0..6000).filter(|id| id % 5 < 3).collect();
            assert_eq!(opened.remove(&gone).expect("removal"), oracle.remove(&gone));
            agree(&opened, &oracle);
            // It can take the place of the file it lives in.
            opened.save(&path, &label).expect("saving");
            let mut again = new(precision);
            again.open(&path).expect("opening");
            agree(&again, &oracle);
            agree(&opened, &oracle);
        }
    }
}

#[test]
fn damage_is_an_error_when_it_is_met() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    for precision in [Precision::F32, Precision::Int8] {
        let mut saved = new(precision);
        let ids: Vec<u64> = (0..700).collect();
        saved.add(&ids, &vectors(700, 1)).expect("legal");
        saved.save(&path, &Label::default()).expect("saving");
        let query = vectors(1, 2);
        let expect = saved.search(&query, 10, None).expect("legal");
        let good = std::fs::read(&path).expect("the file");
        let mut found_late = 0;
        for case in 0..2000_usize {
            let mut bytes = good.clone();
            if case % 4 == 0 {
                bytes.truncate(case * 7919 % good.len());
            } else {
                let at = case * 104_729 % good.len();
                bytes[at] ^= 1 << (case % 8);
            }
            // Beside the old file and renamed, as `save` does: a mapped file must not be written to.
            let next = folder.path().join("next");
            std::fs::write(&next, &bytes).expect("writing");
            std::fs::rename(&next, &path).expect("renaming");
            let mut opened = new(precision);
            match opened.open(&path).and_then(|_| opened.search(&query, 10, None)) {
                // The damage is where this search did not look.
                Ok(hits) => assert_eq!(hits, expect),
                Err(error) => {
                    assert!(matches!(error, IndexError::File { .. }), "{error:?}");
                    found_late += usize::from(opened.len() == 700);
                }
            }
            assert!(
                opened.save(&folder.path().join("copy"), &Label::default()).is_err()
                    || opened.is_empty()
                    || {
                        let mut copy = new(precision);
                        copy.load(&folder.path().join("copy")).expect("what could be saved is whole");
                        copy.search(&query, 10, None).expect("whole") == expect
                    }
            );
        }
        assert!(found_late > 500, "{found_late}");
    }
}
