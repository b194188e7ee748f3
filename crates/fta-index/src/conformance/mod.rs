//! Suites that every implementer of a port runs in its tests. Each function panics with what went wrong.
//!
//! ```
//! # use fta_index::{ExactIndex, VectorIndex, conformance};
//! conformance::vector_index(|dim| Box::new(ExactIndex::new(dim).expect("a legal dimension")));
//! ```

#![expect(clippy::missing_panics_doc, reason = "panicking is how a suite reports, as said above")]

mod embedding;
mod files;
mod numbers;
mod oracle;
mod search;
mod threads;

use std::cell::Cell;

use crate::embed::Embedder;
use crate::vector::VectorIndex;

pub use oracle::{Bounds, Oracle};

/// Checks an exact [`VectorIndex`] against its contract; `make` gives an empty index of a dimension.
///
/// Covers empty and tiny indexes, input checks, replacement, removal, duplicates, filters, ties, batches, a long random
/// history against [`Oracle`], searches while another thread adds, and files: round trip, 2,000 and more damaged ones,
/// and that a failed load changes nothing.
pub fn vector_index(make: impl Fn(usize) -> Box<dyn VectorIndex>) {
    run(&make, Bounds::EXACT);
}

/// As [`vector_index`], for a back end that may miss neighbours or round scores, within `bounds`.
///
/// The contract is the same but for that: results are as many as asked for or all there are, pass the filter, are in
/// order, and of all neighbours that the suite asks for the share `bounds.recall` is found, before and after removals.
pub fn approximate_index(make: impl Fn(usize) -> Box<dyn VectorIndex>, bounds: Bounds) {
    run(&make, bounds);
}

fn run(make: &dyn Fn(usize) -> Box<dyn VectorIndex>, bounds: Bounds) {
    let suite = Suite { make, bounds, found: Cell::new(0), wanted: Cell::new(0) };
    search::empty(&suite);
    search::one_vector(&suite);
    search::bad_input_changes_nothing(&suite);
    search::replacement_and_removal(&suite);
    search::ties_come_by_id(&suite);
    search::filters_are_exact(&suite);
    search::random_history(&suite);
    search::duplicates(&suite);
    suite.reset_recall();
    search::clusters(&suite);
    threads::readers_and_a_writer(&suite);
    files::round_trip(&suite);
    files::failed_saves(&suite);
    files::foreign_files(&suite);
    files::damaged_files(&suite);
    files::many_damaged_files(&suite);
}

/// The back end under test, and what it has found so far.
struct Suite<'a> {
    make: &'a dyn Fn(usize) -> Box<dyn VectorIndex>,
    bounds: Bounds,
    found: Cell<usize>,
    wanted: Cell<usize>,
}

impl Suite<'_> {
    fn make(&self, dim: usize) -> Box<dyn VectorIndex> {
        (self.make)(dim)
    }

    fn tally(&self, found: usize, wanted: usize) {
        self.found.set(self.found.get() + found);
        self.wanted.set(self.wanted.get() + wanted);
    }

    fn reset_recall(&self) {
        self.found.set(0);
        self.wanted.set(0);
    }

    /// Share of the wanted neighbours that was found.
    fn recall(&self) -> f64 {
        self.found.get() as f64 / self.wanted.get().max(1) as f64
    }
}

/// Checks an [`Embedder`] against its contract: shape, norm, order, determinism, independence of the batch, and
/// unusual texts (empty, very long, control characters, many scripts).
pub fn embedder(embedder: &dyn Embedder) {
    embedding::shape(embedder);
    embedding::unusual_texts(embedder);
    embedding::order_and_independence(embedder);
    embedding::long_texts_are_cut(embedder);
}
