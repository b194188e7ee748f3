//! Statistics as callers use them: against values of other programs, on bad input, and their invariants.

mod properties;
mod reference;

use super::*;

const FEW: Resampling = Resampling { seed: 7, rounds: 400, confidence: 0.95 };

#[test]
fn a_seed_fixes_every_bit() {
    let cases: Vec<String> = (0..40).map(|i| format!("case {}", i % 5)).collect();
    let (x, y): (Vec<f64>, Vec<f64>) =
        (0..40).map(|i| f64::from(i * 37 % 41)).map(|x| (x, (x * 0.3).sin())).unzip();
    let run = |seed| {
        let resampling = Resampling { seed, ..FEW };
        let gain = CaseValues::differences(&cases, &x, &y).unwrap();
        let points = CasePoints::new(&cases, &x, &y).unwrap();
        (
            gain.bootstrap(Weighting::Questions, &resampling).unwrap(),
            gain.sign_flips(Unit::Question, Weighting::Cases, &resampling).unwrap(),
            points.correlate(Correlation::Spearman, Exchange::Points, &resampling).unwrap(),
        )
    };
    assert_eq!(run(3), run(3));
    assert_ne!(run(3).0.interval, run(4).0.interval);
    assert_ne!(run(3).2.p_value.at_least, run(4).2.p_value.at_least);
    let from_threads: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| run(3))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(from_threads.iter().all(|result| *result == run(3)));
}

#[test]
fn weights_and_case_means_are_told_apart() {
    let scores = CaseValues::new(&["b", "a", "b", "b"], &[1.0, 5.0, 1.0, 1.0]).unwrap();
    assert_eq!((scores.n_cases(), scores.n_questions()), (2, 4));
    assert_eq!(scores.mean(Weighting::Questions), Some(2.0));
    assert_eq!(scores.mean(Weighting::Cases), Some(3.0));
    assert_eq!(scores.case_means(), [("a", 5.0), ("b", 1.0)]);
    let none: [&str; 0] = [];
    assert_eq!(CaseValues::new(&none, &[]).unwrap().mean(Weighting::Cases), None);
}

#[test]
fn too_little_and_unusable_input_is_an_error() {
    let one = CaseValues::new(&["a", "a"], &[0.0, 1.0]).unwrap();
    let error = one.bootstrap(Weighting::Questions, &FEW).unwrap_err();
    assert_eq!(error, StatsError::TooFew { what: "cases", needed: 2, given: 1 });
    assert_eq!(error.to_string(), "too few cases: `1` given, at least `2` needed");
    assert_eq!(one.sign_flips(Unit::Case, Weighting::Questions, &FEW), Err(error));
    assert!(one.sign_flips(Unit::Question, Weighting::Questions, &FEW).is_ok());
    let single = CaseValues::new(&["a"], &[1.0]).unwrap();
    let error = single.sign_flips(Unit::Question, Weighting::Questions, &FEW).unwrap_err();
    assert_eq!(error, StatsError::TooFew { what: "questions", needed: 2, given: 1 });

    let error = CaseValues::new(&["a", "b"], &[0.0]).unwrap_err();
    assert_eq!(error.to_string(), "values have length `1`, expected `2`");
    let error = CaseValues::differences(&["a", "b"], &[0.0, 1.0], &[0.0, f64::NAN]).unwrap_err();
    assert!(
        matches!(error, StatsError::Unusable { what: "scores of the baseline", index: 1, .. }),
        "{error}"
    );
    let error = CasePoints::new(&["a"], &[f64::INFINITY], &[0.0]).unwrap_err();
    assert!(matches!(error, StatsError::Unusable { what: "x values", index: 0, .. }), "{error}");

    let few = Resampling { rounds: 10, ..FEW };
    assert!(matches!(one.bootstrap(Weighting::Cases, &few), Err(StatsError::TooFew { what: "rounds", .. })));
}

#[test]
fn correlations_that_do_not_exist_are_errors() {
    let correlate = |cases: &[&str], x: &[f64], y: &[f64], exchange| {
        CasePoints::new(cases, x, y).unwrap().correlate(Correlation::Pearson, exchange, &FEW).unwrap_err()
    };
    let (rising, flat) = ([1.0, 2.0, 3.0, 4.0], [0.1; 4]);
    let error = correlate(&["a", "b", "c", "c"], &rising, &rising, Exchange::Points);
    assert_eq!(error, StatsError::TooFew { what: "cases", needed: 4, given: 3 });
    let apart = ["a", "b", "c", "d"];
    let error = correlate(&apart, &flat, &rising, Exchange::Points);
    assert_eq!(error, StatsError::Constant { what: "x values" });
    let error = correlate(&apart, &rising, &flat, Exchange::Points);
    assert_eq!(error, StatsError::Constant { what: "y values" });
    let error = correlate(&apart, &rising, &rising, Exchange::WithinCases);
    assert_eq!(error, StatsError::TooFew { what: "points that share a case", needed: 2, given: 1 });
}

