//! NLTK's `word_tokenize`: Punkt sentences, then Treebank words.

use super::words::{is_space, is_word, split_spaces};

/// Words after whose full stop a sentence goes on, without that stop: the part of Punkt's list that matters.
const ABBREVIATIONS: [&str; 55] = [
    "u.s", "u.s.a", "u.k", "u.n", "d.c", "n.y", "n.j", "n.c", "n.h", "n.d", "n.m", "s.c", "a.m", "p.m",
    "a.d", "j.k", "j.j", "j.p", "j.r", "j.c", "j.b", "m.j", "d.w", "c.v", "ph.d", "dr", "mr", "mrs", "ms",
    "st", "jr", "sr", "prof", "rep", "sen", "inc", "ltd", "co", "corp", "bros", "jan", "feb", "aug", "sep",
    "sept", "oct", "nov", "dec", "tues", "wed", "fri", "vs", "ok", "ave", "yr",
];

/// What may close a sentence after its last mark.
const CLOSING: &[char] = &['"', '\'', ')', ']', '}', '>', '»', '”', '’'];
/// What may open a word.
const OPENING: &[char] = &['"', '\'', '(', '[', '{', '<', '«', '“', '‘', '„', '`'];

/// Words that are two tokens, between no word characters.
const CONTRACTIONS: [(&str, &str); 7] = [
    ("can", "not"),
    ("d", "'ye"),
    ("gim", "me"),
    ("gon", "na"),
    ("got", "ta"),
    ("lem", "me"),
    ("more", "'n"),
];

/// Tokens of the lower-cased text.
///
/// Quirks: a full stop is a token at the end of a sentence only (`april.2023` is one token), `can't` is `ca` and `n't`,
/// straight double quotes become two backticks or two apostrophes.
///
/// # Source
/// NLTK's `word_tokenize(text.lower())` with its default rules; of Punkt's abbreviations those that occur
/// (data notes, section 3).
pub fn word_tokenize(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    sentences(&lower).into_iter().flat_map(tokens).collect()
}

fn tokens(sentence: &str) -> Vec<String> {
    let text = closing_quotes(&punctuation(&opening_quotes(sentence)));
    let text = split_before_space(&text, &["'s", "'m", "'d", "'"]);
    let text = split_before_space(&text, &["'ll", "'re", "'ve", "n't"]);
    split_spaces(&contractions(&text)).map(str::to_owned).collect()
}

/// Replaces what `rule` finds, from left to right.
///
/// `rule` sees the character before and the text from here on, and says how many bytes it takes and what stands for
/// them; the character before the next place is the last one taken.
fn rewrite(text: &str, rule: impl Fn(Option<char>, &str) -> Option<(usize, String)>) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let (mut rest, mut before) = (text, None);
    while let Some(letter) = rest.chars().next() {
        let taken = if let Some((taken, by)) = rule(before, rest) {
            out.push_str(&by);
            taken
        } else {
            out.push(letter);
            letter.len_utf8()
        };
        before = rest[..taken].chars().next_back();
        rest = &rest[taken..];
    }
    out
}

/// Puts spaces around each character that is wanted.
fn pad(text: &str, wanted: impl Fn(char) -> bool) -> String {
    rewrite(text, |_, rest| {
        let letter = rest.chars().next().filter(|c| wanted(*c))?;
        Some((letter.len_utf8(), format!(" {letter} ")))
    })
}

/// Length in bytes of the run of an ASCII character at the start.
fn run(text: &str, of: u8) -> usize {
    text.bytes().take_while(|byte| *byte == of).count()
}

fn opening_quotes(text: &str) -> String {
    let text = pad(text, |c| matches!(c, '«' | '“' | '‘' | '„'));
    let text = rewrite(&text, |before, rest| match run(rest, b'`') {
        0 if before.is_none() && rest.starts_with('"') => Some((1, " `` ".to_owned())),
        0 => None,
        length => Some((length, format!(" {}{} ", "`` ".repeat(length / 2), "`".repeat(length % 2)))),
    });
    let text = rewrite(&text, |before, rest| {
        before.filter(|c| matches!(c, ' ' | '(' | '[' | '{' | '<'))?;
        let length = ["\"", "''"].iter().find(|quote| rest.starts_with(**quote))?.len();
        Some((length, " `` ".to_owned()))
    });
    rewrite(&text, |before, rest| {
        let after = rest.strip_prefix('\'').filter(|_| !before.is_some_and(is_word))?;
        let word = &after[..after.find(|c| !is_word(c)).unwrap_or(after.len())];
        let is_ending = matches!(word, "" | "re" | "ve" | "ll" | "m" | "t" | "s" | "d" | "n");
        (!is_ending).then(|| (1, "' ".to_owned()))
    })
}

