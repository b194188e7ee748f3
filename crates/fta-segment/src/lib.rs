//! Dialogue types and boundary-preserving window segmentation (BWS).
//!
//! A session goes in, [`Fragment`]s that tile it come out. Units are made of fragments elsewhere (`fta-units`).

pub mod detect;
pub mod dialogue;
pub mod fragment;

pub use detect::{BoundaryCue, BoundaryDetector, BoundarySpan, DetectError, Window};
pub use dialogue::{Conversation, DialogueError, Role, Session, SessionId, Turn, TurnSpan};
pub use fragment::Fragment;
