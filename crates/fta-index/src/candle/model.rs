//! The encoder: a BERT forward pass over packed tokens.
//!
//! The tokens of all texts of a batch lie one after the other, without padding, so that no work is wasted and
//! neither order nor size of a batch changes the speed.

use super::kernels::{AttentionBuffers, Heads, Linear, Norm, Rows, Then, Unit};

/// Tokens that pass through the inner layer at once.
const CHUNK: usize = 112;

/// One layer of the encoder.
#[derive(Debug)]
pub(super) struct Layer {
    /// Query, key and value side by side: `[width, 3 * width]`.
    pub(super) project: Linear,
    pub(super) attention_output: Linear,
    pub(super) attention_norm: Norm,
    pub(super) expand: Linear,
    pub(super) contract: Linear,
    pub(super) output_norm: Norm,
}

/// A BERT encoder with mean pooling.
#[derive(Debug)]
pub(super) struct Encoder {
    /// `[vocabulary, width]`.
    pub(super) words: Vec<f32>,
    /// `[positions, width]`, with the vector of the first token type added.
    pub(super) positions: Vec<f32>,
    pub(super) embedding_norm: Norm,
    pub(super) layers: Vec<Layer>,
    pub(super) shape: Heads,
    pub(super) unit: Unit,
}

impl Encoder {
    /// Values per vector.
    pub(super) fn width(&self) -> usize {
        self.shape.heads * self.shape.head_width
    }

    /// Number of tokens that have a vector.
    pub(super) fn vocabulary(&self) -> usize {
        self.words.len() / self.width()
    }

    /// Longest text, in tokens.
    pub(super) fn positions(&self) -> usize {
        self.positions.len() / self.width()
    }

    /// Embeds a batch, `[texts.len(), width]`, rows of norm 1 if the weights are finite.
    ///
    /// The caller makes sure that every text has between 1 and [`Encoder::positions`] tokens, all below
    /// [`Encoder::vocabulary`].
    pub(super) fn embed(&self, texts: &[&[u32]], buffers: &mut Buffers) -> Vec<f32> {
        let mut states = self.look_up(texts);
        for layer in &self.layers {
            self.apply(layer, texts, &mut states, buffers);
        }
        self.pool(texts, &states)
    }

    fn look_up(&self, texts: &[&[u32]]) -> Vec<f32> {
        let width = self.width();
        let n_tokens: usize = texts.iter().map(|text| text.len()).sum();
        let mut states = Vec::with_capacity(n_tokens * width);
        for text in texts {
            for (&token, position) in text.iter().zip(self.positions.chunks_exact(width)) {
                let word = &self.words[token as usize * width..][..width];
                states.extend(word.iter().zip(position).map(|(word, position)| word + position));
            }
        }
        self.unit.layer_norm(&mut states, &self.embedding_norm);
        states
    }

    /// Runs one layer; `states` is `[tokens, width]`.
    fn apply(&self, layer: &Layer, texts: &[&[u32]], states: &mut [f32], buffers: &mut Buffers) {
        let width = self.width();
        let n_tokens = states.len() / width;
        let Buffers { projected, attended, expanded, attention, rows } = buffers;

        projected.resize(n_tokens * 3 * width, 0.0);
        layer.project.apply(states, Then::Write, projected, rows);
        attended.resize(states.len(), 0.0);
        let mut from = 0;
        for text in texts {
            let to = from + text.len();
            let (input, output) =
                (&projected[from * 3 * width..to * 3 * width], &mut attended[from * width..to * width]);
            self.unit.attend(input, self.shape, output, attention);
            from = to;
        }

        layer.attention_output.apply(attended, Then::Add, states, rows);
        self.unit.layer_norm(states, &layer.attention_norm);

        // A few rows at a time, so that the wide rows between the two products stay in the cache.
        for states in states.chunks_mut(CHUNK * width) {
            expanded.resize(states.len() / width * layer.expand.outputs(), 0.0);
            layer.expand.apply(states, Then::Write, expanded, rows);
            self.unit.gelu(expanded);
            layer.contract.apply(expanded, Then::Add, states, rows);
        }
        self.unit.layer_norm(states, &layer.output_norm);
    }

    /// Mean over the tokens of each text, scaled to norm 1.
    fn pool(&self, texts: &[&[u32]], states: &[f32]) -> Vec<f32> {
        let width = self.width();
        let mut pooled = vec![0.0; texts.len() * width];
        let mut tokens = states.chunks_exact(width);
        for (text, row) in texts.iter().zip(pooled.chunks_exact_mut(width)) {
            for token in tokens.by_ref().take(text.len()) {
                for (sum, x) in row.iter_mut().zip(token) {
                    *sum += x;
                }
            }
            // The norm makes the division by the number of tokens superfluous.
            let norm = row.iter().map(|x| x * x).sum::<f32>().sqrt();
            for x in row {
                *x /= norm;
            }
        }
        pooled
    }
}

/// Large intermediate results, kept from layer to layer and from batch to batch.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// `[tokens, 3 * width]`.
    projected: Vec<f32>,
    /// `[tokens, width]`.
    attended: Vec<f32>,
    /// `[CHUNK, inner width]`.
    expanded: Vec<f32>,
    attention: AttentionBuffers,
    rows: Rows,
}
