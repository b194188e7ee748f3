//! BM25 over small documents, kept in memory and changed one document at a time.

use std::collections::{BTreeMap, HashMap};

use fta_units::UnitId;
use rust_stemmers::{Algorithm, Stemmer};
use unicode_segmentation::UnicodeSegmentation;

/// Saturation of the term frequency.
const K1: f32 = 1.2;
/// How much the length of a document counts.
const B: f32 = 0.5;
/// Words so common that they say nothing about the subject.
const STOP_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "being",
    "but", "by", "can", "could", "d", "did", "didn", "do", "does", "doing", "don", "for", "from", "get",
    "got", "had", "has", "have", "having", "he", "her", "hers", "him", "his", "how", "i", "if", "in", "into",
    "is", "isn", "it", "its", "just", "like", "ll", "m", "me", "more", "much", "my", "no", "not", "of", "on",
    "or", "our", "out", "over", "re", "really", "s", "she", "should", "so", "some", "such", "t", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "those", "to", "too", "up",
    "us", "ve", "very", "was", "wasn", "we", "were", "what", "when", "where", "which", "while", "who",
    "whom", "whose", "why", "will", "with", "would", "you", "your", "yours",
];

/// Stems of the content words of a text, in order, lower-cased; stop words are left out.
pub fn stems(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    content_words(text).map(|word| stemmer.stem(&word).into_owned()).collect()
}

/// Content words of a text, in order, lower-cased.
fn content_words(text: &str) -> impl Iterator<Item = String> {
    text.unicode_words()
        .flat_map(|word| word.split(['\'', '’', '.']))
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty() && STOP_WORDS.binary_search(&word.as_str()).is_err())
}

#[derive(Debug, Clone)]
struct Document {
    id: UnitId,
    /// Terms with their frequency.
    terms: Vec<(u32, u32)>,
    length: u32,
}

/// A BM25 index of units.
#[derive(Debug, Default, Clone)]
pub struct Bm25 {
    /// Stem to term.
    vocabulary: HashMap<String, u32>,
    /// Word to term: a word is stemmed once and stands in many documents.
    words: HashMap<String, u32>,
    /// Term to places of documents, with the term's frequency.
    postings: Vec<Vec<(u32, u32)>>,
    /// By place; a place that was given up is `None` until it is taken again.
    documents: Vec<Option<Document>>,
    place_of: HashMap<UnitId, u32>,
    free: Vec<u32>,
    total_length: u64,
}

impl Bm25 {
    /// Adds or replaces a document.
    pub fn insert(&mut self, id: UnitId, text: &str) {
        self.remove(id);
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        let mut length = 0;
        let stemmer = Stemmer::create(Algorithm::English);
        for word in content_words(text) {
            let term = match self.words.get(&word) {
                Some(&term) => term,
                None => self.learn(word, &stemmer),
            };
            *counts.entry(term).or_default() += 1;
            length += 1;
        }
        let place = self.free.pop().unwrap_or(self.documents.len() as u32);
        for (&term, &count) in &counts {
            self.postings[term as usize].push((place, count));
        }
        self.total_length += u64::from(length);
        let document = Some(Document { id, terms: counts.into_iter().collect(), length });
        match self.documents.get_mut(place as usize) {
            Some(given_up) => *given_up = document,
            None => self.documents.push(document),
        }
        self.place_of.insert(id, place);
    }

    /// The term of a word that was not seen before.
    fn learn(&mut self, word: String, stemmer: &Stemmer) -> u32 {
        let next = self.vocabulary.len() as u32;
        let term = *self.vocabulary.entry(stemmer.stem(&word).into_owned()).or_insert(next);
        if term as usize == self.postings.len() {
            self.postings.push(Vec::new());
        }
        self.words.insert(word, term);
        term
    }

