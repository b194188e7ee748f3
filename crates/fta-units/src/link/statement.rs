//! What a unit says, sentence by sentence, as the link rules compare it.

use std::{
    collections::{BTreeSet, HashSet},
    sync::LazyLock,
};

use regex::Regex;

use super::words::{CONCEPTS, GENERIC};
use crate::{
    text::{Reading, sentences},
    unit::Unit,
};

/// Question and answer in one claim: `Asked "...", Name: "..."`, the answer with or without quotation marks.
static EXCHANGE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?s)^(.*?)Asked "(.*?)", [^:"]{1,60}: (.*?)\s*$"#).expect("the pattern is a constant")
});

/// A note of a shared picture.
static PICTURE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[shares? [^\]]*\]").expect("the pattern is a constant"));

/// `Name: ` in front of a sentence without a subject.
static SPEAKER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[\p{Lu}][^:.,!?]{0,40}: ").expect("the pattern is a constant"));

static GENERIC_STEMS: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| GENERIC.split_ascii_whitespace().collect());

/// A unit's claim, taken apart.
pub(super) struct Statement {
    /// All that is said, the question aside.
    pub(super) said: Reading,
    /// The question that is answered.
    pub(super) question: Option<Reading>,
    /// What is said, sentence by sentence.
    pub(super) sentences: Vec<Sentence>,
    /// Stems of question and answer together.
    pub(super) topic: BTreeSet<String>,
}

/// One sentence of a claim.
pub(super) struct Sentence {
    /// Its words.
    pub(super) reading: Reading,
    /// Its text in lower case.
    pub(super) text: String,
}

impl Statement {
    /// Takes the claim of `unit` apart; words of `names` are not content.
    pub(super) fn new(unit: &Unit, names: &BTreeSet<String>) -> Self {
        let claim = unit.fact.claim.as_str();
        let (text, question) = match EXCHANGE.captures(claim) {
            Some(parts) => {
                (format!("{}{}", &parts[1], parts[3].trim_matches('"')), Some(parts[2].to_owned()))
            }
            None => (claim.to_owned(), None),
        };
        // What a picture shows is not what is said of it.
        let text = PICTURE.replace_all(&text, "");
        let text = SPEAKER.replace(&text, "").into_owned();
        let read = |text: &str| reading(text, names);
        let question = question.as_deref().map(read);
        let said = read(&text);
        let topic = said.content.iter().chain(question.iter().flat_map(|q| &q.content)).cloned().collect();
        let sentences = sentences(&text)
            .map(|s| Sentence { reading: read(s), text: s.to_lowercase().replace('’', "'") });
        Self { sentences: sentences.collect(), said, question, topic }
    }

    /// Whether it asks and says nothing else.
    pub(super) fn asks(&self) -> bool {
        self.said.asks
    }

    /// Stems that both have, and that say what they are about.
    pub(super) fn specific(&self, other: &Self) -> usize {
        specific(&self.topic, &other.topic)
    }
}

impl Sentence {
    /// Stems that both have, and that say what they are about.
    pub(super) fn specific(&self, other: &Self) -> usize {
        specific(&self.reading.content, &other.reading.content)
    }
}

fn specific(a: &BTreeSet<String>, b: &BTreeSet<String>) -> usize {
    a.intersection(b).filter(|stem| is_specific(stem)).count()
}

/// Whether a stem says what a claim is about.
pub(super) fn is_specific(stem: &str) -> bool {
    stem.chars().count() > 2 && !GENERIC_STEMS.contains(stem)
}

/// A reading with the concepts that its words stand for.
fn reading(text: &str, names: &BTreeSet<String>) -> Reading {
    let mut reading = Reading::new(text, names.iter().map(String::as_str));
    for (concept, groups) in CONCEPTS {
        if groups.iter().any(|group| group.iter().all(|word| reading.has_any(&[word]))) {
            reading.content.insert((*concept).to_owned());
            if reading.negated && reading.content.len() <= 3 {
                reading.denied.insert((*concept).to_owned());
            }
        }
    }
    reading
}

/// The words of both units' people: speakers, and names (not roles such as "her boss") of others.
pub(super) fn names(a: &Unit, b: &Unit) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for unit in [a, b] {
        names.extend(unit.fact.participants.iter().cloned());
        for mention in &unit.fact.mentioned {
            let proper = mention.split_whitespace().filter(|w| w.starts_with(char::is_uppercase));
            names.extend(proper.map(|w| w.trim_end_matches("'s").to_owned()));
        }
    }
    names
}
