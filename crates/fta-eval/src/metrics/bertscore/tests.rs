use std::path::{Path, PathBuf};

use fta_mem::index::weights::{ALL_MINILM_L6_V2, WeightsResolver};
use serde::Deserialize;

use super::*;
use crate::metrics::tests::question;

/// Differences seen are below 3e-7.
const TOLERANCE: f64 = 1e-5;

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

/// Compares with the package over all pairs.
#[track_caller]
fn check_pairs(scorer: &BertScore, reference: &Reference) {
    assert_eq!(reference.pairs.len(), 50);
    for pair in &reference.pairs {
        let found = scorer.compare(&pair.candidate, &pair.reference).unwrap();
        let differences =
            [found.precision - pair.precision, found.recall - pair.recall, found.f1 - pair.f1].map(f64::abs);
        let close = differences.into_iter().all(|difference| difference <= TOLERANCE);
        assert!(close, "{:.40} / {:.40}: {found:?}", pair.candidate, pair.reference);
    }
}

#[test]
fn equal_to_the_package_by_a_bert() {
    let files = WeightsResolver::default().resolve(&ALL_MINILM_L6_V2, &mut |_| {}).unwrap();
    let reference = reference("minilm.json");
    let config = BertScoreConfig { layer: reference.layer, ..BertScoreConfig::default() };
    let scorer = BertScore::load(&files.directory, config).unwrap();
    check_pairs(&scorer, &reference);
}

#[test]
fn equal_to_the_package_by_a_roberta() {
    let reference = reference("roberta.json");
    check_pairs(&roberta(reference.layer), &reference);
    // Another layer gives other numbers, so the layer counts.
    let other = roberta(3).compare(&reference.pairs[1].candidate, &reference.pairs[1].reference).unwrap();
    assert!((other.f1 - reference.pairs[1].f1).abs() > 100.0 * TOLERANCE, "{other:?}");
}

/// A copy of the small RoBERTa with another `config.json`.
fn altered(change: impl Fn(&mut serde_json::Value)) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::copy(fixtures().join("roberta").join(file), copy.path().join(file)).unwrap();
    }
    let path = copy.path().join("config.json");
    let mut config = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut config);
    std::fs::write(path, config.to_string()).unwrap();
    copy
}

fn load(directory: &Path) -> Result<BertScore, BertScoreError> {
    BertScore::load(directory, BertScoreConfig { layer: 2, ..BertScoreConfig::default() })
}

#[track_caller]
fn check_error(directory: &Path, config: BertScoreConfig, expected: &str) {
    let error = BertScore::load(directory, config).unwrap_err().to_string();
    assert!(error.contains(expected), "{error}");
}

#[test]
fn folders_that_cannot_be_used() {
    let two = BertScoreConfig { layer: 2, ..BertScoreConfig::default() };
    check_error(Path::new("/no/such"), two, "`/no/such/config.json` cannot be read; the folder must hold");
    let whole = fixtures().join("roberta");
    check_error(&whole, BertScoreConfig::default(), "layer `9` is not there: the model has layers 1 to `3`");
    check_error(&whole, BertScoreConfig { layer: 0, ..two }, "layer `0` is not there");
    check_error(&whole, BertScoreConfig { window: 2, ..two }, "a window of `2` tokens holds no text");
    for file in ["tokenizer.json", "model.safetensors"] {
        let copy = altered(|_| ());
        std::fs::write(copy.path().join(file), "{}").unwrap();
        check_error(copy.path(), two, &format!("{file}` is damaged or of another model"));
        std::fs::remove_file(copy.path().join(file)).unwrap();
        check_error(copy.path(), two, &format!("{file}` cannot be read"));
    }
    let with = |key: &str, value: serde_json::Value| altered(move |config| config[key] = value.clone());
    for (key, value, expected) in [
        ("model_type", "deberta".into(), "`model_type` is `deberta`"),
        ("position_embedding_type", "relative_key".into(), "`position_embedding_type` is `relative_key`"),
        ("hidden_act", "swish".into(), "`hidden_act` is `swish`"),
        ("num_attention_heads", 5.into(), "does not split into `5` heads"),
        ("vocab_size", 77.into(), "model.safetensors` is damaged or of another model: shape mismatch"),
        ("vocab_size", "many".into(), "config.json` is damaged"),
    ] {
        check_error(with(key, value).path(), two, expected);
    }
}

