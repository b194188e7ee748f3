//! Evaluation of dialogue memories.
//!
//! [`datasets`] reads dialogue files and is always built; `bench` runs memories on them and needs the feature `bench`.

#[cfg(feature = "bench")]
pub mod bench;
pub mod datasets;
