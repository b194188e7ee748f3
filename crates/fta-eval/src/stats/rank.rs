//! Ranks with ties, and the average rank over metrics.

use serde::{Deserialize, Serialize};

use super::{StatsError, cases::check};

/// Which values of a metric are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// The highest is best: scores, shares of hits.
    Higher,
    /// The lowest is best: tokens, seconds, errors.
    Lower,
}

/// Ranks of systems, 1 for the best.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AverageRanks {
    /// `[systems][metrics]` ranks.
    pub by_metric: Vec<Vec<f64>>,
    /// `[systems]` means over the metrics.
    pub average: Vec<f64>,
}

/// Ranks systems by each metric and averages the ranks.
///
/// `scores`: `[systems][metrics]`, each metric in its own unit; `directions`: `[metrics]`. Returns ranks in
/// `1..=systems`, 1 best, in the order of the systems. Equal scores share the mean of the ranks that they take up
/// (two firsts are 1.5 each), so the ranks of a metric always sum to `systems (systems + 1) / 2`. Scores that print
/// alike but differ are not equal: round them first to rank what is printed.
///
/// # Errors
/// [`StatsError::TooFew`] without systems or metrics; [`StatsError::UnequalLengths`] if a system lacks a metric;
/// [`StatsError::Unusable`] for NaN and infinities.
///
/// # Source
/// Column Avg.R of the paper's main tables. The paper does not say how ties rank; the mean is ours.
pub fn average_ranks<S: AsRef<[f64]>>(
    scores: &[S],
    directions: &[Direction],
) -> Result<AverageRanks, StatsError> {
    for (what, given) in [("systems", scores.len()), ("metrics", directions.len())] {
        if given == 0 {
            return Err(StatsError::TooFew { what, needed: 1, given });
        }
    }
    for system in scores {
        check("metrics of a system", directions.len(), system.as_ref())?;
    }
    let mut by_metric = vec![Vec::with_capacity(directions.len()); scores.len()];
    for (metric, direction) in directions.iter().enumerate() {
        // Adding zero makes the two zeros one.
        let best_first = |system: &S| match direction {
            Direction::Higher => -system.as_ref()[metric] + 0.0,
            Direction::Lower => system.as_ref()[metric] + 0.0,
        };
        let ranks = mean_ranks(&scores.iter().map(best_first).collect::<Vec<_>>());
        for (system, rank) in by_metric.iter_mut().zip(ranks) {
            system.push(rank);
        }
    }
    let average = |ranks: &Vec<f64>| ranks.iter().sum::<f64>() / ranks.len() as f64;
    Ok(AverageRanks { average: by_metric.iter().map(average).collect(), by_metric })
}

/// Ranks from 1 in ascending order of finite values, none of them -0; equal values share the mean of their ranks.
pub(super) fn mean_ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
    let mut ranks = vec![0.0; values.len()];
    let mut taken = 0;
    for equal in order.chunk_by(|&a, &b| values[a].total_cmp(&values[b]).is_eq()) {
        let rank = taken as f64 + f64::midpoint(1.0, equal.len() as f64);
        for &i in equal {
            ranks[i] = rank;
        }
        taken += equal.len();
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_ranks_and_directions_count() {
        let zeros = average_ranks(&[[0.0], [-0.0], [1.0]], &[Direction::Higher]).unwrap();
        assert_eq!(zeros.average, [2.5, 2.5, 1.0]);
        let scores = [[30.0, 900.0], [40.0, 1_200.0], [30.0, 1_200.0]];
        let ranks = average_ranks(&scores, &[Direction::Higher, Direction::Lower]).unwrap();
        assert_eq!(ranks.by_metric, [[2.5, 1.0], [1.0, 2.5], [2.5, 2.5]]);
        assert_eq!(ranks.average, [1.75, 1.75, 2.5]);
    }

    #[test]
    fn holes_in_the_table_are_errors() {
        let higher = [Direction::Higher; 2];
        let none: [&[f64]; 0] = [];
        let error = average_ranks(&none, &higher).unwrap_err();
        assert_eq!(error, StatsError::TooFew { what: "systems", needed: 1, given: 0 });
        let error = average_ranks(&[[1.0]], &[]).unwrap_err();
        assert_eq!(error, StatsError::TooFew { what: "metrics", needed: 1, given: 0 });
        let error = average_ranks(&[vec![1.0, 2.0], vec![1.0]], &higher).unwrap_err();
        assert!(matches!(error, StatsError::UnequalLengths { expected: 2, received: 1, .. }), "{error}");
        let error = average_ranks(&[[1.0, f64::NAN]], &higher).unwrap_err();
        assert!(matches!(error, StatsError::Unusable { index: 1, .. }), "{error}");
    }
}
