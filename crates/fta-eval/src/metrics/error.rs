//! Scores that cannot be made.

use super::{Metric, Need};

/// A score that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricError {
    /// There is no metric of this name.
    #[error("`{name}` is no metric; known are {known}")]
    Unknown {
        /// The name.
        name: String,
        /// Names of all metrics.
        known: String,
    },
    /// The part after `@` is missing, superfluous or no number from 1.
    #[error("metric `{name}`: expected `{expected}`, with numbers from 1")]
    Cutoff {
        /// The name.
        name: String,
        /// Its forms.
        expected: String,
    },
    /// A question was run without what the metric scores.
    #[error("metric `{metric}` needs {need} of question `{question}`, and the run has none")]
    Missing {
        /// The metric.
        metric: Metric,
        /// What it needs.
        need: Need,
        /// The question.
        question: String,
    },
}
