//! Keys and values of the tokens that a network has seen.

use std::sync::Arc;

/// Tokens of a block.
pub(super) const CACHE_BLOCK: usize = 64;

/// Sizes of what is kept for a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CacheShape {
    pub(super) layers: usize,
    /// Heads that have keys and values of their own.
    pub(super) heads: usize,
    pub(super) head_width: usize,
}

impl CacheShape {
    /// Values of one head in a block.
    fn head(self) -> usize {
        self.head_width * CACHE_BLOCK
    }

    fn start(self, layer: usize, head: usize) -> usize {
        (layer * self.heads + head) * self.head()
    }
}

/// What is kept for [`CACHE_BLOCK`] tokens, of all layers.
#[derive(Debug, Clone)]
struct Block {
    /// `[layers, heads, head width, CACHE_BLOCK]`.
    keys: Vec<f32>,
    /// `[layers, heads, CACHE_BLOCK, head width]`.
    values: Vec<f32>,
}

/// A sequence of tokens with what a network keeps of them.
///
/// Sequences that begin alike share their blocks; a block is copied when one of them goes on differently within it.
#[derive(Debug, Clone)]
pub(super) struct Sequence {
    shape: CacheShape,
    tokens: Vec<u32>,
    blocks: Vec<Arc<Block>>,
}

