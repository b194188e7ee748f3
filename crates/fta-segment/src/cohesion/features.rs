//! What one turn's text tells: its content words, how it opens, whether it asks, how it feels.

use std::collections::{BTreeMap, BTreeSet};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

use super::lexicon::{
    self, CLOSINGS, GREETINGS, LIGHT_WORDS, NEGATIONS, OPENINGS, PLEASANT, RESPONSES, UNPLEASANT,
};
use crate::dialogue::Turn;

/// How far a negation reaches, in words.
const NEGATION_REACH: usize = 3;

/// The features of one turn.
#[derive(Debug, Clone, Default)]
pub(super) struct TurnFeatures {
    /// Stem of each content word and how often it occurs.
    pub(super) stems: BTreeMap<String, f64>,
    /// Strength of the strongest discourse marker, 0 without.
    pub(super) opening: f64,
    /// Whether the turn begins with a greeting.
    pub(super) greets: bool,
    /// Whether a sentence takes leave or winds up.
    pub(super) closes: bool,
    /// Whether the turn begins by taking up the one before it.
    pub(super) responds: bool,
    /// Whether the text stops without the end of a sentence, as if more were to come.
    pub(super) stops_short: bool,
    /// Whether the turn ends with a question, which waits for an answer.
    pub(super) asks_last: bool,
    /// Whether any sentence is a question.
    pub(super) asks: bool,
    /// Pleasant words, negation considered.
    pub(super) pleasant: f64,
    /// Unpleasant words, negation considered.
    pub(super) unpleasant: f64,
}

/// Word lists in the form for look-up, and the stemmer. English; other languages have stems and questions only.
pub(super) struct Reader {
    stemmer: Stemmer,
    openings: Vec<(f64, String)>,
    greetings: Vec<String>,
    closings: Vec<String>,
    responses: Vec<String>,
    light: BTreeSet<&'static str>,
    negations: BTreeSet<&'static str>,
    pleasant: BTreeSet<String>,
    unpleasant: BTreeSet<String>,
}

impl Reader {
    pub(super) fn new() -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        let stems = |list| lexicon::words(list).iter().map(|w| stemmer.stem(w).into_owned()).collect();
        let (pleasant, unpleasant) = (stems(PLEASANT), stems(UNPLEASANT));
        let openings =
            OPENINGS.iter().flat_map(|&(strength, list)| lexicon::phrases(list).map(move |o| (strength, o)));
        Self {
            openings: openings.collect(),
            greetings: lexicon::phrases(GREETINGS).collect(),
            closings: lexicon::phrases(CLOSINGS).collect(),
            responses: lexicon::phrases(RESPONSES).collect(),
            light: lexicon::words(LIGHT_WORDS),
            negations: lexicon::words(NEGATIONS),
            pleasant,
            unpleasant,
            stemmer,
        }
    }

    /// Reads one turn. `names`: words of the speakers' names, which are said without being the subject.
    pub(super) fn read(&self, turn: &Turn, names: &BTreeSet<String>) -> TurnFeatures {
        let mut features = TurnFeatures::default();
        for (position, sentence) in sentences(&turn.text).into_iter().enumerate() {
            self.read_sentence(&mut features, position, &sentence, names);
        }
        features.stops_short = turn.text.trim_end().ends_with(|c: char| c.is_alphanumeric() || c == ',');
        if let Some(caption) = &turn.caption {
            self.count_stems(&mut features, &words(caption), names);
        }
        features
    }

    fn read_sentence(
        &self,
        features: &mut TurnFeatures,
        position: usize,
        sentence: &Sentence,
        names: &BTreeSet<String>,
    ) {
        let said = sentence.words.join(" ");
        if let Some((strength, _)) = self.openings.iter().find(|o| starts_with(&said, &o.1)) {
            features.opening = features.opening.max(*strength);
        }
        features.closes |= self.closings.iter().any(|c| starts_with(&said, c));
        if position == 0 {
            // "Hello?" asks whether the other is still there.
            features.greets = !sentence.asks && self.greetings.iter().any(|g| starts_with(&said, g));
            features.responds = self.responses.iter().any(|r| starts_with(&said, r));
        }
        if !sentence.words.is_empty() || sentence.asks {
            features.asks_last = sentence.asks;
            features.asks |= sentence.asks;
        }
        self.count_stems(features, &sentence.words, names);
        self.count_feelings(features, &sentence.words);
    }

    fn count_stems(&self, features: &mut TurnFeatures, words: &[String], names: &BTreeSet<String>) {
        for word in words {
            if !self.light.contains(word.as_str()) && !names.contains(word) {
                *features.stems.entry(self.stemmer.stem(word).into_owned()).or_default() += 1.0;
            }
        }
    }

    fn count_feelings(&self, features: &mut TurnFeatures, words: &[String]) {
        for (i, word) in words.iter().enumerate() {
            let stem = self.stemmer.stem(word);
            let (pleasant, unpleasant) =
                (self.pleasant.contains(stem.as_ref()), self.unpleasant.contains(stem.as_ref()));
            if !pleasant && !unpleasant {
                continue;
            }
            let before = &words[i.saturating_sub(NEGATION_REACH)..i];
            let negated = before.iter().any(|w| self.negations.contains(w.as_str()));
            if pleasant == negated {
                features.unpleasant += 1.0;
            } else {
                features.pleasant += 1.0;
            }
        }
    }
}

