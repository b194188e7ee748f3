//! Things and statements: the object or complement of the sentence that repeats the question best.

use super::{Extracted, Input};
use crate::answer::span;

pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    let (position, best) = input.leading().find(|(_, s)| !s.candidate.is_question())?;
    let sentence = best.candidate.text;
    // How something was done is told by the whole clause.
    let manner = input.asked.words.first().is_some_and(|w| w == "how");
    if best.matched.is_empty() || manner {
        return Some(Extracted::one(span::shortened(sentence, input.config.max_words), 0.5, position));
    }
    let Some(text) = span::object_span(input.asked, &best.candidate) else {
        // A single leftover word rarely answers; the sentence at least tells what was said.
        return Some(Extracted::one(span::shortened(sentence, input.config.max_words), 0.4, position));
    };
    Some(Extracted::one(span::shortened(&text, input.config.max_words), 0.8, position))
}

/// The best sentence itself, shortened.
pub(super) fn statement(input: Input<'_, '_>) -> Option<Extracted> {
    let best = input.scored.first()?;
    Some(Extracted::one(span::shortened(best.candidate.text, input.config.max_words), 0.3, 0))
}
