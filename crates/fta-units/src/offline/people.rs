//! Who else is mentioned: names by their capital letters, kin and roles by a list.

use std::{collections::BTreeSet, ops::Range};

use super::{
    lexicon::{CAPITALISED, FILLER_WORDS, KIN, STOPWORDS, Token},
    person::{Voices, resolve},
    turns::{ReadTurn, is_speaker_name},
};

/// Capitalised words that stand inside a sentence somewhere in the turns: names, also where they open a sentence.
pub(crate) fn names_inside(turns: &[ReadTurn<'_>], speakers: &[&str]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for turn in turns {
        for sentence in &turn.sentences {
            let text = &turn.turn.text[sentence.range.clone()];
            for at in 1..sentence.tokens.len() {
                if opens_clause(text, &sentence.tokens, at) || after_place_word(&sentence.tokens, at) {
                    continue;
                }
                let token = &sentence.tokens[at];
                if is_name(text, token, speakers) {
                    names.insert(base(&text[token.start..token.end]).to_owned());
                }
            }
        }
    }
    names
}

/// The people that a sentence mentions, in text order: names and roles ("Mara", "Lena's sister").
pub(crate) fn mentioned(
    text: &str,
    words: &[Token],
    voices: &Voices,
    names: &BTreeSet<String>,
) -> Vec<String> {
    let speakers: Vec<&str> = voices.names.iter().map(String::as_str).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let token = &words[at];
        if is_name(text, token, &speakers)
            && names.contains(base(&text[token.start..token.end]))
            && !after_place_word(words, at)
        {
            // "Aunt Mara Lind" is one name.
            let mut last = at;
            while let Some(next) = words.get(last + 1) {
                if !joins(text, words, last) || !is_name(text, next, &speakers) {
                    break;
                }
                last += 1;
            }
            // "New York" and titles of many words are no people.
            let is_part = at > 0
                && joins(text, words, at - 1)
                && starts_upper(text, &words[at - 1])
                && !is_title(&words[at - 1].lower);
            if !is_part && last - at < 3 {
                found.push(base(&text[token.start..words[last].end]).to_owned());
            }
            at = last + 1;
            continue;
        }
        if let Some((phrase, next)) = role(text, words, at) {
            found.push(resolve(&text[phrase], voices));
            at = next;
            continue;
        }
        at += 1;
    }
    found
}

/// "my sister", "her new boss": the bytes of the phrase and the token after it.
fn role(text: &str, words: &[Token], at: usize) -> Option<(Range<usize>, usize)> {
    if !matches!(words[at].lower.as_str(), "my" | "your" | "his" | "her" | "our" | "their") {
        return None;
    }
    (at + 1..words.len().min(at + 4)).find_map(|noun| {
        if text[words[noun - 1].end..words[noun].start].trim() != "" {
            return Some(None);
        }
        let lower = words[noun].lower.as_str();
        if KIN.contains(lower) {
            return Some(Some((words[at].start..words[noun].end, noun + 1)));
        }
        let singular = lower.strip_suffix("'s").filter(|l| KIN.contains(l));
        if singular.is_some() {
            return Some(Some((
                words[at].start..words[noun].end - possessive_len(&text[..words[noun].end]),
                noun + 1,
            )));
        }
        STOPWORDS.contains(lower).then_some(None)
    })?
}

fn possessive_len(text: &str) -> usize {
    text.char_indices().rev().nth(1).map_or(0, |(at, _)| text.len() - at)
}

/// The name without the possessive ending.
fn base(name: &str) -> &str {
    name.strip_suffix("'s").or_else(|| name.strip_suffix("’s")).unwrap_or(name)
}

/// Whether only a blank stands between the word at `at` and the next one.
fn joins(text: &str, words: &[Token], at: usize) -> bool {
    words.get(at + 1).is_some_and(|next| &text[words[at].end..next.start] == " ")
}

fn starts_upper(text: &str, token: &Token) -> bool {
    text[token.start..].starts_with(char::is_uppercase)
        && token.lower != "i"
        && !token.lower.starts_with("i'")
        && token.start > 0
}

fn is_title(lower: &str) -> bool {
    matches!(
        lower,
        "dr" | "mr"
            | "mrs"
            | "ms"
            | "prof"
            | "professor"
            | "doctor"
            | "miss"
            | "mom"
            | "dad"
            | "grandma"
            | "grandpa"
    )
}

fn is_name(text: &str, token: &Token, speakers: &[&str]) -> bool {
    let word = base(&text[token.start..token.end]);
    let lower = token.lower.strip_suffix("'s").unwrap_or(&token.lower);
    let mut chars = word.chars();
    chars.next().is_some_and(char::is_uppercase)
        && chars.clone().count() >= 1
        && chars.all(|c| c.is_lowercase() || c == '-' || c.is_uppercase() && word.contains('-'))
        && !STOPWORDS.contains(lower)
        && !FILLER_WORDS.contains(lower)
        && !CAPITALISED.contains(lower)
        && !is_speaker_name(word, speakers)
}

/// The word opens a sentence, a quotation or a line: its capital says nothing.
fn opens_clause(text: &str, words: &[Token], at: usize) -> bool {
    if is_title(&words[at - 1].lower) {
        return false;
    }
    text[words[at - 1].end..words[at].start]
        .contains(['.', '!', '?', ':', '"', '“', '\n', '*', '(', '…', '-', '–'])
}

/// "in Rome", "the Alps", "moved to Bern": a place or a thing rather than a person.
fn after_place_word(words: &[Token], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|b| words[b].lower.as_str()) else { return false };
    match before {
        "in" | "at" | "near" | "from" | "of" | "the" | "visit" | "visited" | "visiting" | "around"
        | "into" | "across" | "a" | "an" | "on" | "called" | "watched" | "watching" | "read" | "reading" => {
            true
        }
        "to" => at.checked_sub(2).is_some_and(|b| {
            matches!(
                words[b].lower.as_str(),
                "go" | "went"
                    | "going"
                    | "gone"
                    | "move"
                    | "moved"
                    | "moving"
                    | "trip"
                    | "travel"
                    | "traveled"
                    | "travelled"
                    | "flew"
                    | "fly"
                    | "flying"
                    | "drive"
                    | "drove"
                    | "back"
                    | "been"
                    | "came"
                    | "come"
                    | "visit"
                    | "way"
                    | "relocated"
            )
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use fta_segment::{Role, Turn};

    use super::*;

    #[test]
    fn names_and_roles_are_found_and_places_are_not() {
        let text = "Mara called. I met Mara Lind with my older sister in Rome on Monday. Then my boss's wife saw Tom. I fear Dr. Hale of New York";
        let turn = Turn {
            index: 0,
            source_id: String::new(),
            speaker: "Lena".into(),
            role: Role::Peer,
            at: None,
            text: text.into(),
            caption: None,
        };
        let speakers = ["Lena", "Tom"];
        let turns = [ReadTurn::new(&turn, &speakers)];
        let names = names_inside(&turns, &speakers);
        let voices = Voices::of(&turn, &speakers);
        let all: Vec<String> = turns[0]
            .sentences
            .iter()
            .flat_map(|s| mentioned(&text[s.range.clone()], &s.tokens, &voices, &names))
            .collect();
        assert_eq!(all, ["Mara", "Mara Lind", "Lena's older sister", "Lena's boss", "Hale"]);
    }
}
