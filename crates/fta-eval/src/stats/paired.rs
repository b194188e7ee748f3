//! Means of scores and of differences between systems: cluster bootstrap and sign flips.

use serde::{Deserialize, Serialize};

use super::{
    Interval, PValue, Resampling, StatsError,
    cases::{Cluster, check, clusters},
    resample::{Draws, LARGEST_EXACT, Purpose},
};

/// Sums that differ by at most this share of the sizes of their terms are equal.
pub(super) const ROUNDING: f64 = 1e-12;

/// What each question counts in a mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weighting {
    /// All questions alike: `sum of all values / number of questions`. Cases with many questions count more.
    #[default]
    Questions,
    /// All cases alike: the mean over cases of their own means.
    Cases,
}

/// What is exchangeable if two systems are alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// All differences of a case change sign together: right where questions of a case hang together.
    #[default]
    Case,
    /// Each difference changes sign by itself: takes questions as independent, so p is too small where they are not.
    Question,
}

/// Values of questions, grouped by case: scores of one system, or differences of two.
#[derive(Debug, Clone, PartialEq)]
pub struct CaseValues {
    cases: Vec<Cluster<1>>,
    totals: Vec<Total>,
}

/// Sum over the questions of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Total {
    sum: f64,
    n: usize,
}

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The mean, in the unit of the values.
    pub value: f64,
    /// Percentile interval of the cluster bootstrap.
    pub interval: Interval,
    /// Questions.
    pub n_questions: usize,
    /// Cases, the number of draws per round.
    pub n_cases: usize,
}

impl CaseValues {
    /// Groups the scores of one system by case.
    ///
    /// `cases`: `[n]` labels, `values`: `[n]` scores in any unit, one row per question, in any order.
    ///
    /// # Errors
    /// [`StatsError::UnequalLengths`]; [`StatsError::Unusable`] for NaN, infinities and sizes over 1e150.
    pub fn new<C: AsRef<str>>(cases: &[C], values: &[f64]) -> Result<Self, StatsError> {
        check("values", cases.len(), values)?;
        Ok(Self::of(cases, values.iter().copied()))
    }

    /// Groups by case what a system gains over another: `system - baseline` for each question.
    ///
    /// `cases`: `[n]` labels, `system` and `baseline`: `[n]` scores of the same questions in the same order.
    ///
    /// # Errors
    /// As [`CaseValues::new`].
    pub fn differences<C: AsRef<str>>(
        cases: &[C],
        system: &[f64],
        baseline: &[f64],
    ) -> Result<Self, StatsError> {
        check("scores of the system", cases.len(), system)?;
        check("scores of the baseline", cases.len(), baseline)?;
        Ok(Self::of(cases, system.iter().zip(baseline).map(|(system, baseline)| system - baseline)))
    }

    fn of<C: AsRef<str>>(cases: &[C], values: impl Iterator<Item = f64>) -> Self {
        let cases = clusters(cases, values.map(|value| [value]));
        let total = |case: &Cluster<1>| Total {
            sum: case.rows.iter().map(|[value]| value).sum(),
            n: case.rows.len(),
        };
        Self { totals: cases.iter().map(total).collect(), cases }
    }

    /// Number of cases.
    pub fn n_cases(&self) -> usize {
        self.cases.len()
    }

    /// Number of questions over all cases.
    pub fn n_questions(&self) -> usize {
        self.totals.iter().map(|total| total.n).sum()
    }

    /// The mean of each case, by label in ascending order; with a property of the cases it makes [`CasePoints`].
    ///
    /// [`CasePoints`]: super::CasePoints
    pub fn case_means(&self) -> Vec<(&str, f64)> {
        let means = self.cases.iter().zip(&self.totals);
        let mut means: Vec<(&str, f64)> =
            means.map(|(c, t)| (c.label.as_str(), t.sum / t.n as f64)).collect();
        means.sort_by_key(|&(label, _)| label);
        means
    }

    /// The mean over all values; `None` without values.
    pub fn mean(&self, weighting: Weighting) -> Option<f64> {
        (!self.totals.is_empty()).then(|| mean(self.totals.iter(), weighting))
    }

    /// The mean with the percentile interval of a cluster bootstrap over cases.
    ///
    /// A round draws as many cases as there are, with replacement, and takes the mean of their questions:
    /// `m* = sum of s_i / sum of n_i` over the drawn cases `i` with `n_i` questions of sum `s_i` (weighted by
    /// questions), or the mean of `s_i / n_i` (by cases). The bounds are quantiles of `m*`. For
    /// [`CaseValues::differences`] this is the paired bootstrap. With few cases (LoCoMo has ten) such intervals are
    /// somewhat too narrow. `O(rounds x cases)`.
    ///
    /// # Errors
    /// [`StatsError::TooFew`] for fewer than 2 cases or 100 rounds; [`StatsError::Confidence`].
    ///
    /// # Source
    /// Spec section 8, "paired cluster bootstrap over cases" (Table 10). The paper does not say which interval; the
    /// percentile interval is ours.
    pub fn bootstrap(&self, weighting: Weighting, resampling: &Resampling) -> Result<Estimate, StatsError> {
        resampling.check()?;
        self.need_cases()?;
        let round = |mut draws: Draws| {
            let drawn = self.totals.iter().map(|_| &self.totals[draws.below(self.totals.len())]);
            mean(drawn, weighting)
        };
        let means = resampling.streams(Purpose::Bootstrap).map(round).collect();
        Ok(Estimate {
            value: mean(self.totals.iter(), weighting),
            interval: Interval::of_draws(means, resampling.confidence),
            n_questions: self.n_questions(),
            n_cases: self.n_cases(),
        })
    }

