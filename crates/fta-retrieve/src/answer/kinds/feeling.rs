//! Feelings: the words after "feel", else the emotion words of the sentence.

use super::{Extracted, Input};
use crate::{
    answer::{score::Scored, span},
    emotion, words,
};

pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    for (position, scored) in input.leading().filter(|(_, s)| !s.candidate.is_question()) {
        if let Some(text) = felt(input, scored).or_else(|| named(scored)) {
            return Some(Extracted::one(text, 0.9, position));
        }
    }
    let (position, best) = input.leading().find(|(_, s)| !s.candidate.is_question())?;
    if best.candidate.quoted
        && let Some(emotion) = best.candidate.unit.affect.emotions.first()
    {
        return Some(Extracted::one(emotion.clone(), 0.6, position));
    }
    Some(Extracted::one(span::shortened(best.candidate.text, input.config.max_words), 0.4, position))
}

/// What stands after a form of "feel", up to the end of its phrase.
fn felt(input: Input<'_, '_>, scored: &Scored<'_>) -> Option<String> {
    let text = scored.candidate.text;
    let tokens = words::tokens(text);
    let at =
        tokens.iter().position(|t| matches!(t.norm().as_str(), "feel" | "felt" | "feeling" | "feels"))?;
    let marked = span::Marked::new(input.asked, text);
    let end = marked.phrase_end(at + 1, 9);
    let mut from = at + 1;
    while from < end
        && matches!(
            tokens[from].norm().as_str(),
            "so" | "really" | "very" | "a" | "like" | "that" | "pretty" | "just"
        )
    {
        from += 1;
    }
    let span = span::strip_times(marked.slice((from, end)), &scored.candidate);
    let holds = words::tokens(span).iter().any(|t| !words::is_stop(&t.norm()));
    holds.then(|| span.trim().to_owned())
}

/// The emotion words of the sentence as said.
fn named(scored: &Scored<'_>) -> Option<String> {
    let mut found: Vec<&str> = Vec::new();
    let mut nouns: Vec<String> = Vec::new();
    for token in words::tokens(scored.candidate.text) {
        if let Some(noun) = emotion::emotion_of(token.text)
            && !nouns.contains(&noun)
            // "I love it", "I hope so" and "sorry" say little of how somebody felt.
            && !matches!(noun.as_str(), "love" | "hope")
        {
            nouns.push(noun);
            found.push(token.text);
        }
    }
    (!found.is_empty()).then(|| found.join(" and ").to_lowercase())
}
