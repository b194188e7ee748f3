//! Values of other programs on the same numbers: numpy 2.4.6, scipy 1.17.1, scikit-learn 1.9.1, statsmodels 0.15.0.

use super::*;

#[track_caller]
fn near(found: f64, expect: f64, tolerance: f64) {
    assert!((found - expect).abs() <= tolerance, "{found} is not {expect}");
}

/// Fourteen questions of seven cases.
fn gain() -> CaseValues {
    let cases = ["a", "a", "b", "b", "b", "c", "d", "d", "e", "e", "f", "f", "f", "g"];
    let system = [0.9, 0.4, 0.7, 0.2, 0.5, 0.6, 0.8, 0.1, 0.3, 0.9, 0.5, 0.65, 0.75, 0.2];
    let baseline = [0.5, 0.4, 0.6, 0.3, 0.1, 0.65, 0.2, 0.1, 0.35, 0.4, 0.6, 0.15, 0.7, 0.05];
    CaseValues::differences(&cases, &system, &baseline).unwrap()
}

/// `numpy.quantile` over all 7^7 equally likely draws of cases; ours draws 40,000 of them.
#[test]
fn bootstrap_intervals() {
    let check = |weighting, confidence, value, lower, upper| {
        let resampling = Resampling { rounds: 40_000, confidence, ..Resampling::default() };
        let found = gain().bootstrap(weighting, &resampling).unwrap();
        assert_eq!((found.n_cases, found.n_questions), (7, 14));
        near(found.value, value, 1e-15);
        near(found.interval.lower, lower, 2e-3);
        near(found.interval.upper, upper, 2e-3);
    };
    check(
        Weighting::Questions,
        0.95,
        0.171_428_571_428_571_43,
        0.113_636_363_636_363_63,
        0.228_571_428_571_428_57,
    );
    check(Weighting::Questions, 0.90, 0.171_428_571_428_571_43, 0.125, 0.217_857_142_857_142_8);
    check(
        Weighting::Cases,
        0.95,
        0.158_333_333_333_333_35,
        0.078_571_428_571_428_56,
        0.226_190_476_190_476_2,
    );
    check(
        Weighting::Cases,
        0.90,
        0.158_333_333_333_333_35,
        0.092_857_142_857_142_85,
        0.217_857_142_857_142_83,
    );
}

/// `scipy.stats.permutation_test`, `permutation_type='samples'`, all arrangements, two-sided. Two of the fourteen
/// differences are 0 and need no sign.
#[test]
fn sign_flips() {
    let check = |unit, weighting, arrangements, p| {
        let found = gain().sign_flips(unit, weighting, &FEW).unwrap();
        assert!(found.exact);
        assert_eq!(found.arrangements, arrangements);
        near(found.p, p, 1e-15);
    };
    check(Unit::Case, Weighting::Questions, 128, 0.031_25);
    check(Unit::Case, Weighting::Cases, 128, 0.031_25);
    check(Unit::Question, Weighting::Questions, 4_096, 0.036_132_812_5);
    check(Unit::Question, Weighting::Cases, 4_096, 0.028_320_312_5);
}

/// `scipy.stats.pearsonr` and `spearmanr`, on all orders for p and on 200,000 draws by numpy for the interval.
#[test]
fn correlations_of_cases() {
    let cases: Vec<String> = (0..8).map(|i| i.to_string()).collect();
    let density = [12.5, 3.0, 7.25, 7.25, 20.0, 15.5, 9.0, 1.0];
    let gain = [2.1, 0.4, 1.9, -0.3, 2.8, 1.9, 0.4, 0.9];
    let points = CasePoints::new(&cases, &density, &gain).unwrap();
    let check = |correlation, value, at_least, left_out: (f64, f64), interval: (f64, f64)| {
        let resampling = Resampling { rounds: 40_000, ..Resampling::default() };
        let found = points.correlate(correlation, Exchange::Points, &resampling).unwrap();
        near(found.value, value, 1e-14);
        assert_eq!(found.p_value, PValue::exact(at_least, 40_320));
        let range = found.leave_one_out_range().unwrap();
        near(range.0, left_out.0, 1e-14);
        near(range.1, left_out.1, 1e-14);
        near(found.interval.lower, interval.0, 0.02);
        near(found.interval.upper, interval.1, 0.005);
    };
    check(
        Correlation::Pearson,
        0.714_266_742_376_630_2,
        2_020,
        (0.534_913_541_103_434_8, 0.791_841_691_233_573_6),
        (0.190_14, 0.952_30),
    );
    check(
        Correlation::Spearman,
        0.648_496_758_543_868_2,
        3_496,
        (0.467_909_600_178_703_7, 0.743_150_541_460_293_6),
        (-0.115_38, 0.972_60),
    );
}

