//! Suites that every implementer of a port runs in its tests. Each function panics with what went wrong.
//!
//! ```
//! # use fta_index::{ExactIndex, VectorIndex, conformance};
//! conformance::vector_index(|dim| Box::new(ExactIndex::new(dim).expect("a legal dimension")));
//! ```

#![expect(clippy::missing_panics_doc, reason = "panicking is how a suite reports, as said above")]

mod embedding;
mod files;
mod oracle;
mod search;

use crate::embed::Embedder;
use crate::vector::VectorIndex;

pub use oracle::Oracle;

/// Checks an exact [`VectorIndex`] against its contract; `make` gives an empty index of a dimension.
///
/// Covers empty and tiny indexes, input checks, replacement, removal, filters, ties, batches, a long random
/// history against [`Oracle`], and files: round trip, every kind of damage, and that a failed load changes nothing.
pub fn vector_index(make: impl Fn(usize) -> Box<dyn VectorIndex>) {
    search::empty(&make);
    search::one_vector(&make);
    search::bad_input_changes_nothing(&make);
    search::replacement_and_removal(&make);
    search::ties_come_by_id(&make);
    search::filters_are_exact(&make);
    search::random_history(&make);
    files::round_trip(&make);
    files::failed_saves(&make);
    files::foreign_files(&make);
    files::damaged_files(&make);
}

/// Checks an [`Embedder`] against its contract: shape, norm, order, determinism, independence of the batch, and
/// unusual texts (empty, very long, control characters, many scripts).
pub fn embedder(embedder: &dyn Embedder) {
    embedding::shape(embedder);
    embedding::unusual_texts(embedder);
    embedding::order_and_independence(embedder);
    embedding::long_texts_are_cut(embedder);
}
