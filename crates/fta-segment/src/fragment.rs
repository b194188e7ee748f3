//! The result of segmentation.

use serde::{Deserialize, Serialize};

use crate::{detect::BoundaryCue, dialogue::TurnSpan};

/// A situation fragment: contiguous turns about one situation (Eq. 2).
///
/// The fragments of a session tile it: in order, no gap, no overlap, none empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fragment {
    /// The turns.
    pub span: TurnSpan,
    /// Why the fragment ends.
    pub cue: BoundaryCue,
}
