//! The [`BoundaryDetector`] port: where does the situation change within a window of turns?

use std::sync::Arc;

use async_trait::async_trait;
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::dialogue::{Session, SessionId, Turn, TurnSpan};

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

/// The turns that a detector looks at: `span` of a session.
///
/// It holds nothing of the session outside the window, so that an answer cannot depend on what was not said yet.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The session that the turns belong to.
    pub session: &'a SessionId,
    /// When the session began, if known.
    pub started_at: Option<DateTime>,
    /// The window, half-open, in session turn indexes; never empty.
    pub span: TurnSpan,
    turns: &'a [Turn],
}

impl<'a> Window<'a> {
    /// The window over `turns`, the first of which has session index `first`.
    pub fn new(session: &'a SessionId, started_at: Option<DateTime>, first: u32, turns: &'a [Turn]) -> Self {
        Self {
            session,
            started_at,
            span: TurnSpan::new(first, first.saturating_add(turns.len() as u32)),
            turns,
        }
    }

    /// The window `span` of a whole session; turns outside the session are left out.
    pub fn of(session: &'a Session, span: TurnSpan) -> Self {
        Self::new(&session.id, session.started_at, span.start, session.span(span))
    }

    /// The window's turns, `span.len()` of them; `turns()[i]` has session index `span.start + i`.
    pub fn turns(&self) -> &'a [Turn] {
        self.turns
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

macro_rules! forward {
    ($($t:ty),*) => {$(
        #[async_trait]
        impl<D: BoundaryDetector + ?Sized> BoundaryDetector for $t {
            fn id(&self) -> &str {
                (**self).id()
            }
            async fn detect(&self, window: Window<'_>) -> Result<Vec<BoundarySpan>, DetectError> {
                (**self).detect(window).await
            }
        }
    )*};
}
forward!(&D, Box<D>, Arc<D>);

/// Asks a second detector when the first one fails.
///
/// The first one's error is dropped: wrap it to see it. An error of the second is the answer's error.
pub struct FallbackDetector {
    primary: Arc<dyn BoundaryDetector>,
    fallback: Arc<dyn BoundaryDetector>,
    id: String,
}

impl FallbackDetector {
    /// `primary` answers, and `fallback` where `primary` gives an error.
    pub fn new(primary: Arc<dyn BoundaryDetector>, fallback: Arc<dyn BoundaryDetector>) -> Self {
        let id = format!("{}|{}", primary.id(), fallback.id());
        Self { primary, fallback, id }
    }
}

#[async_trait]
impl BoundaryDetector for FallbackDetector {
    fn id(&self) -> &str {
        &self.id
    }

    async fn detect(&self, window: Window<'_>) -> Result<Vec<BoundarySpan>, DetectError> {
        match self.primary.detect(window).await {
            Ok(spans) => Ok(spans),
            Err(_) => self.fallback.detect(window).await,
        }
    }
}

/// A detector that could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DetectError {
    /// The embedding of the window's turns failed.
    #[error("boundary detection could not embed the window")]
    Embed(#[from] fta_index::EmbedError),
    /// The model behind the detector gave no usable reply.
    #[error("boundary detector `{detector}` got no usable reply")]
    Model {
        /// Its id.
        detector: String,
        /// What the model said, by remedy.
        source: fta_llm::ModelError,
    },
    /// The detector gave up for a reason of its own.
    #[error("boundary detector `{detector}` failed: {message}")]
    Failed {
        /// Its id.
        detector: String,
        /// Why.
        message: String,
    },
}
