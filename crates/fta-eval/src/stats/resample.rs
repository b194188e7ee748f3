//! Seeded draws, percentile intervals and p-values.

use rand_chacha::{
    ChaCha8Rng,
    rand_core::{RngCore, SeedableRng},
};
use serde::{Deserialize, Serialize};

use super::StatsError;

/// Most arrangements that a permutation test goes through one by one; with more it draws some at random.
///
/// It covers all signs of 21 values that are not zero and all orders of 10 points.
pub const LARGEST_EXACT: u64 = 4_000_000;

/// Fewest rounds whose percentiles mean anything.
const FEWEST_ROUNDS: usize = 100;

/// How draws are made and how wide intervals are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Resampling {
    /// Seed of all draws.
    pub seed: u64,
    /// Draws of a bootstrap, and of a permutation test that is not exact; at least 100.
    pub rounds: u32,
    /// Share of the draws that an interval holds, in `(0, 1)`.
    pub confidence: f64,
}

impl Default for Resampling {
    fn default() -> Self {
        Self { seed: 0, rounds: 10_000, confidence: 0.95 }
    }
}

impl Resampling {
    pub(super) fn check(&self) -> Result<(), StatsError> {
        let given = self.rounds as usize;
        if given < FEWEST_ROUNDS {
            return Err(StatsError::TooFew { what: "rounds", needed: FEWEST_ROUNDS, given });
        }
        check_confidence(self.confidence)
    }

    /// A stream of random numbers for each round, so that rounds can run in any order.
    pub(super) fn streams(&self, purpose: Purpose) -> impl Iterator<Item = Draws> {
        let seeded = ChaCha8Rng::seed_from_u64(self.seed);
        (0..u64::from(self.rounds)).map(move |round| {
            let mut random = seeded.clone();
            random.set_stream(((purpose as u64) << 32) | round);
            Draws(random)
        })
    }
}

pub(super) fn check_confidence(value: f64) -> Result<(), StatsError> {
    if value > 0.0 && value < 1.0 { Ok(()) } else { Err(StatsError::Confidence { value }) }
}

/// What numbers are drawn for; each has streams of its own.
#[derive(Debug, Clone, Copy)]
pub(super) enum Purpose {
    Bootstrap,
    Permutation,
}

/// Random numbers of one round.
pub(super) struct Draws(ChaCha8Rng);

impl Draws {
    /// A number in `0..n`, all equally likely; `n` is not 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        // Numbers that would make the lower results likelier are drawn again (Lemire 2019, arXiv 1805.10941).
        let uneven = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(n);
            if product as u64 >= uneven {
                return (product >> 64) as usize;
            }
        }
    }

    /// 64 fair coins.
    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Puts the items into a random order, all equally likely.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

/// Bounds of an estimate, both included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower bound, in the unit of the estimate.
    pub lower: f64,
    /// Upper bound, in the unit of the estimate.
    pub upper: f64,
    /// Share of draws between them, in `(0, 1)`.
    pub confidence: f64,
}

impl Interval {
    /// Whether a value lies within the bounds.
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }

    /// The percentile interval of at least one draw: its `(1 - c) / 2` and `(1 + c) / 2` quantiles.
    pub(super) fn of_draws(mut draws: Vec<f64>, confidence: f64) -> Self {
        draws.sort_by(f64::total_cmp);
        Self {
            lower: quantile(&draws, (1.0 - confidence) / 2.0),
            upper: quantile(&draws, f64::midpoint(1.0, confidence)),
            confidence,
        }
    }
}

/// The quantile of sorted values, linear between neighbours (Hyndman and Fan's type 7, as numpy's default).
fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let position = (sorted.len() - 1) as f64 * probability;
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let (low, high) = (sorted[below], sorted[above]);
    (low + (high - low) * (position - below as f64)).clamp(low, high)
}

/// How likely a statistic as large as the one seen is by chance, both sides counted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PValue {
    /// The probability, in `(0, 1]`.
    ///
    /// Exact: `at_least / arrangements`. Drawn: `(at_least + 1) / (arrangements + 1)`, which counts what was seen as
    /// one of the draws and so is never 0 (Phipson and Smyth 2010).
    pub p: f64,
    /// Whether all arrangements were gone through.
    pub exact: bool,
    /// Arrangements looked at; what was seen is among them if `exact`.
    pub arrangements: u64,
    /// Those whose statistic is at least as large in size as the one seen.
    pub at_least: u64,
}

impl PValue {
    pub(super) fn exact(at_least: u64, arrangements: u64) -> Self {
        Self { p: at_least as f64 / arrangements as f64, exact: true, arrangements, at_least }
    }

    pub(super) fn drawn(at_least: u64, arrangements: u64) -> Self {
        let p = (at_least + 1) as f64 / (arrangements + 1) as f64;
        Self { p, exact: false, arrangements, at_least }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_even_and_each_round_has_its_own() {
        let resampling = Resampling { rounds: 6_000, ..Resampling::default() };
        let mut counts = [0; 6];
        let mut orders = std::collections::BTreeMap::new();
        for mut draws in resampling.streams(Purpose::Bootstrap) {
            counts[draws.below(6)] += 1;
            let mut order = [0, 1, 2];
            draws.shuffle(&mut order);
            *orders.entry(order).or_insert(0) += 1;
        }
        // 1,000 each are expected, with a standard deviation of 29.
        assert!(
            counts.iter().chain(orders.values()).all(|n| (870..=1_130).contains(n)),
            "{counts:?} {orders:?}"
        );
        assert_eq!(orders.len(), 6);
        let first = |purpose| resampling.streams(purpose).next().map(|mut d| d.bits());
        assert_ne!(first(Purpose::Bootstrap), first(Purpose::Permutation));
    }

    #[test]
    fn settings_are_checked() {
        assert_eq!(Resampling::default().check(), Ok(()));
        let few = Resampling { rounds: 99, ..Resampling::default() };
        assert_eq!(few.check(), Err(StatsError::TooFew { what: "rounds", needed: 100, given: 99 }));
        for confidence in [0.0, 1.0, -0.5, f64::NAN, f64::INFINITY] {
            let settings = Resampling { confidence, ..Resampling::default() };
            assert!(matches!(settings.check(), Err(StatsError::Confidence { .. })), "{confidence}");
        }
    }
}
