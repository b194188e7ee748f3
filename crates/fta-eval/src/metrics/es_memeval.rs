//! Scores of ES-MemEval.

use std::collections::BTreeSet;

use super::{
    overlap::f1_of_counts,
    ranking::{discounted_gain, found_in_top},
    words::{trim, word_runs},
};

/// How an answer is cleaned before it is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Cleaning {
    /// The prefix `Answer:` is removed.
    #[default]
    Prefix,
    /// As in ES-MemEval's code: all of the characters `A n s w e r :` are removed from both ends.
    Parity,
}

/// An answer as it is scored: without `*` and `#`, without the prefix `Answer:`, trimmed.
///
/// Quirk of [`Cleaning::Parity`]: "unknown" becomes "unkno", "She feels better" becomes "She feels bett"; a final full
/// stop protects the end.
///
/// # Source
/// ES-MemEval's evaluation code (data notes, section 7).
pub fn clean_answer(prediction: &str, cleaning: Cleaning) -> String {
    let plain = prediction.replace(['*', '#'], "");
    let cleaned = match cleaning {
        Cleaning::Prefix => {
            let plain = trim(&plain);
            plain.strip_prefix("Answer:").unwrap_or(plain)
        }
        Cleaning::Parity => plain.trim_matches(['A', 'n', 's', 'w', 'e', 'r', ':']),
    };
    trim(cleaned).to_owned()
}

/// ES-MemEval's answer score, in `[0, 1]`: the answer is cleaned, then words (runs of `\w`, lower-cased) are compared.
///
/// The number of distinct common words is divided by the numbers of all predicted and all gold words, repeated ones
/// included; the score is the harmonic mean. So a text with a repeated word scores below 1 against itself. 0 if
/// nothing is common; an empty prediction is 0 (the original stops there).
///
/// # Source
/// ES-MemEval's evaluation code (data notes, section 7), which reports it times 100 and scores abstention questions
/// against their gold text like the others.
pub fn es_memeval_f1(prediction: &str, gold: &str, cleaning: Cleaning) -> f64 {
    let (prediction, gold) = (clean_answer(prediction, cleaning).to_lowercase(), gold.to_lowercase());
    let common = distinct_words(&prediction).intersection(&distinct_words(&gold)).count();
    f1_of_counts(common, word_runs(&prediction).count(), word_runs(&gold).count())
}

/// Share of the relevant documents among the first `k`, in `[0, 1]`; 0 if none is relevant.
///
/// `ranked`: ids, best first; `relevant`: ids in any order. An id counts once.
///
/// # Source
/// ES-MemEval's retrieval experiment (data notes, section 7).
pub fn es_memeval_recall<T: Ord>(ranked: &[T], relevant: &[T], k: usize) -> f64 {
    let relevant: BTreeSet<&T> = relevant.iter().collect();
    if relevant.is_empty() {
        return 0.0;
    }
    found_in_top(ranked, &relevant, k) as f64 / relevant.len() as f64
}

/// ES-MemEval's NDCG among the first `k`, in `[0, 1)`; 0 if none is relevant.
///
/// Quirk: a relevant document at rank `r` gains `1 / log2(r + 3)`, but `1 / log2(r + 1)` in the ideal sum, so a perfect
/// ranking scores below 1 (0.571 with two relevant ones). [`ndcg`](super::ndcg) is the usual one.
///
/// # Source
/// ES-MemEval's retrieval experiment (data notes, section 7).
pub fn ndcg_es_parity<T: Ord>(ranked: &[T], relevant: &[T], k: usize) -> f64 {
    let relevant: BTreeSet<&T> = relevant.iter().collect();
    let ideal: f64 = (1..=k.min(relevant.len())).map(|rank| 1.0 / (rank as f64 + 1.0).log2()).sum();
    if ideal == 0.0 {
        return 0.0;
    }
    discounted_gain(ranked, &relevant, k, |rank| 1.0 / (rank as f64 + 3.0).log2()) / ideal
}

fn distinct_words(text: &str) -> BTreeSet<&str> {
    word_runs(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn the_prefix_is_removed_and_nothing_else() {
        assert_eq!(clean_answer(" **Answer:** unknown", Cleaning::Prefix), "unknown");
        assert_eq!(clean_answer("Andrew answers", Cleaning::Prefix), "Andrew answers");
        assert_eq!(clean_answer("Andrew answers", Cleaning::Parity), "drew a");
    }

    #[test]
    fn an_empty_side_scores_nothing() {
        check(es_memeval_f1("", "rain", Cleaning::Prefix), 0.0);
        check(es_memeval_f1("rain", "", Cleaning::Prefix), 0.0);
        check(es_memeval_f1("", "", Cleaning::Prefix), 0.0);
    }

    #[test]
    fn cleaning_changes_the_score() {
        check(es_memeval_f1("unknown", "unknown", Cleaning::Prefix), 1.0);
        check(es_memeval_f1("unknown", "unknown", Cleaning::Parity), 0.0);
    }
}
