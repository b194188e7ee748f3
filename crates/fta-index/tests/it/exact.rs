//! The exact index against its contract and against a naive scan.

use fta_index::conformance::{self, Oracle};
use fta_index::exact::{ExactConfig, Precision};
use fta_index::{ExactIndex, IndexError, Label, VectorId, VectorIndex};
use proptest::prelude::*;

fn new(dim: usize) -> ExactIndex {
    ExactIndex::new(dim).expect("a legal dimension")
}

fn int8(dim: usize) -> ExactIndex {
    let config = ExactConfig { precision: Precision::Int8, ..ExactConfig::default() };
    ExactIndex::with_config(dim, config).expect("a legal dimension")
}

fn label() -> Label {
    Label::default()
}

#[test]
fn f32_keeps_the_contract() {
    conformance::vector_index(|dim| Box::new(new(dim)));
}

#[test]
fn int8_keeps_the_contract() {
    conformance::vector_index(|dim| Box::new(int8(dim)));
}

#[test]
fn refuses_dimensions_that_it_cannot_hold() {
    assert!(matches!(ExactIndex::new(0), Err(IndexError::Shape { dim: 0, .. })));
    let config = ExactConfig { precision: Precision::Int8, ..ExactConfig::default() };
    assert!(ExactIndex::with_config(1 << 16, config).is_ok());
    assert!(matches!(ExactIndex::with_config((1 << 16) + 1, config), Err(IndexError::Shape { .. })));
}

#[test]
fn gives_vectors_back() {
    let mut index = new(2);
    index.add(&[4, 5], &[1.0, 0.0, 0.0, -1.0]).expect("legal vectors");
    index.remove(&[4]).expect("removal");
    assert_eq!(index.vector(5).expect("in memory"), Some(&[0.0, -1.0][..]));
    assert_eq!(index.vector(4).expect("in memory"), None);
}

#[test]
fn bytes_depend_on_the_content_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    let mut index = new(2);
    index.add(&[1, 2, 3], &[1.0, 0.0, 0.0, 1.0, 0.0, -1.0]).expect("legal vectors");
    index.remove(&[1]).expect("removal");
    index.save(&a, &label()).expect("saving");
    let mut other = new(2);
    other.add(&[2], &[0.0, 1.0]).expect("a legal vector");
    other.add(&[3], &[0.0, -1.0]).expect("a legal vector");
    other.save(&b, &label()).expect("saving");
    assert_eq!(std::fs::read(a).expect("a file"), std::fs::read(b).expect("a file"));
}

/// A file with right checksums, whatever its content.
fn crafted(dim: u32, count: u64, ids: &[u64], values: &[f32]) -> Vec<u8> {
    let sections: [Vec<u8>; 2] = [
        ids.iter().flat_map(|id| id.to_le_bytes()).collect(),
        values.iter().flat_map(|value| value.to_le_bytes()).collect(),
    ];
    let mut head = b"FTAINDEX".to_vec();
    head.extend(2_u32.to_le_bytes());
    head.extend([0; 4]);
    head.extend(5_u16.to_le_bytes());
    head.extend(b"exact");
    head.extend(0_u16.to_le_bytes());
    head.extend(0_u64.to_le_bytes());
    head.extend(dim.to_le_bytes());
    head.push(1);
    head.extend(count.to_le_bytes());
    head.extend(2_u32.to_le_bytes());
    for (section, block) in sections.iter().zip([1 << 20, 256 * 4 * dim]) {
        head.extend((section.len() as u64).to_le_bytes());
        head.extend(block.to_le_bytes());
        head.extend(crc32fast::hash(section).to_le_bytes());
    }
    let length = head.len() as u32 + 4;
    head[12..16].copy_from_slice(&length.to_le_bytes());
    let sum = crc32fast::hash(&head);
    head.extend(sum.to_le_bytes());
    for section in sections {
        head.resize(head.len().next_multiple_of(64), 0);
        head.extend(section);
    }
    head
}

