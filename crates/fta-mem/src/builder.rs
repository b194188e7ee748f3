//! Builds a [`Memory`]: one call for each port and setting.

use std::{path::PathBuf, sync::Arc};

use fta_index::{Embedder, IndexError, VectorIndex};
use fta_retrieve::{Answerer, QueryRewriter};
use fta_units::{RelationClassifier, UnitExtractor, UnitStore};

use crate::{Error, Memory, MemoryConfig};

/// Builds a [`Memory`].
#[derive(Default)]
pub struct MemoryBuilder {
    pub(crate) path: Option<PathBuf>,
    pub(crate) embedder: Option<Arc<dyn Embedder>>,
}

impl MemoryBuilder {
    /// Keeps the memory in this directory, which is made if it is not there.
    pub fn path(mut self, directory: impl Into<PathBuf>) -> Self {
        self.path = Some(directory.into());
        self
    }
    /// Keeps the memory in memory only.
    pub fn in_memory(self) -> Self {
        self
    }
    /// Sets the embedder (required).
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }
    /// Replaces the extractor.
    pub fn extractor(self, _extractor: Arc<dyn UnitExtractor>) -> Self {
        self
    }
    /// Replaces the relation classifier.
    pub fn classifier(self, _classifier: Arc<dyn RelationClassifier>) -> Self {
        self
    }
    /// Replaces the query rewriter.
    pub fn rewriter(self, _rewriter: Arc<dyn QueryRewriter>) -> Self {
        self
    }
    /// Replaces the answerer.
    pub fn answerer(self, _answerer: Arc<dyn Answerer>) -> Self {
        self
    }
    /// Replaces the store.
    pub fn store(self, _store: Arc<dyn UnitStore>) -> Self {
        self
    }
    /// Replaces the vector index: `make` gets the dimension.
    pub fn index(
        self,
        _make: impl Fn(usize) -> Result<Box<dyn VectorIndex>, IndexError> + Send + Sync + 'static,
    ) -> Self {
        self
    }
    /// Replaces the settings.
    pub fn config(self, _config: MemoryConfig) -> Self {
        self
    }
    /// Opens the memory.
    pub fn build(self) -> Result<Memory, Error> {
        todo!()
    }
}
