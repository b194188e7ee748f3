//! The ports can be held behind pointers and shared between threads.

use std::sync::Arc;

use fta_index::testing::HashEmbedder;
use fta_index::{Embedder, ExactIndex, VectorIndex, conformance};

fn shared<T: Send + Sync + ?Sized>() {}

#[test]
fn ports_are_dyn_compatible_and_shared() {
    shared::<dyn Embedder>();
    shared::<dyn VectorIndex>();
    shared::<Arc<dyn Embedder>>();
    shared::<ExactIndex>();
    let arc: Arc<dyn Embedder> = Arc::new(HashEmbedder::new(8));
    let boxed: Box<dyn Embedder> = Box::new(Arc::clone(&arc));
    assert_eq!((boxed.dim(), boxed.model_id()), (8, "hash-8"));
    assert_eq!((&&*arc).embed(&["x"]).expect("a vector").len(), 1);
}

#[test]
fn the_embedder_for_tests_keeps_the_contract() {
    for dim in [1, 2, 256] {
        conformance::embedder(&HashEmbedder::new(dim));
    }
}