#[test]
fn a_right_checksum_is_not_enough() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("index");
    let mut index = new(2);
    index.add(&[8], &[1.0, 0.0]).expect("a legal vector");
    let mut check = |bytes: Vec<u8>, reason: &str| {
        std::fs::write(&path, bytes).expect("writing");
        let error = index.load(&path).expect_err(reason);
        assert!(matches!(error, IndexError::File { .. }) && error.to_string().contains(reason), "{error}");
        assert!(index.contains(8) && index.len() == 1);
    };
    check(crafted(2, u64::MAX, &[1], &[1.0, 0.0]), "do not fit");
    check(crafted(2, 1 << 60, &[1], &[1.0, 0.0]), "do not fit");
    check(crafted(2, 2, &[1, 1], &[1.0, 0.0, 1.0, 0.0]), "ids");
    check(crafted(2, 2, &[2, 1], &[1.0, 0.0, 1.0, 0.0]), "ids");
    check(crafted(2, 1, &[1 << 63], &[1.0, 0.0]), "ids");
    check(crafted(2, 1, &[1], &[f32::NAN, 0.0]), "not finite");
    check(crafted(2, 1, &[1], &[0.5, 0.5]), "norm");
    std::fs::write(&path, crafted(2, 1, &[1], &[0.6, 0.8])).expect("writing");
    index.load(&path).expect("a legal file");
    assert_eq!(index.vector(1).expect("in memory"), Some(&[0.6, 0.8][..]));
}

#[derive(Debug, Clone)]
enum Step {
    Add(Vec<(VectorId, Vec<f32>)>),
    Remove(Vec<VectorId>),
    Reload,
}

fn unit(dim: usize) -> impl Strategy<Value = Vec<f32>> {
    prop::collection::vec(-1.0_f32..1.0, dim).prop_map(|mut vector| {
        vector[0] += 1.5;
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        for x in &mut vector {
            *x /= norm;
        }
        vector
    })
}

fn history() -> impl Strategy<Value = (usize, Vec<Step>, Vec<f32>)> {
    (1_usize..70).prop_flat_map(|dim| {
        let add = prop::collection::btree_map(0_u64..50, unit(dim), 0..20);
        let step = prop_oneof![
            4 => add.prop_map(|batch| Step::Add(batch.into_iter().collect())),
            2 => prop::collection::vec(0_u64..50, 0..8).prop_map(Step::Remove),
            1 => Just(Step::Reload),
        ];
        (Just(dim), prop::collection::vec(step, 1..12), unit(dim))
    })
}

proptest! {
    #[test]
    fn any_history_agrees_with_the_naive_scan((dim, steps, query) in history(), k in 0_usize..60) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("index");
        let (mut index, mut oracle) = (new(dim), Oracle::default());
        for step in steps {
            match step {
                Step::Add(batch) => {
                    let ids: Vec<_> = batch.iter().map(|(id, _)| *id).collect();
                    let vectors: Vec<_> = batch.into_iter().flat_map(|(_, vector)| vector).collect();
                    index.add(&ids, &vectors).expect("legal vectors");
                    oracle.add(&ids, &vectors);
                }
                Step::Remove(ids) => {
                    prop_assert_eq!(index.remove(&ids).expect("removal"), oracle.remove(&ids));
                }
                Step::Reload => {
                    index.save(&path, &label()).expect("saving");
                    index = new(dim);
                    index.load(&path).expect("loading");
                }
            }
            prop_assert_eq!(index.len(), oracle.len());
            let plain = index.search(&query, k, None).expect("legal");
            oracle.compare(&query, k, |_| true, &plain);
            let filtered = index.search(&query, k, Some(&|id| id % 3 == 1)).expect("legal");
            oracle.compare(&query, k, |id| id % 3 == 1, &filtered);
            let batch = index.search_batch(&[&query[..], &query].concat(), k).expect("legal");
            prop_assert_eq!(&batch, &vec![plain.clone(), plain]);
        }
    }
}
