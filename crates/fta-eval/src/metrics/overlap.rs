//! Overlap of words as sets, and what the other overlaps share.

use std::collections::{BTreeMap, BTreeSet};

use super::words::{split_spaces, word_runs};

/// F1 of the sets of lower-cased words, in `[0, 1]`; each of `.`, `,`, `!`, `?` is a space. Symmetric.
///
/// Quirks: no stems, articles count, apostrophes, hyphens, `;` and quotes stay in their words, a repeated word counts
/// once. The whole gold answer is used in every category. 0 if a side has no word.
///
/// # Source
/// The score of A-Mem and of the systems that share its code (data notes, section 3).
pub fn set_f1_simple(prediction: &str, gold: &str) -> f64 {
    let words = |text: &str| -> BTreeSet<String> {
        let text = text.to_lowercase().replace(['.', ',', '!', '?'], " ");
        split_spaces(&text).map(str::to_owned).collect()
    };
    set_f1(&words(prediction), &words(gold))
}

/// F1 of the sets of lower-cased runs of word characters (`\w+`), in `[0, 1]`. Symmetric.
///
/// Quirks: as [`set_f1_simple`], but every other character than letters, numbers and `_` ends a word, so `dog's` is
/// `dog` and `s`. 0 if a side has no word.
///
/// # Source
/// The score of MemoryOS (data notes, section 3).
pub fn set_f1_word(prediction: &str, gold: &str) -> f64 {
    let words =
        |text: &str| -> BTreeSet<String> { word_runs(&text.to_lowercase()).map(str::to_owned).collect() };
    set_f1(&words(prediction), &words(gold))
}

fn set_f1(prediction: &BTreeSet<String>, gold: &BTreeSet<String>) -> f64 {
    f1_of_counts(prediction.intersection(gold).count(), prediction.len(), gold.len())
}

/// Harmonic mean of `common / predicted` and `common / gold`; 0 if nothing is common.
pub(super) fn f1_of_counts(common: usize, predicted: usize, gold: usize) -> f64 {
    if common == 0 {
        return 0.0;
    }
    let (precision, recall) = (common as f64 / predicted as f64, common as f64 / gold as f64);
    2.0 * precision * recall / (precision + recall)
}

/// Size of the intersection of two multisets.
pub(super) fn common_count<T: Ord>(
    left: impl IntoIterator<Item = T>,
    right: impl IntoIterator<Item = T>,
) -> usize {
    let mut counts: BTreeMap<T, usize> = BTreeMap::new();
    for item in left {
        *counts.entry(item).or_default() += 1;
    }
    let mut common = 0;
    for item in right {
        if let Some(left) = counts.get_mut(&item).filter(|left| **left > 0) {
            *left -= 1;
            common += 1;
        }
    }
    common
}
