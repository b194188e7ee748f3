//! Evaluation of dialogue memories.
//!
//! [`datasets`] reads dialogue files, [`metrics`] scores answers and retrieval, [`stats`] compares scores; all three are
//! always built. `bench` runs memories on data sets and needs the feature `bench`.

#[cfg(feature = "bench")]
pub mod bench;
pub mod datasets;
pub mod metrics;
pub mod report;
pub mod run;
pub mod stats;
#[cfg(feature = "bench")]
pub mod systems;
