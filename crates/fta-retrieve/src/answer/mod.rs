//! Answers and the [`Answerer`] port (Eq. 12); [`ExtractiveAnswerer`] answers without a model.

mod asked;
mod candidate;
mod choice;
mod date_text;
mod evidence;
mod extractive;
mod kinds;
mod score;
mod span;

use async_trait::async_trait;
use fta_segment::SessionId;
use fta_units::{EventTime, UnitId};
use serde::{Deserialize, Serialize};

use crate::packet::Packet;

pub use choice::{FEATURES, N_FEATURES, default_weights};
pub use date_text::{DateStyle, date_answer};
pub use evidence::EvidenceWeights;
pub use extractive::{AnswerReading, ExtractiveAnswerer, ExtractiveConfig};
pub use score::ScoreWeights;

/// A turn, by session and index.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct TurnRef {
    /// The session.
    pub session: SessionId,
    /// Turn index in the session.
    pub turn: u32,
    /// The turn's id in the source.
    pub source_id: String,
}

/// An answer with what it rests on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The answer, short; what to say when abstaining.
    pub text: String,
    /// Whether the evidence was too weak to answer.
    pub abstained: bool,
    /// How sure the answerer is, in `[0, 1]`.
    pub confidence: f32,
    /// Units that support the answer, best first.
    pub units: Vec<UnitId>,
    /// Turns that the answer was taken from, best first.
    pub evidence: Vec<TurnRef>,
    /// The resolved time, when the answer is one.
    pub time: Option<EventTime>,
}

/// The words with which every answerer abstains.
pub const NOT_MENTIONED: &str = "Not mentioned in the conversation";

/// Answers a question from a packet.
///
/// # Contract
/// - Uses the packet alone; primary units before linked ones, background last.
/// - Abstains with [`NOT_MENTIONED`] when the evidence is weak; then `units` and `evidence` are empty.
#[async_trait]
pub trait Answerer: Send + Sync {
    /// Name and version.
    fn id(&self) -> &str;

    /// Answers `packet.query.question`.
    ///
    /// # Errors
    /// [`AnswerError`] when the answerer cannot answer (not when the evidence is weak).
    async fn answer(&self, packet: &Packet) -> Result<Answer, AnswerError>;
}

/// An answerer that failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// The model behind the answerer gave no usable reply.
    #[error("answerer `{answerer}` got no usable reply")]
    Model {
        /// Its id.
        answerer: String,
        /// What the model said, by remedy.
        source: fta_llm::ModelError,
    },
    /// The answerer gave up.
    #[error("answerer `{answerer}` failed: {message}")]
    Failed {
        /// Its id.
        answerer: String,
        /// Why.
        message: String,
    },
    /// Embedding failed.
    #[error("answering could not embed a text")]
    Embed(#[from] fta_index::EmbedError),
}

#[cfg(test)]
mod tests;