#[test]
fn names_say_model_and_layer() {
    assert_eq!(roberta(2).name(), "bertscore:roberta:L2");
    assert_eq!(roberta(3).name(), "bertscore:roberta:L3");
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("bert-base-uncased");
    let copy = altered(|_| ());
    std::fs::rename(copy.path(), &folder).unwrap();
    assert_eq!(load(&folder).unwrap().name(), "bertscore:bert-base-uncased:L2");
}

#[test]
fn tensors_under_their_old_names() {
    let copy = altered(|_| ());
    let path = copy.path().join("model.safetensors");
    let tensors = candle_core::safetensors::load(&path, &candle_core::Device::Cpu).unwrap();
    let old = tensors.into_iter().map(|(name, tensor)| {
        let name =
            name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
        (format!("roberta.{name}"), tensor)
    });
    let old: std::collections::HashMap<_, _> = old.collect();
    assert!(old.keys().any(|name| name.ends_with("gamma")));
    candle_core::safetensors::save(&old, &path).unwrap();
    let (a, b) = ("The boat is red.", "a red boat");
    assert_eq!(load(copy.path()).unwrap().compare(a, b).unwrap(), roberta(2).compare(a, b).unwrap());
}

#[test]
fn an_xlm_roberta_puts_no_space_before_a_text() {
    let copy = altered(|config| config["model_type"] = "xlm-roberta".into());
    let (xlm, roberta) = (load(copy.path()).unwrap(), roberta(2));
    let (spaced, bare) =
        (roberta.compare("boat", "a red boat").unwrap(), xlm.compare("boat", "a red boat").unwrap());
    assert!((spaced.f1 - bare.f1).abs() > TOLERANCE);
    assert!((xlm.compare("boat", "boat").unwrap().f1 - 1.0).abs() < 1e-6);
}

#[test]
fn a_side_without_word_pieces_scores_0() {
    let scorer = roberta(2);
    for (candidate, reference) in [("", ""), (" \n", "boat"), ("boat", "\u{1c}\u{a0}")] {
        assert_eq!(scorer.compare(candidate, reference).unwrap(), BertScores::default(), "{candidate:?}");
    }
}

#[test]
fn sides_can_be_swapped() {
    let scorer = roberta(2);
    let (one, other) = ("They planted roses.", "roses, in the garden");
    let (there, back) = (scorer.compare(one, other).unwrap(), scorer.compare(other, one).unwrap());
    assert!((there.precision - back.recall).abs() < 1e-6 && (there.recall - back.precision).abs() < 1e-6);
    assert!((there.precision - there.recall).abs() > TOLERANCE);
}

#[test]
fn the_cache_is_bounded_and_changes_nothing() {
    let texts: Vec<String> = (0..30).map(|number| format!("the boat number {number} is red")).collect();
    let config = |cache_bytes| BertScoreConfig { layer: 2, cache_bytes, ..BertScoreConfig::default() };
    let with = |bytes| BertScore::load(&fixtures().join("roberta"), config(bytes)).unwrap();
    let (none, small) = (with(0), with(20_000));
    for round in 0..2 {
        for text in &texts {
            let expected = none.compare(text, "a red boat").unwrap();
            assert_eq!(small.compare(text, "a red boat").unwrap(), expected, "round {round}");
            let bytes = small.shared.cache.lock().unwrap().bytes();
            assert!(bytes > 0 && bytes <= 20_000, "{bytes}");
        }
    }
    assert!(small.shared.cache.lock().unwrap().get(&texts[29]).is_some());
    assert!(small.shared.cache.lock().unwrap().get(&texts[0]).is_none());
    assert_eq!(none.shared.cache.lock().unwrap().bytes(), 0);
}

#[tokio::test]
async fn scores_answers_against_gold() {
    let scorer: Arc<dyn Scorer> = Arc::new(roberta(2));
    let asked = question(4, "a red boat", &[]);
    let observation = Observation {
        conversation: "case",
        question: &asked,
        answer: Some("**Answer:** a red boat"),
        abstained: None,
        retrieved: None,
        within: None,
        history: None,
    };
    let score = scorer.score(&observation).await.unwrap().unwrap();
    assert!((score - 1.0).abs() < 1e-6, "{score}");
    let silent = Observation { answer: None, ..observation };
    let error = scorer.score(&silent).await.unwrap_err().to_string();
    let expected =
        "scorer `bertscore:roberta:L2` needs the answer of question `case_qa4`, and the run has none";
    assert_eq!(error, expected);
    let adversarial = question(5, "", &[]);
    let unanswerable = Observation { question: &adversarial, ..observation };
    assert_eq!(scorer.score(&unanswerable).await.unwrap(), None);
}
