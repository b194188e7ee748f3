//! fta-eval.
