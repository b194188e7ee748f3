//! BM25 over stemmed words, for the reference arms.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

/// Saturation of a word's count.
const K1: f32 = 1.2;
/// How much long texts are held back.
const B: f32 = 0.75;

/// An inverted list over texts.
#[derive(Debug, Default)]
pub struct Bm25 {
    postings: HashMap<String, Vec<(usize, f32)>>,
    lengths: Vec<f32>,
    mean_length: f32,
}

impl Bm25 {
    /// Indexes texts; text `i` has score `i` in [`Bm25::scores`].
    pub fn new<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Self {
        let mut index = Self::default();
        for (position, text) in texts.into_iter().enumerate() {
            let words = words(text.as_ref());
            index.lengths.push(words.len() as f32);
            let mut counts: HashMap<String, f32> = HashMap::new();
            for word in words {
                *counts.entry(word).or_default() += 1.0;
            }
            for (word, count) in counts {
                index.postings.entry(word).or_default().push((position, count));
            }
        }
        index.mean_length = index.lengths.iter().sum::<f32>() / index.lengths.len().max(1) as f32;
        index
    }

    /// Score of each text for a query, `[n]`, 0 where no word is shared.
    pub fn scores(&self, query: &str) -> Vec<f32> {
        let n = self.lengths.len() as f32;
        let mut scores = vec![0.0; self.lengths.len()];
        let mut query = words(query);
        query.sort();
        query.dedup();
        for word in query {
            let Some(postings) = self.postings.get(&word) else { continue };
            let found = postings.len() as f32;
            let idf = (1.0 + (n - found + 0.5) / (found + 0.5)).ln();
            for &(position, count) in postings {
                let length = 1.0 - B + B * self.lengths[position] / self.mean_length;
                scores[position] += idf * count * (K1 + 1.0) / (count + K1 * length);
            }
        }
        scores
    }

    /// As [`Bm25::scores`], divided by the best score; all 0 where no word is shared.
    pub fn scaled_scores(&self, query: &str) -> Vec<f32> {
        let mut scores = self.scores(query);
        let best = scores.iter().copied().fold(0.0, f32::max);
        if best > 0.0 {
            for score in &mut scores {
                *score /= best;
            }
        }
        scores
    }
}

/// Lower-cased, stemmed words of letters and digits.
fn words(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    text.to_lowercase()
        .replace('\u{2019}', "'")
        .split(|c: char| !c.is_alphanumeric() && c != '\'')
        .map(|w| w.trim_matches('\''))
        .filter(|w| !w.is_empty())
        .map(|w| stemmer.stem(w).into_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rarer_words_and_shorter_texts_score_higher() {
        let index = Bm25::new(["the dog runs", "the dog and the cat and the bird", "a bird", ""]);
        let scores = index.scores("Dogs running");
        assert!(scores[0] > scores[1] && scores[1] > 0.0);
        assert_eq!(&scores[2..], [0.0, 0.0]);
        let bird = index.scores("bird");
        assert!(bird[2] > bird[1]);
        assert_eq!(index.scaled_scores("bird")[2].to_bits(), 1.0_f32.to_bits());
        assert_eq!(index.scaled_scores("horse"), [0.0; 4]);
        assert!(Bm25::new([""; 0]).scores("x").is_empty());
    }
}
