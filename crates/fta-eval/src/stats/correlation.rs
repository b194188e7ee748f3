//! Pearson and Spearman correlation with an interval, a p-value and a leave-one-case-out range.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::{
    Interval, PValue, Resampling, StatsError,
    cases::{Cluster, check, clusters},
    paired::ROUNDING,
    rank::mean_ranks,
    resample::{Draws, LARGEST_EXACT, Purpose},
};

/// Fewest cases of a correlation, so that three are left when one is left out.
const FEWEST_CASES: usize = 4;

/// Which correlation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Correlation {
    /// Of the values: `sum of (x - mean x)(y - mean y) / sqrt(sum of (x - mean x)^2 sum of (y - mean y)^2)`.
    Pearson,
    /// Of their ranks; equal values share the mean of their ranks.
    Spearman,
}

/// Which points may swap their `y` if `x` and `y` have nothing to do with each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exchange {
    /// All points: right where points are independent, so with one point per case.
    Points,
    /// Points of the same case: what cases differ in cannot look like a correlation. Says nothing where `x` or `y` is
    /// the same for a whole case; take [`CasePoints::case_means`] there.
    WithinCases,
}

/// Pairs of values `(x, y)`, grouped by case.
#[derive(Debug, Clone, PartialEq)]
pub struct CasePoints {
    cases: Vec<Cluster<2>>,
}

/// A correlation and how far it can be trusted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrelationEstimate {
    /// Which correlation.
    pub correlation: Correlation,
    /// The correlation of all points, in `[-1, 1]`.
    pub value: f64,
    /// Percentile interval of the cluster bootstrap.
    pub interval: Interval,
    /// Rounds left out of the interval because all drawn `x` or all drawn `y` were equal.
    pub undefined_rounds: u32,
    /// Permutation test, both sides.
    pub p_value: PValue,
    /// The correlation without each case, by label in ascending order.
    pub left_out: Vec<LeftOut>,
    /// Points.
    pub n_points: usize,
    /// Cases.
    pub n_cases: usize,
}

/// The correlation without one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Label of the case.
    pub case: String,
    /// The correlation of the points of all others; `None` if all their `x` or all their `y` are equal.
    pub value: Option<f64>,
}

impl CorrelationEstimate {
    /// Lowest and highest correlation when one case is left out; `None` if none is defined.
    pub fn leave_one_out_range(&self) -> Option<(f64, f64)> {
        let values = || self.left_out.iter().filter_map(|left_out| left_out.value);
        values().reduce(f64::min).zip(values().reduce(f64::max))
    }
}

impl CasePoints {
    /// Groups points by case.
    ///
    /// `cases`: `[n]` labels; `x`, `y`: `[n]` values in units of their own (density and gain, say), in any order.
    ///
    /// # Errors
    /// [`StatsError::UnequalLengths`]; [`StatsError::Unusable`] for NaN, infinities and sizes over 1e150.
    pub fn new<C: AsRef<str>>(cases: &[C], x: &[f64], y: &[f64]) -> Result<Self, StatsError> {
        check("x values", cases.len(), x)?;
        check("y values", cases.len(), y)?;
        Ok(Self { cases: clusters(cases, x.iter().zip(y).map(|(&x, &y)| [x, y])) })
    }

    /// One point per case: the means of its `x` and of its `y`.
    #[must_use]
    pub fn case_means(&self) -> Self {
        let mean = |case: &Cluster<2>, column: usize| {
            case.rows.iter().map(|row| row[column]).sum::<f64>() / case.rows.len() as f64
        };
        let labels: Vec<&str> = self.cases.iter().map(|case| case.label.as_str()).collect();
        Self { cases: clusters(&labels, self.cases.iter().map(|case| [mean(case, 0), mean(case, 1)])) }
    }

    /// Number of cases.
    pub fn n_cases(&self) -> usize {
        self.cases.len()
    }

    /// Number of points.
    pub fn n_points(&self) -> usize {
        self.cases.iter().map(|case| case.rows.len()).sum()
    }

