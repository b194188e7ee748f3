//! Reasons: the clause after "because" and its like.

use super::{Extracted, Input};
use crate::{answer::span, words};

/// Words that begin a reason, strongest first.
const MARKERS: [&str; 9] = [
    "because of",
    "because",
    "'cause",
    "due to",
    "thanks to",
    "in order to",
    "so that",
    "so i could",
    "as a way to",
];

pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    let limit = input.config.max_words;
    for (position, scored) in input.leading().filter(|(_, s)| !s.candidate.is_question()) {
        if let Some(reason) = marked_reason(scored.candidate.text) {
            return Some(Extracted::one(span::shortened(reason, limit), 1.0, position));
        }
    }
    let (position, best) = input.leading().find(|(_, s)| !s.candidate.is_question())?;
    let sentence = best.candidate.text;
    if let Some(reason) = consequence(sentence).or_else(|| purpose(input, sentence)) {
        return Some(Extracted::one(span::shortened(reason, limit), 0.8, position));
    }
    // The reason is often given in the next sentence of the turn.
    if let Some((at, next)) =
        input.scored.iter().enumerate().find(|(_, s)| follows(&s.candidate, &best.candidate))
        && wish(next.candidate.text)
    {
        return Some(Extracted {
            text: span::shortened(next.candidate.text, limit),
            time: None,
            certainty: 0.7,
            used: vec![at, position],
        });
    }
    Some(Extracted::one(span::shortened(sentence, limit), 0.5, position))
}

fn marked_reason(sentence: &str) -> Option<&str> {
    let lowered = sentence.to_ascii_lowercase();
    let (at, marker) = MARKERS.iter().find_map(|m| Some((word_at(&lowered, m)?, *m)))?;
    let reason = &sentence[at + marker.len()..];
    let end = words::sentences(reason).first().map_or(reason.len(), |r| r.end);
    let reason = reason[..end].trim();
    (words::tokens(reason).len() > 1).then_some(reason)
}

/// Byte of `phrase` in a lower-cased text where it stands as whole words.
fn word_at(text: &str, phrase: &str) -> Option<usize> {
    text.match_indices(phrase).map(|(at, _)| at).find(|&at| {
        let before = text[..at].chars().next_back();
        let after = text[at + phrase.len()..].chars().next();
        before.is_none_or(|c| !c.is_alphanumeric()) && after.is_none_or(|c| !c.is_alphanumeric())
    })
}

/// "It was too loud, so I moved": the reason stands before "so".
fn consequence(sentence: &str) -> Option<&str> {
    let lowered = sentence.to_ascii_lowercase();
    let at = lowered.find(", so ")?;
    (words::tokens(&sentence[..at]).len() > 2).then(|| &sentence[..at])
}

/// "to sleep better" after the words that the question repeats.
fn purpose<'t>(input: Input<'_, '_>, sentence: &'t str) -> Option<&'t str> {
    let tokens = words::tokens(sentence);
    let last = tokens.iter().rposition(|t| input.asked.looks_for(&words::stem(&t.norm())))?;
    let to = (last + 1..tokens.len()).find(|&i| matches!(tokens[i].norm().as_str(), "to" | "for"))?;
    (tokens.len() > to + 2).then(|| &sentence[tokens[to].start..])
}

fn follows(
    next: &crate::answer::candidate::Candidate<'_>,
    first: &crate::answer::candidate::Candidate<'_>,
) -> bool {
    let same_turn = match (next.turn, first.turn) {
        (Some(a), Some(b)) => a.index == b.index && next.session == first.session,
        _ => false,
    };
    let end = first.start + first.text.len();
    same_turn && next.start >= end && next.start <= end + 2
}

fn wish(sentence: &str) -> bool {
    words::tokens(sentence).iter().any(|t| {
        words::listed("want wanted need needed hope hoping hoped helps helped help makes", &t.norm())
    })
}
