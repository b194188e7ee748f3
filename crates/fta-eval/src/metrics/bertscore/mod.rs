//! BERTScore: word pieces of answer and gold matched by the cosines of their hidden states.

mod cache;
mod encoder;

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;

use self::{
    cache::Cache,
    encoder::{Encoder, Pieces},
};
use super::{Cleaning, Need, Observation, ScoreError, Scorer, clean_answer, words::trim};

/// How BERTScore is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BertScoreConfig {
    /// The layer whose hidden states are compared, from 1; 9 is the package's choice for bert-base-uncased.
    pub layer: usize,
    /// Tokens of a text that are read, the two at its ends included; at most those that the model has positions for.
    pub window: usize,
    /// Bytes of hidden states that are kept, so that a gold text is not encoded for each answer.
    pub cache_bytes: usize,
}

impl Default for BertScoreConfig {
    fn default() -> Self {
        Self { layer: 9, window: 512, cache_bytes: 64 << 20 }
    }
}

/// BERTScore of two texts, each number in `[-1, 1]` and in practice above 0.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct BertScores {
    /// Mean over the candidate's word pieces of their best cosine in the reference.
    pub precision: f64,
    /// Mean over the reference's word pieces of their best cosine in the candidate.
    pub recall: f64,
    /// Harmonic mean of both.
    pub f1: f64,
}

/// A score by BERTScore that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BertScoreError {
    /// A file cannot be read.
    #[error(
        "`{path}` cannot be read; the folder must hold config.json, tokenizer.json and model.safetensors"
    )]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file is damaged, or of another model than the others.
    #[error("`{path}` is damaged or of another model: {reason}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// The model is of a kind that cannot be run.
    #[error("`{path}` describes a model that is not supported: {reason}")]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What is not supported.
        reason: String,
    },
    /// The model has no such layer.
    #[error("layer `{layer}` is not there: the model has layers 1 to `{layers}`")]
    Layer {
        /// The layer asked for.
        layer: usize,
        /// Layers of the model.
        layers: usize,
    },
    /// The window leaves no room between the tokens at a text's ends.
    #[error("a window of `{window}` tokens holds no text; 3 are the least")]
    Window {
        /// The window.
        window: usize,
    },
    /// A text cannot be encoded.
    #[error("a text of `{bytes}` bytes cannot be encoded: {reason}")]
    Encode {
        /// Its length.
        bytes: usize,
        /// What is wrong.
        reason: String,
    },
}

/// BERTScore by a model from a folder, on the CPU; a clone shares the model.
///
/// As a [`Scorer`] its score is the F1 of gold and answer, the answer cleaned as in ES-MemEval
/// ([`clean_answer`]), for every question with a gold answer. It scores off the asynchronous threads and needs a tokio
/// runtime.
///
/// # Source
/// Zhang et al. (2020) as in the package `bert-score` 0.3.13 without idf and without rescaling, which is what ES-MemEval
/// reports (data notes, section 7).
#[derive(Clone)]
pub struct BertScore {
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    encoder: Encoder,
    cache: Mutex<Cache>,
}

impl BertScore {
    /// Loads a BERT, RoBERTa or XLM-RoBERTa (`model_type` of its `config.json`) from a folder, up to the layer used.
    ///
    /// # Errors
    /// [`BertScoreError::Read`] for a file that is not there, [`BertScoreError::Damaged`] for one that cannot be used,
    /// [`BertScoreError::Unsupported`] for another kind of model, [`BertScoreError::Layer`] and
    /// [`BertScoreError::Window`] for settings that do not fit.
    pub fn load(directory: &Path, config: BertScoreConfig) -> Result<Self, BertScoreError> {
        let encoder = Encoder::load(directory, config)?;
        // Resolves links and `.`, so that the name is the folder's own.
        let folder = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let folder = folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let name = match (folder.as_str(), config.layer) {
            ("bert-base-uncased", 9) => "bertscore".to_owned(),
            (folder, layer) => format!("bertscore:{folder}:L{layer}"),
        };
        let cache = Mutex::new(Cache::new(config.cache_bytes));
        Ok(Self { shared: Arc::new(Shared { name, encoder, cache }) })
    }

    /// Scores a candidate against a reference, as they stand but for white space at their ends.
    ///
    /// Each word piece is matched with the best of all tokens of the other side, the special ones at its ends included;
    /// the means are over word pieces alone. Texts are cut at the window. 0 if a side has no word piece.
    ///
    /// # Errors
    /// [`BertScoreError::Encode`] if a text cannot be encoded.
    pub fn compare(&self, candidate: &str, reference: &str) -> Result<BertScores, BertScoreError> {
        let (candidate, reference) = (self.shared.pieces(candidate)?, self.shared.pieces(reference)?);
        if candidate.words() == 0 || reference.words() == 0 {
            return Ok(BertScores::default());
        }
        let (precision, recall) = candidate.best_cosines(&reference)?;
        let f1 = 2.0 * precision * recall / (precision + recall);
        Ok(BertScores { precision, recall, f1: if f1.is_finite() { f1 } else { 0.0 } })
    }
}

impl std::fmt::Debug for BertScore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BertScore").field("name", &self.shared.name).finish_non_exhaustive()
    }
}

impl Shared {
    fn pieces(&self, text: &str) -> Result<Arc<Pieces>, BertScoreError> {
        let text = trim(text);
        let lock = || self.cache.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pieces) = lock().get(text) {
            return Ok(pieces);
        }
        // Not under the lock: two threads may encode the same text, and get the same.
        let pieces = Arc::new(self.encoder.encode(text)?);
        lock().insert(text, Arc::clone(&pieces));
        Ok(pieces)
    }
}

#[async_trait]
impl Scorer for BertScore {
    fn name(&self) -> String {
        self.shared.name.clone()
    }

    fn needs(&self) -> &[Need] {
        &[Need::Answer, Need::Gold]
    }

    async fn score(&self, observation: &Observation<'_>) -> Result<Option<f64>, ScoreError> {
        let question = observation.question;
        if !question.answerable && question.gold.is_empty() {
            return Ok(None);
        }
        let Some(answer) = observation.answer else {
            let (scorer, question) = (self.name(), question.id.clone());
            return Err(ScoreError::Missing { scorer, need: Need::Answer, question });
        };
        let (scorer, gold) = (self.clone(), question.gold.clone());
        let answer = clean_answer(answer, Cleaning::Prefix);
        let scored = tokio::task::spawn_blocking(move || scorer.compare(&answer, &gold)).await;
        let failed =
            |source| ScoreError::Failed { scorer: self.name(), question: question.id.clone(), source };
        let scores = scored.map_err(|error| failed(error.into()))?.map_err(|error| failed(error.into()))?;
        Ok(Some(scores.f1))
    }
}

#[cfg(test)]
mod tests;
