//! The parts that a memory is put together from, one for each port.

use std::{path::PathBuf, sync::Arc};

use fta_index::{Embedder, IndexError, VectorIndex};
use fta_retrieve::{Answerer, QueryRewriter};
use fta_segment::Segmenter;
use fta_units::{RelationClassifier, UnitExtractor, UnitStore, longitudinal::LongitudinalUpdater};

use crate::{MemoryConfig, fallback::Fallback, journal::Journal, vectors::IndexMaker};

/// Makes an empty index for vectors of the given dimension.
pub type IndexFactory = dyn Fn(usize) -> Result<Box<dyn VectorIndex>, IndexError> + Send + Sync;

/// One back end for each port, and the settings.
pub(crate) struct Parts {
    pub(crate) store: Arc<dyn UnitStore>,
    pub(crate) embedder: Arc<dyn Embedder>,
    pub(crate) index: IndexMaker,
    /// Where files of indexes are kept; `None` for a memory without a directory.
    pub(crate) index_directory: Option<PathBuf>,
    /// Where vectors of a re-embedding are gathered; `None` for a memory without a directory.
    pub(crate) staging: Option<PathBuf>,
    pub(crate) segmenter: Arc<dyn Segmenter>,
    pub(crate) extractor: Arc<dyn UnitExtractor>,
    pub(crate) classifier: Arc<dyn RelationClassifier>,
    pub(crate) longitudinal: Arc<dyn LongitudinalUpdater>,
    pub(crate) rewriter: Arc<dyn QueryRewriter>,
    pub(crate) answerer: Arc<dyn Answerer>,
    /// What does a step when its part fails; `None` stops the call.
    pub(crate) fallback: Option<Fallback>,
    pub(crate) journal: Journal,
    pub(crate) config: MemoryConfig,
}

/// Runs a computation or a disk access off the async threads.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, crate::Error> + Send + 'static,
) -> Result<T, crate::Error> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(crate::Error::Task { message: error.to_string() }),
    }
}
