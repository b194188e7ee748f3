//! What a turn says: its sentences, each filler, question or statement.

use std::ops::Range;

use fta_segment::Turn;

use super::{
    lexicon::{FILLER_PHRASES, FILLER_WORDS, STOPWORDS, Token, is_negation, tokens},
    person::is_role_word,
    sentences::sentences,
};

/// What a sentence does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SentenceKind {
    /// Greeting, thanks, praise, acknowledgement, closing: no content.
    Filler,
    /// A question with content.
    Question,
    /// Everything else that says something.
    Statement,
}

/// What a turn does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TurnKind {
    /// Only filler.
    Filler,
    /// Questions, no statement.
    Question,
    /// Statements, no question.
    Statement,
    /// Both.
    Mixed,
}

/// A sentence of a turn, read.
#[derive(Debug, Clone)]
pub(crate) struct Sentence {
    /// Bytes of the turn's text.
    pub(crate) range: Range<usize>,
    /// What it does.
    pub(crate) kind: SentenceKind,
    /// Its words; positions are bytes of the turn's text minus `range.start`.
    pub(crate) tokens: Vec<Token>,
    /// Number of words that carry content.
    pub(crate) n_content: usize,
    /// A question that also tells something: "I moved out last week, what should I do?"
    pub(crate) is_informative: bool,
}

/// Whether a word says yes or no, or something between; negations aside.
fn is_yes_or_no(word: &str) -> bool {
    matches!(
        word,
        "yes"
            | "yeah"
            | "yep"
            | "yup"
            | "yea"
            | "nope"
            | "nah"
            | "definitely"
            | "absolutely"
            | "maybe"
            | "probably"
            | "sometimes"
    )
}

impl Sentence {
    /// Whether the first words say yes or no, or something between.
    pub(crate) fn says_yes_or_no(&self) -> bool {
        self.tokens.iter().take(3).any(|t| is_negation(&t.lower) || is_yes_or_no(&t.lower))
    }
}

/// A turn, read.
#[derive(Debug, Clone)]
pub(crate) struct ReadTurn<'a> {
    /// The turn.
    pub(crate) turn: &'a Turn,
    /// Its sentences in text order.
    pub(crate) sentences: Vec<Sentence>,
}

impl<'a> ReadTurn<'a> {
    /// Reads a turn; `names` are the speakers of the dialogue, whose names alone say nothing.
    pub(crate) fn new(turn: &'a Turn, names: &[&str]) -> Self {
        let read = |range: Range<usize>| {
            let text = &turn.text[range.clone()];
            let tokens = tokens(text);
            let (kind, n_content) = classify(text, &tokens, names);
            let is_informative = kind == SentenceKind::Question && n_content >= 3 && tells(&tokens);
            Sentence { range, kind, tokens, n_content, is_informative }
        };
        Self { turn, sentences: sentences(&turn.text).into_iter().map(read).collect() }
    }

    /// The turn's kind. A shared picture is a statement; a question without any content word is filler.
    pub(crate) fn kind(&self) -> TurnKind {
        let has = |kind| self.sentences.iter().any(|s| s.kind == kind && s.n_content > 0);
        match (has(SentenceKind::Statement) || self.turn.caption.is_some(), has(SentenceKind::Question)) {
            (false, false) => TurnKind::Filler,
            (false, true) => TurnKind::Question,
            (true, false) => TurnKind::Statement,
            (true, true) => TurnKind::Mixed,
        }
    }

    /// Whether the turn, filler by itself, answers a question: "Yes.", "Not really", "Good, thanks".
    pub(crate) fn is_short_answer(&self) -> bool {
        self.sentences.iter().flat_map(|s| &s.tokens).any(|t| {
            is_negation(&t.lower)
                || is_yes_or_no(&t.lower)
                || matches!(
                    t.lower.as_str(),
                    "ya" | "aye"
                        | "sure"
                        | "perhaps"
                        | "always"
                        | "often"
                        | "exactly"
                        | "course"
                        | "fine"
                        | "good"
                        | "better"
                        | "bad"
                        | "guess"
                        | "think"
                        | "little"
                        | "both"
                        | "all"
                        | "correct"
                        | "right"
                )
        })
    }
}

/// What a turn does: filler, question, statement or both. `names` are the speakers of the dialogue.
pub fn turn_kind(turn: &Turn, names: &[&str]) -> TurnKind {
    ReadTurn::new(turn, names).kind()
}

/// Whether a word calls a speaker: the name, a part of it, or its first letters with a capital ("Jo" for "Johanna").
pub(crate) fn is_speaker_name(word: &str, names: &[&str]) -> bool {
    let is_capital = word.starts_with(char::is_uppercase);
    let lower = word.to_lowercase();
    let lower = lower.strip_suffix("'s").or_else(|| lower.strip_suffix("’s")).unwrap_or(&lower);
    if lower.chars().count() < 3 {
        return false;
    }
    names.iter().filter(|name| !is_role_word(name.trim())).flat_map(|name| name.split_whitespace()).any(
        |part| {
            let part = part.to_lowercase();
            part == lower || is_capital && part.starts_with(lower)
        },
    )
}

