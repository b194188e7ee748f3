//! Places.

use super::{Extracted, Input};
use crate::{
    answer::{asked::Asked, candidate::Candidate},
    words::{self, Token},
};

/// The place that a sentence names: after a preposition of place, names before common nouns.
pub(in crate::answer) fn place_in(asked: &Asked<'_>, candidate: &Candidate<'_>) -> Option<String> {
    let text = candidate.text;
    let tokens = words::tokens(text);
    let names_only = asked.has_any(&["city", "country", "state", "town", "cities", "countries", "continent"]);
    let mut common: Option<String> = None;
    for (i, token) in tokens.iter().enumerate() {
        let preposition = token.norm();
        if !is_place_preposition(&preposition) || i + 1 >= tokens.len() {
            continue;
        }
        let Some((from, end)) = noun_phrase(candidate, &tokens, i + 1) else { continue };
        let repeats = tokens[from..end].iter().all(|t| asked.looks_for(&words::stem(&t.norm())));
        if repeats {
            continue;
        }
        let phrase = &text[tokens[from].start..tokens[end - 1].end];
        let named = tokens[from..end].iter().any(|t| t.capitalised() && t.text != "I");
        if named {
            return Some(phrase.to_owned());
        }
        // "To hear" and "on time" are no places.
        let determined = from > i + 1;
        let bare = matches!(preposition.as_str(), "to" | "on" | "from" | "into" | "through" | "around")
            && !determined;
        if common.is_none() && !names_only && !bare && preposition_fits(&preposition) {
            let keeps = matches!(
                preposition.as_str(),
                "near" | "under" | "behind" | "beside" | "outside" | "inside" | "by" | "around"
            );
            let start = if keeps { token.start } else { tokens[from].start };
            common = Some(text[start..tokens[end - 1].end].to_owned());
        }
    }
    common
}

fn is_place_preposition(word: &str) -> bool {
    preposition_fits(word) || word == "of" || word == "visited" || word == "visit" || word == "called"
}

fn preposition_fits(word: &str) -> bool {
    words::listed(
        "in at to from near by around through into outside inside under behind beside on \
            across",
        word,
    )
}

/// The noun phrase that begins at token `from`, without its article; `None` for times, people, verbs and pronouns.
fn noun_phrase(candidate: &Candidate<'_>, tokens: &[Token<'_>], from: usize) -> Option<(usize, usize)> {
    let mut from = from;
    while from < tokens.len()
        && matches!(
            tokens[from].norm().as_str(),
            "the" | "a" | "an" | "this" | "that" | "our" | "my" | "some"
        )
    {
        from += 1;
    }
    let mut end = from;
    while end < tokens.len() && end - from < 6 {
        let norm = tokens[end].norm();
        let joins = end > from
            && matches!(norm.as_str(), "of" | "the")
            && tokens.get(end + 1).is_some_and(|t| {
                !words::is_stop(&t.norm()) || t.norm() == "the" || t.norm() == "an" || t.norm() == "a"
            });
        let article = end > from && matches!(norm.as_str(), "a" | "an") && tokens[end - 1].norm() == "of";
        if !joins
            && !article
            && (words::is_stop(&norm)
                || words::is_number(&norm)
                || time_word(candidate, &norm, tokens[end].text))
        {
            break;
        }
        end += 1;
        let gap_end = tokens.get(end).map_or(candidate.text.len(), |t| t.start);
        let gap = &candidate.text[tokens[end - 1].end..gap_end];
        // "Lisbon, Portugal" is one place.
        let region = gap.trim() == ","
            && tokens[end - 1].capitalised()
            && tokens.get(end).is_some_and(|t| t.capitalised() && t.text != "I");
        if gap.trim() != "" && !region {
            break;
        }
    }
    let bad = tokens.get(from).is_none_or(|t| {
        let norm = t.norm();
        words::is_kin(&norm)
            || (norm.ends_with("ing") && norm.len() > 5 && !t.capitalised())
            || words::listed("person general fact time touch love mind least once first", &norm)
    });
    (!bad && end > from).then_some((from, end))
}

fn time_word(candidate: &Candidate<'_>, norm: &str, text: &str) -> bool {
    words::is_calendar(norm)
        || candidate.times.iter().any(|t| words::tokens(&t.text).iter().any(|w| w.text == text))
        || words::listed(
            "yesterday today tomorrow week month year weekend morning evening last next summer \
            winter",
            norm,
        )
}

pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    input
        .leading()
        .find_map(|(position, s)| Some(Extracted::one(place_in(input.asked, &s.candidate)?, 0.9, position)))
}
