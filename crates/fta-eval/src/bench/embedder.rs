//! The embedder of all arms.

use std::{path::Path, sync::Arc};

use fta_mem::index::{
    Embedder,
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
    let files = resolver.resolve(&ALL_MINILM_L6_V2, &mut |_| {})?;
    Ok(Arc::new(BertEmbedder::from_files(&files)?))
}
