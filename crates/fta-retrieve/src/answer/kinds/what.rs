//! Things and statements: the object or complement of the sentence that repeats the question best.

use std::sync::LazyLock;

use regex::Regex;

use super::{Extracted, Input};
use crate::{
    answer::{candidate::Candidate, span},
    words,
};

static OCCUPATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:i'm|i am|i was|work(?:ed|ing)? as|job as|job is|became|become) (?:an? )((?:[\w-]+ ){0,3}[\w-]+)")
        .expect("the pattern is valid")
});

/// What the speaker says to be or work as.
pub(in crate::answer) fn occupation(candidate: &Candidate<'_>) -> Option<String> {
    let found = OCCUPATION.captures(candidate.text)?.get(1)?.as_str();
    let kept: Vec<&str> =
        found.split(' ').take_while(|w| !words::is_stop(&words::lower(w)) || matches!(*w, "of")).collect();
    (!kept.is_empty() && !matches!(kept[0], "bit" | "little" | "mess" | "lot")).then(|| kept.join(" "))
}

pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    if input.asked.wants_occupation()
        && let Some(found) = input
            .leading()
            .find_map(|(position, s)| Some(Extracted::one(occupation(&s.candidate)?, 0.9, position)))
    {
        return Some(found);
    }
    if input.asked.wants_name() {
        let named = input.leading().filter(|(_, s)| !s.candidate.is_question()).find_map(|(position, s)| {
            Some(Extracted::one(span::title_in(input.asked, &s.candidate)?, 0.9, position))
        });
        // "We launched the boat. We named it Swallow.": the name may stand beside the best sentence.
        let named = named.or_else(|| {
            let best = &input.scored.first()?.candidate;
            input.scored.iter().enumerate().find_map(|(position, s)| {
                let beside = s.candidate.session == best.session
                    && s.candidate.turn.map(|t| t.index) == best.turn.map(|t| t.index);
                let title = span::title_in(input.asked, &s.candidate).filter(|_| beside)?;
                Some(Extracted::one(title, 0.8, position))
            })
        });
        // A sentence without a name does not tell one.
        return named.or_else(|| Some(Extracted { certainty: 0.0, ..statement(input)? }));
    }
    if let Some(found) = kind_named(input) {
        return Some(found);
    }
    let (position, best) = input.leading().find(|(_, s)| !s.candidate.is_question())?;
    let essence = || span::essence(input.asked, &best.candidate, input.config.max_words);
    // How something was done is told by the whole clause.
    let manner = input.asked.words.first().is_some_and(|w| w == "how");
    if best.matched.is_empty() || manner {
        return Some(Extracted::one(essence(), 0.5, position));
    }
    let Some(text) = span::object_span(input.asked, &best.candidate) else {
        // A single leftover word rarely answers; the clause at least tells what was said.
        return Some(Extracted::one(essence(), 0.4, position));
    };
    Some(Extracted::one(span::shortened(&text, input.config.max_words), 0.8, position))
}

/// "Which instrument": the word that names a kind of the wanted thing.
fn kind_named(input: Input<'_, '_>) -> Option<Extracted> {
    let noun = input.asked.wanted.last()?;
    input.leading().filter(|(_, s)| !s.candidate.is_question()).find_map(|(position, s)| {
        let tokens = words::tokens(s.candidate.text);
        let said = tokens.iter().find(|t| words::is_kind_of(noun, &words::stem(&t.norm())))?;
        Some(Extracted::one(said.text.to_owned(), 0.9, position))
    })
}

/// The best sentence itself, shortened.
pub(super) fn statement(input: Input<'_, '_>) -> Option<Extracted> {
    let best = input.scored.first()?;
    Some(Extracted::one(span::essence(input.asked, &best.candidate, input.config.max_words), 0.3, 0))
}