impl Sequence {
    pub(super) fn new(shape: CacheShape) -> Self {
        Self { shape, tokens: Vec::new(), blocks: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The same, cut to the first `n` tokens; costs no copy of keys and values.
    pub(super) fn prefix(&self, n: usize) -> Self {
        let n = n.min(self.tokens.len());
        Self {
            shape: self.shape,
            tokens: self.tokens[..n].to_vec(),
            blocks: self.blocks[..n.div_ceil(CACHE_BLOCK)].to_vec(),
        }
    }

    /// Appends tokens, whose keys and values are put in later.
    pub(super) fn extend(&mut self, tokens: &[u32]) {
        self.tokens.extend_from_slice(tokens);
        let size = self.shape.layers * self.shape.heads * self.shape.head();
        while self.blocks.len() < self.tokens.len().div_ceil(CACHE_BLOCK) {
            self.blocks.push(Arc::new(Block { keys: vec![0.0; size], values: vec![0.0; size] }));
        }
    }

    /// Puts in the key and the value (`[heads, head width]` each) of the token at `position`.
    pub(super) fn put(&mut self, layer: usize, position: usize, keys: &[f32], values: &[f32]) {
        let (shape, at) = (self.shape, position % CACHE_BLOCK);
        let block = Arc::make_mut(&mut self.blocks[position / CACHE_BLOCK]);
        let width = shape.head_width;
        for (head, (key, value)) in keys.chunks_exact(width).zip(values.chunks_exact(width)).enumerate() {
            let start = shape.start(layer, head);
            let column = block.keys[start..start + shape.head()].chunks_exact_mut(CACHE_BLOCK);
            for (row, &x) in column.zip(key) {
                row[at] = x;
            }
            block.values[start + at * width..][..width].copy_from_slice(value);
        }
    }

    /// Keys and values of a head in all blocks.
    pub(super) fn head(&self, layer: usize, head: usize) -> (Vec<&[f32]>, Vec<&[f32]>) {
        let start = self.shape.start(layer, head);
        let range = start..start + self.shape.head();
        self.blocks.iter().map(|block| (&block.keys[range.clone()], &block.values[range.clone()])).unzip()
    }
}

/// Sequences that are kept, however short they are: each is compared with every prompt.
const MOST_SLOTS: usize = 16;

/// The last sequences, for prompts that begin like them.
#[derive(Debug)]
pub(super) struct PrefixCache {
    shape: CacheShape,
    /// The one used last is last.
    slots: Vec<Sequence>,
    /// Most tokens of all slots together.
    most_tokens: usize,
}

impl PrefixCache {
    pub(super) fn new(shape: CacheShape, most_tokens: usize) -> Self {
        Self { shape, slots: Vec::new(), most_tokens }
    }

    /// The longest known beginning of a prompt, without the last token, whose logits are wanted.
    pub(super) fn longest_prefix(&mut self, prompt: &[u32]) -> Sequence {
        let limit = prompt.len().saturating_sub(1);
        let common =
            |slot: &Sequence| slot.tokens.iter().zip(&prompt[..limit]).take_while(|(a, b)| a == b).count();
        let best = self.slots.iter().map(common).enumerate().max_by_key(|&(_, n)| n).filter(|&(_, n)| n > 0);
        let Some((slot, n)) = best else { return Sequence::new(self.shape) };
        let slot = self.slots.remove(slot);
        let prefix = slot.prefix(n);
        self.slots.push(slot);
        prefix
    }

    /// Keeps a sequence, in place of those that it continues; those unused for longest go to make room.
    pub(super) fn keep(&mut self, sequence: Sequence) {
        let sequence =
            if sequence.len() > self.most_tokens { sequence.prefix(self.most_tokens) } else { sequence };
        if sequence.len() == 0 {
            return;
        }
        self.slots.retain(|slot| !sequence.tokens.starts_with(&slot.tokens));
        self.slots.push(sequence);
        let mut n: usize = self.slots.iter().map(Sequence::len).sum();
        while n > self.most_tokens || self.slots.len() > MOST_SLOTS {
            n -= self.slots.remove(0).len();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: CacheShape = CacheShape { layers: 2, heads: 2, head_width: 4 };

    fn sequence(tokens: &[u32]) -> Sequence {
        let mut sequence = Sequence::new(SHAPE);
        sequence.extend(tokens);
        for (position, &token) in tokens.iter().enumerate() {
            let values: Vec<f32> = (0..8).map(|i| token as f32 + i as f32 / 10.0).collect();
            for layer in 0..2 {
                sequence.put(layer, position, &values, &values);
            }
        }
        sequence
    }

    fn value(sequence: &Sequence, position: usize) -> (f32, f32) {
        let (keys, values) = sequence.head(1, 1);
        let (block, at) = (position / CACHE_BLOCK, position % CACHE_BLOCK);
        (keys[block][3 * CACHE_BLOCK + at], values[block][at * 4 + 3])
    }

    #[test]
    fn a_prefix_is_not_changed_by_what_follows() {
        let tokens: Vec<u32> = (0..150).collect();
        let whole = sequence(&tokens);
        let mut other = whole.prefix(100);
        other.extend(&[999]);
        other.put(1, 100, &[7.0; 8], &[7.0; 8]);
        assert_eq!(value(&whole, 100), (100.7, 100.7));
        assert_eq!(value(&other, 100), (7.0, 7.0));
        assert_eq!(value(&other, 99), (99.7, 99.7));
        assert!(Arc::ptr_eq(&whole.blocks[0], &other.blocks[0]), "whole blocks are shared");
    }

    #[test]
    fn the_longest_prefix_is_found_and_the_oldest_slot_goes() {
        let mut cache = PrefixCache::new(SHAPE, 8);
        assert_eq!(cache.longest_prefix(&[1, 2, 3]).len(), 0);
        cache.keep(sequence(&[1, 2, 3, 4]));
        cache.keep(sequence(&[1, 2, 9]));
        assert_eq!(cache.longest_prefix(&[1, 2, 3, 5]).tokens, [1, 2, 3]);
        assert_eq!(cache.longest_prefix(&[1, 2, 3, 4]).tokens, [1, 2, 3], "the last token is computed");
        cache.keep(sequence(&[5, 6, 7]));
        assert_eq!(cache.longest_prefix(&[1, 2, 9, 9]).tokens, [1, 2], "the slot used last stayed");
        cache.keep(sequence(&[5, 6, 7, 8]));
        assert_eq!(cache.slots.len(), 2, "a continued sequence is replaced");
        cache.keep(sequence(&(0..20).collect::<Vec<_>>()));
        assert_eq!(
            cache.slots.iter().map(Sequence::len).collect::<Vec<_>>(),
            [8],
            "as much as there is room for"
        );
        let mut none = PrefixCache::new(SHAPE, 0);
        none.keep(sequence(&[1, 2]));
        assert_eq!(none.longest_prefix(&[1, 2]).len(), 0);
    }
}
