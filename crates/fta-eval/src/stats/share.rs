//! Intervals of shares.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use super::{Interval, StatsError, resample::check_confidence};

/// A share of trials with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// `hits / trials`, in `[0, 1]`.
    pub value: f64,
    /// Wilson's interval, within `[0, 1]`.
    pub interval: Interval,
}

/// A share with Wilson's score interval, which also holds near 0 and 1.
///
/// With `p = hits / trials = hits / n` and `z` the normal quantile of `(1 + confidence) / 2`:
/// `(p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)`. It takes trials as independent; for shares
/// of questions of a few conversations, [`CaseValues::bootstrap`](super::CaseValues::bootstrap) is the honest one.
///
/// # Errors
/// [`StatsError::TooFew`] without trials; [`StatsError::Share`] if there are more hits than trials;
/// [`StatsError::Confidence`].
pub fn wilson(hits: u64, trials: u64, confidence: f64) -> Result<Share, StatsError> {
    check_confidence(confidence)?;
    if trials == 0 {
        return Err(StatsError::TooFew { what: "trials", needed: 1, given: 0 });
    }
    if hits > trials {
        return Err(StatsError::Share { hits, trials });
    }
    let n = trials as f64;
    let value = hits as f64 / n;
    // The lower tail is exact where the upper, next to 1, is rounded.
    let z = -Normal::standard().inverse_cdf((1.0 - confidence) / 2.0);
    let centre = value + z * z / (2.0 * n);
    let half = z * (value * (1.0 - value) / n + z * z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + z * z / n;
    let lower = if hits == 0 { 0.0 } else { ((centre - half) / scale).clamp(0.0, value) };
    let upper = if hits == trials { 1.0 } else { ((centre + half) / scale).clamp(value, 1.0) };
    Ok(Share { value, interval: Interval { lower, upper, confidence } })
}
