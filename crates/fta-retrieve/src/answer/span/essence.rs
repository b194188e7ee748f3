//! The part of a sentence that tells what was asked, where no single phrase stands out.

use super::{Marked, cut, subject};
use crate::{
    answer::{asked::Asked, candidate::Candidate},
    words,
};

/// The clause of the sentence that answers, without what opens it, its subject and what it repeats at its end;
/// `max_words` words at most. The sentence, shortened, where that leaves nothing.
pub(in crate::answer) fn essence(asked: &Asked<'_>, candidate: &Candidate<'_>, max_words: usize) -> String {
    let whole = || cut::shortened(candidate.text, max_words);
    let mut marked = Marked::new(asked, candidate.text);
    marked.mute(candidate);
    let Some(clause) = best_clause(&marked) else { return whole() };
    let range = complement(&marked, clause)
        .or_else(|| repeated_subject(&marked, clause))
        .unwrap_or_else(|| without_subject(&marked, clause));
    let range = super::without_repeated_tail(&marked, range);
    let range = cut::trim(&marked, range);
    let text = cut::strip_times(marked.slice(range), candidate);
    if marked.n_content(range) == 0 || text.is_empty() {
        return whole();
    }
    cut::shortened(&cut::owned_by_speaker(text, candidate.speaker), max_words)
}

/// The clause that repeats most of the question and says more; else the longest that says something.
fn best_clause(marked: &Marked<'_>) -> Option<(usize, usize)> {
    let mut clauses = Vec::new();
    let mut from = 0;
    for end in 1..=marked.tokens.len() {
        if marked.breaks_after(end - 1) {
            clauses.push((from, end));
            from = end;
        }
    }
    let repeated = |range: (usize, usize)| (range.0..range.1).filter(|&i| marked.matched[i]).count();
    let says = |range: (usize, usize)| marked.n_content(range);
    clauses
        .into_iter()
        .filter(|&clause| says(clause) > 0)
        .max_by_key(|&clause| (repeated(clause), says(clause), std::cmp::Reverse(clause.0)))
}

/// "My favourite recipe is pot pie": what follows the copula when the question's words stand before it.
fn complement(marked: &Marked<'_>, (from, end): (usize, usize)) -> Option<(usize, usize)> {
    let copula = (from..end)
        .find(|&i| matches!(marked.norms[i].as_str(), "is" | "are" | "was" | "were" | "it's" | "that's"))?;
    let repeats = (from..copula).any(|i| marked.matched[i]);
    let says = marked.n_content((from, copula)) == 0 && marked.n_content((copula + 1, end)) > 0;
    (repeats && says).then_some((copula + 1, end))
}

/// "Raising awareness for mental health is hard": what stands between the repeated words and the copula.
fn repeated_subject(marked: &Marked<'_>, (from, end): (usize, usize)) -> Option<(usize, usize)> {
    let copula = (from..end).find(|&i| matches!(marked.norms[i].as_str(), "is" | "are" | "was" | "were"))?;
    let last = (from..copula).rev().find(|&i| marked.matched[i])?;
    (marked.n_content((last + 1, copula)) > 0).then_some((last + 1, copula))
}

/// The clause from its verb on, when it opens with adverbs and a pronoun ("So I recently").
fn without_subject(marked: &Marked<'_>, (from, end): (usize, usize)) -> (usize, usize) {
    let pronoun = (from..end.min(from + 5)).find(|&i| subject(&marked.norms[i]));
    let Some(pronoun) = pronoun else { return (from, end) };
    let opens = (from..pronoun).all(|i| !marked.content(i) || words::listed(ADVERBS, &marked.norms[i]));
    let mut start = pronoun + 1;
    while start < end
        && (words::is_auxiliary(&marked.norms[start]) || words::listed(ADVERBS, &marked.norms[start]))
    {
        start += 1;
    }
    if opens && marked.n_content((start, end)) > 0 { (start, end) } else { (from, end) }
}

/// Adverbs that tell when or how often, or only lead on.
pub(super) const ADVERBS: &str = "just also even only really recently lately always usually often sometimes actually finally already \
still currently anyway besides last week month year night today yesterday so then now definitely totally";
