//! Segmenters that BWS is compared with: fixed windows (Table 7), whole sessions and turn pairs (Table 6).

use std::sync::Arc;

use async_trait::async_trait;
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::{
    detect::{BoundaryCue, BoundaryDetector},
    dialogue::{Session, SessionId, Turn, TurnSpan},
    error::SegmentError,
    fragment::Fragment,
    segmenter::{IncrementalSegmenter, Segmenter},
    walk::{Movement, RunningWalk, Walk, check_index, check_window, max_calls, walk_session},
};

/// Settings of [`FixedWindow`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FixedWindowConfig {
    /// Turns that the detector looks at; 2 or more.
    pub window: usize,
    /// Turns that the window moves on by, `1..=window`.
    pub stride: usize,
}

impl FixedWindowConfig {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`SegmentError::WindowTooSmall`], [`SegmentError::StepOutOfRange`].
    pub fn validate(&self) -> Result<(), SegmentError> {
        check_window(self.window, self.stride)
    }

    /// Upper bound on detector calls for a session of `n_turns`; as [`BwsConfig::max_calls`](crate::BwsConfig::max_calls).
    pub fn max_calls(&self, n_turns: usize) -> usize {
        max_calls(self.window, self.stride, n_turns)
    }
}

impl Default for FixedWindowConfig {
    /// Windows of 20 turns side by side.
    fn default() -> Self {
        Self { window: 20, stride: 20 }
    }
}

/// Windows at fixed places: no span is provisional, so a situation across a window's edge is cut there.
///
/// Where windows overlap (`stride < window`), the later one decides only over the turns that the earlier one did not hold.
/// A cut at a window's edge has the cue [`BoundaryCue::FixedCut`].
///
/// # Source
/// Table 7 (ablation); the paper's stride is not given.
pub struct FixedWindow {
    config: FixedWindowConfig,
    detector: Arc<dyn BoundaryDetector>,
    id: String,
}

impl FixedWindow {
    /// Segments with `detector`.
    ///
    /// # Errors
    /// Those of [`FixedWindowConfig::validate`].
    pub fn new(config: FixedWindowConfig, detector: Arc<dyn BoundaryDetector>) -> Result<Self, SegmentError> {
        config.validate()?;
        let id = format!("fixed-window-w{}-s{}+{}", config.window, config.stride, detector.id());
        Ok(Self { config, detector, id })
    }

    fn walk(&self) -> Walk {
        let stride = u32::try_from(self.config.stride).unwrap_or(u32::MAX);
        Walk::new(self.config.window, Movement::ByStride { stride })
    }
}

#[async_trait]
impl Segmenter for FixedWindow {
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

/// One fragment per session.
///
/// # Source
/// Table 6, session-level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WholeSession;

impl Segmenter for WholeSession {
    fn id(&self) -> &'static str {
        "whole-session"
    }

    fn incremental(
        &self,
        session: SessionId,
        _started_at: Option<DateTime>,
    ) -> Box<dyn IncrementalSegmenter> {
        Box::new(Blocks::new(session, u32::MAX))
    }
}

/// Two turns per fragment, one in the last of an odd session.
///
/// # Source
/// Table 6, turn-pair (`W = 2`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TurnPairs;

impl Segmenter for TurnPairs {
    fn id(&self) -> &'static str {
        "turn-pairs"
    }

    fn incremental(
        &self,
        session: SessionId,
        _started_at: Option<DateTime>,
    ) -> Box<dyn IncrementalSegmenter> {
        Box::new(Blocks::new(session, 2))
    }
}

/// Blocks of `size` turns. A full block is given out with the turn after it, since only then its cue is known.
struct Blocks {
    session: SessionId,
    size: u32,
    block: TurnSpan,
    finished: bool,
}

impl Blocks {
    fn new(session: SessionId, size: u32) -> Self {
        Self { session, size, block: TurnSpan::new(0, 0), finished: false }
    }
}

#[async_trait]
impl IncrementalSegmenter for Blocks {
    async fn push(&mut self, turn: Turn) -> Result<Vec<Fragment>, SegmentError> {
        if self.finished {
            return Err(SegmentError::Finished { session: self.session.clone() });
        }
        check_index(&self.session, self.block.end as usize, &turn)?;
        let mut fragments = Vec::new();
        if self.block.len() >= self.size as usize {
            fragments.push(Fragment { span: self.block, cue: BoundaryCue::FixedCut });
            self.block.start = self.block.end;
        }
        self.block.end += 1;
        Ok(fragments)
    }

    async fn finish(&mut self) -> Result<Vec<Fragment>, SegmentError> {
        self.finished = true;
        let rest = std::mem::replace(&mut self.block, TurnSpan::new(0, 0));
        Ok(if rest.is_empty() {
            Vec::new()
        } else {
            vec![Fragment { span: rest, cue: BoundaryCue::SessionEnd }]
        })
    }
}

#[cfg(test)]
mod tests;
