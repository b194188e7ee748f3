//! Agreement of raters: raw, Cohen's kappa and Fleiss' kappa.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::StatsError;

/// How far raters agree.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Raw agreement: share of pairs of ratings of the same item that are equal, in `[0, 1]`.
    pub raw: f64,
    /// Raw agreement that the raters' shares of each label would give by chance, in `[0, 1]`.
    pub by_chance: f64,
    /// Agreement beyond chance, at most 1, 0 for chance; `None` if there is one label only, so that chance alone
    /// agrees.
    pub kappa: Option<f64>,
    /// Items.
    pub n_items: usize,
    /// Ratings of each item.
    pub n_raters: usize,
}

/// How far apart two ratings on a numbered scale are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scale {
    /// By `|a - b|`.
    Linear,
    /// By `(a - b)^2`: large differences count more.
    Quadratic,
}

impl Scale {
    fn distance(self, a: i32, b: i32) -> f64 {
        let distance = (f64::from(a) - f64::from(b)).abs();
        match self {
            Self::Linear => distance,
            Self::Quadratic => distance * distance,
        }
    }
}

/// Cohen's kappa of two raters who gave each item a label.
///
/// `kappa = (raw - by_chance) / (1 - by_chance)` with `by_chance = sum over labels of p1(label) p2(label)`, where `p1`
/// and `p2` are the shares of each rater's ratings. `first` and `second`: `[n]` labels of the same items in order.
///
/// # Errors
/// [`StatsError::TooFew`] without items; [`StatsError::UnequalLengths`].
///
/// # Source
/// Cohen 1960. The paper reports an audit by people of relations and affect; the measure of agreement is ours.
pub fn cohen_kappa<L: Ord>(first: &[L], second: &[L]) -> Result<Agreement, StatsError> {
    check_pair(first, second)?;
    let n = first.len();
    let equal = first.iter().zip(second).filter(|(a, b)| a == b).count();
    let (of_first, of_second) = (counts(first), counts(second));
    // Whole numbers tell exactly whether there is one label only.
    let by_chance: u128 = of_first.iter().map(|(label, &n)| n * of_second.get(label).unwrap_or(&0)).sum();
    let pairs = n as u128 * n as u128;
    let (raw, chance) = (equal as f64 / n as f64, by_chance as f64 / pairs as f64);
    Ok(Agreement {
        raw,
        by_chance: chance,
        kappa: (by_chance < pairs).then(|| (raw - chance) / (1.0 - chance)),
        n_items: n,
        n_raters: 2,
    })
}

/// Cohen's weighted kappa of two raters who gave each item a number on a scale.
///
/// `kappa = 1 - mean of d(a_i, b_i) over items / mean of d(a_i, b_j) over all pairs`, with `d` as [`Scale`] says.
/// `raw` and `by_chance` of the result count equal ratings only, as [`cohen_kappa`] does. `first` and `second`: `[n]`
/// ratings of the same items in order, 0 to 2 say.
///
/// # Errors
/// As [`cohen_kappa`].
///
/// # Source
/// Cohen 1968; the paper's audit rates from 0 to 2.
pub fn weighted_kappa(first: &[i32], second: &[i32], scale: Scale) -> Result<Agreement, StatsError> {
    let unweighted = cohen_kappa(first, second)?;
    let n = first.len() as f64;
    let seen: f64 = first.iter().zip(second).map(|(&a, &b)| scale.distance(a, b)).sum::<f64>() / n;
    let (of_first, of_second) = (counts(first), counts(second));
    let pairs = of_first.iter().flat_map(|a| of_second.iter().map(move |b| (a, b)));
    let by_chance = pairs.map(|((&&a, &n), (&&b, &m))| (n * m) as f64 * scale.distance(a, b)).sum::<f64>();
    Ok(Agreement { kappa: unweighted.kappa.map(|_| 1.0 - seen / (by_chance / (n * n))), ..unweighted })
}

/// Fleiss' kappa of any number of raters, not the same persons for each item.
///
/// `kappa = (raw - by_chance) / (1 - by_chance)` with `raw` the mean over items of the share of equal pairs among its
/// ratings, and `by_chance = sum over labels of p(label)^2`, `p` over all ratings. `ratings`: `[items][raters]`.
///
/// # Errors
/// [`StatsError::TooFew`] without items or with fewer than 2 raters; [`StatsError::UnequalLengths`] if items differ
/// in their number of ratings.
///
/// # Source
/// Fleiss 1971. As for [`cohen_kappa`], the choice is ours.
pub fn fleiss_kappa<L: Ord, R: AsRef<[L]>>(ratings: &[R]) -> Result<Agreement, StatsError> {
    let n_raters = ratings.first().map_or(0, |item| item.as_ref().len());
    for (what, needed, given) in [("items", 1, ratings.len()), ("raters", 2, n_raters)] {
        if given < needed {
            return Err(StatsError::TooFew { what, needed, given });
        }
    }
    let mut totals: BTreeMap<&L, u128> = BTreeMap::new();
    let mut equal: u128 = 0;
    for item in ratings {
        let item = item.as_ref();
        if item.len() != n_raters {
            let (what, expected, received) = ("ratings of an item", n_raters, item.len());
            return Err(StatsError::UnequalLengths { what, expected, received });
        }
        for (label, n) in counts(item) {
            equal += n * (n - 1);
            *totals.entry(label).or_insert(0) += n;
        }
    }
    let (items, raters) = (ratings.len() as u128, n_raters as u128);
    let all = items * raters;
    let by_chance: u128 = totals.values().map(|n| n * n).sum();
    let raw = equal as f64 / (all * (raters - 1)) as f64;
    let chance = by_chance as f64 / (all * all) as f64;
    let kappa = (by_chance < all * all).then(|| (raw - chance) / (1.0 - chance));
    Ok(Agreement { raw, by_chance: chance, kappa, n_items: ratings.len(), n_raters })
}

fn check_pair<L>(first: &[L], second: &[L]) -> Result<(), StatsError> {
    if first.len() != second.len() {
        let (what, expected, received) = ("ratings of the second rater", first.len(), second.len());
        return Err(StatsError::UnequalLengths { what, expected, received });
    }
    if first.is_empty() {
        return Err(StatsError::TooFew { what: "items", needed: 1, given: 0 });
    }
    Ok(())
}

fn counts<L: Ord>(labels: &[L]) -> BTreeMap<&L, u128> {
    let mut counts = BTreeMap::new();
    for label in labels {
        *counts.entry(label).or_insert(0) += 1;
    }
    counts
}
