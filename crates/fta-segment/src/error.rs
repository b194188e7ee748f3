//! Errors of segmentation.

use crate::{
    detect::DetectError,
    dialogue::{DialogueError, SessionId, TurnSpan},
};

/// What can go wrong when a session is cut into fragments.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentError {
    /// A window of fewer than 2 turns has no boundary to find.
    #[error("window of `{received}` turns is too small, expected 2 or more")]
    WindowTooSmall {
        /// The window asked for, in turns.
        received: usize,
    },
    /// The step would stall (0) or jump over turns (more than the window).
    #[error("step of `{received}` turns is out of range, expected 1 to the window of `{window}` turns")]
    StepOutOfRange {
        /// The step asked for, in turns.
        received: usize,
        /// The window, in turns.
        window: usize,
    },
    /// A setting of the offline detector is outside its range.
    #[error("setting `{setting}` of the cohesion detector is `{received}`, expected {expected}")]
    Setting {
        /// Name of the setting.
        setting: &'static str,
        /// Its value.
        received: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// The session is not what the segmenter relies on.
    #[error("dialogue cannot be segmented")]
    Dialogue(#[from] DialogueError),
    /// The detector could not answer for a window; nothing is lost and the same call can be made again.
    #[error("no boundaries for turns `{span}` of session `{session}`")]
    Detect {
        /// The session.
        session: SessionId,
        /// The window.
        span: TurnSpan,
        /// What the detector said.
        source: DetectError,
    },
    /// A turn came after the session was finished.
    #[error("session `{session}` is finished and takes no more turns")]
    Finished {
        /// The session.
        session: SessionId,
    },
}
