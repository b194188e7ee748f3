//! Boundary-preserving window segmentation.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::{
    detect::BoundaryDetector,
    dialogue::{Session, SessionId},
    error::SegmentError,
    fragment::Fragment,
    segmenter::{IncrementalSegmenter, Segmenter},
    walk::{Movement, RunningWalk, Walk, check_window, max_calls, walk_session},
};

/// Settings of [`Bws`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BwsConfig {
    /// Turns that the detector looks at, `W`; 2 or more.
    pub window: usize,
    /// Turns that the window moves on by at least, `1..=window`. Fewer cost more calls.
    pub min_step: usize,
}

impl BwsConfig {
    /// The paper's settings: window 20, minimum step 1.
    pub fn paper() -> Self {
        Self { window: 20, min_step: 1 }
    }

    /// Checks the settings.
    ///
    /// # Errors
    /// [`SegmentError::WindowTooSmall`], [`SegmentError::StepOutOfRange`].
    pub fn validate(&self) -> Result<(), SegmentError> {
        check_window(self.window, self.min_step)
    }

    /// Upper bound on detector calls for a session of `n_turns`.
    ///
    /// 0 for no turns, 1 for fewer than a window, else `(n_turns - window) / min_step + 2`, which is at most
    /// `n_turns / min_step + 1`: every call but the last looks at a full window and starts `min_step` or more later.
    pub fn max_calls(&self, n_turns: usize) -> usize {
        max_calls(self.window, self.min_step, n_turns)
    }
}

impl Default for BwsConfig {
    /// Window 20, minimum step 10 (half a window): a session without boundaries costs one call per 10 turns, not per turn.
    fn default() -> Self {
        Self { window: 20, min_step: 10 }
    }
}

/// Boundary-preserving window segmentation: the last span of a window is provisional and looked at again.
///
/// A detector looks at turns `s..s + W`. Of the spans it finds, the last is provisional and all before it are final; the
/// next window starts at the provisional span's start, or `min_step` after `s` if that is later. In the latter case the
/// provisional span keeps its start, and what the next window finds first is joined to it. When the window reaches the end
/// of the session, all spans are final. Answers are repaired ([`repair`](crate::repair::repair)), so the fragments tile the
/// session whatever the detector says; its errors are passed on.
///
/// # Source
/// Eq. 2, Alg. 1. Differs: Alg. 1 loses a turn when a window has one span (spec section 9.1), and its minimum step is 1
/// (section 9.2; [`BwsConfig::paper`]).
///
/// # Examples
/// ```
/// use std::sync::Arc;
///
/// use fta_segment::{
///     Bws, BwsConfig, CohesionConfig, CohesionDetector, Role, Segmenter, Session, Turn, TurnSpan,
/// };
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let said = ["My tomatoes are ripe", "Good soil, those tomatoes", "Rich soil from the compost", "By the way, I passed my exam",
///     "The chemistry exam?", "Chemistry, yes, with the best mark"];
/// let turns = said.iter().enumerate().map(|(i, text)| Turn {
///     index: i as u32,
///     source_id: format!("s1:{}", i + 1),
///     speaker: ["Ada", "Bo"][i % 2].to_owned(),
///     role: Role::Peer,
///     at: None,
///     text: (*text).to_owned(),
///     caption: None,
/// });
/// let session = Session { id: "s1".into(), started_at: None, turns: turns.collect() };
///
/// let detector = Arc::new(CohesionDetector::new(CohesionConfig::default())?);
/// let fragments = Bws::new(BwsConfig::default(), detector)?.segment(&session).await?;
/// assert_eq!(fragments.iter().map(|f| f.span).collect::<Vec<_>>(), [TurnSpan::new(0, 3), TurnSpan::new(3, 6)]);
/// # Ok::<(), fta_segment::SegmentError>(())
/// # }).unwrap();
/// ```
pub struct Bws {
    config: BwsConfig,
    detector: Arc<dyn BoundaryDetector>,
    id: String,
}

impl Bws {
    /// Segments with `detector`.
    ///
    /// # Errors
    /// Those of [`BwsConfig::validate`].
    pub fn new(config: BwsConfig, detector: Arc<dyn BoundaryDetector>) -> Result<Self, SegmentError> {
        config.validate()?;
        let id = format!("bws-w{}-s{}+{}", config.window, config.min_step, detector.id());
        Ok(Self { config, detector, id })
    }

    /// The settings.
    pub fn config(&self) -> BwsConfig {
        self.config
    }

    fn walk(&self) -> Walk {
        let min_step = u32::try_from(self.config.min_step).unwrap_or(u32::MAX);
        Walk::new(self.config.window, Movement::ToProvisionalSpan { min_step })
    }
}

#[async_trait]
impl Segmenter for Bws {
    fn id(&self) -> &str {
        &self.id
    }

    fn incremental(&self, session: SessionId, started_at: Option<DateTime>) -> Box<dyn IncrementalSegmenter> {
        Box::new(RunningWalk::new(self.walk(), Arc::clone(&self.detector), session, started_at))
    }

    async fn segment(&self, session: &Session) -> Result<Vec<Fragment>, SegmentError> {
        walk_session(self.walk(), &*self.detector, session).await
    }
}

#[cfg(test)]
mod tests;
