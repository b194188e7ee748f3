//! Evaluation of dialogue memories.
//!
//! [`datasets`] reads dialogue files and [`stats`] compares scores; both are always built. `bench` runs memories on
//! data sets and needs the feature `bench`.

#[cfg(feature = "bench")]
pub mod bench;
pub mod datasets;
pub mod stats;
