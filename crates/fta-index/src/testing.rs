//! What tests of other crates use.

pub use crate::hash::HashEmbedder;
