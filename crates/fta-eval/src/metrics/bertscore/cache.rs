//! Hidden states of the texts seen last.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use super::encoder::Pieces;

/// Keeps up to so many bytes; the oldest text goes first.
pub(super) struct Cache {
    limit: usize,
    bytes: usize,
    texts: BTreeMap<String, Arc<Pieces>>,
    order: VecDeque<String>,
}

impl Cache {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, bytes: 0, texts: BTreeMap::new(), order: VecDeque::new() }
    }

    pub(super) fn get(&self, text: &str) -> Option<Arc<Pieces>> {
        self.texts.get(text).cloned()
    }

    pub(super) fn insert(&mut self, text: &str, pieces: Arc<Pieces>) {
        let size = text.len() + pieces.bytes();
        if size > self.limit || self.texts.contains_key(text) {
            return;
        }
        while self.bytes + size > self.limit {
            let oldest = self.order.pop_front().expect("bytes are of texts in the order");
            let gone = self.texts.remove(&oldest).expect("a text in the order is kept");
            self.bytes -= oldest.len() + gone.bytes();
        }
        self.bytes += size;
        self.texts.insert(text.to_owned(), pieces);
        self.order.push_back(text.to_owned());
    }

    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}
