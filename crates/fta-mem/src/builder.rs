//! Builds a [`Memory`]: one call for each port and setting.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use fta_index::{Embedder, IndexError, IndexSpec, VectorIndex};
use fta_retrieve::{Answerer, ExtractiveAnswerer, ExtractiveConfig, QueryRewriter, RuleRewriter};
use fta_segment::{Bws, BwsConfig, CohesionConfig, CohesionDetector, SegmentError, Segmenter};
use fta_units::{
    RelationClassifier, UnitExtractor, UnitStore,
    link::RuleClassifier,
    longitudinal::{LongitudinalUpdater, RuleUpdater},
    offline::RuleExtractor,
    store::MemoryStore,
};

use crate::{
    Error, Memory, MemoryConfig, OnFailure, fallback::Fallback, journal::Journal, parts::Parts,
    vectors::IndexMaker,
};

/// Name of the store's file in the data directory.
#[cfg(feature = "redb")]
pub(crate) const STORE_FILE: &str = "memory.redb";

/// Name of the folder of vector indexes in the data directory.
const INDEX_DIRECTORY: &str = "index";

/// Name of the file in the data directory that a re-embedding gathers vectors in.
const STAGING_FILE: &str = "reindex.redb";

/// Builds a [`Memory`]. Everything but the embedder has an offline default.
#[derive(Default)]
#[must_use]
pub struct MemoryBuilder {
    path: Option<PathBuf>,
    store: Option<Arc<dyn UnitStore>>,
    embedder: Option<Arc<dyn Embedder>>,
    index: Option<IndexMaker>,
    segmenter: Option<Arc<dyn Segmenter>>,
    extractor: Option<Arc<dyn UnitExtractor>>,
    classifier: Option<Arc<dyn RelationClassifier>>,
    longitudinal: Option<Arc<dyn LongitudinalUpdater>>,
    rewriter: Option<Arc<dyn QueryRewriter>>,
    answerer: Option<Arc<dyn Answerer>>,
    on_failure: OnFailure,
    journal: Journal,
    config: MemoryConfig,
}

impl MemoryBuilder {
    /// Keeps the memory in this directory, which is made if it is not there.
    pub fn path(mut self, directory: impl Into<PathBuf>) -> Self {
        self.path = Some(directory.into());
        self
    }

    /// Keeps the memory in memory only; the default when neither a path nor a store is given.
    pub fn in_memory(mut self) -> Self {
        self.path = None;
        self.store = None;
        self
    }

