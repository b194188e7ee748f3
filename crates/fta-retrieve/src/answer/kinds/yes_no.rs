//! Yes and no, from the polarity of the best matching sentence.

use super::{Extracted, Input};
use crate::{answer::score::Scored, words};

pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    let (position, best) = input.leading().find(|(_, s)| !s.candidate.is_question())?;
    let positive = said_plainly(best).unwrap_or_else(|| !negated(best));
    let yes = positive != input.asked.negated;
    let certainty = if best.matched.is_empty() { 0.5 } else { 0.8 };
    Some(Extracted::one(if yes { "Yes" } else { "No" }.to_owned(), certainty, position))
}

/// The "yes" or "no" with which the sentence begins.
fn said_plainly(scored: &Scored<'_>) -> Option<bool> {
    let first = words::tokens(scored.candidate.text).first()?.norm();
    match first.as_str() {
        "yes" | "yeah" | "yep" | "yup" | "definitely" | "absolutely" | "sure" => Some(true),
        "no" | "nope" | "nah" | "never" | "not" => Some(false),
        _ => None,
    }
}

/// Whether a negation governs what the question repeats: it stands shortly before a repeated word, or nothing is
/// repeated.
fn negated(scored: &Scored<'_>) -> bool {
    let tokens = words::tokens(scored.candidate.text);
    let negation = |range: std::ops::Range<usize>| {
        tokens[range].iter().filter(|t| words::is_negation(&t.norm())).count() % 2 == 1
    };
    let mut matches =
        (0..tokens.len()).filter(|&i| scored.matched.contains(&words::stem(&tokens[i].norm()))).peekable();
    if matches.peek().is_none() {
        return negation(0..tokens.len());
    }
    matches.any(|i| negation(i.saturating_sub(3)..i))
}
