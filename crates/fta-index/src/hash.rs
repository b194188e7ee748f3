//! [`HashEmbedder`]: an embedder that needs no model.

use crate::embed::{Embedder, Embeddings};
use crate::error::EmbedError;

/// Words that say little about a text; they weigh less than the others.
const FUNCTION_WORDS: [&str; 56] = [
    "a", "about", "am", "an", "and", "are", "as", "at", "be", "been", "but", "by", "did", "do", "does",
    "for", "from", "had", "has", "have", "he", "her", "his", "i", "in", "is", "it", "its", "me", "my", "of",
    "on", "or", "our", "she", "so", "that", "the", "their", "them", "they", "this", "to", "was", "we",
    "were", "what", "when", "where", "which", "who", "will", "with", "would", "you", "your",
];

const FUNCTION_WORD_WEIGHT: f32 = 0.15;

/// A bag of words by feature hashing: texts that share word stems are near to each other.
///
/// Deterministic, without weights, `O(length of the text)`. Knows no synonyms: for tests, and for a machine that cannot
/// have a model.
#[derive(Debug, Clone)]
pub struct HashEmbedder {
    dim: usize,
    model_id: String,
}

impl HashEmbedder {
    /// Makes an embedder of `dim` values per vector; 0 is taken as 1.
    pub fn new(dim: usize) -> Self {
        let dim = dim.max(1);
        Self { dim, model_id: format!("hash-{dim}") }
    }

    fn add_text(&self, text: &str, row: &mut [f32]) {
        let text = text.to_lowercase();
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
            if !word.is_ascii() {
                // Scripts that put no space between words: characters stand in for words.
                word.chars().for_each(|c| self.add_feature(c.encode_utf8(&mut [0; 4]), 0.5, row));
            }
            let weight = if FUNCTION_WORDS.contains(&word) { FUNCTION_WORD_WEIGHT } else { 1.0 };
            self.add_feature(stem(word), weight, row);
        }
    }

    fn add_feature(&self, feature: &str, weight: f32, row: &mut [f32]) {
        let hash = hash(feature);
        let sign = if hash >> 63 == 0 { weight } else { -weight };
        row[(hash % self.dim as u64) as usize] += sign;
    }
}

impl Default for HashEmbedder {
    /// 256 values per vector.
    fn default() -> Self {
        Self::new(256)
    }
}

impl Embedder for HashEmbedder {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let mut data = vec![0.0; texts.len() * self.dim];
        for (text, row) in texts.iter().zip(data.chunks_exact_mut(self.dim)) {
            self.add_text(text, row);
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            if norm > 1e-6 {
                for x in row {
                    *x /= norm;
                }
            } else {
                // No words, or words that cancel out.
                row.fill(0.0);
                row[0] = 1.0;
            }
        }
        Embeddings::new(self.dim, data)
    }
}

/// Cuts common English endings, so that "walked", "walking" and "walks" meet.
fn stem(word: &str) -> &str {
    const ENDINGS: [&str; 6] = ["ing", "ies", "ed", "es", "s", "e"];
    let shorter = ENDINGS.iter().filter_map(|ending| word.strip_suffix(ending)).find(|stem| stem.len() >= 3);
    shorter.unwrap_or(word)
}

/// FNV-1a with the finaliser of SplitMix64, which spreads short words over all bits.
fn hash(feature: &str) -> u64 {
    let mut hash = 0xCBF2_9CE4_8422_2325_u64;
    for byte in feature.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3);
    }
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        let rows = HashEmbedder::default().embed(&[a, b]).expect("any text has a vector");
        rows.as_slice()[..256].iter().zip(&rows.as_slice()[256..]).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn shared_words_bring_texts_together() {
        let near = cosine("She adopted two puppies in spring", "When did she adopt the puppies?");
        let far = cosine("She adopted two puppies in spring", "What is the price of the train ticket?");
        assert!(near > 0.5 && far < 0.2, "{near} {far}");
        assert!(cosine("WALKED, walking!", "walks walk") > 0.999);
    }

    #[test]
    fn the_hash_is_fixed() {
        assert_eq!(hash(""), 0xF52A_15E9_A9B5_E89B);
    }
}
