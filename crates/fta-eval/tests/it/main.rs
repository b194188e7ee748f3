//! `fta-eval` as a researcher runs it: real processes, real files, the real MiniLM.

mod models;
mod refusals;
mod runs;
mod support;
