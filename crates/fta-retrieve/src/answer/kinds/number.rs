//! Numbers and how often things happen.

use std::sync::LazyLock;

use regex::Regex;

use super::{Extracted, Input};
use crate::{answer::asked::Asked, words};

static FREQUENCY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)\b(?:(?:once|twice|(?:multiple|several|many|a\ few|\d+|two|three|four|five|six)\s+times)
        (?:\s+(?:or\s+\w+\s+times\s+)?(?:a|an|every|each|per)\s+(?:\w+))?
        |(?:almost\s+)?every(?:\s+(?:other|single|few|two|three))?\s+(?:day|week|month|year|morning|evening|night|weekend
        |weekday|mon\w+|tues\w+|wednes\w+|thurs\w+|fri\w+|satur\w+|sun\w+|hour)s?
        |daily|weekly|monthly|yearly|all\ the\ time|rarely|never)\b",
    )
    .expect("the pattern is valid")
});

static MONEY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)[$€£]\s?\d+(?:[.,]\d+)*(?:\s?(?:k|thousand|million))?|\d+(?:[.,]\d+)*\s?(?:dollars|euros|pounds)")
        .expect("the pattern is valid")
});

/// The amount in a sentence that the question asks for.
pub(in crate::answer) fn amount_in(asked: &Asked<'_>, text: &str) -> Option<String> {
    if asked.has("often") || asked.has("frequently") || (asked.has("many") && asked.has("times")) {
        return FREQUENCY.find(text).map(|m| m.as_str().to_owned());
    }
    if asked.has("much")
        && let Some(m) = MONEY.find(text)
    {
        return Some(m.as_str().to_owned());
    }
    counted(asked, text)
}

/// A number, best before the noun that is counted; with its noun unless the question names it.
fn counted(asked: &Asked<'_>, text: &str) -> Option<String> {
    let tokens = words::tokens(text);
    let norms: Vec<String> = tokens.iter().map(words::Token::norm).collect();
    let mut fallback = None;
    for (i, norm) in norms.iter().enumerate() {
        // "One of them", "that one" and calendar days count nothing.
        let pronoun = norm == "one" && norms.get(i + 1).is_none_or(|n| n == "of" || words::is_stop(n));
        let dated = i.checked_sub(1).is_some_and(|b| words::is_month(&norms[b]))
            || norms.get(i + 1).is_some_and(|n| words::is_month(n));
        let ordinal =
            norm.ends_with("st") || norm.ends_with("nd") || norm.ends_with("rd") || norm.ends_with("th");
        let year = norm.len() == 4 && norm.chars().all(|c| c.is_ascii_digit());
        if !words::is_number(norm)
            || pronoun
            || dated
            || year
            || (ordinal && norm.starts_with(|c: char| c.is_ascii_digit()))
        {
            continue;
        }
        let noun = (i + 1..norms.len().min(i + 4)).find(|&j| asked.looks_for(&words::stem(&norms[j])));
        if noun.is_some() {
            return Some(tokens[i].text.to_owned());
        }
        if fallback.is_none() {
            let with_noun = norms
                .get(i + 1)
                .filter(|n| !words::is_stop(n))
                .map(|_| &text[tokens[i].start..tokens[i + 1].end]);
            let wanted_only = asked.wanted.is_empty() || with_noun.is_none();
            let phrase = if wanted_only { with_noun.unwrap_or(tokens[i].text) } else { tokens[i].text };
            fallback = Some(phrase.to_owned());
        }
    }
    fallback.or_else(|| {
        let article = |w: &str| matches!(w, "a" | "an");
        let single = norms
            .windows(2)
            .any(|w| article(&w[0]) && asked.wanted.last().is_some_and(|n| *n == words::stem(&w[1])));
        single.then(|| "one".to_owned())
    })
}

pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    input.leading().find_map(|(position, s)| {
        Some(Extracted::one(amount_in(input.asked, s.candidate.text)?, 0.9, position))
    })
}
