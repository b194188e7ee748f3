//! [`BertEmbedder`]: sentence encoders of the BERT family, such as all-MiniLM-L6-v2, on the CPU.

mod kernels;
mod load;
mod model;
mod precision;

use std::path::Path;

use rayon::prelude::*;
use tokenizers::Tokenizer;

use crate::embed::{Embedder, Embeddings};
use crate::error::EmbedError;
use crate::weights::ModelFiles;

pub use load::LoadError;
use model::{Buffers, Encoder};
pub use precision::Precision;

/// Texts are cut at this many tokens: what the sentence-transformers models were made with.
const WINDOW: usize = 256;

/// A model must take at least this many tokens.
const SHORTEST_WINDOW: usize = 8;

/// Texts are cut at this many bytes per token of the window before they are split into tokens. Far more than words
/// have; without it, a book would be split for its first page.
const BYTES_PER_TOKEN: usize = 128;

/// Tokens of a forward pass. Few enough that all between two layers stays in the cache of a core (about 7 kB each for
/// MiniLM), and enough that each weight that is loaded serves many.
const BATCH_TOKENS: usize = 256;

/// Below this a batch is not worth a thread.
const SMALLEST_BATCH_TOKENS: usize = 128;

/// A sentence encoder of the BERT family with mean pooling.
///
/// Tokens are packed without padding, so neither order nor size of a batch changes its speed. Several batches run
/// in parallel on rayon's current pool; a single one stays on the calling thread. In [`Precision::F32`], vectors agree
/// with other implementations within 1e-5; in all, the same call gives the same bits on one machine, and a text the same
/// vector whatever else is in the batch.
#[derive(Debug)]
pub struct BertEmbedder {
    model_id: String,
    encoder: Encoder,
    tokenizer: Tokenizer,
    window: usize,
    precision: Precision,
}

impl BertEmbedder {
    /// Loads verified files, as [`WeightsResolver`](crate::weights::WeightsResolver) finds them.
    ///
    /// # Errors
    /// As [`BertEmbedder::load`].
    pub fn from_files(files: &ModelFiles) -> Result<Self, LoadError> {
        Self::load(&files.directory, &files.model_id)
    }

    /// As [`BertEmbedder::from_files`], in a precision of choice.
    ///
    /// # Errors
    /// As [`BertEmbedder::load`].
    pub fn from_files_with(files: &ModelFiles, precision: Precision) -> Result<Self, LoadError> {
        Self::load_with(&files.directory, &files.model_id, precision)
    }

    /// Loads `config.json`, `tokenizer.json` and `model.safetensors` of a folder, in [`Precision::Auto`]; `model_id`
    /// should name the model and its revision.
    ///
    /// # Errors
    /// [`LoadError`] if a file is missing, damaged, does not fit the others, or is of another kind of model.
    pub fn load(directory: &Path, model_id: &str) -> Result<Self, LoadError> {
        Self::load_with(directory, model_id, Precision::Auto)
    }

    /// As [`BertEmbedder::load`], in a precision of choice; [`Precision::id_suffix`] is added to `model_id`.
    ///
    /// # Errors
    /// As [`BertEmbedder::load`].
    pub fn load_with(directory: &Path, model_id: &str, precision: Precision) -> Result<Self, LoadError> {
        let precision = precision.resolved();
        let encoder = load::encoder(directory, precision)?;
        let window = WINDOW.min(encoder.positions());
        let tokenizer = load::tokenizer(directory, window)?;
        let largest = tokenizer.get_vocab(true).into_values().max().unwrap_or(0) as usize;
        if largest >= encoder.vocabulary() {
            return Err(LoadError::Damaged {
                path: directory.join("tokenizer.json"),
                reason: format!("token `{largest}` of `{}`", encoder.vocabulary()),
            });
        }
        Ok(Self {
            model_id: format!("{model_id}{}", precision.id_suffix()),
            encoder,
            tokenizer,
            window,
            precision,
        })
    }

    /// Longest text in tokens, the special ones included; what is beyond is cut off.
    pub fn window(&self) -> usize {
        self.window
    }

    /// The precision that was chosen; never [`Precision::Auto`].
    pub fn precision(&self) -> Precision {
        self.precision
    }

