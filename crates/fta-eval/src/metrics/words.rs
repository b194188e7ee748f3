//! Words and white space as Python sees them; all reference scores are Python programs.

/// Whether `c` is white space: Unicode's, and the four separators U+001C to U+001F.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Whether `c` is a word character (`\w`): a letter, a number or `_`.
///
/// Marks are none, so a variation selector beside a pictograph makes no word. Vowel signs of Indic scripts are word
/// characters here and none in Python.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Parts between white space, none empty.
pub(super) fn split_spaces(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_space).filter(|part| !part.is_empty())
}

/// Runs of word characters.
pub(super) fn word_runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c| !is_word(c)).filter(|part| !part.is_empty())
}

/// `text` without white space at its ends.
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting() {
        assert_eq!(split_spaces(" a\u{a0}b\u{1c}c\u{200b}d ").collect::<Vec<_>>(), ["a", "b", "c\u{200b}d"]);
        assert_eq!(word_runs("snow_man's 2\u{fe0f}").collect::<Vec<_>>(), ["snow_man", "s", "2"]);
        assert_eq!(trim("\u{1f} a b \n"), "a b");
    }
}
