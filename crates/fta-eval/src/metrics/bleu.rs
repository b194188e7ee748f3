//! BLEU-1.

use super::{overlap::common_count, word_tokenize::word_tokenize};

/// BLEU-1 of `prediction` against one reference, in `[0, 1]`.
///
/// Share of predicted tokens ([`word_tokenize`]) that are in the gold answer, each as often as there, times the brevity
/// penalty `exp(1 - gold tokens / predicted tokens)` where the prediction is not longer. Not symmetric; punctuation
/// counts as tokens; the whole gold answer is used in every category. 0 if a side has no token.
///
/// # Source
/// A-Mem and the systems that share its code: NLTK's sentence BLEU with weights (1, 0, 0, 0) and smoothing method 1,
/// which never takes effect with these weights (data notes, section 3).
pub fn bleu1(prediction: &str, gold: &str) -> f64 {
    let (prediction, gold) = (word_tokenize(prediction), word_tokenize(gold));
    let matches = common_count(&prediction, &gold);
    if matches == 0 {
        return 0.0;
    }
    let (predicted, expected) = (prediction.len() as f64, gold.len() as f64);
    let brevity = if predicted > expected { 1.0 } else { (1.0 - expected / predicted).exp() };
    brevity * matches as f64 / predicted
}
