//! The indexes of faiss against the contract.

use fta_index::{
    ExactIndex, IndexError, Label, VectorId, VectorIndex,
    conformance::{self, Bounds},
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
