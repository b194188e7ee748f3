//! Evaluation of dialogue memories.
//!
//! [`datasets`] reads dialogue files, [`metrics`] scores answers and retrieval; both are always built. `bench` runs
//! memories and needs the feature `bench`.

#[cfg(feature = "bench")]
pub mod bench;
pub mod datasets;
pub mod metrics;
