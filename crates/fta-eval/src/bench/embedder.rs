//! The embedder of all arms.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Instant,
};

use fta_mem::index::{
    EmbedError, Embedder, Embeddings,
    cached::CachedEmbedder,
    candle::BertEmbedder,
    weights::{ALL_MINILM_L6_V2, WeightsResolver},
};

use super::BenchError;

/// all-MiniLM-L6-v2 on the CPU, from `model_dir`, or from the cache or a download where that is `None`.
///
/// # Errors
/// [`BenchError::Weights`] if the files cannot be had, [`BenchError::Model`] if they cannot be used.
pub fn embedder(model_dir: Option<&Path>) -> Result<Arc<dyn Embedder>, BenchError> {
    let resolver = WeightsResolver { directory: model_dir.map(Path::to_owned), ..WeightsResolver::default() };
    let files =
        resolver.resolve(&ALL_MINILM_L6_V2, &mut |_| {}).map_err(|e| BenchError::Weights(Box::new(e)))?;
    Ok(Arc::new(BertEmbedder::from_files(&files).map_err(|e| BenchError::Model(Box::new(e)))?))
}

/// As [`embedder`], with its vectors kept in a file, so that the next run embeds no text again. Times of embedding mean
/// nothing then.
///
/// # Errors
/// As [`embedder`]; [`BenchError::Cache`] if the file cannot be used.
pub fn cached_embedder(model_dir: Option<&Path>, cache: &Path) -> Result<Arc<dyn Embedder>, BenchError> {
    let cached = CachedEmbedder::open(embedder(model_dir)?, cache, CACHED)
        .map_err(|error| BenchError::Cache(Box::new(error)))?;
    Ok(Arc::new(cached))
}

/// Vectors that a cache keeps at most: some 3 GB of MiniLM's.
const CACHED: usize = 2_000_000;

/// Counts what an embedder does.
pub(super) struct Metered {
    inner: Arc<dyn Embedder>,
    texts: AtomicUsize,
    nanoseconds: AtomicU64,
}

impl Metered {
    pub(super) fn new(inner: Arc<dyn Embedder>) -> Self {
        Self { inner, texts: AtomicUsize::new(0), nanoseconds: AtomicU64::new(0) }
    }

    /// Texts embedded so far.
    pub(super) fn texts(&self) -> usize {
        self.texts.load(Ordering::Relaxed)
    }

    /// Seconds spent in the embedder so far, summed over threads.
    pub(super) fn seconds(&self) -> f64 {
        self.nanoseconds.load(Ordering::Relaxed) as f64 / 1e9
    }
}

impl Embedder for Metered {
    fn model_id(&self) -> &str {
        self.inner.model_id()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let start = Instant::now();
        let rows = self.inner.embed(texts);
        self.nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        rows
    }
}
