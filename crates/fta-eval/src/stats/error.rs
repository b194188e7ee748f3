//! Numbers that no statistic can be made of.

/// Input that no statistic can be made of: what, and what is needed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StatsError {
    /// There is less than the statistic needs.
    #[error("too few {what}: `{given}` given, at least `{needed}` needed")]
    TooFew {
        /// What is counted.
        what: &'static str,
        /// The least that is needed.
        needed: usize,
        /// What there is.
        given: usize,
    },
    /// Columns that belong together differ in length.
    #[error("{what} have length `{received}`, expected `{expected}`")]
    UnequalLengths {
        /// What has the wrong length.
        what: &'static str,
        /// Length of what it goes with.
        expected: usize,
        /// Its length.
        received: usize,
    },
    /// A value is not a number, infinite, or larger than 1e150 in size.
    #[error("{what} hold `{value}` at position `{index}`: finite numbers up to 1e150 are needed")]
    Unusable {
        /// Which values.
        what: &'static str,
        /// Position in them, from 0.
        index: usize,
        /// The value.
        value: f64,
    },
    /// All values of a column are equal, so a correlation with it is undefined.
    #[error("all {what} are equal, so nothing correlates with them")]
    Constant {
        /// Which values.
        what: &'static str,
    },
    /// A confidence is no probability between 0 and 1.
    #[error("confidence `{value}` is not between 0 and 1")]
    Confidence {
        /// The value.
        value: f64,
    },
    /// There are more hits than trials.
    #[error("`{hits}` hits in `{trials}` trials are no share")]
    Share {
        /// Hits.
        hits: u64,
        /// Trials.
        trials: u64,
    },
}
