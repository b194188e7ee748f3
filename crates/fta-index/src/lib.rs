//! Ports to text embedding and vector search, with conformance suites, and back ends behind features.
//!
//! This crate knows texts and vectors; it knows nothing of dialogues, units or language models.

pub mod embed;
pub mod error;
pub mod vector;

pub use embed::{Embedder, Embeddings};
pub use error::{EmbedError, IndexError};
pub use vector::{Filter, Hit, VectorId, VectorIndex};