    /// Correlates `x` with `y`.
    ///
    /// The interval is the percentile interval of a bootstrap that draws whole cases (ranks are made anew in each
    /// round). The p-value is the share of reorderings of `y`, as `exchange` allows them, whose correlation is at
    /// least as large in size; all of them where there are at most [`LARGEST_EXACT`], else drawn. The range leaves
    /// out one case at a time. `O(rounds x n log n)` for `n` points.
    ///
    /// # Errors
    /// [`StatsError::TooFew`] for fewer than 4 cases, 100 rounds, or [`Exchange::WithinCases`] without two points
    /// that share a case; [`StatsError::Constant`] if all `x` or all `y` are equal; [`StatsError::Confidence`].
    ///
    /// # Source
    /// Spec section 8: "Pearson and Spearman of gain against density with bootstrap intervals, permutation p and
    /// leave-one-out range" (Tables 4 and 9). Exact tests and the percentile interval are ours.
    pub fn correlate(
        &self,
        correlation: Correlation,
        exchange: Exchange,
        resampling: &Resampling,
    ) -> Result<CorrelationEstimate, StatsError> {
        resampling.check()?;
        if self.n_cases() < FEWEST_CASES {
            return Err(StatsError::TooFew { what: "cases", needed: FEWEST_CASES, given: self.n_cases() });
        }
        let (x, y) = columns(self.cases.iter());
        let x = correlation.unit(x).ok_or(StatsError::Constant { what: "x values" })?;
        let y = correlation.unit(y).ok_or(StatsError::Constant { what: "y values" })?;
        let (interval, undefined_rounds) = self.bootstrap(correlation, resampling)?;
        Ok(CorrelationEstimate {
            correlation,
            value: product(&x, &y).clamp(-1.0, 1.0),
            interval,
            undefined_rounds,
            p_value: reorder(&x, &y, &self.blocks(exchange)?, resampling),
            left_out: self.leave_out(correlation),
            n_points: self.n_points(),
            n_cases: self.n_cases(),
        })
    }

    fn bootstrap(
        &self,
        correlation: Correlation,
        resampling: &Resampling,
    ) -> Result<(Interval, u32), StatsError> {
        let round = |mut draws: Draws| {
            correlation.of(columns(self.cases.iter().map(|_| &self.cases[draws.below(self.cases.len())])))
        };
        let values: Vec<f64> = resampling.streams(Purpose::Bootstrap).filter_map(round).collect();
        if values.is_empty() {
            return Err(StatsError::TooFew { what: "rounds in which values differ", needed: 1, given: 0 });
        }
        let undefined = resampling.rounds - values.len() as u32;
        Ok((Interval::of_draws(values, resampling.confidence), undefined))
    }

    fn leave_out(&self, correlation: Correlation) -> Vec<LeftOut> {
        let without = |left_out: usize| {
            let rest = self.cases.iter().enumerate().filter(|&(i, _)| i != left_out);
            correlation.of(columns(rest.map(|(_, case)| case)))
        };
        let cases = self.cases.iter().enumerate();
        let mut values: Vec<LeftOut> =
            cases.map(|(i, case)| LeftOut { case: case.label.clone(), value: without(i) }).collect();
        values.sort_by(|a, b| a.case.cmp(&b.case));
        values
    }

    /// Positions of points, half-open, that may swap their `y`.
    fn blocks(&self, exchange: Exchange) -> Result<Vec<Range<usize>>, StatsError> {
        if exchange == Exchange::Points {
            let all = 0..self.n_points();
            return Ok(vec![all]);
        }
        let mut end = 0;
        let block = |case: &Cluster<2>| {
            let start = end;
            end += case.rows.len();
            start..end
        };
        let blocks: Vec<Range<usize>> = self.cases.iter().map(block).collect();
        let given = blocks.iter().map(Range::len).max().unwrap_or(0);
        if given < 2 {
            return Err(StatsError::TooFew { what: "points that share a case", needed: 2, given });
        }
        Ok(blocks)
    }
}

impl Correlation {
    fn of(self, (x, y): (Vec<f64>, Vec<f64>)) -> Option<f64> {
        Some(product(&self.unit(x)?, &self.unit(y)?).clamp(-1.0, 1.0))
    }