    /// Removes a document, if it is there.
    pub fn remove(&mut self, id: UnitId) {
        let Some(place) = self.place_of.remove(&id) else { return };
        if let Some(document) = self.documents[place as usize].take() {
            self.total_length -= u64::from(document.length);
            for (term, _) in document.terms {
                self.postings[term as usize].retain(|&(other, _)| other != place);
            }
        }
        self.free.push(place);
    }

    /// Number of documents.
    pub fn len(&self) -> usize {
        self.place_of.len()
    }

    /// Whether there are no documents.
    pub fn is_empty(&self) -> bool {
        self.place_of.is_empty()
    }

    /// BM25 scores of the documents that share a word with the query, scaled so that the best is 1.
    pub fn scores(&self, query: &str) -> BTreeMap<UnitId, f32> {
        // By place: a sum for each document costs less than a look-up for each posting.
        let mut sums = vec![0.0_f32; self.documents.len()];
        let n = self.len() as f32;
        let mean_length = (self.total_length as f32 / n.max(1.0)).max(1.0);
        let mut seen = Vec::new();
        for stem in stems(query) {
            let Some(&term) = self.vocabulary.get(&stem) else { continue };
            if seen.contains(&term) {
                continue;
            }
            seen.push(term);
            let postings = &self.postings[term as usize];
            let df = postings.len() as f32;
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            for &(place, count) in postings {
                let length = self.documents[place as usize].as_ref().map_or(0, |d| d.length) as f32;
                let tf = count as f32;
                let weight = tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length / mean_length));
                sums[place as usize] += idf * weight;
            }
        }
        let best = sums.iter().copied().fold(0.0, f32::max);
        let found = self.documents.iter().zip(sums).filter(|(_, sum)| *sum > 0.0);
        let mut scores: Vec<(UnitId, f32)> =
            found.filter_map(|(document, sum)| Some((document.as_ref()?.id, sum / best))).collect();
        scores.sort_unstable_by_key(|(id, _)| *id);
        scores.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_for_the_search() {
        assert!(STOP_WORDS.is_sorted());
        for word in STOP_WORDS {
            assert!(stems(word).is_empty(), "{word} is not recognised as a stop word");
        }
    }

    #[test]
    fn the_document_with_the_rare_word_wins() {
        let mut index = Bm25::default();
        index.insert(UnitId(1), "my sister called about the dog");
        index.insert(UnitId(2), "my sister called about the violin lesson");
        index.insert(UnitId(3), "my sister called again");
        let scores = index.scores("Which lessons did your sister take?");
        assert!((scores[&UnitId(2)] - 1.0).abs() < 1e-6);
        assert!(scores[&UnitId(1)] < 0.5);
    }

    #[test]
    fn a_removed_document_leaves_no_trace() {
        let mut index = Bm25::default();
        index.insert(UnitId(1), "violin");
        let before = index.scores("violin lesson");
        index.insert(UnitId(2), "lesson on the violin");
        index.remove(UnitId(2));
        assert_eq!(index.scores("violin lesson"), before);
        index.insert(UnitId(1), "drum");
        assert!(index.scores("violin").is_empty());
    }

    #[test]
    fn scores_do_not_depend_on_the_history() {
        let text = |i: u64| format!("word{} word{} word{} always", i % 7, i % 5, i * i % 11);
        let (mut plain, mut changed) = (Bm25::default(), Bm25::default());
        for i in 0..40 {
            plain.insert(UnitId(i), &text(i));
        }
        for i in (0..60).rev() {
            changed.insert(UnitId(i), "word1 always other");
        }
        for i in (40..60).chain((0..40).step_by(3)) {
            changed.remove(UnitId(i));
        }
        for i in 0..40 {
            changed.insert(UnitId(i), &text(i));
        }
        assert_eq!(changed.len(), 40);
        for query in ["word1 word3", "always word10", "other"] {
            assert_eq!(changed.scores(query), plain.scores(query), "{query}");
        }
    }
}
