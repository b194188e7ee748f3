//! Ports to text embedding and vector search, with conformance suites, and back ends behind features.
//!
//! This crate knows texts and vectors; it knows nothing of dialogues, units or language models.

pub mod check;
pub mod embed;
pub mod error;
pub mod exact;
mod file;
pub mod hash;
pub mod spec;
pub mod vector;

#[cfg(feature = "testing")]
pub mod conformance;
#[cfg(feature = "testing")]
pub mod testing;

#[cfg(feature = "weights")]
pub mod weights;

#[cfg(feature = "candle")]
pub mod candle;

#[cfg(feature = "faiss")]
pub mod faiss;

#[cfg(feature = "cache")]
pub mod cached;

#[cfg(feature = "http")]
pub mod remote;

pub use embed::{Embedder, Embeddings};
pub use error::{EmbedError, IndexError};
pub use exact::ExactIndex;
pub use file::Label;
pub use hash::HashEmbedder;
pub use spec::IndexSpec;
pub use vector::{Filter, Hit, VectorId, VectorIndex};
