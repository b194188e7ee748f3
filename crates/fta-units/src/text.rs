//! Words of English text, as the rules for links and longitudinal memory compare them.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap, HashSet},
    sync::LazyLock,
};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// Words that say nothing about what a sentence is about.
const STOPWORDS: &str = "a about after again all also am an and any are as at be because been before being but by can \
    could did do does doing done for from get gets getting got had has have having he her hers herself him himself his \
    how i if in into is it its itself just let like made make makes me more most much my myself now of off on once one \
    only or other our ours out over own really s said same say says she should so some such t than that the their them \
    then there these they this those through to too told under until up very was we well were what when where which \
    while who whom whose why will with would you your yours today tomorrow yesterday longer anymore still yet currently \
    lately recently never not no nor don doesn didn isn aren wasn weren won wouldn shouldn couldn can't ll ve re d m \
    feel feels feeling felt think thinks thought go goes going went gone";

/// [`STOPWORDS`] for look-up: every word of every claim is looked up.
static STOPWORD_SET: LazyLock<HashSet<&'static str>> =
    LazyLock::new(|| STOPWORDS.split_ascii_whitespace().collect());

const NUMBER_WORDS: [&str; 13] = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
];

/// Words after a denial that it may deny.
const DENIAL_REACH: usize = 3;

/// A claim, taken apart.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reading {
    /// Lower-case words with one space before and after each, so that `" word "` finds whole words.
    pub(crate) words: String,
    /// The same words, each once.
    distinct: HashSet<String>,
    /// Stems of the words that say what it is about; names left out, numbers too.
    pub(crate) content: BTreeSet<String>,
    /// Numbers with the stem of the word after each: `("3", "brother")`.
    pub(crate) numbers: BTreeSet<(String, String)>,
    /// Whether it denies something.
    pub(crate) negated: bool,
    /// Stems of the content words right after a denial: what is denied.
    pub(crate) denied: BTreeSet<String>,
    /// Whether it asks.
    pub(crate) asks: bool,
}

/// The stem of a lower-case word. Linking reads each unit with each of its neighbours, so stems are remembered.
fn stem(word: &str) -> String {
    /// Words remembered by a thread, at most: more than a person uses.
    const MOST: usize = 50_000;
    thread_local! {
        static STEMS: RefCell<HashMap<String, String>> = RefCell::default();
    }
    STEMS.with_borrow_mut(|stems| {
        if let Some(stem) = stems.get(word) {
            return stem.clone();
        }
        if stems.len() == MOST {
            stems.clear();
        }
        let stem = Stemmer::create(Algorithm::English).stem(word).into_owned();
        stems.insert(word.to_owned(), stem.clone());
        stem
    })
}

