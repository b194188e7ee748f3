//! Rows grouped by case, in an order that depends on nothing but their values.

use std::{cmp::Ordering, collections::BTreeMap};

use super::StatsError;

/// Largest size of a value, so that neither sums nor squares overflow.
const LARGEST: f64 = 1e150;

/// Rows of one case in ascending order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cluster<const N: usize> {
    pub(super) label: String,
    pub(super) rows: Vec<[f64; N]>,
}

/// Checks that a column has `expected` usable values.
pub(super) fn check(what: &'static str, expected: usize, values: &[f64]) -> Result<(), StatsError> {
    if values.len() != expected {
        return Err(StatsError::UnequalLengths { what, expected, received: values.len() });
    }
    match values.iter().position(|value| !value.is_finite() || value.abs() > LARGEST) {
        Some(index) => Err(StatsError::Unusable { what, index, value: values[index] }),
        None => Ok(()),
    }
}

/// Groups rows by the label of their case.
///
/// Draws pick cases by position. Cases are therefore ordered by their values (labels only order cases with the same
/// values), and rows in them likewise, so that results depend on neither labels nor the order of arrival.
pub(super) fn clusters<const N: usize, C: AsRef<str>>(
    cases: &[C],
    rows: impl Iterator<Item = [f64; N]>,
) -> Vec<Cluster<N>> {
    let mut by_label: BTreeMap<&str, Vec<[f64; N]>> = BTreeMap::new();
    for (case, row) in cases.iter().zip(rows) {
        // Adding zero makes the two zeros one, which the order below tells apart.
        by_label.entry(case.as_ref()).or_default().push(row.map(|value| value + 0.0));
    }
    let mut clusters: Vec<Cluster<N>> = by_label
        .into_iter()
        .map(|(label, mut rows)| {
            rows.sort_by(compare);
            Cluster { label: label.to_owned(), rows }
        })
        .collect();
    clusters.sort_by(|a, b| {
        let values = || a.rows.iter().zip(&b.rows).map(|(a, b)| compare(a, b)).find(|order| order.is_ne());
        a.rows.len().cmp(&b.rows.len()).then_with(|| values().unwrap_or(Ordering::Equal))
    });
    clusters
}

fn compare<const N: usize>(a: &[f64; N], b: &[f64; N]) -> Ordering {
    let mut orders = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_depends_on_values_alone() {
        let one = clusters(&["b", "a", "b", "c"], [[2.0], [5.0], [1.0], [-0.0]].into_iter());
        let other = clusters(&["x", "z", "y", "x"], [[1.0], [5.0], [0.0], [2.0]].into_iter());
        let rows = |clusters: &[Cluster<1>]| clusters.iter().map(|c| c.rows.clone()).collect::<Vec<_>>();
        assert_eq!(rows(&one), [vec![[0.0]], vec![[5.0]], vec![[1.0], [2.0]]]);
        assert_eq!(rows(&one), rows(&other));
        assert_eq!(one.iter().map(|c| c.label.as_str()).collect::<Vec<_>>(), ["c", "a", "b"]);
    }

    #[test]
    fn unusable_values_are_named() {
        assert_eq!(check("scores", 2, &[0.0, 1.0]), Ok(()));
        assert_eq!(
            check("scores", 3, &[0.0]),
            Err(StatsError::UnequalLengths { what: "scores", expected: 3, received: 1 })
        );
        for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 2e150, -2e150] {
            let error = check("scores", 2, &[0.0, value]).unwrap_err();
            assert!(matches!(error, StatsError::Unusable { what: "scores", index: 1, .. }), "{error}");
        }
    }
}
