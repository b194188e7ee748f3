//! A boundary detector without a language model: words, meaning, time, markers and feeling.

mod config;
mod cut;
mod features;
mod lexicon;
mod score;

use std::sync::Arc;

use async_trait::async_trait;
use fta_index::Embedder;

pub use self::config::CohesionConfig;
use self::{
    cut::{Lengths, choose_cuts},
    features::{Reader, TurnFeatures, name_words},
    score::{gains, weigh_gaps},
};
use crate::{
    detect::{BoundaryCue, BoundaryDetector, BoundarySpan, DetectError, Window},
    dialogue::{Turn, TurnSpan},
    error::SegmentError,
};

/// Finds boundaries where neighbouring turns hold together least.
///
/// At each gap between two turns evidence is added up: how deep cohesion drops there (shared content words of the blocks
/// on both sides; their embeddings too, given an embedder), discourse markers, greetings and closings, a change of
/// feeling, a gap in time; less if the next turn takes up the one before or
/// goes on with it. Scores over `mean + sensitivity * deviation` of
/// the window gain by a cut, and the cuts with the greatest total gain are chosen, in keeping with the lengths asked for. A
/// question is never cut from its answer by another speaker (up to 3 turns later). The cue is what weighed most.
///
/// Markers and feelings are English; in other languages words, embeddings, questions and time are left. Deterministic;
/// `O(W²)` for a window of `W` turns, and one batch of `W` texts for the embedder, which runs on the calling thread.
pub struct CohesionDetector {
    config: CohesionConfig,
    embedder: Option<Arc<dyn Embedder>>,
    reader: Reader,
    id: String,
}

impl CohesionDetector {
    /// Detects by words, markers, feeling and time.
    ///
    /// # Errors
    /// Those of [`CohesionConfig::validate`].
    pub fn new(config: CohesionConfig) -> Result<Self, SegmentError> {
        config.validate()?;
        Ok(Self { config, embedder: None, reader: Reader::new(), id: "cohesion-1".to_owned() })
    }

    /// Compares the turns' meaning too.
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        self.id = format!("cohesion-1+{}", embedder.model_id());
        self.embedder = Some(embedder);
        self
    }

    /// The settings.
    pub fn config(&self) -> &CohesionConfig {
        &self.config
    }

    fn embed(&self, turns: &[Turn]) -> Result<Option<fta_index::Embeddings>, DetectError> {
        let Some(embedder) = &self.embedder else {
            return Ok(None);
        };
        let texts: Vec<String> = turns.iter().map(said_and_shown).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let embeddings = embedder.embed(&texts)?;
        if embeddings.len() != turns.len() {
            return Err(DetectError::Failed {
                detector: self.id.clone(),
                message: format!("`{}` embeddings for `{}` turns", embeddings.len(), turns.len()),
            });
        }
        Ok(Some(embeddings))
    }
}

/// The text of a turn and of its picture.
fn said_and_shown(turn: &Turn) -> String {
    match &turn.caption {
        Some(caption) => format!("{} {caption}", turn.text),
        None => turn.text.clone(),
    }
}

#[async_trait]
impl BoundaryDetector for CohesionDetector {
    fn id(&self) -> &str {
        &self.id
    }

    async fn detect(&self, window: Window<'_>) -> Result<Vec<BoundarySpan>, DetectError> {
        let turns = window.turns();
        let embeddings = self.embed(turns)?;
        let names = name_words(turns);
        let features: Vec<TurnFeatures> = turns.iter().map(|t| self.reader.read(t, &names)).collect();
        let evidence = weigh_gaps(&self.config, turns, &features, embeddings.as_ref());
        let gains = gains(&self.config, turns, &features, &evidence);
        let CohesionConfig { min_turns: min, long_turns: long, long_cost, .. } = self.config;
        let mut spans = Vec::new();
        let mut start = window.span.start;
        for cut in choose_cuts(&gains, Lengths { min, long, long_cost }) {
            let end = window.span.start + cut as u32;
            spans.push(BoundarySpan { span: TurnSpan::new(start, end), cue: evidence[cut].cue() });
            start = end;
        }
        spans.push(BoundarySpan { span: TurnSpan::new(start, window.span.end), cue: BoundaryCue::Unknown });
        Ok(spans)
    }
}

#[cfg(test)]
mod tests;
