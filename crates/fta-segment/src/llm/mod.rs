//! A [`BoundaryDetector`] that asks a language model.

mod rows;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use async_trait::async_trait;
use fta_llm::{
    CallConfig, Items, LanguageModel, Prompt, PromptError, PromptSource, schemars::JsonSchema, structured,
};
use serde::{Deserialize, Serialize};

pub use self::rows::{Beside, TurnRow, turn_rows};
use crate::{
    detect::{BoundaryCue, BoundaryDetector, BoundarySpan, DetectError, Window},
    dialogue::TurnSpan,
};

/// Name and version of what stands around the prompt.
const DETECTOR: &str = "llm/1";
/// Step of the pipeline in the accounts.
const STEP: &str = "boundaries";
const PROMPT: &str = include_str!("../../prompts/boundaries.md");

/// Settings of [`LlmDetector`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LlmDetectorConfig {
    /// How the model is asked.
    pub call: CallConfig,
    /// Most characters of a turn that are shown, since its beginning says what it is about; 0 shows all.
    pub max_turn_chars: usize,
}

impl Default for LlmDetectorConfig {
    fn default() -> Self {
        Self { call: CallConfig::default(), max_turn_chars: 300 }
    }
}

impl LlmDetectorConfig {
    /// The paper's: temperature 0.7, whole turns.
    pub fn paper() -> Self {
        Self { call: CallConfig { temperature: 0.7, ..CallConfig::default() }, max_turn_chars: 0 }
    }
}

/// Asks a model at which turns of a window new situations start.
///
/// One call per window of two turns or more; a window of one turn needs none. Starts outside the window are ignored.
/// # Source
/// Eq. 2. Differs: the paper's model returns spans, this one only their starts with the cue, which is what `repair` believes
/// of a span anyway and costs fewer tokens.
pub struct LlmDetector {
    model: Arc<dyn LanguageModel>,
    prompt: Prompt,
    config: LlmDetectorConfig,
    id: String,
}

impl LlmDetector {
    /// A detector that asks `model` with the prompt `boundaries`.
    ///
    /// # Errors
    /// [`PromptError`] if a file of prompts cannot be used.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        prompts: &PromptSource,
        config: LlmDetectorConfig,
    ) -> Result<Self, PromptError> {
        let prompt = prompts.load(STEP, PROMPT)?;
        let id = format!("{DETECTOR} {} {}", prompt.id(), model.model_id());
        Ok(Self { model, prompt, config, id })
    }
}

#[derive(Serialize)]
struct Data {
    turns: Vec<TurnRow>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
struct Reply {
    #[schemars(length(max = 32))]
    starts: Items<Start>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
struct Start {
    turn: u32,
    cue: Cue,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[serde(rename_all = "snake_case")]
enum Cue {
    TopicChange,
    EmotionalShift,
    TimeGap,
    DiscourseMarker,
    Unknown,
}

impl From<Cue> for BoundaryCue {
    fn from(cue: Cue) -> Self {
        match cue {
            Cue::TopicChange => Self::TopicChange,
            Cue::EmotionalShift => Self::EmotionalShift,
            Cue::TimeGap => Self::TimeGap,
            Cue::DiscourseMarker => Self::DiscourseMarker,
            Cue::Unknown => Self::Unknown,
        }
    }
}

/// Refuses a reply that names turns and none of the window's.
fn check(reply: &Reply, window: TurnSpan) -> Result<(), String> {
    if reply.starts.is_empty() || reply.starts.iter().any(|start| window.contains(start.turn)) {
        return Ok(());
    }
    Err(format!("its turns are not among the turns {} to {}", window.start, window.end.saturating_sub(1)))
}

/// The spans that these starts give: each ends, with the next one's cue, where the next one starts.
fn spans(window: TurnSpan, reply: &Reply) -> Vec<BoundarySpan> {
    let mut starts: Vec<(u32, BoundaryCue)> = reply
        .starts
        .iter()
        .filter(|s| s.turn > window.start && window.contains(s.turn))
        .map(|s| (s.turn, s.cue.into()))
        .collect();
    // A stable sort: of several cues for one turn the first counts.
    starts.sort_by_key(|(turn, _)| *turn);
    starts.dedup_by_key(|(turn, _)| *turn);
    let mut begin = window.start;
    let mut spans = Vec::with_capacity(starts.len() + 1);
    for (turn, cue) in starts {
        spans.push(BoundarySpan { span: TurnSpan::new(begin, turn), cue });
        begin = turn;
    }
    spans.push(BoundarySpan { span: TurnSpan::new(begin, window.end), cue: BoundaryCue::Unknown });
    spans
}

#[async_trait]
impl BoundaryDetector for LlmDetector {
    fn id(&self) -> &str {
        &self.id
    }

    async fn detect(&self, window: Window<'_>) -> Result<Vec<BoundarySpan>, DetectError> {
        if window.turns().len() < 2 {
            return Ok(vec![BoundarySpan { span: window.span, cue: BoundaryCue::Unknown }]);
        }
        let data = Data { turns: turn_rows(window.turns(), self.config.max_turn_chars) };
        let messages = self
            .prompt
            .render(&data)
            .map_err(|error| DetectError::Failed { detector: self.id.clone(), message: error.to_string() })?;
        let request = self.config.call.request(STEP, messages);
        let reply = structured::ask(&*self.model, request, &|reply: &Reply| check(reply, window.span))
            .await
            .map_err(|source| DetectError::Model { detector: self.id.clone(), source })?;
        Ok(spans(window.span, &reply.value))
    }
}
