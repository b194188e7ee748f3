//! Invariants over random input.

use proptest::{collection::vec, prelude::*};

use super::*;

/// Rows of a case number and two values, of at least four cases; half of the values are coarse, so that ties occur.
fn rows() -> impl Strategy<Value = Vec<(usize, f64, f64)>> {
    let value = || prop_oneof![-8.0..8.0_f64, (-3_i32..4).prop_map(f64::from)];
    let first = vec((value(), value()), 4).prop_map(|values| {
        values.into_iter().enumerate().map(|(case, (x, y))| (case, x, y)).collect::<Vec<_>>()
    });
    (first, vec((0..6_usize, value(), value()), 0..20)).prop_map(|(first, more)| [first, more].concat())
}

type Columns = (Vec<String>, Vec<f64>, Vec<f64>);

fn columns(rows: &[(usize, f64, f64)], label: impl Fn(usize) -> String) -> Columns {
    let cases = rows.iter().map(|row| label(row.0)).collect();
    (cases, rows.iter().map(|row| row.1).collect(), rows.iter().map(|row| row.2).collect())
}

fn plain(rows: &[(usize, f64, f64)]) -> Columns {
    columns(rows, |case| format!("case {case}"))
}

fn gain((cases, x, y): &Columns) -> CaseValues {
    CaseValues::differences(cases, x, y).unwrap()
}

fn correlate(
    (cases, x, y): &Columns,
    correlation: Correlation,
    exchange: Exchange,
) -> Result<CorrelationEstimate, StatsError> {
    CasePoints::new(cases, x, y).unwrap().correlate(correlation, exchange, &FEW)
}

const WEIGHTINGS: [Weighting; 2] = [Weighting::Questions, Weighting::Cases];
const UNITS: [Unit; 2] = [Unit::Case, Unit::Question];
const CORRELATIONS: [Correlation; 2] = [Correlation::Pearson, Correlation::Spearman];
const EXCHANGES: [Exchange; 2] = [Exchange::Points, Exchange::WithinCases];

