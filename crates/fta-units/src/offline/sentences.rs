//! Sentence splitting of chat text: abbreviations, ellipses, emoji, missing capitals, lists, scripts without spaces.
//!
//! Chat text breaks the rules of written text (no capital after a full stop, emoji as a full stop), so this is a scanner
//! of its own and not the sentence rules of Unicode, which join `i am sad. i lost it.`

use std::{collections::BTreeSet, ops::Range, sync::LazyLock};

/// Longest sentence in characters; longer ones are cut.
pub const MAX_SENTENCE_CHARS: usize = 400;

static ABBREVIATIONS: LazyLock<BTreeSet<&'static str>> =
    LazyLock::new(|| include_str!("lexicon/abbreviations.txt").split_whitespace().collect());

/// Splits a text into sentences and gives their byte ranges in text order.
///
/// Ranges are half-open, lie on character boundaries, do not overlap, begin and end with a visible character, and together
/// hold every character that is not white space. No range is longer than [`MAX_SENTENCE_CHARS`] characters: longer sentences
/// are cut at a clause or word boundary. `O(n)`; any text will do.
pub fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    let mut position = 0;
    while position < text.len() {
        let end = match next_break(text, start, position) {
            Break::No(next) => {
                position = next;
                continue;
            }
            Break::Yes(end) => end,
        };
        push_trimmed(text, start..end, &mut ranges);
        start = end;
        position = end;
    }
    push_trimmed(text, start..text.len(), &mut ranges);
    ranges
}

/// Whether the character is an emoji or a part of one.
pub(crate) fn is_emoji(c: char) -> bool {
    matches!(c, '\u{1F000}'..='\u{1FAFF}' | '\u{2600}'..='\u{27BF}' | '\u{2B50}' | '\u{2B55}' | '\u{FE0F}' | '\u{200D}')
}

enum Break {
    /// No break; go on at this byte.
    No(usize),
    /// A sentence ends before this byte.
    Yes(usize),
}

/// Looks at the character at `position` of the sentence that began at `start`.
fn next_break(text: &str, start: usize, position: usize) -> Break {
    let Some(c) = text[position..].chars().next() else { return Break::No(text.len()) };
    let after = position + c.len_utf8();
    match c {
        '\n' | '\r' | '\u{2028}' | '\u{2029}' => Break::Yes(after),
        '。' | '！' | '？' | '．' => Break::Yes(skip_tail(text, after)),
        '.' | '!' | '?' | '…' | '؟' | '۔' | '।' => terminator(text, start, position),
        _ if is_emoji(c) => {
            let end = after + run_len(&text[after..], is_emoji);
            let rest = &text[end..];
            let next = rest.trim_start();
            let opens = next.len() < rest.len() && next.starts_with(char::is_uppercase);
            // "Hi 😊 We" ends a sentence; a text that begins with an emoji does not.
            if opens && text[start..position].chars().any(char::is_alphanumeric) {
                Break::Yes(end)
            } else {
                Break::No(end)
            }
        }
        _ => Break::No(after),
    }
}

/// A run of terminators begins at `position`: decides whether it ends the sentence.
fn terminator(text: &str, start: usize, position: usize) -> Break {
    let is_terminator = |c: char| matches!(c, '.' | '!' | '?' | '…' | '؟' | '۔' | '।' | '！' | '？' | '。');
    let run_end = position + run_len(&text[position..], is_terminator);
    let run = &text[position..run_end];
    let end = skip_tail(text, run_end);
    let rest = &text[end..];
    let Some(next) = rest.chars().next() else { return Break::Yes(end) };
    if !next.is_whitespace() {
        // "great!We" and "home.Then": the space is missing.
        let before = text[..position].chars().next_back().unwrap_or(' ');
        let letters = before.is_lowercase()
            && next.is_uppercase()
            && rest.chars().nth(1).is_some_and(char::is_lowercase);
        let strong = run.contains(['!', '?', '؟']) && next.is_uppercase();
        return if letters || strong { Break::Yes(end) } else { Break::No(run_end) };
    }
    if run.contains(['!', '?', '؟', '۔', '।']) {
        return Break::Yes(end);
    }
    if run.chars().count() > 1 || run == "…" {
        // An ellipsis goes on unless a capital follows.
        let opens = rest.trim_start().chars().next().is_none_or(|c| !c.is_lowercase());
        return if opens { Break::Yes(end) } else { Break::No(run_end) };
    }
    if is_abbreviation(text, start, position) { Break::No(run_end) } else { Break::Yes(end) }
}

/// Whether the full stop at `position` belongs to an abbreviation, an initial or a list number.
fn is_abbreviation(text: &str, start: usize, position: usize) -> bool {
    let before = &text[start..position];
    let word =
        before.rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '“')).next().unwrap_or("");
    if word.is_empty() || word.len() > 12 {
        return false;
    }
    if word.len() <= 3 && word.bytes().all(|b| b.is_ascii_digit()) && before.trim_start() == word {
        return true;
    }
    let mut letters = word.chars();
    if let (Some(only), None) = (letters.next(), letters.next())
        && only.is_uppercase()
        && only != 'I'
    {
        return true;
    }
    let lower = word.to_lowercase();
    if !ABBREVIATIONS.contains(lower.as_str()) {
        return false;
    }
    // "No." and "Co." are abbreviations only before a number or a name; "p.m." and "etc." may end a sentence.
    let next = text[position + 1..].trim_start().chars().next().unwrap_or(' ');
    match lower.as_str() {
        "no" => next.is_ascii_digit(),
        "etc" | "a.m" | "p.m" | "co" | "inc" | "ltd" | "jr" | "sr" | "u.s" | "u.k" | "mar" | "dec"
        | "sept" => !next.is_uppercase(),
        _ => true,
    }
}

