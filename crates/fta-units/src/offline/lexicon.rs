//! The word lists of the rules: read once, looked up by token. All lists are the project's own, general English.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

use unicode_segmentation::UnicodeSegmentation;

use super::sentences::is_emoji;

/// A word of a text: where it stands and its lower-case form with a straight apostrophe. Emoji count as words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    /// First byte.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
    /// Lower case.
    pub(crate) lower: String,
}

/// The words of a text, in order.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::new();
    for (start, piece) in text.split_word_bound_indices() {
        let end = start + piece.len();
        if piece.chars().any(char::is_alphanumeric) {
            let mut lower = piece.to_lowercase();
            if lower.contains(['’', 'ʼ']) {
                lower = lower.replace(['’', 'ʼ'], "'");
            }
            // "self-harm" and "co-worker" are one word each in the lists.
            match found.last_mut() {
                Some(last) if last.end + 1 == start && text.as_bytes()[last.end] == b'-' => {
                    last.end = end;
                    last.lower.push('-');
                    last.lower.push_str(&lower);
                }
                _ => found.push(Token { start, end, lower }),
            }
        } else if let Some(first) = piece.chars().next().filter(|c| is_emoji(*c)) {
            found.push(Token { start, end, lower: first.to_string() });
        }
    }
    found
}

/// A set of phrases, each with a label, looked up in a token sequence in one pass.
#[derive(Debug, Default)]
pub(crate) struct PhraseTable {
    by_prefix: BTreeMap<String, Vec<(Vec<String>, usize)>>,
    labels: Vec<String>,
}

/// A phrase found in a text: tokens `start..end` and the label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit<'a> {
    /// First token.
    pub(crate) start: usize,
    /// One past the last token.
    pub(crate) end: usize,
    /// Label of the phrase.
    pub(crate) label: &'a str,
}

impl PhraseTable {
    /// Reads a list: `#` begins a comment line, `label: phrases` or just phrases.
    fn read(text: &str) -> Self {
        let mut table = Self::default();
        for line in text.lines().filter(|l| !l.trim_start().starts_with('#')) {
            let (label, phrases) = line.split_once(": ").unwrap_or(("", line));
            let label_idx = table.labels.len();
            table.labels.push(label.to_owned());
            for phrase in phrases.split_whitespace() {
                let words: Vec<String> = phrase.split('_').map(str::to_owned).collect();
                let key = prefix(words[0].trim_end_matches('*'));
                table.by_prefix.entry(key).or_default().push((words, label_idx));
            }
        }
        // The longest phrase wins, so that "not at all" is not read as "not".
        for entries in table.by_prefix.values_mut() {
            entries.sort_by_key(|(words, _)| std::cmp::Reverse(words.len()));
        }
        table
    }

    /// The phrases in `tokens`, in order, without overlap, longest first.
    pub(crate) fn find<'a>(&'a self, tokens: &[Token]) -> Vec<Hit<'a>> {
        let mut hits = Vec::new();
        let mut at = 0;
        while at < tokens.len() {
            let entries = self.by_prefix.get(&prefix(&tokens[at].lower)).map_or(&[][..], Vec::as_slice);
            let hit = entries.iter().find(|(words, _)| {
                words.len() <= tokens.len() - at
                    && words.iter().zip(&tokens[at..]).all(|(word, token)| match word.strip_suffix('*') {
                        Some(stem) => token.lower.starts_with(stem),
                        None => token.lower == *word,
                    })
            });
            match hit {
                Some((words, label)) => {
                    hits.push(Hit { start: at, end: at + words.len(), label: &self.labels[*label] });
                    at += words.len();
                }
                None => at += 1,
            }
        }
        hits
    }

    /// Whether any phrase is in `tokens`.
    pub(crate) fn any(&self, tokens: &[Token]) -> bool {
        !self.find(tokens).is_empty()
    }
}

fn prefix(word: &str) -> String {
    word.chars().take(3).collect()
}

fn words(text: &'static str) -> BTreeSet<&'static str> {
    text.lines().filter(|l| !l.trim_start().starts_with('#')).flat_map(str::split_whitespace).collect()
}

macro_rules! lists {
    ($kind:ty, $read:path: $($(#[$doc:meta])* $name:ident = $file:literal;)*) => {
        $($(#[$doc])* pub(crate) static $name: LazyLock<$kind> = LazyLock::new(|| $read(include_str!(concat!("lexicon/", $file))));)*
    };
}

lists! { PhraseTable, PhraseTable::read:
    /// Emotions by noun.
    EMOTIONS = "emotions.txt";
    /// Cues about relations between people.
    RELATIONS = "relations.txt";
    /// Phrases that say nothing.
    FILLER_PHRASES = "filler_phrases.txt";
    /// Signs of danger.
    RISK = "risk.txt";
    /// What looks like a sign of danger and is none.
    RISK_EXCEPTIONS = "risk_exceptions.txt";
    /// Comfort and advice.
    SUPPORT = "support.txt";
    /// Announcements without content.
    VAGUE = "vague.txt";
    /// Beliefs about oneself or the world.
    BELIEFS = "beliefs.txt";
    /// What was called off.
    CANCELLED = "cancelled.txt";
}

lists! { BTreeSet<&'static str>, words:
    /// Words that say nothing.
    FILLER_WORDS = "filler_words.txt";
    /// Function words.
    STOPWORDS = "stopwords.txt";
    /// Kin and roles.
    KIN = "kin.txt";
    /// Capitalised words that are no names.
    CAPITALISED = "capitalised.txt";
    /// Irregular past forms and participles.
    IRREGULAR_PAST = "irregular_past.txt";
}

/// Whether the token turns what follows into its opposite.
pub(crate) fn is_negation(lower: &str) -> bool {
    lower.ends_with("n't")
        || matches!(
            lower,
            "not"
                | "no"
                | "never"
                | "nothing"
                | "nobody"
                | "none"
                | "neither"
                | "nor"
                | "without"
                | "hardly"
                | "barely"
                | "cannot"
                | "dont"
                | "cant"
                | "didnt"
                | "doesnt"
                | "wont"
                | "isnt"
                | "wasnt"
                | "havent"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_keep_contractions_hyphens_and_emoji() {
        let found: Vec<String> = tokens("I’m a co-worker 😢, right?").into_iter().map(|t| t.lower).collect();
        assert_eq!(found, ["i'm", "a", "co-worker", "😢", "right"]);
    }

    #[test]
    fn the_longest_phrase_wins_and_endings_match() {
        let table = PhraseTable::read("a: not not_at_all\n# x\nb: quarrel*");
        let text = tokens("not at all, we quarrelled");
        let labels: Vec<_> = table.find(&text).into_iter().map(|h| (h.start, h.end, h.label)).collect();
        assert_eq!(labels, [(0, 3, "a"), (4, 5, "b")]);
    }
}