/// A correlation without the labels of its cases.
fn unlabelled(found: CorrelationEstimate) -> CorrelationEstimate {
    let mut left_out: Vec<LeftOut> =
        found.left_out.into_iter().map(|l| LeftOut { case: String::new(), ..l }).collect();
    left_out.sort_by(|a, b| a.value.partial_cmp(&b.value).unwrap());
    CorrelationEstimate { left_out, ..found }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn intervals_hold_the_mean(rows in rows()) {
        for weighting in WEIGHTINGS {
            let gain = gain(&plain(&rows));
            let found = gain.bootstrap(weighting, &FEW).unwrap();
            prop_assert_eq!(Some(found.value), gain.mean(weighting));
            prop_assert!(found.interval.contains(found.value), "{:?}", found);
            let narrow = gain.bootstrap(weighting, &Resampling { confidence: 0.5, ..FEW }).unwrap().interval;
            prop_assert!(found.interval.lower <= narrow.lower && narrow.upper <= found.interval.upper);
        }
    }

    #[test]
    fn p_values_are_probabilities(rows in rows()) {
        let columns = plain(&rows);
        let mut found = Vec::new();
        for (unit, weighting) in UNITS.into_iter().zip(WEIGHTINGS) {
            found.push(gain(&columns).sign_flips(unit, weighting, &FEW).unwrap());
        }
        for (correlation, exchange) in CORRELATIONS.into_iter().zip(EXCHANGES) {
            found.extend(correlate(&columns, correlation, exchange).map(|found| found.p_value));
        }
        for p_value in found {
            prop_assert!(p_value.p > 0.0 && p_value.p <= 1.0, "{:?}", p_value);
            prop_assert!(p_value.at_least <= p_value.arrangements);
        }
    }

    #[test]
    fn neither_labels_nor_the_order_of_rows_matter(
        (rows, shuffled) in rows().prop_flat_map(|rows| (Just(rows.clone()), Just(rows).prop_shuffle())),
    ) {
        let one = plain(&rows);
        let other = columns(&shuffled, |case| format!("{}", (case * 5 + 3) % 7));
        for (unit, weighting) in UNITS.into_iter().zip(WEIGHTINGS) {
            let (one, other) = (gain(&one), gain(&other));
            prop_assert_eq!(one.bootstrap(weighting, &FEW), other.bootstrap(weighting, &FEW));
            prop_assert_eq!(one.sign_flips(unit, weighting, &FEW), other.sign_flips(unit, weighting, &FEW));
        }
        for (correlation, exchange) in CORRELATIONS.into_iter().zip(EXCHANGES) {
            let found = [&one, &other].map(|columns| correlate(columns, correlation, exchange).map(unlabelled));
            prop_assert_eq!(&found[0], &found[1]);
        }
    }

    #[test]
    fn swapping_systems_changes_the_sign_alone(rows in rows()) {
        let (cases, x, y) = plain(&rows);
        let one = gain(&(cases.clone(), x.clone(), y.clone()));
        let other = gain(&(cases, y, x));
        for weighting in WEIGHTINGS {
            let (a, b) = (one.mean(weighting).unwrap(), other.mean(weighting).unwrap());
            prop_assert!((a + b).abs() < 1e-12);
            let p = |gain: &CaseValues| gain.sign_flips(Unit::Case, weighting, &FEW).unwrap();
            prop_assert_eq!(p(&one), p(&other));
        }
    }

    #[test]
    fn doubling_values_doubles_bounds(rows in rows()) {
        let one = plain(&rows);
        let twice = |values: &[f64]| values.iter().map(|value| 2.0 * value).collect::<Vec<_>>();
        let two = (one.0.clone(), twice(&one.1), twice(&one.2));
        let (a, b) = (gain(&one), gain(&two));
        let (a, b) = (a.bootstrap(Weighting::Cases, &FEW).unwrap(), b.bootstrap(Weighting::Cases, &FEW).unwrap());
        prop_assert_eq!((2.0 * a.value, 2.0 * a.interval.lower, 2.0 * a.interval.upper),
            (b.value, b.interval.lower, b.interval.upper));
    }

    #[test]
    fn monotone_transforms_keep_spearman(rows in rows()) {
        let one = plain(&rows);
        // Coarse values stay apart and equal ones equal; the finest differences could merge, so they are skipped.
        let cube = |values: &[f64]| values.iter().map(|value| value.powi(3) + 4.0 * value).collect::<Vec<_>>();
        let two = (one.0.clone(), cube(&one.1), one.2.iter().map(|value| 8.0 * value).collect());
        let distinct = |values: &[f64]| {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            sorted.dedup();
            sorted.len()
        };
        prop_assume!(distinct(&one.1) == distinct(&two.1));
        let found = [&one, &two].map(|columns| correlate(columns, Correlation::Spearman, Exchange::Points));
        prop_assert_eq!(&found[0], &found[1]);
    }

    #[test]
    fn correlations_stay_in_their_range(rows in rows()) {
        for correlation in CORRELATIONS {
            let Ok(found) = correlate(&plain(&rows), correlation, Exchange::Points) else { continue };
            let range = found.leave_one_out_range();
            let bounds = [found.interval.lower, found.interval.upper];
            let values = found.left_out.iter().filter_map(|l| l.value).chain(bounds).chain([found.value]);
            for value in values {
                prop_assert!((-1.0..=1.0).contains(&value));
            }
            prop_assert!(found.interval.lower <= found.interval.upper);
            prop_assert!(range.is_none_or(|(lowest, highest)| lowest <= highest));
        }
    }

    #[test]
    fn kappa_is_symmetric_and_blind_to_names(ratings in vec((0..4_i32, 0..4_i32), 1..40)) {
        let (first, second): (Vec<i32>, Vec<i32>) = ratings.iter().copied().unzip();
        let found = cohen_kappa(&first, &second).unwrap();
        prop_assert_eq!(found, cohen_kappa(&second, &first).unwrap());
        let renamed = |ratings: &[i32]| ratings.iter().map(|r| (r * 3 + 1) % 5).collect::<Vec<_>>();
        prop_assert_eq!(found, cohen_kappa(&renamed(&first), &renamed(&second)).unwrap());
        prop_assert!(found.kappa.is_none_or(|kappa| (-1.0..=1.0).contains(&kappa)));
        prop_assert!(found.kappa.is_none_or(|kappa| (kappa < 1.0) == (found.raw < 1.0)));
        // On a scale of two steps all distances are alike.
        let low = |ratings: &[i32]| ratings.iter().map(|r| r % 2).collect::<Vec<_>>();
        let plain = cohen_kappa(&low(&first), &low(&second)).unwrap().kappa;
        let weighted = weighted_kappa(&low(&first), &low(&second), Scale::Quadratic).unwrap().kappa;
        prop_assert_eq!(plain.is_some(), weighted.is_some());
        prop_assert!(plain.zip(weighted).is_none_or(|(a, b)| (a - b).abs() < 1e-12));
    }

    #[test]
    fn fleiss_agrees_with_cohen_on_raw_agreement(ratings in vec((0..4_i32, 0..4_i32), 1..40)) {
        let (first, second): (Vec<i32>, Vec<i32>) = ratings.iter().copied().unzip();
        let pairs: Vec<[i32; 2]> = ratings.iter().map(|&(a, b)| [a, b]).collect();
        let (cohen, fleiss) = (cohen_kappa(&first, &second).unwrap(), fleiss_kappa(&pairs).unwrap());
        prop_assert!((cohen.raw - fleiss.raw).abs() < 1e-12);
        // Fleiss takes both raters' shares together, which can only make chance agreement larger.
        prop_assert!(fleiss.by_chance >= cohen.by_chance - 1e-12);
    }

    #[test]
    fn wilson_holds_the_share_and_mirrors(trials in 1..5_000_u64, part in 0.0..=1.0_f64, confidence in 0.5..0.999_f64) {
        let hits = (part * trials as f64) as u64;
        let found = wilson(hits, trials, confidence).unwrap();
        prop_assert!(found.interval.contains(found.value));
        prop_assert!(found.interval.lower >= 0.0 && found.interval.upper <= 1.0);
        let mirrored = wilson(trials - hits, trials, confidence).unwrap();
        prop_assert!((found.interval.lower + mirrored.interval.upper - 1.0).abs() < 1e-12);
        let more = wilson(hits * 4, trials * 4, confidence).unwrap();
        let width = |share: &Share| share.interval.upper - share.interval.lower;
        prop_assert!(width(&more) < width(&found));
    }

    #[test]
    fn ranks_share_out_the_same_sum(scores in vec((0..5_i32, -9.0..9.0_f64), 1..12)) {
        let table: Vec<[f64; 2]> = scores.iter().map(|&(a, b)| [f64::from(a), b]).collect();
        let ranks = average_ranks(&table, &[Direction::Higher, Direction::Lower]).unwrap();
        let n = table.len() as f64;
        for metric in 0..2 {
            let sum: f64 = ranks.by_metric.iter().map(|system| system[metric]).sum();
            prop_assert!((sum - n * (n + 1.0) / 2.0).abs() < 1e-9);
        }
        let better = |a: usize, b: usize| table[a][0] >= table[b][0] && table[a][1] <= table[b][1];
        for (a, b) in (0..table.len()).flat_map(|a| (0..table.len()).map(move |b| (a, b))) {
            prop_assert!(!better(a, b) || ranks.average[a] <= ranks.average[b]);
        }
    }
}