    fn tokens(&self, text: &str) -> Result<Vec<u32>, EmbedError> {
        let text = text.trim_start();
        let text = &text[..text.floor_char_boundary(self.window * BYTES_PER_TOKEN)];
        let encoding = self.tokenizer.encode_fast(text, true);
        let encoding = encoding.map_err(|error| EmbedError::Tokenize(error.to_string()))?;
        let tokens = encoding.get_ids().to_vec();
        let legal = (1..=self.window).contains(&tokens.len())
            && tokens.iter().all(|&token| (token as usize) < self.encoder.vocabulary());
        if legal { Ok(tokens) } else { Err(self.failure("the tokenizer gave tokens that the model lacks")) }
    }

    fn failure(&self, message: &str) -> EmbedError {
        EmbedError::Model { model: self.model_id.clone(), message: message.to_owned() }
    }
}

impl Embedder for BertEmbedder {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn dim(&self) -> usize {
        self.encoder.width()
    }

    fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let tokens: Vec<Vec<u32>> = if texts.len() > 1 {
            texts.par_iter().with_min_len(8).map(|text| self.tokens(text)).collect::<Result<_, _>>()?
        } else {
            texts.iter().map(|text| self.tokens(text)).collect::<Result<_, _>>()?
        };
        let batches = batches(&tokens, rayon::current_num_threads());
        let run = |buffers: &mut Buffers, batch: &Vec<usize>| {
            let texts: Vec<&[u32]> = batch.iter().map(|&i| &tokens[i][..]).collect();
            self.encoder.embed(&texts, buffers)
        };
        // Whole batches are what runs in parallel, and nothing within them.
        let results: Vec<Vec<f32>> = match &batches[..] {
            [only] => vec![run(&mut Buffers::default(), only)],
            several => several.par_iter().map_init(Buffers::default, run).collect(),
        };
        let dim = self.dim();
        let mut data = vec![0.0; texts.len() * dim];
        for (batch, rows) in batches.iter().zip(&results) {
            for (&i, row) in batch.iter().zip(rows.chunks_exact(dim)) {
                data[i * dim..(i + 1) * dim].copy_from_slice(row);
            }
        }
        if data.iter().any(|x| !x.is_finite()) {
            return Err(self.failure("a vector is not finite, so the weights must be damaged"));
        }
        Embeddings::new(dim, data)
    }
}

/// Groups texts, longest first, into batches of a bounded number of tokens, enough of them for all threads.
fn batches(tokens: &[Vec<u32>], n_threads: usize) -> Vec<Vec<usize>> {
    let total: usize = tokens.iter().map(Vec::len).sum();
    let budget = total.div_ceil(n_threads.max(1)).clamp(SMALLEST_BATCH_TOKENS, BATCH_TOKENS);
    let mut order: Vec<usize> = (0..tokens.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(tokens[i].len()));
    let mut batches: Vec<Vec<usize>> = Vec::new();
    let mut room = 0;
    for i in order {
        let n = tokens[i].len();
        match batches.last_mut() {
            Some(batch) if n <= room => batch.push(i),
            _ => {
                batches.push(vec![i]);
                room = budget;
            }
        }
        room = room.saturating_sub(n);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_bounded_and_complete() {
        for (lengths, n_threads) in [(vec![], 2), (vec![5], 1), (vec![256; 40], 1), ((0..300).collect(), 4)] {
            let tokens: Vec<Vec<u32>> = lengths.iter().map(|&n| vec![0; n]).collect();
            let batches = batches(&tokens, n_threads);
            for batch in &batches {
                let n: usize = batch.iter().map(|&i| tokens[i].len()).sum();
                assert!(!batch.is_empty() && (n <= BATCH_TOKENS || batch.len() == 1), "{n} tokens");
            }
            let mut all = batches.concat();
            all.sort_unstable();
            assert_eq!(all, (0..lengths.len()).collect::<Vec<_>>());
        }
        assert!(batches(&vec![vec![0; 20]; 100], 4).len() >= 4, "work for every thread");
        assert_eq!(batches(&vec![vec![0; 10]; 10], 4).len(), 1, "little work is not spread");
    }
}