impl Reading {
    /// Takes `text` apart; words of `names` are not content, since people and not topics share them.
    pub(crate) fn new<'a>(text: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        let lower = text.to_lowercase().replace('’', "'");
        let tokens: Vec<&str> = lower.unicode_words().collect();
        let names: BTreeSet<String> = names
            .into_iter()
            .flat_map(|n| n.to_lowercase().unicode_words().map(str::to_owned).collect::<Vec<_>>())
            .collect();
        let mut reading = Self { asks: lower.trim_end().ends_with('?'), ..Self::default() };
        reading.words.push(' ');
        let mut denial = None;
        for (position, token) in tokens.iter().enumerate() {
            reading.words.push_str(token);
            reading.words.push(' ');
            reading.distinct.insert((*token).to_owned());
            let bare = token.strip_suffix("'s").unwrap_or(token);
            if let Some(number) = number(bare) {
                let next = tokens.get(position + 1).map(|t| stem(t)).unwrap_or_default();
                reading.numbers.insert((number, next));
            } else if bare.ends_with("n't")
                || matches!(bare, "not" | "never" | "no" | "nobody" | "nothing" | "cannot")
            {
                reading.negated = true;
                denial = Some(position);
            } else if !bare.contains('\'') && !is_stopword(bare) && !names.contains(bare) {
                let stem = stem(bare);
                if denial.is_some_and(|at| position <= at + DENIAL_REACH) {
                    reading.denied.insert(stem.clone());
                }
                reading.content.insert(stem);
            }
        }
        reading
    }

    /// Whether one of the words or phrases (lower case) occurs.
    pub(crate) fn has_any(&self, phrases: &[&str]) -> bool {
        let whole = |phrase: &&str| {
            if phrase.contains(' ') {
                self.words.contains(&format!(" {phrase} "))
            } else {
                self.distinct.contains(*phrase)
            }
        };
        phrases.iter().any(whole)
    }

    /// Number of content stems that both have.
    pub(crate) fn shared(&self, other: &Self) -> usize {
        self.content.intersection(&other.content).count()
    }

    /// Shared part of the smaller of the two, in `[0, 1]`; 0 if one has no content.
    pub(crate) fn overlap(&self, other: &Self) -> f32 {
        let smaller = self.content.len().min(other.content.len());
        if smaller == 0 { 0.0 } else { self.shared(other) as f32 / smaller as f32 }
    }

    /// Shared part of both together, in `[0, 1]`.
    pub(crate) fn jaccard(&self, other: &Self) -> f32 {
        let shared = self.shared(other);
        let union = self.content.len() + other.content.len() - shared;
        if union == 0 { 0.0 } else { shared as f32 / union as f32 }
    }

    /// Whether both count the same thing and come to different numbers.
    pub(crate) fn counts_differ(&self, other: &Self) -> bool {
        let things = |r: &Self| r.numbers.iter().map(|(_, thing)| thing.clone()).collect::<BTreeSet<_>>();
        let both = &things(self) & &things(other);
        both.iter().any(|thing| {
            let counts =
                |r: &Self| r.numbers.iter().filter(|(_, t)| t == thing).cloned().collect::<BTreeSet<_>>();
            !thing.is_empty() && counts(self).is_disjoint(&counts(other))
        })
    }
}

fn number(word: &str) -> Option<String> {
    if word.starts_with(|c: char| c.is_ascii_digit()) {
        return Some(word.to_owned());
    }
    // "one" is a pronoun more often than a number.
    NUMBER_WORDS.iter().position(|w| *w == word && *w != "one").map(|n| n.to_string())
}

fn is_stopword(word: &str) -> bool {
    STOPWORD_SET.contains(word)
}

/// The sentences of a text, trimmed, in order.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    text.unicode_sentences().map(str::trim).filter(|s| !s.is_empty())
}

/// Whether two names are the same, letter case aside.
pub(crate) fn same_name(a: &str, b: &str) -> bool {
    let (a, b) = (a.trim(), b.trim());
    // Names are compared for every pair of units; nearly all need no copy in lower case.
    if a.is_ascii() && b.is_ascii() {
        a.eq_ignore_ascii_case(b)
    } else {
        a == b || a.to_lowercase() == b.to_lowercase()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_a_claim_apart() {
        let reading = Reading::new("Ines's three brothers don't sail anymore.", ["Ines"]);
        assert_eq!(reading.content.iter().collect::<Vec<_>>(), ["brother", "sail"]);
        assert_eq!(reading.denied.iter().collect::<Vec<_>>(), ["sail"]);
        assert!(reading.negated && !reading.asks && reading.has_any(&["anymore"]));
        assert!(reading.counts_differ(&Reading::new("Ines has 4 brothers", ["Ines"])));
        assert!(!reading.counts_differ(&Reading::new("Ines has 3 brothers and 4 cats", ["Ines"])));
        assert!(!Reading::new("No one", []).has_any(&["none"]));
    }

    #[test]
    fn names_are_the_same_in_any_case() {
        assert!(same_name(" Ines", "INES ") && same_name("Ökonom", "ökonom"));
        assert!(!same_name("Ines", "Inés") && !same_name("Ines", "Ine"));
    }
}
