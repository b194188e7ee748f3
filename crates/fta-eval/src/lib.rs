//! Evaluation of dialogue memories.
//!
//! [`datasets`] reads dialogue files, [`metrics`] scores answers and retrieval, [`stats`] compares scores; all three are
//! always built. `bench` runs memories on data sets and `judges` score answers by a language model; both need the
//! feature `bench`.

#[cfg(feature = "bench")]
pub mod bench;
pub mod datasets;
mod digest;
#[cfg(feature = "bench")]
pub mod judges;
pub mod metrics;
pub mod report;
pub mod run;
pub mod stats;
#[cfg(feature = "bench")]
pub mod systems;