/// Words of the speakers' names, in the form that texts are brought to.
pub(super) fn name_words(turns: &[Turn]) -> BTreeSet<String> {
    turns.iter().flat_map(|t| words(&t.speaker)).collect()
}

/// One sentence, or a piece of text that ends like one.
struct Sentence {
    words: Vec<String>,
    asks: bool,
}

/// Splits at the full stops, question marks and line ends of any script.
fn sentences(text: &str) -> Vec<Sentence> {
    let is_question = |c: char| matches!(c, '?' | '？' | '؟' | '⁇' | '⁈' | '⁉' | '՞' | '፧');
    let is_end = |c: char| is_question(c) || matches!(c, '.' | '!' | '…' | '\n' | '。' | '！' | '।');
    text.split_inclusive(is_end)
        .map(|piece| Sentence { words: words(piece), asks: piece.ends_with(is_question) })
        .collect()
}

/// Lower-case words without apostrophes (`Don’t` is `dont`).
fn words(text: &str) -> Vec<String> {
    text.unicode_words()
        .map(|word| word.chars().filter(|c| !matches!(c, '\'' | '’')).flat_map(char::to_lowercase).collect())
        .collect()
}

/// Whether the words `phrase` are the first ones of `said`.
fn starts_with(said: &str, phrase: &str) -> bool {
    said.strip_prefix(phrase).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::session_of;

    fn read(text: &str) -> TurnFeatures {
        let turns = session_of(&[text]).turns;
        Reader::new().read(&turns[0], &name_words(&turns))
    }

    #[test]
    fn content_words_are_stemmed_and_light_words_dropped() {
        let stems: Vec<_> =
            read("I really enjoyed painting; the paintings weren’t mine.").stems.into_keys().collect();
        assert_eq!(stems, ["enjoy", "paint"]);
    }

    #[test]
    fn names_of_speakers_are_not_content() {
        let mut turns = session_of(&["Robin, the boat leaks"]).turns;
        turns[0].speaker = "Robin Lee".to_owned();
        let stems: Vec<_> = Reader::new().read(&turns[0], &name_words(&turns)).stems.into_keys().collect();
        assert_eq!(stems, ["boat", "leak"]);
    }

    #[test]
    fn markers_count_at_the_start_of_any_sentence() {
        assert!((read("That's great. By the way, I sold the car.").opening - 1.0).abs() < 1e-9);
        assert!(read("I went by the way of the hills").opening.abs() < 1e-9);
        assert!(read("Anywayish").opening.abs() < 1e-9);
        assert!(read("Hi there!").greets && !read("Hiking is fun").greets);
        assert!(read("Ok. I have to go now").closes);
        assert!(read("Yeah, same").responds && !read("Yearly costs rise").responds);
    }

    #[test]
    fn questions_wait_for_an_answer_only_at_the_end() {
        assert!(read("Did it rain?").asks_last);
        assert!(read("Did it rain? 🙂 ").asks_last);
        assert!(read("雨が降りましたか？").asks_last);
        let rhetorical = read("Did it rain? It did.");
        assert!(rhetorical.asks && !rhetorical.asks_last);
        assert!(!read("").asks_last);
    }

    #[test]
    fn a_turn_without_an_end_stops_short() {
        assert!(read("Then I ").stops_short && read("well,").stops_short);
        assert!(!read("Then I did.").stops_short && !read("🙂").stops_short && !read("").stops_short);
    }

    #[test]
    fn negation_turns_a_feeling_round() {
        let counts = |text| {
            let f = read(text);
            (f.pleasant, f.unpleasant)
        };
        assert_eq!(counts("I am happy and proud"), (2.0, 0.0));
        assert_eq!(counts("I'm not happy, I am worried"), (0.0, 2.0));
        assert_eq!(counts("don't worry"), (1.0, 0.0));
    }
}
