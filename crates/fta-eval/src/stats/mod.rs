//! Statistics of scores: intervals, tests, correlations, ranks, agreement.
//!
//! Questions of one conversation are no independent draws, so intervals draw whole **cases** (conversations, users),
//! and systems are compared on the same questions. [`CaseValues`] holds scores or differences by case, [`CasePoints`]
//! pairs of values by case; [`average_ranks`], [`cohen_kappa`], [`fleiss_kappa`] and [`wilson`] need no cases.
//!
//! Everything is a function of its arguments. Random draws come from a seed, and each round has its own stream of
//! numbers, so equal input gives equal bits; neither the order of the rows nor the names of the cases matter. Scores
//! are made elsewhere, and nothing here corrects for many comparisons.

mod agreement;
mod cases;
mod correlation;
mod error;
mod paired;
mod rank;
mod resample;
mod share;

pub use agreement::{Agreement, Scale, cohen_kappa, fleiss_kappa, weighted_kappa};
pub use correlation::{CasePoints, Correlation, CorrelationEstimate, Exchange, LeftOut};
pub use error::StatsError;
pub use paired::{CaseValues, Estimate, Unit, Weighting};
pub use rank::{AverageRanks, Direction, average_ranks};
pub use resample::{Interval, LARGEST_EXACT, PValue, Resampling};
pub use share::{Share, wilson};

#[cfg(test)]
mod tests;
