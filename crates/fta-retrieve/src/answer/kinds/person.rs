//! People: names and relatives.

use super::{Extracted, Input};
use crate::{
    answer::{asked::Asked, candidate::Candidate},
    rewrite::is_name_of,
    words::{self, Token},
};

pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    for (position, scored) in input.leading() {
        if let Some(text) = person_in(input.asked, &scored.candidate) {
            return Some(Extracted::one(text, 0.9, position));
        }
        if let Some(text) = person_before(input.asked, &scored.candidate) {
            return Some(Extracted::one(text, 0.7, position));
        }
        // "Who adopted a cat?": whoever says "I adopted a cat".
        let nobody_named = input.asked.query.speakers.is_empty();
        let of_self =
            words::tokens(scored.candidate.text).iter().any(|t| words::is_first_person_any(&t.norm()));
        if nobody_named && of_self && !scored.matched.is_empty() && !scored.candidate.speaker.is_empty() {
            return Some(Extracted::one(scored.candidate.speaker.to_owned(), 0.8, position));
        }
    }
    None
}

/// The person whom "we", "he" or "she" of the sentence takes up from the sentence before it in the same turn.
fn person_before(asked: &Asked<'_>, candidate: &Candidate<'_>) -> Option<String> {
    let takes_up = words::tokens(candidate.text)
        .iter()
        .take(4)
        .any(|t| matches!(t.norm().as_str(), "we" | "he" | "she" | "they"));
    let said = candidate.turn.filter(|_| takes_up)?.text.get(..candidate.start)?;
    let before = words::sentences(said).pop()?;
    person_in(asked, &Candidate { text: &said[before.clone()], start: before.start, ..candidate.clone() })
}

/// The people of a sentence, joined when they are listed; never the person asked about.
fn person_in(asked: &Asked<'_>, candidate: &Candidate<'_>) -> Option<String> {
    let text = candidate.text;
    let tokens = words::tokens(text);
    let mut people: Vec<(usize, usize, String)> = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        if let Some((end, name)) =
            name_at(asked, candidate, &tokens, i).or_else(|| kin_at(asked, candidate, &tokens, i))
        {
            people.push((i, end, name));
            i = end;
        } else {
            i += 1;
        }
    }
    let first = people.first()?;
    let mut out = first.2.clone();
    let mut last_end = first.1;
    for (start, end, name) in &people[1..] {
        // Only what stands in one list with the first.
        let between = &text[tokens[last_end - 1].end..tokens[*start].start];
        if !matches!(between.trim(), "," | "and" | ", and" | "&") {
            break;
        }
        out.push_str(if between.contains("and") { " and " } else { ", " });
        out.push_str(name);
        last_end = *end;
    }
    Some(out)
}

fn name_at(
    asked: &Asked<'_>,
    candidate: &Candidate<'_>,
    tokens: &[Token<'_>],
    i: usize,
) -> Option<(usize, String)> {
    let is_name = |token: &Token<'_>| {
        let norm = token.norm();
        token.capitalised()
            && token.text != "I"
            && !words::is_stop(&norm)
            && !words::is_calendar(&norm)
            && !opener(&norm)
            && !asked.looks_for(&words::stem(&norm))
            && !asked.query.speakers.iter().any(|s| is_name_of(&norm, s))
            && !candidate.times.iter().any(|t| t.text.contains(token.text))
    };
    if !is_name(&tokens[i]) || words::is_kin(&tokens[i].norm()) {
        return None;
    }
    let next_capital = tokens.get(i + 1).is_some_and(Token::capitalised);
    // "In Lisbon" is a place.
    let place =
        i.checked_sub(1).is_some_and(|b| matches!(tokens[b].norm().as_str(), "in" | "at" | "near" | "from"));
    let sentence_start = i == 0 && !next_capital && !named_elsewhere(candidate, tokens[i].text);
    if sentence_start || place {
        return None;
    }
    let mut end = i + 1;
    while end < tokens.len()
        && is_name(&tokens[end])
        && candidate.text[tokens[end - 1].end..tokens[end].start].chars().all(|c| c == ' ' || c == '.')
    {
        end += 1;
    }
    let name = &candidate.text[tokens[i].start..tokens[end - 1].end];
    Some((end, words::strip_possessive(name).to_owned()))
}

/// Whether a word that begins a sentence is known as a name: mentioned by the unit, or followed by a verb form of others.
fn named_elsewhere(candidate: &Candidate<'_>, word: &str) -> bool {
    candidate.unit.fact.mentioned.iter().any(|m| m.contains(word))
        || candidate.unit.fact.claim.match_indices(word).any(|(at, _)| at > 0)
        || candidate.context.contains(word)
}

fn opener(word: &str) -> bool {
    words::listed(
        "yeah yes no wow thanks thank hey hi hello sure great definitely absolutely sounds \
            glad congrats awesome cool nice good last next yesterday today tomorrow god ok okay",
        word,
    )
}

/// "my older sister", "her friends": determiner, at most two words, a relative.
fn kin_at(
    asked: &Asked<'_>,
    candidate: &Candidate<'_>,
    tokens: &[Token<'_>],
    i: usize,
) -> Option<(usize, String)> {
    let determiner = tokens[i].norm();
    let first_person = determiner == "my" || determiner == "our";
    if !first_person
        && !matches!(determiner.as_str(), "his" | "her" | "their" | "a" | "an" | "the" | "your" | "some")
    {
        let says_more = words::is_kin(&determiner) && !asked.looks_for(&words::stem(&determiner));
        return says_more.then(|| (i + 1, tokens[i].text.to_owned()));
    }
    let kin = (i + 1..tokens.len().min(i + 4)).find(|&j| words::is_kin(&tokens[j].norm()))?;
    if tokens[i + 1..kin].iter().any(|t| words::is_stop(&t.norm())) {
        return None;
    }
    let rest = &candidate.text[tokens[i].end..tokens[kin].end];
    // "My sister Ada": the name says more than the role.
    let set_on = tokens
        .get(kin + 1)
        .is_some_and(|t| matches!(candidate.text[tokens[kin].end..t.start].trim(), "" | ","));
    if set_on && let Some(named) = name_at(asked, candidate, tokens, kin + 1) {
        return Some(named);
    }
    // "Her boss" does not tell who her boss is.
    if asked.looks_for(&words::stem(&tokens[kin].norm())) {
        return None;
    }
    let text = match determiner.as_str() {
        "my" if !candidate.speaker.is_empty() => format!("{}'s{rest}", candidate.speaker),
        "a" | "an" | "the" | "some" | "our" => rest.trim().to_owned(),
        _ => candidate.text[tokens[i].start..tokens[kin].end].to_owned(),
    };
    Some((kin + 1, text))
}
