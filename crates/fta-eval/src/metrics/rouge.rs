//! ROUGE with Porter stems.

use super::{
    overlap::{common_count, f1_of_counts},
    porter::porter_stem,
};

/// ROUGE-1: F-measure of the multisets of stems, in `[0, 1]`. Symmetric.
///
/// Words are runs of ASCII letters and digits of the lower-cased text (`café` is `caf`); words of more than three
/// letters are stemmed. 0 if a side has no word.
///
/// # Source
/// Lin (2004) as the package `rouge_score` has it, with its stemmer; ES-MemEval scores summaries so (data notes,
/// section 7).
pub fn rouge1(prediction: &str, gold: &str) -> f64 {
    rouge_n(&stems(prediction), &stems(gold), 1)
}

/// ROUGE-2: as [`rouge1`] with pairs of neighbouring words; 0 if a side has fewer than two words. Symmetric.
///
/// # Source
/// As [`rouge1`].
pub fn rouge2(prediction: &str, gold: &str) -> f64 {
    rouge_n(&stems(prediction), &stems(gold), 2)
}

/// ROUGE-L: as [`rouge1`] with the longest common subsequence of words. Symmetric. `O(words * words)`.
///
/// # Source
/// As [`rouge1`]; the sentence form, line breaks count for nothing.
pub fn rouge_l(prediction: &str, gold: &str) -> f64 {
    let (prediction, gold) = (stems(prediction), stems(gold));
    f1_of_counts(common_subsequence(&prediction, &gold), prediction.len(), gold.len())
}

fn stems(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| if word.len() > 3 { porter_stem(word) } else { word.to_owned() }).collect()
}

fn rouge_n(prediction: &[String], gold: &[String], n: usize) -> f64 {
    let (predicted, expected) = (prediction.windows(n), gold.windows(n));
    let (predicted_count, expected_count) = (predicted.len(), expected.len());
    f1_of_counts(common_count(predicted, expected), predicted_count, expected_count)
}

/// Length of the longest common subsequence.
fn common_subsequence(left: &[String], right: &[String]) -> usize {
    let mut row = vec![0; right.len() + 1];
    for word in left {
        let mut diagonal = 0;
        for (at, other) in right.iter().enumerate() {
            let above = row[at + 1];
            row[at + 1] = if word == other { diagonal + 1 } else { above.max(row[at]) };
            diagonal = above;
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn words() {
        assert_eq!(stems("The café's PAINTINGS, it_was 7"), ["the", "caf", "s", "paint", "it", "was", "7"]);
    }

    #[test]
    fn a_subsequence_need_not_be_connected() {
        check(rouge_l("red old boat", "red boat"), 0.8);
        check(rouge_l("boat red", "red boat"), 0.5);
        check(rouge2("boat", "boat"), 0.0);
    }
}
