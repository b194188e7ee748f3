//! End-to-end tests through the facade and the command line.
//!
//! What needs no meaning of words uses the deterministic test embedder; the demo and the command line use MiniLM.

mod answers;
mod crash;
mod deletion;
mod facade;
mod fallback;
mod hostile;
mod model;
mod support;