    /// How likely a mean as far from 0 is if each unit's differences might as well have the other sign.
    ///
    /// Paired permutation test, both sides: the share of sign choices `e` with `|sum of e_u t_u| >= |sum of t_u|`,
    /// where `t_u` is what unit `u` adds to the mean. Units that add 0 change nothing and are left out. Exact where
    /// there are at most [`LARGEST_EXACT`] choices, else drawn. With `n` cases p is at least `2 / 2^n`: ten cases
    /// can give 0.002, five cannot give 0.05.
    ///
    /// # Errors
    /// As [`CaseValues::bootstrap`]; with [`Unit::Question`], [`StatsError::TooFew`] for fewer than 2 questions, and
    /// one case is enough.
    ///
    /// # Source
    /// Ours, beside the paper's bootstrap (spec section 8).
    pub fn sign_flips(
        &self,
        unit: Unit,
        weighting: Weighting,
        resampling: &Resampling,
    ) -> Result<PValue, StatsError> {
        resampling.check()?;
        match unit {
            Unit::Case => self.need_cases()?,
            Unit::Question if self.n_questions() < 2 => {
                return Err(StatsError::TooFew { what: "questions", needed: 2, given: self.n_questions() });
            }
            Unit::Question => {}
        }
        let mut terms = self.terms(unit, weighting);
        // Differences of a case may cancel but for rounding.
        let size: f64 = self.terms(Unit::Question, weighting).iter().map(|term| term.abs()).sum();
        terms.retain(|&term| term.abs() > ROUNDING * size);
        Ok(flip_signs(&terms, ROUNDING * size, resampling))
    }

    /// What each unit adds to the mean, up to a common factor.
    fn terms(&self, unit: Unit, weighting: Weighting) -> Vec<f64> {
        let cases = self.cases.iter().zip(&self.totals);
        let weight = |total: &Total| match weighting {
            Weighting::Questions => 1.0,
            Weighting::Cases => 1.0 / total.n as f64,
        };
        match unit {
            Unit::Case => self.totals.iter().map(|total| total.sum * weight(total)).collect(),
            Unit::Question => cases
                .flat_map(|(case, total)| case.rows.iter().map(move |[value]| value * weight(total)))
                .collect(),
        }
    }

    fn need_cases(&self) -> Result<(), StatsError> {
        if self.n_cases() < 2 {
            return Err(StatsError::TooFew { what: "cases", needed: 2, given: self.n_cases() });
        }
        Ok(())
    }
}

/// The mean over at least one case.
fn mean<'t>(totals: impl Iterator<Item = &'t Total>, weighting: Weighting) -> f64 {
    let add = |(sum, n): (f64, usize), total: &Total| match weighting {
        Weighting::Questions => (sum + total.sum, n + total.n),
        Weighting::Cases => (sum + total.sum / total.n as f64, n + 1),
    };
    let (sum, n) = totals.fold((0.0, 0), add);
    sum / n as f64
}

/// Compares the sum of `terms` with its sums under other signs; sums that differ by at most `rounding` are equal.
fn flip_signs(terms: &[f64], rounding: f64, resampling: &Resampling) -> PValue {
    let seen = terms.iter().sum::<f64>().abs() - rounding;
    let choices = 1_u64.checked_shl(terms.len() as u32).filter(|&choices| choices <= LARGEST_EXACT);
    if let Some(choices) = choices {
        let sum = |signs: u64| -> f64 { terms.iter().enumerate().map(|(i, &t)| signed(t, signs >> i)).sum() };
        return PValue::exact((0..choices).filter(|&signs| sum(signs).abs() >= seen).count() as u64, choices);
    }
    let sum = |mut draws: Draws| -> f64 {
        let flip = |chunk: &[f64]| {
            let signs = draws.bits();
            chunk.iter().enumerate().map(|(i, &term)| signed(term, signs >> i)).sum::<f64>()
        };
        terms.chunks(64).map(flip).sum()
    };
    let sums = resampling.streams(Purpose::Permutation).map(sum);
    PValue::drawn(sums.filter(|sum| sum.abs() >= seen).count() as u64, u64::from(resampling.rounds))
}

/// The term, with the other sign if the lowest bit is set.
fn signed(term: f64, bits: u64) -> f64 {
    if bits & 1 == 1 { -term } else { term }
}
