//! Speakers, other names and quoted titles in a question.

use fta_units::EventTime;

use crate::words::{self, Token};

/// The speakers whom `text` names, in order of first mention: whole words in any case, possessives, and the first
/// three or more letters of exactly one speaker's name.
pub(crate) fn speakers_named(text: &str, speakers: &[String]) -> Vec<String> {
    let tokens = words::tokens(text);
    let mut found: Vec<(usize, &String)> = Vec::new();
    for speaker in speakers {
        if let Some(at) = first_mention(&tokens, speaker, speakers) {
            found.push((at, speaker));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let mut out: Vec<String> = Vec::new();
    for (_, name) in found {
        if !out.contains(name) {
            out.push(name.clone());
        }
    }
    out
}

fn first_mention(tokens: &[Token<'_>], speaker: &str, speakers: &[String]) -> Option<usize> {
    let parts: Vec<String> = words::tokens(speaker).iter().map(|t| words::lower(t.text)).collect();
    if parts.is_empty() {
        return None;
    }
    let norms: Vec<String> = tokens.iter().map(Token::norm).collect();
    let whole =
        (0..norms.len()).find(|&i| norms[i..].len() >= parts.len() && norms[i..i + parts.len()] == parts[..]);
    if let Some(i) = whole {
        return Some(tokens[i].start);
    }
    // Part of a longer name, or its beginning; both only while no other speaker could be meant.
    let fits = |word: &str, name: &str| {
        words::tokens(name).iter().any(|part| {
            let part = words::lower(part.text);
            part == word || (word.chars().count() >= 3 && part.starts_with(word))
        })
    };
    tokens.iter().zip(&norms).find_map(|(token, norm)| {
        let others = speakers.iter().filter(|s| s.as_str() != speaker).any(|s| fits(norm, s));
        (token.capitalised() && !words::is_stop(norm) && fits(norm, speaker) && !others)
            .then_some(token.start)
    })
}

/// Whether `word` is a name of `speaker`: the name, one of its parts or a prefix of three letters or more.
pub(crate) fn is_name_of(word: &str, speaker: &str) -> bool {
    let word = words::lower(word);
    let word = words::strip_possessive(&word);
    words::tokens(speaker).iter().any(|part| {
        let part = words::lower(part.text);
        part == word || (word.chars().count() >= 3 && part.starts_with(word))
    })
}

/// Names other than speakers, and quoted titles, in order of first mention. Words inside `times` are no names.
pub(crate) fn entities(text: &str, speakers: &[String], times: &[EventTime]) -> Vec<String> {
    let mut found: Vec<(usize, String)> = quoted(text);
    let quoted_ranges: Vec<(usize, usize)> =
        found.iter().map(|(at, title)| (*at, at + title.len())).collect();
    let tokens = words::tokens(text);
    let mut i = 0;
    while i < tokens.len() {
        let token = tokens[i];
        let in_quotes = quoted_ranges.iter().any(|(from, to)| (*from..*to).contains(&token.start));
        if in_quotes || !begins_name(text, &tokens, i, speakers, times) {
            i += 1;
            continue;
        }
        let mut last = i;
        while last + 1 < tokens.len() && continues_name(text, &tokens, last, speakers) {
            last += 1;
        }
        // A small word may join two names ("Lord of the Rings") but not end one.
        while last > i && !tokens[last].capitalised() {
            last -= 1;
        }
        let phrase = words::strip_possessive(&text[token.start..tokens[last].end]).to_owned();
        found.push((token.start, phrase));
        i = last + 1;
    }
    found.sort();
    let mut out: Vec<String> = Vec::new();
    for (_, name) in found {
        if !out.contains(&name) {
            out.push(name);
        }
    }
    out
}

fn begins_name(text: &str, tokens: &[Token<'_>], i: usize, speakers: &[String], times: &[EventTime]) -> bool {
    let token = tokens[i];
    let norm = token.norm();
    let sentence_start = i == 0 || text[tokens[i - 1].end..token.start].contains(['.', '?', '!']);
    let plain_start = sentence_start && tokens.get(i + 1).is_none_or(|t| !t.capitalised());
    token.capitalised()
        && !plain_start
        && !words::is_stop(&norm)
        && !words::is_calendar(&norm)
        && !speakers.iter().any(|s| is_name_of(&norm, s))
        && !times.iter().any(|t| words::tokens(&t.text).iter().any(|w| w.text == token.text))
}

fn continues_name(text: &str, tokens: &[Token<'_>], last: usize, speakers: &[String]) -> bool {
    let next = tokens[last + 1];
    let gap = &text[tokens[last].end..next.start];
    let joined = gap.chars().all(|c| c == ' ' || c == '.') && !tokens[last].text.ends_with("'s");
    let small = matches!(next.text, "of" | "the" | "and")
        && tokens[last + 2..]
            .iter()
            .take(2)
            .any(|t| t.capitalised() && !speakers.iter().any(|s| is_name_of(t.text, s)))
        && tokens.get(last + 2).is_some_and(|t| t.capitalised() || t.text == "the")
        && next.text != "and";
    joined && (small || (next.capitalised() && !speakers.iter().any(|s| is_name_of(next.text, s))))
}

/// Text between double quotes, straight or curly, with its first byte.
pub(crate) fn quoted(text: &str) -> Vec<(usize, String)> {
    let mut out = Vec::new();
    let mut open: Option<usize> = None;
    for (at, c) in text.char_indices() {
        if !matches!(c, '"' | '\u{201c}' | '\u{201d}') {
            continue;
        }
        match open.take() {
            Some(start) if c != '\u{201c}' => {
                let title = text[start..at].trim();
                if !title.is_empty() {
                    out.push((start, title.to_owned()));
                }
            }
            _ => open = Some(at + c.len_utf8()),
        }
    }
    out
}
