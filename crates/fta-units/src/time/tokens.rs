//! Splits a text into words, numbers and punctuation with byte ranges.

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Letters, with inner apostrophes ("I'm", "year's").
    Word,
    /// ASCII digits alone.
    Number,
    /// Digits with `st`, `nd`, `rd` or `th`.
    Ordinal,
    /// Digits with `s` ("1990s").
    Plural,
    /// One other character, or a blank line.
    Mark,
}

/// A piece of the text.
#[derive(Debug, Clone)]
pub(super) struct Token {
    /// First byte.
    pub(super) start: usize,
    /// One past the last byte.
    pub(super) end: usize,
    /// What it is.
    pub(super) kind: Kind,
    /// Lower-cased, with straight apostrophes and hyphens.
    pub(super) lower: String,
    /// Value of the digits; `i64::MAX` past nine digits; 0 for words and marks.
    pub(super) value: i64,
    /// Number of digits.
    pub(super) n_digits: usize,
    /// Whether it begins with a capital letter.
    pub(super) capital: bool,
    /// Whether no white space stands before it.
    pub(super) glued: bool,
}

/// Splits `text` into tokens, in order. `O(n)`.
pub(super) fn tokenize(text: &str) -> Vec<Token> {
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    let mut tokens = Vec::with_capacity(chars.len() / 4);
    let mut at = 0;
    let mut glued = false;
    while at < chars.len() {
        let (_, first) = chars[at];
        if first.is_whitespace() {
            let stop = run(&chars, at, char::is_whitespace);
            if chars[at..stop].iter().filter(|(_, c)| *c == '\n').count() > 1 {
                tokens.push(token(text, &chars, at, stop, Kind::Mark));
            }
            at = stop;
            glued = false;
            continue;
        }
        let (stop, kind) = if first.is_ascii_digit() {
            digits(&chars, at)
        } else if first.is_alphabetic() {
            (word(&chars, at), Kind::Word)
        } else {
            (at + 1, Kind::Mark)
        };
        let mut next = token(text, &chars, at, stop, kind);
        next.glued = glued;
        tokens.push(next);
        glued = true;
        at = stop;
    }
    tokens
}

fn run(chars: &[(usize, char)], at: usize, belongs: impl Fn(char) -> bool) -> usize {
    chars[at..].iter().position(|&(_, c)| !belongs(c)).map_or(chars.len(), |n| at + n)
}

fn digits(chars: &[(usize, char)], at: usize) -> (usize, Kind) {
    let stop = run(chars, at, |c| c.is_ascii_digit());
    let letters = run(chars, stop, char::is_alphanumeric);
    if letters - stop > 2 {
        return (stop, Kind::Number);
    }
    let suffix: String = chars[stop..letters].iter().map(|&(_, c)| c.to_ascii_lowercase()).collect();
    match suffix.as_str() {
        "st" | "nd" | "rd" | "th" => (letters, Kind::Ordinal),
        "s" => (letters, Kind::Plural),
        _ => (stop, Kind::Number),
    }
}

fn word(chars: &[(usize, char)], at: usize) -> usize {
    let mut stop = run(chars, at, char::is_alphanumeric);
    while let (Some((_, '\'' | '’')), Some((_, after))) = (chars.get(stop), chars.get(stop + 1)) {
        if !after.is_alphabetic() {
            break;
        }
        stop = run(chars, stop + 1, char::is_alphanumeric);
    }
    stop
}

fn token(text: &str, chars: &[(usize, char)], at: usize, stop: usize, kind: Kind) -> Token {
    let start = chars[at].0;
    let end = chars.get(stop).map_or(text.len(), |&(byte, _)| byte);
    let said = &text[start..end];
    let lower = match kind {
        Kind::Word => said.to_lowercase().replace('’', "'"),
        Kind::Mark if said.trim().is_empty() => "\n".to_owned(),
        Kind::Mark => match said {
            "’" | "‘" => "'".to_owned(),
            "–" | "‑" | "‐" => "-".to_owned(),
            other => other.to_owned(),
        },
        _ => said.to_ascii_lowercase(),
    };
    let n_digits = if matches!(kind, Kind::Word | Kind::Mark) {
        0
    } else {
        said.bytes().take_while(u8::is_ascii_digit).count()
    };
    let value = if n_digits > 9 { i64::MAX } else { said[..n_digits].parse().unwrap_or(0) };
    let capital = said.chars().next().is_some_and(char::is_uppercase);
    Token { start, end, kind, lower, value, n_digits, capital, glued: false }
}
