//! Dialogue types and boundary-preserving window segmentation (BWS).
//!
//! A session goes in, [`Fragment`]s that tile it come out. Units are made of fragments elsewhere (`fta-units`).
//!
//! - [`Segmenter`] is what the rest of the system holds; [`Bws`] is the method's own, [`FixedWindow`], [`WholeSession`]
//!   and [`TurnPairs`] are the variants it is compared with.
//! - [`BoundaryDetector`] says where the situation changes within a window; [`CohesionDetector`] does so offline,
//!   [`LlmDetector`] asks a language model.

pub mod bws;
pub mod cohesion;
pub mod detect;
pub mod dialogue;
pub mod error;
pub mod fragment;
pub mod llm;
pub mod repair;
pub mod segmenter;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod variants;
mod walk;

pub use bws::{Bws, BwsConfig};
pub use cohesion::{CohesionConfig, CohesionDetector};

pub use detect::{BoundaryCue, BoundaryDetector, BoundarySpan, DetectError, FallbackDetector, Window};
pub use dialogue::{Conversation, DialogueError, Role, Session, SessionId, Turn, TurnSpan};
pub use error::SegmentError;
pub use fragment::Fragment;
pub use llm::{LlmDetector, LlmDetectorConfig};
pub use segmenter::{IncrementalSegmenter, Segmenter};
pub use variants::{FixedWindow, FixedWindowConfig, TurnPairs, WholeSession};