    /// Replaces the store.
    pub fn store(mut self, store: Arc<dyn UnitStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// Sets the embedder (required).
    pub fn embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Says which vector index is used; [`IndexSpec::Auto`] unless told. Another one than before is built from the store.
    pub fn index(mut self, spec: IndexSpec) -> Self {
        self.index = Some(IndexMaker::Spec(spec));
        self
    }

    /// Brings an own vector index: `make` gets the dimension and gives an empty index.
    pub fn index_with(
        mut self,
        make: impl Fn(usize) -> Result<Box<dyn VectorIndex>, IndexError> + Send + Sync + 'static,
    ) -> Self {
        self.index = Some(IndexMaker::Factory(Box::new(make)));
        self
    }

    /// Replaces the segmenter.
    pub fn segmenter(mut self, segmenter: Arc<dyn Segmenter>) -> Self {
        self.segmenter = Some(segmenter);
        self
    }

    /// Replaces the unit extractor.
    pub fn extractor(mut self, extractor: Arc<dyn UnitExtractor>) -> Self {
        self.extractor = Some(extractor);
        self
    }

    /// Replaces the relation classifier.
    pub fn classifier(mut self, classifier: Arc<dyn RelationClassifier>) -> Self {
        self.classifier = Some(classifier);
        self
    }

    /// Replaces what keeps the longitudinal memory.
    pub fn longitudinal(mut self, updater: Arc<dyn LongitudinalUpdater>) -> Self {
        self.longitudinal = Some(updater);
        self
    }

    /// Replaces the query rewriter.
    pub fn rewriter(mut self, rewriter: Arc<dyn QueryRewriter>) -> Self {
        self.rewriter = Some(rewriter);
        self
    }

    /// Replaces the answerer.
    pub fn answerer(mut self, answerer: Arc<dyn Answerer>) -> Self {
        self.answerer = Some(answerer);
        self
    }

    /// Says what happens when a step fails; [`OnFailure::FallBack`] unless told.
    pub fn on_failure(mut self, on_failure: OnFailure) -> Self {
        self.on_failure = on_failure;
        self
    }

    /// Says how to remove the replies that a model's decorator keeps while sessions are built (see
    /// [`fta_llm::DiskCache`]). `clear` is called when every build that was going on is stored, and after a deletion: the
    /// replies hold what was said.
    pub fn journal(mut self, clear: impl Fn() -> std::io::Result<()> + Send + Sync + 'static) -> Self {
        self.journal = Journal::new(Box::new(clear));
        self
    }

    /// Replaces the settings.
    pub fn config(mut self, config: MemoryConfig) -> Self {
        self.config = config;
        self
    }

    /// Opens the memory.
    ///
    /// # Errors
    /// [`Error::Missing`] without an embedder, [`Error::Setting`] for a setting out of range, [`Error::Directory`] if the
    /// data directory cannot be made, [`Error::Store`] if the store cannot be opened.
    pub fn build(self) -> Result<Memory, Error> {
        self.config.validate()?;
        let embedder = self.embedder.ok_or(Error::Missing {
            part: "an embedder",
            remedy: "call `MemoryBuilder::embedder`, for example with the MiniLM of the feature `candle`",
        })?;
        let (store, directory) = match (self.store, self.path) {
            (Some(store), _) => (store, None),
            (None, Some(path)) => (open_store(&path)?, Some(path)),
            (None, None) => (Arc::new(MemoryStore::new()) as Arc<dyn UnitStore>, None),
        };
        let offline = Fallback {
            segmenter: default_segmenter()?,
            extractor: Arc::new(RuleExtractor::default()),
            classifier: Arc::new(RuleClassifier::default()),
            longitudinal: Arc::new(RuleUpdater),
            rewriter: Arc::new(RuleRewriter),
            answerer: Arc::new(ExtractiveAnswerer::new(ExtractiveConfig::default(), Some(embedder.clone()))),
        };
        Ok(Memory::new(Parts {
            store,
            index: self.index.unwrap_or(IndexMaker::Spec(IndexSpec::Auto)),
            index_directory: directory.as_ref().map(|directory| directory.join(INDEX_DIRECTORY)),
            staging: directory.map(|directory| directory.join(STAGING_FILE)),
            segmenter: self.segmenter.unwrap_or_else(|| offline.segmenter.clone()),
            extractor: self.extractor.unwrap_or_else(|| offline.extractor.clone()),
            classifier: self.classifier.unwrap_or_else(|| offline.classifier.clone()),
            longitudinal: self.longitudinal.unwrap_or_else(|| offline.longitudinal.clone()),
            rewriter: self.rewriter.unwrap_or_else(|| offline.rewriter.clone()),
            answerer: self.answerer.unwrap_or_else(|| offline.answerer.clone()),
            embedder,
            fallback: (self.on_failure == OnFailure::FallBack).then_some(offline),
            journal: self.journal,
            config: self.config,
        }))
    }
}

/// BWS over lexical cohesion. The detector can use embeddings too, but then every turn is embedded once more.
fn default_segmenter() -> Result<Arc<dyn Segmenter>, Error> {
    let settings = |error: SegmentError| Error::Setting {
        setting: "segmentation",
        value: error.to_string(),
        expected: "settings that the segmenter takes",
    };
    let detector = CohesionDetector::new(CohesionConfig::default()).map_err(settings)?;
    Ok(Arc::new(Bws::new(BwsConfig::default(), Arc::new(detector)).map_err(settings)?))
}

#[cfg(feature = "redb")]
fn open_store(directory: &Path) -> Result<Arc<dyn UnitStore>, Error> {
    std::fs::create_dir_all(directory)
        .map_err(|source| Error::Directory { path: directory.to_owned(), source })?;
    Ok(Arc::new(fta_units::store::RedbStore::open(&directory.join(STORE_FILE))?))
}

#[cfg(not(feature = "redb"))]
fn open_store(_directory: &Path) -> Result<Arc<dyn UnitStore>, Error> {
    Err(Error::Missing {
        part: "a durable store",
        remedy: "build with the feature `redb` or call `MemoryBuilder::store`",
    })
}