    /// The values or their ranks, moved to mean 0 and scaled to length 1; `None` if all are equal or there are none.
    fn unit(self, values: Vec<f64>) -> Option<Vec<f64>> {
        let mut values = match self {
            Self::Pearson => values,
            Self::Spearman => mean_ranks(&values),
        };
        let first = *values.first()?;
        if values.iter().all(|value| value.total_cmp(&first).is_eq()) {
            return None;
        }
        // Offsets from the first value lose less than the values where these are large and close together; the
        // scale keeps squares from vanishing.
        for value in &mut values {
            *value -= first;
        }
        let scale = values.iter().fold(0.0_f64, |scale, value| scale.max(value.abs()));
        for value in &mut values {
            *value /= scale;
        }
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        for value in &mut values {
            *value -= mean;
        }
        let length = product(&values, &values).sqrt();
        Some(values.into_iter().map(|value| value / length).collect())
    }
}

/// `x` and `y` of the points of cases.
fn columns<'c>(cases: impl Iterator<Item = &'c Cluster<2>>) -> (Vec<f64>, Vec<f64>) {
    cases.flat_map(|case| case.rows.iter().map(|&[x, y]| (x, y))).unzip()
}

fn product(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// Compares the product of two unit vectors with those after `y` was reordered within blocks.
fn reorder(x: &[f64], y: &[f64], blocks: &[Range<usize>], resampling: &Resampling) -> PValue {
    let seen = product(x, y).abs() - ROUNDING;
    let reordered = |order: &[usize]| x.iter().zip(order).map(|(x, &i)| x * y[i]).sum::<f64>();
    let mut order: Vec<usize> = (0..y.len()).collect();
    if let Some(orders) = number_of_orders(blocks) {
        let mut at_least = 0;
        for _ in 0..orders {
            at_least += u64::from(reordered(&order).abs() >= seen);
            for block in blocks {
                // As an odometer: a block that starts over moves the one after it.
                if next_order(&mut order[block.clone()]) {
                    break;
                }
            }
        }
        return PValue::exact(at_least, orders);
    }
    let round = |mut draws: Draws| {
        for (i, position) in order.iter_mut().enumerate() {
            *position = i;
        }
        for block in blocks {
            draws.shuffle(&mut order[block.clone()]);
        }
        reordered(&order)
    };
    let products = resampling.streams(Purpose::Permutation).map(round);
    PValue::drawn(products.filter(|p| p.abs() >= seen).count() as u64, u64::from(resampling.rounds))
}

/// Product of the factorials of the blocks' lengths, if it is at most [`LARGEST_EXACT`].
fn number_of_orders(blocks: &[Range<usize>]) -> Option<u64> {
    let mut factors = blocks.iter().flat_map(|block| 2..=block.len() as u64);
    factors.try_fold(1_u64, |product, factor| {
        product.checked_mul(factor).filter(|&product| product <= LARGEST_EXACT)
    })
}

/// Steps to the next order in lexical order; after the last to the first, and `false`.
fn next_order(order: &mut [usize]) -> bool {
    let Some(pivot) = order.windows(2).rposition(|pair| pair[0] < pair[1]) else {
        order.reverse();
        return false;
    };
    let larger = order.iter().rposition(|&i| i > order[pivot]).expect("the item after the pivot is larger");
    order.swap(pivot, larger);
    order[pivot + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_orders_come_once() {
        let mut order = [0, 1, 2, 3];
        let mut seen = std::collections::BTreeSet::from([order]);
        while next_order(&mut order) {
            assert!(seen.insert(order));
        }
        assert_eq!((seen.len(), order), (24, [0, 1, 2, 3]));
        assert_eq!(number_of_orders(&[0..3, 3..5, 5..6]), Some(12));
        assert_eq!(number_of_orders(std::slice::from_ref(&(0..10))), Some(3_628_800));
        assert_eq!(number_of_orders(std::slice::from_ref(&(0..11))), None);
    }

    #[test]
    fn large_and_tiny_values_correlate() {
        let x = vec![1e150, -1e150, 0.5e150, 0.0];
        let y: Vec<f64> = x.iter().map(|x| x * 1e-320).collect();
        let r = Correlation::Pearson.of((x, y)).unwrap();
        assert!((r - 1.0).abs() < 1e-12, "{r}");
        let far = vec![1e15, 1e15 + 1.0, 1e15 + 2.0];
        let r = Correlation::Pearson.of((far, vec![0.0, 1.0, 2.0])).unwrap();
        assert!((r - 1.0).abs() < 1e-12, "{r}");
        assert_eq!(Correlation::Pearson.of((vec![0.1; 10], (0..10).map(f64::from).collect())), None);
    }
}