fn classify(text: &str, tokens: &[Token], names: &[&str]) -> (SentenceKind, usize) {
    let mut in_phrase = vec![false; tokens.len()];
    for hit in FILLER_PHRASES.find(tokens) {
        in_phrase[hit.start..hit.end].fill(true);
    }
    let left: Vec<&Token> =
        tokens.iter().zip(&in_phrase).filter(|(_, inside)| !**inside).map(|(t, _)| t).collect();
    let is_word = |t: &Token| t.lower.chars().any(char::is_alphanumeric);
    let is_content = |t: &Token| {
        is_word(t)
            && !STOPWORDS.contains(t.lower.as_str())
            && !FILLER_WORDS.contains(t.lower.as_str())
            && !is_speaker_name(&text[t.start..t.end], names)
    };
    // Content words of a filler phrase count for nothing when nothing else is said, and the phrase itself is kept otherwise.
    let n_content = left.iter().filter(|t| is_content(t)).count();
    // "I can't do it" has no content word, yet it says something.
    let refuses = left.len() >= 4
        && left.iter().any(|t| is_negation(&t.lower))
        && left.iter().any(|t| matches!(t.lower.as_str(), "i" | "we" | "he" | "she" | "they" | "it" | "you"));
    let question = is_question(text, tokens);
    // "How was it?" has no content word, yet its answer needs it.
    if n_content == 0 && question && left.len() >= 3 {
        return (SentenceKind::Question, 0);
    }
    if n_content == 0 && (question || !refuses) {
        return (SentenceKind::Filler, 0);
    }
    (if question { SentenceKind::Question } else { SentenceKind::Statement }, n_content.max(1))
}

/// Whether a question speaks of its speaker as well: "I" or "my" before or beside what is asked.
fn tells(tokens: &[Token]) -> bool {
    let asks_leave = matches!(
        tokens.first().map(|t| t.lower.as_str()),
        Some("can" | "could" | "may" | "should" | "do" | "am")
    );
    tokens
        .iter()
        .skip(usize::from(asks_leave) * 2)
        .any(|t| matches!(t.lower.as_str(), "i" | "my" | "i'm" | "i've" | "im" | "we"))
}

/// Whether the sentence asks: by its mark, or by its first words where the mark is missing.
fn is_question(text: &str, tokens: &[Token]) -> bool {
    let end = text
        .trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？' | '؟' | '.' | '!' | '…'));
    let tail = &text[end.trim_end_matches(['?', '？', '؟', '!', '.', '…']).len()..];
    if tail.contains(['?', '？', '؟']) {
        return true;
    }
    if tail.contains(['.', '!']) {
        return false;
    }
    let word = |at: usize| tokens.get(at).map_or("", |t| t.lower.as_str());
    let auxiliary = |w: &str| {
        matches!(
            w,
            "is" | "are"
                | "do"
                | "does"
                | "did"
                | "was"
                | "were"
                | "can"
                | "could"
                | "would"
                | "should"
                | "have"
                | "has"
                | "will"
        )
    };
    let asks = matches!(word(0), "what" | "how" | "why" | "when" | "where" | "who" | "which");
    (asks
        && auxiliary(word(1))
        && matches!(word(2), "you" | "your" | "he" | "she" | "they" | "it" | "that" | "the"))
        || (matches!(word(0), "do" | "did" | "are" | "have" | "can" | "could" | "would") && word(1) == "you")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> TurnKind {
        let turn = Turn {
            index: 0,
            source_id: String::new(),
            speaker: "Lena".into(),
            role: fta_segment::Role::Peer,
            at: None,
            text: text.into(),
            caption: None,
        };
        turn_kind(&turn, &["Lena", "Tobias Frey"])
    }

    #[test]
    fn filler_is_told_from_content() {
        for text in [
            "Wow!",
            "That's great!",
            "Thanks, bye",
            "Hmm",
            "Hey Tobias! How are you?",
            "You're welcome, Tobi. Take care!",
            "😊",
            "Sounds good, talk to you later!",
            "Thank you so much, Lena!",
            "No problem.",
            "",
            "...",
            "I see. Of course!",
        ] {
            assert_eq!(kind(text), TurnKind::Filler, "{text}");
        }
        for text in [
            "I lost my job.",
            "I can't do it.",
            "He never did it, you know",
            "我很难过",
            "42",
            "Wow! The garden looks great.",
        ] {
            assert_eq!(kind(text), TurnKind::Statement, "{text}");
        }
        for text in ["Did you tell your boss?", "how did you sleep last night", "Is it your mother (again)?"]
        {
            assert_eq!(kind(text), TurnKind::Question, "{text}");
        }
        assert_eq!(kind("I moved to Bern. Have you seen the old town?"), TurnKind::Mixed);
    }
}
