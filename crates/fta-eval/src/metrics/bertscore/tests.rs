use std::path::{Path, PathBuf};

use fta_mem::index::weights::{ALL_MINILM_L6_V2, WeightsResolver};
use serde::Deserialize;

use super::*;
use crate::metrics::tests::question;

const TOLERANCE: f64 = 1e-4;

/// Values that the package gave, and with what they were made.
#[derive(Deserialize)]
struct Reference {
    layer: usize,
    pairs: Vec<Pair>,
}

#[derive(Deserialize)]
struct Pair {
    candidate: String,
    reference: String,
    precision: f64,
    recall: f64,
    f1: f64,
}

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/bertscore")
}

fn reference(name: &str) -> Reference {
    serde_json::from_slice(&std::fs::read(fixtures().join(name)).unwrap()).unwrap()
}

fn roberta(layer: usize) -> BertScore {
    BertScore::load(&fixtures().join("roberta"), BertScoreConfig { layer, ..BertScoreConfig::default() })
        .unwrap()
}

/// Largest difference from the package over all pairs.
fn largest_difference(scorer: &BertScore, reference: &Reference) -> f64 {
    assert_eq!(reference.pairs.len(), 50);
    let mut largest = 0.0_f64;
    for pair in &reference.pairs {
        let found = scorer.compare(&pair.candidate, &pair.reference).unwrap();
        let differences =
            [found.precision - pair.precision, found.recall - pair.recall, found.f1 - pair.f1].map(f64::abs);
        let worst = differences.into_iter().fold(0.0, f64::max);
        assert!(worst <= TOLERANCE, "{:.40} / {:.40}: {found:?}", pair.candidate, pair.reference);
        largest = largest.max(worst);
    }
    largest
}

#[test]
fn equal_to_the_package_by_a_bert() {
    let files = WeightsResolver::default().resolve(&ALL_MINILM_L6_V2, &mut |_| {}).unwrap();
    let reference = reference("minilm.json");
    let config = BertScoreConfig { layer: reference.layer, ..BertScoreConfig::default() };
    let scorer = BertScore::load(&files.directory, config).unwrap();
    assert!(largest_difference(&scorer, &reference) <= TOLERANCE);
}

#[test]
fn equal_to_the_package_by_a_roberta() {
    let reference = reference("roberta.json");
    assert!(largest_difference(&roberta(reference.layer), &reference) <= TOLERANCE);
    // Another layer gives other numbers, so the layer counts.
    let other = roberta(3).compare(&reference.pairs[1].candidate, &reference.pairs[1].reference).unwrap();
    assert!((other.f1 - reference.pairs[1].f1).abs() > 100.0 * TOLERANCE, "{other:?}");
}