#[test]
fn rounds_and_cases_without_variation_are_counted() {
    // Without case `d` all `x` are equal, and so are they in every round that does not draw it: (3/4)^4 of them.
    let points =
        CasePoints::new(&["a", "b", "c", "d"], &[0.0, 0.0, 0.0, 1.0], &[1.0, 3.0, 2.0, 9.0]).unwrap();
    let resampling = Resampling { rounds: 4_000, ..FEW };
    let found = points.correlate(Correlation::Pearson, Exchange::Points, &resampling).unwrap();
    // 1,266 rounds without it and 16 with it alone are expected, with a standard deviation of 30.
    assert!((1_130..=1_430).contains(&found.undefined_rounds), "{}", found.undefined_rounds);
    assert_eq!(found.left_out[3], LeftOut { case: "d".to_owned(), value: None });
    assert!(found.left_out[..3].iter().all(|left_out| left_out.value.is_some()));
    assert!(found.leave_one_out_range().is_some());
    assert_eq!(found.p_value, PValue { p: 0.25, exact: true, arrangements: 24, at_least: 6 });
}

#[test]
fn drawn_p_values_come_near_the_exact_ones() {
    let resampling = Resampling::default();
    for (ups, downs) in [(15, 7), (80, 50)] {
        let n = ups + downs;
        let cases: Vec<String> = (0..n).map(|i| i.to_string()).collect();
        let signs: Vec<f64> = (0..n).map(|i| if i < ups { 0.5 } else { -0.5 }).collect();
        let gain = CaseValues::new(&cases, &signs).unwrap();
        let found = gain.sign_flips(Unit::Case, Weighting::Questions, &resampling).unwrap();
        let exact = 2.0 * tail_of_fair_coins(n, ups);
        assert!(!found.exact && (found.p - exact).abs() < 0.015, "{found:?} {exact}");
    }
    // Only the one order in eleven that leaves the outlier in place correlates as well.
    let cases: Vec<String> = (0..11).map(|i| i.to_string()).collect();
    let outlier: Vec<f64> = (0..11).map(|i| f64::from(u8::from(i == 4))).collect();
    let points = CasePoints::new(&cases, &outlier, &outlier).unwrap();
    let found = points.correlate(Correlation::Pearson, Exchange::Points, &resampling).unwrap();
    assert!(!found.p_value.exact && (found.p_value.p - 1.0 / 11.0).abs() < 0.012, "{:?}", found.p_value);
}

#[test]
fn drawn_p_values_count_what_was_seen() {
    let cases: Vec<String> = (0..70).map(|i| i.to_string()).collect();
    let found = CaseValues::new(&cases, &[1.0; 70]).unwrap();
    let found = found.sign_flips(Unit::Case, Weighting::Cases, &FEW).unwrap();
    assert_eq!(found, PValue { p: 1.0 / 401.0, exact: false, arrangements: 400, at_least: 0 });
}

/// Probability of at least `least` heads in `n` tosses.
fn tail_of_fair_coins(n: usize, least: usize) -> f64 {
    let mut probability = 0.5_f64.powf(n as f64);
    let mut tail = 0.0;
    for heads in 0..=n {
        if heads >= least {
            tail += probability;
        }
        probability *= (n - heads) as f64 / (heads + 1) as f64;
    }
    tail
}

#[test]
fn one_label_has_no_kappa() {
    let found = cohen_kappa(&["yes"; 3], &["yes"; 3]).unwrap();
    assert_eq!((found.raw, found.by_chance, found.kappa), (1.0, 1.0, None));
    assert_eq!(weighted_kappa(&[2; 3], &[2; 3], Scale::Linear).unwrap().kappa, None);
    let found = fleiss_kappa(&[["yes"; 3], ["yes"; 3]]).unwrap();
    assert_eq!((found.raw, found.kappa, found.n_items, found.n_raters), (1.0, None, 2, 3));
}

#[test]
fn ratings_that_do_not_match_are_errors() {
    let error = cohen_kappa(&[1, 2], &[1]).unwrap_err();
    assert_eq!(error.to_string(), "ratings of the second rater have length `1`, expected `2`");
    let too_few = |what, needed, given| StatsError::TooFew { what, needed, given };
    assert_eq!(cohen_kappa::<i32>(&[], &[]), Err(too_few("items", 1, 0)));
    assert_eq!(weighted_kappa(&[], &[], Scale::Linear), Err(too_few("items", 1, 0)));
    assert_eq!(fleiss_kappa::<i32, Vec<i32>>(&[]), Err(too_few("items", 1, 0)));
    assert_eq!(fleiss_kappa(&[[1], [2]]), Err(too_few("raters", 2, 1)));
    let error = fleiss_kappa(&[vec![1, 2], vec![1, 2, 3]]).unwrap_err();
    assert!(matches!(error, StatsError::UnequalLengths { expected: 2, received: 3, .. }), "{error}");
}

#[test]
fn shares_need_trials() {
    assert_eq!(wilson(0, 0, 0.95), Err(StatsError::TooFew { what: "trials", needed: 1, given: 0 }));
    assert_eq!(wilson(3, 2, 0.95), Err(StatsError::Share { hits: 3, trials: 2 }));
    assert!(matches!(wilson(1, 2, 1.0), Err(StatsError::Confidence { .. })));
}