/// Closing quotes and brackets, and emoji after an optional blank, belong to the sentence that they follow.
fn skip_tail(text: &str, mut end: usize) -> usize {
    end +=
        run_len(&text[end..], |c| matches!(c, '"' | '\'' | '”' | '’' | ')' | ']' | '»' | '」' | '』' | '）'));
    let blanks = run_len(&text[end..], |c| c == ' ');
    let emoji = run_len(&text[end + blanks..], is_emoji);
    if emoji > 0 { end + blanks + emoji } else { end }
}

/// Bytes of the longest prefix whose characters all fit.
fn run_len(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.char_indices().find(|(_, c)| !fits(*c)).map_or(text.len(), |(at, _)| at)
}

/// Trims a piece and adds it; a piece without words joins the sentence before it.
fn push_trimmed(text: &str, range: Range<usize>, ranges: &mut Vec<Range<usize>>) {
    let piece = &text[range.clone()];
    let start = range.start + (piece.len() - piece.trim_start().len());
    let end = range.end - (piece.len() - piece.trim_end().len());
    if start >= end {
        return;
    }
    // "(2)" is as little a sentence as "!!!".
    let content = &text[start..end];
    let wordless = !content.chars().any(char::is_alphanumeric)
        || (content.starts_with(['(', '[']) && !content.chars().any(char::is_alphabetic));
    if wordless
        && let Some(last) = ranges.last_mut()
        && end - last.start <= MAX_SENTENCE_CHARS
    {
        last.end = end;
        return;
    }
    cut_long(text, start..end, ranges);
}

/// Adds a sentence, cut into pieces of at most [`MAX_SENTENCE_CHARS`] characters.
fn cut_long(text: &str, mut range: Range<usize>, ranges: &mut Vec<Range<usize>>) {
    while let Some((limit, _)) = text[range.clone()].char_indices().nth(MAX_SENTENCE_CHARS) {
        let head = &text[range.start..range.start + limit];
        let half = head.char_indices().nth(MAX_SENTENCE_CHARS / 2).map_or(0, |(at, _)| at);
        let clause = head.rfind([',', ';', ':', '，', '；', '、', '،']).filter(|&at| at >= half);
        let cut = clause
            .map(|at| at + head[at..].chars().next().map_or(1, char::len_utf8))
            .or_else(|| head.rfind(char::is_whitespace).filter(|&at| at > 0))
            .unwrap_or(limit);
        let piece = head[..cut].trim_end();
        if !piece.is_empty() {
            ranges.push(range.start..range.start + piece.len());
        }
        let rest = &text[range.start + cut..range.end];
        range.start = range.end - rest.trim_start().len();
    }
    if !range.is_empty() {
        ranges.push(range);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expect: &[&str]) {
        let found: Vec<&str> = sentences(text).into_iter().map(|r| &text[r]).collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn chat_text_splits_where_a_reader_would() {
        check("i am sad. i lost my job", &["i am sad.", "i lost my job"]);
        check(
            "I saw Dr. Hale at 5 p.m. on Monday. It helped!",
            &["I saw Dr. Hale at 5 p.m. on Monday.", "It helped!"],
        );
        check("Well... not really. No.", &["Well... not really.", "No."]);
        check("Hm... We will see", &["Hm...", "We will see"]);
        check("So good 😊 We won! 🎉🎉 Bye", &["So good 😊", "We won! 🎉🎉", "Bye"]);
        check("1. Buy milk\n2. Sleep", &["1. Buy milk", "2. Sleep"]);
        check("It cost 3.50 at shop.com today.", &["It cost 3.50 at shop.com today."]);
        check("She said \"Go!\" Then I left.", &["She said \"Go!\"", "Then I left."]);
        check("我很难过。我丢了工作！", &["我很难过。", "我丢了工作！"]);
        check("really?!yes. !!!", &["really?!yes. !!!"]);
        check("Was it? (2)", &["Was it? (2)"]);
        check("great!We did", &["great!", "We did"]);
        check("  \n ", &[]);
    }

    #[test]
    fn long_sentences_are_cut_at_clauses() {
        let text = "word ".repeat(60) + "here, " + &"more ".repeat(80);
        let found = sentences(&text);
        assert!(text[found[0].clone()].ends_with("here,"));
        assert!(sentences(&"a".repeat(200_000)).len() == 500);
    }

    proptest! {
        #[test]
        fn every_visible_character_is_in_one_sentence(text in "(\\PC|\n|\\. |[a-z ]|[!?…😀。 ]){0,900}") {
            let ranges = sentences(&text);
            let mut from = 0;
            for range in &ranges {
                prop_assert!(text[from..range.start].chars().all(char::is_whitespace));
                prop_assert!(text[range.clone()].trim() == &text[range.clone()] && !range.is_empty());
                prop_assert!(text[range.clone()].chars().count() <= MAX_SENTENCE_CHARS);
                from = range.end;
            }
            prop_assert!(text[from..].chars().all(char::is_whitespace));
        }
    }
}
