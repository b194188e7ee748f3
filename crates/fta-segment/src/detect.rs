//! The [`BoundaryDetector`] port: where does the situation change within a window of turns?

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::dialogue::{Session, Turn, TurnSpan};

/// Why a fragment ends where it ends (`r_j` of Eq. 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub enum BoundaryCue {
    /// The subject changes.
    TopicChange,
    /// The feeling changes.
    EmotionalShift,
    /// Time passed between two turns.
    TimeGap,
    /// A discourse marker opens something new ("anyway", "by the way").
    DiscourseMarker,
    /// The session ends.
    SessionEnd,
    /// A fixed rule cut here, not the content (fixed window, turn pair).
    FixedCut,
    /// The detector gave no reason.
    #[default]
    Unknown,
}

/// The turns that a detector looks at: `session.turns[span]`.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The session, whole; a detector must not look past `span.end`, which may not have been said yet.
    pub session: &'a Session,
    /// The window, half-open; never empty, never past the session's turns.
    pub span: TurnSpan,
}

impl<'a> Window<'a> {
    /// The window's turns.
    pub fn turns(&self) -> &'a [Turn] {
        self.session.span(self.span)
    }
}

/// A span that a detector found, in session turn indexes (`(b_j, e_j, r_j)` of Eq. 2, half-open here).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundarySpan {
    /// The turns.
    pub span: TurnSpan,
    /// Why the span ends.
    pub cue: BoundaryCue,
}

/// Finds situation boundaries in a window.
///
/// # Contract
/// - Spans should tile the window in order. They are untrusted: the segmenter repairs what it is given, so a lying
///   detector costs quality, never a turn.
/// - The answer depends on the window alone, not on earlier calls.
#[async_trait]
pub trait BoundaryDetector: Send + Sync {
    /// Name and version of the detector, kept as provenance.
    fn id(&self) -> &str;

    /// Cuts the window into spans.
    ///
    /// # Errors
    /// [`DetectError`] when the detector cannot answer; the caller decides whether to fall back.
    async fn detect(&self, window: Window<'_>) -> Result<Vec<BoundarySpan>, DetectError>;
}

/// A detector that could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DetectError {
    /// The embedding of the window's turns failed.
    #[error("boundary detection could not embed the window")]
    Embed(#[from] fta_index::EmbedError),
    /// The detector gave up for a reason of its own.
    #[error("boundary detector `{detector}` failed: {message}")]
    Failed {
        /// Its id.
        detector: String,
        /// Why.
        message: String,
    },
}
