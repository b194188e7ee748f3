//! End-to-end tests through the facade and the command line.
//!
//! What needs no meaning of words uses the deterministic test embedder; the demo and the command line use MiniLM.

mod answers;
mod crash;
mod deletion;
mod facade;
#[expect(clippy::unwrap_used, reason = "what tests share is not marked as a test")]
mod fallback;
mod hostile;
#[expect(clippy::unwrap_used, reason = "what tests share is not marked as a test")]
mod index;
#[expect(clippy::unwrap_used, reason = "what tests share is not marked as a test")]
mod model;
mod support;
