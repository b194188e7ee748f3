//! Tokens, stems, sentences and small closed word classes of English, shared by rewriting, cues and answers.

mod classes;
mod irregular;
mod related;

use std::{ops::Range, sync::OnceLock};

use rust_stemmers::{Algorithm, Stemmer};

pub(crate) use classes::{
    is_auxiliary, is_calendar, is_first_person, is_first_person_any, is_kin, is_month, is_negation,
    is_number, is_stop, listed,
};
pub(crate) use related::{are_related, is_kind_of};

/// A word and where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Token<'a> {
    /// The word as written, inner apostrophes and hyphens included.
    pub(crate) text: &'a str,
    /// First byte in the text.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
}

impl Token<'_> {
    /// Lower case, without a possessive ending.
    pub(crate) fn norm(&self) -> String {
        strip_possessive(&lower(self.text)).to_owned()
    }

    /// Whether the word begins with an upper-case letter.
    pub(crate) fn capitalised(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }
}

/// Lower case with straight apostrophes.
pub(crate) fn lower(text: &str) -> String {
    text.to_lowercase().replace('\u{2019}', "'")
}

/// `text` without a final `'s` or `'`.
pub(crate) fn strip_possessive(text: &str) -> &str {
    for ending in ["'s", "\u{2019}s", "'", "\u{2019}"] {
        if let Some(stem) = text.strip_suffix(ending)
            && !stem.is_empty()
        {
            return stem;
        }
    }
    text
}

/// The words of a text in order.
pub(crate) fn tokens(text: &str) -> Vec<Token<'_>> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut out = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        if !chars[i].1.is_alphanumeric() {
            i += 1;
            continue;
        }
        let first = i;
        while i < chars.len() && (chars[i].1.is_alphanumeric() || joins(&chars, i)) {
            i += 1;
        }
        let (start, end) = (chars[first].0, chars.get(i).map_or(text.len(), |c| c.0));
        out.push(Token { text: &text[start..end], start, end });
    }
    out
}

/// Whether the character at `i` joins two halves of one word ("didn't", "well-known", "3.5").
fn joins(chars: &[(usize, char)], i: usize) -> bool {
    let (Some(before), Some(after)) = (i.checked_sub(1).map(|b| chars[b].1), chars.get(i + 1).map(|c| c.1))
    else {
        return false;
    };
    match chars[i].1 {
        '\'' | '\u{2019}' | '-' | '&' => before.is_alphanumeric() && after.is_alphanumeric(),
        '.' | ',' | ':' => before.is_ascii_digit() && after.is_ascii_digit(),
        _ => false,
    }
}

/// The stem under which forms of a word meet: irregular forms first, then the Snowball stemmer.
pub(crate) fn stem(word: &str) -> String {
    static STEMMER: OnceLock<Stemmer> = OnceLock::new();
    let word = lower(word);
    let word = strip_possessive(&word);
    let word = irregular::base(word).unwrap_or(word);
    STEMMER.get_or_init(|| Stemmer::create(Algorithm::English)).stem(word).into_owned()
}

/// Stems of the content words of a text, in order, repeats kept.
pub(crate) fn content_stems(text: &str) -> Vec<String> {
    tokens(text).iter().map(Token::norm).filter(|w| !is_stop(w)).map(|w| stem(&w)).collect()
}

/// The sentences of a text as byte ranges, trimmed, in order. Text without an end mark is one sentence.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut start = 0;
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    for (i, &(at, c)) in chars.iter().enumerate() {
        let next = chars.get(i + 1).map(|n| n.1);
        let ends = match c {
            '!' | '?' | '\u{2026}' => next.is_none_or(|n| !matches!(n, '!' | '?' | '.' | '"' | '\u{201d}')),
            '.' => next.is_none_or(char::is_whitespace) && !abbreviation(&text[start..at]),
            '\n' => true,
            '"' | '\u{201d}' => {
                i > 0 && matches!(chars[i - 1].1, '.' | '!' | '?') && next.is_none_or(char::is_whitespace)
            }
            _ => false,
        };
        if ends {
            push_trimmed(text, start..at + c.len_utf8(), &mut out);
            start = at + c.len_utf8();
        }
    }
    push_trimmed(text, start..text.len(), &mut out);
    out
}

fn push_trimmed(text: &str, range: Range<usize>, out: &mut Vec<Range<usize>>) {
    let range = trim_range(text, range);
    if text[range.clone()].chars().any(char::is_alphanumeric) {
        out.push(range);
    }
}

/// Shrinks a byte range so that it begins and ends with no white space.
pub(crate) fn trim_range(text: &str, range: Range<usize>) -> Range<usize> {
    let piece = &text[range.clone()];
    let start = range.start + (piece.len() - piece.trim_start().len());
    start..start + piece.trim().len()
}

/// Whether the text before a full stop ends in an abbreviation or an initial.
fn abbreviation(before: &str) -> bool {
    let last = before.rsplit(|c: char| c.is_whitespace() || c == '(').next().unwrap_or("");
    let lowered = last.to_lowercase();
    listed("mr mrs ms dr st prof vs e.g i.e jr sr no", &lowered) && last != "no"
        || (last.chars().count() == 1 && last != "I" && last.chars().all(char::is_uppercase))
        || (last.len() >= 3 && last.contains('.') && last.chars().all(|c| c == '.' || c.is_uppercase()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<&str> {
        sentences(text).into_iter().map(|r| &text[r]).collect()
    }

    #[test]
    fn tokens_keep_inner_marks() {
        let words: Vec<&str> = tokens("It's 3.5 well-known, Ana's.").iter().map(|t| t.text).collect();
        assert_eq!(words, ["It's", "3.5", "well-known", "Ana's"]);
    }

    #[test]
    fn sentences_end_at_marks_but_not_in_abbreviations() {
        assert_eq!(split("I saw Dr. Lee. It helped! Really?"), ["I saw Dr. Lee.", "It helped!", "Really?"]);
        assert_eq!(split("no mark"), ["no mark"]);
        assert_eq!(split("He said \"stop.\" Then left."), ["He said \"stop.\"", "Then left."]);
        assert_eq!(split("Oh no. Me too."), ["Oh no.", "Me too."]);
    }

    #[test]
    fn stems_meet() {
        for (a, b) in
            [("went", "go"), ("bought", "buy"), ("children", "child"), ("running", "ran"), ("Ana's", "ana")]
        {
            assert_eq!(stem(a), stem(b), "{a} {b}");
        }
    }

    proptest! {
        #[test]
        fn sentences_are_ordered_and_hold_every_word(text in "\\PC{0,80}") {
            let ranges = sentences(&text);
            for pair in ranges.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start);
            }
            for token in tokens(&text) {
                prop_assert!(ranges.iter().any(|r| r.start <= token.start && token.start < r.end));
            }
        }
    }
}