fn punctuation(sentence: &str) -> String {
    let before_closing = sentence.trim_end_matches(|c| is_space(c) || CLOSING.contains(&c));
    let mut text = sentence.to_owned();
    if before_closing.strip_suffix('.').is_some_and(|word| !word.is_empty() && !word.ends_with('.')) {
        let stop = before_closing.len() - 1;
        text = format!("{} . {}", &sentence[..stop], &sentence[stop + 1..]);
    }
    // The character after a split `:` or `,` is passed over, so of `,,x` the second comma stays with the word.
    let text = rewrite(&text, |_, rest| {
        let mark = rest.chars().next().filter(|c| matches!(c, ':' | ','))?;
        match rest[1..].chars().next() {
            Some(next) if next.is_ascii_digit() => None,
            Some(next) => Some((1 + next.len_utf8(), format!(" {mark} {next}"))),
            None => Some((1, format!(" {mark} "))),
        }
    });
    let text = match text.strip_suffix([':', ',']) {
        Some(start) => format!("{start} {} ", &text[start.len()..]),
        None => text,
    };
    let text = rewrite(&text, |_, rest| match run(rest, b'.') {
        0 | 1 => None,
        length => Some((length, format!(" {} ", &rest[..length]))),
    });
    let single = |c| matches!(c, ';' | '@' | '#' | '$' | '%' | '&' | '?' | '!' | '\u{2012}'..='\u{2015}');
    let text = rewrite(&pad(&text, single), |before, rest| {
        let stands_alone = rest.starts_with("' ") && before.is_some_and(|c| c != '\'');
        stands_alone.then(|| (2, " ' ".to_owned()))
    });
    let text = pad(&text, |c| matches!(c, '*' | '[' | ']' | '(' | ')' | '{' | '}' | '<' | '>'));
    text.replace("--", " -- ")
}

/// Splits off quotes that close; leaves single spaces, also at both ends.
fn closing_quotes(text: &str) -> String {
    let text = pad(text, |c| matches!(c, '»' | '”' | '’')).replace("''", " '' ").replace('"', " '' ");
    format!(" {} ", split_spaces(&text).collect::<Vec<_>>().join(" "))
}

/// Splits off the endings where a space follows and neither a space nor an apostrophe stands before.
fn split_before_space(text: &str, endings: &[&str]) -> String {
    rewrite(text, |before, rest| {
        before.filter(|c| !matches!(c, ' ' | '\''))?;
        let found =
            endings.iter().find(|e| rest.strip_prefix(**e).is_some_and(|after| after.starts_with(' ')))?;
        Some((found.len() + 1, format!(" {found} ")))
    })
}

fn contractions(text: &str) -> String {
    let text = rewrite(text, |before, rest| {
        if before.is_some_and(is_word) {
            return None;
        }
        let wanna = || rest.starts_with("wanna ").then(|| ("wanna".len(), " wan na ".to_owned()));
        CONTRACTIONS.iter().find_map(|parts| in_two(rest, *parts)).or_else(wanna)
    });
    // Only where a word before it was split just now; elsewhere its apostrophe is a token by now.
    rewrite(&text, |before, rest| {
        before.filter(|c| *c == ' ')?;
        in_two(rest, ("'t", "is")).or_else(|| in_two(rest, ("'t", "was")))
    })
}

/// The two parts apart, if the text begins with them and no word goes on.
fn in_two(text: &str, (first, second): (&str, &str)) -> Option<(usize, String)> {
    let after = text.strip_prefix(first)?.strip_prefix(second)?;
    (!after.starts_with(is_word)).then(|| (first.len() + second.len(), format!(" {first} {second} ")))
}

/// Sentences of a lower-cased text, trimmed.
fn sentences(text: &str) -> Vec<&str> {
    let (mut sentences, mut start, mut word_start) = (Vec::new(), 0, 0);
    let mut letters = text.char_indices().peekable();
    while let Some((at, c)) = letters.next() {
        if is_space(c) {
            word_start = at + c.len_utf8();
        }
        let is_mark = |c: char| matches!(c, '.' | '?' | '!');
        if !is_mark(c) || letters.peek().is_some_and(|&(_, next)| is_mark(next)) {
            continue;
        }
        let marked = at + 1;
        let mut end = marked;
        while let Some((at, closing)) = letters.next_if(|(_, c)| CLOSING.contains(c)) {
            end = at + closing.len_utf8();
        }
        let ends = letters.peek().is_some_and(|&(_, next)| is_space(next));
        if ends && !(c == '.' && goes_on(&text[word_start..marked])) {
            sentences.push(&text[start..end]);
            start = end;
        }
    }
    sentences.push(&text[start..]);
    sentences.into_iter().map(|s| s.trim_matches(is_space)).filter(|s| !s.is_empty()).collect()
}

/// Whether a sentence goes on after a word with a full stop at its end.
fn goes_on(word: &str) -> bool {
    let bare = word.trim_start_matches(OPENING).trim_end_matches('.');
    let is_number = bare.contains(|c: char| c.is_ascii_digit())
        && bare.chars().all(|c| c.is_ascii_digit() || matches!(c, ',' | '.' | '-'));
    let is_letter = matches!(bare.as_bytes(), [b'a'..=b'z']);
    word.ends_with("...") || is_number || is_letter || ABBREVIATIONS.contains(&bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, tokens: &[&str]) {
        assert_eq!(word_tokenize(text), tokens, "{text}");
    }

    #[test]
    fn sentences_end_where_punkt_ends_them() {
        check("It rained. We left!", &["it", "rained", ".", "we", "left", "!"]);
        check("Dr. Snow met J. Frost at 5. Then", &["dr.", "snow", "met", "j.", "frost", "at", "5.", "then"]);
        check("Well... fine. \"Yes.\" No", &["well", "...", "fine", ".", "``", "yes", ".", "''", "no"]);
        check("april.2023 sci-fi 1,000 8:30", &["april.2023", "sci-fi", "1,000", "8:30"]);
    }

    #[test]
    fn contractions_and_quotes() {
        check(
            "I can't; she'll say 'tis Ann's",
            &["i", "ca", "n't", ";", "she", "'ll", "say", "'", "tis", "ann", "'s"],
        );
        check("We cannot wanna go", &["we", "can", "not", "wan", "na", "go"]);
        check("the 'red' boat (old)--gone", &["the", "'", "red", "'", "boat", "(", "old", ")", "--", "gone"]);
        check("cats, dogs,", &["cats", ",", "dogs", ","]);
        check("", &[]);
    }
}