/// The same with several points per case: p over the 24 orders within cases, cases left out whole.
#[test]
fn correlations_of_points_in_cases() {
    let cases = ["a", "a", "a", "b", "b", "c", "c", "d"];
    let x = [1.0, 2.0, 3.0, 5.0, 4.0, 8.0, 6.0, 7.0];
    let y = [2.0, 3.0, 5.0, 4.0, 3.0, 9.0, 9.0, 6.5];
    let points = CasePoints::new(&cases, &x, &y).unwrap();
    let check = |correlation, value, left_out: [f64; 4], of_means| {
        let found = points.correlate(correlation, Exchange::WithinCases, &FEW).unwrap();
        assert_eq!((found.n_cases, found.n_points), (4, 8));
        near(found.value, value, 1e-14);
        assert_eq!(found.p_value, PValue::exact(2, 24));
        for (found, (case, expect)) in
            found.left_out.iter().zip(["a", "b", "c", "d"].into_iter().zip(left_out))
        {
            assert_eq!(found.case, case);
            near(found.value.unwrap(), expect, 1e-14);
        }
        let means = points.case_means().correlate(correlation, Exchange::Points, &FEW).unwrap();
        assert_eq!(means.n_points, 4);
        near(means.value, of_means, 1e-14);
    };
    check(
        Correlation::Pearson,
        0.850_827_174_490_895_4,
        [0.826_214_179_332_375_2, 0.919_828_894_677_040_4, 0.816_459_784_398_676_6, 0.862_326_247_644_735_1],
        0.847_992_960_641_410_5,
    );
    check(
        Correlation::Spearman,
        0.867_532_846_881_383_8,
        [0.820_782_681_668_123_3, 0.898_645_105_261_295_2, 0.782_690_898_130_805_4, 0.854_686_736_757_637],
        0.948_683_298_050_513_9,
    );
}

/// `scipy.stats.binomtest(...).proportion_ci(confidence, 'wilson')`.
#[test]
fn wilson_intervals() {
    let check = |hits, trials, confidence, lower, upper| {
        let found = wilson(hits, trials, confidence).unwrap();
        near(found.interval.lower, lower, 1e-12);
        near(found.interval.upper, upper, 1e-12);
    };
    check(7, 10, 0.95, 0.396_778_147_461_145_26, 0.892_208_732_593_699);
    check(0, 20, 0.95, 0.0, 0.161_125_158_052_819_35);
    check(20, 20, 0.99, 0.750_894_598_901_246_4, 1.0);
    check(99, 1_540, 0.95, 0.053_087_734_062_842_48, 0.077_652_024_004_592_95);
    check(1, 3, 0.8, 0.105_775_636_121_722_86, 0.678_817_352_169_651_7);
    check(500, 1_000, 0.999, 0.448_251_604_452_460_93, 0.551_748_395_547_539_1);
}

/// `scipy.stats.rankdata` of 3, 1, 3, 2, 3, 1.
#[test]
fn ranks_with_ties() {
    let table = [[3.0], [1.0], [3.0], [2.0], [3.0], [1.0]];
    let ranks = average_ranks(&table, &[Direction::Lower]).unwrap();
    assert_eq!(ranks.average, [5.0, 1.5, 5.0, 3.0, 5.0, 1.5]);
}

/// `sklearn.metrics.cohen_kappa_score` without weights, with linear and with quadratic ones.
#[test]
fn kappa_of_two_raters() {
    let first = [0, 1, 2, 2, 1, 0, 2, 1, 1, 0, 2, 2];
    let second = [0, 1, 1, 2, 1, 0, 2, 2, 1, 1, 2, 0];
    let found = cohen_kappa(&first, &second).unwrap();
    near(found.raw, 8.0 / 12.0, 1e-15);
    near(found.kappa.unwrap(), 0.494_736_842_105_263_14, 1e-14);
    let weighted = |scale| weighted_kappa(&first, &second, scale).unwrap().kappa.unwrap();
    near(weighted(Scale::Linear), 0.508_196_721_311_475_3, 1e-14);
    near(weighted(Scale::Quadratic), 0.522_727_272_727_272_7, 1e-14);
}

/// `statsmodels.stats.inter_rater.fleiss_kappa` of `aggregate_raters`.
#[test]
fn kappa_of_many_raters() {
    let ratings = [[0, 0, 1], [1, 1, 1], [2, 2, 1], [0, 0, 0], [2, 1, 0], [1, 1, 2]];
    let found = fleiss_kappa(&ratings).unwrap();
    near(found.raw, 0.5, 1e-15);
    near(found.kappa.unwrap(), 0.221_153_846_153_846_2, 1e-14);
}
