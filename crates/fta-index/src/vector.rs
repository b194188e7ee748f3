//! The [`VectorIndex`] port: nearest unit vectors by inner product. Back ends live in modules of their own.

use std::path::Path;

use crate::{error::IndexError, file::Label};

/// Id of a vector; below `2^63`, so that every back end can hold it.
pub type VectorId = u64;

/// One search result.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The vector's id.
    pub id: VectorId,
    /// Inner product with the query: the cosine, since vectors have norm 1.
    pub score: f32,
}

/// Which ids a search may return.
pub type Filter<'a> = &'a (dyn Fn(VectorId) -> bool + Sync);

/// Searches unit vectors by inner product.
///
/// # Contract
/// - Hits come by falling score; equal scores by rising id, so that back ends agree.
/// - `k` above the number of allowed vectors gives fewer hits, an empty index gives none, `k = 0` gives none.
/// - A filter is exact: every hit passes it, and an exact back end finds all that pass.
/// - `add` replaces a vector whose id is already there. All inputs are checked before anything is changed.
/// - `save` then `load` gives the same hits. A damaged or foreign file is a typed error.
pub trait VectorIndex: Send + Sync {
    /// Values per vector.
    fn dim(&self) -> usize;

    /// Number of vectors.
    fn len(&self) -> usize;

    /// Whether there are no vectors.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether a vector with this id is there.
    fn contains(&self, id: VectorId) -> bool;

    /// Adds or replaces vectors: `vectors` is `[ids.len(), dim]`, row-major, finite, of norm 1 (within 1e-3).
    ///
    /// # Errors
    /// [`IndexError`] for a wrong shape, a non-finite or unnormalised vector, an id of `2^63` or more, or an id
    /// that occurs twice in the batch; the index is unchanged then.
    fn add(&mut self, ids: &[VectorId], vectors: &[f32]) -> Result<(), IndexError>;

    /// Removes vectors and returns how many were there; unknown ids are skipped.
    ///
    /// # Errors
    /// [`IndexError`] if the back end fails.
    fn remove(&mut self, ids: &[VectorId]) -> Result<usize, IndexError>;

    /// The `k` nearest vectors to `query` (`[dim]`, finite) among those that pass `filter`.
    ///
    /// # Errors
    /// [`IndexError`] for a query of wrong length or with a non-finite value.
    fn search(&self, query: &[f32], k: usize, filter: Option<Filter<'_>>) -> Result<Vec<Hit>, IndexError>;

    /// Searches several queries, `[n, dim]` row-major; one result list each, in order.
    ///
    /// # Errors
    /// As [`VectorIndex::search`]; [`IndexError::Shape`] if `queries` is no whole number of rows.
    fn search_batch(&self, queries: &[f32], k: usize) -> Result<Vec<Vec<Hit>>, IndexError> {
        if self.dim() == 0 || !queries.len().is_multiple_of(self.dim()) {
            return Err(IndexError::Shape { dim: self.dim(), values: queries.len() });
        }
        queries.chunks_exact(self.dim()).map(|q| self.search(q, k, None)).collect()
    }

    /// As [`VectorIndex::search`], but only among the vectors with these ids; unknown ids are skipped. What to call
    /// when the ids are known and few: an index that can look them up does not walk over the others.
    ///
    /// # Errors
    /// As [`VectorIndex::search`].
    fn search_among(&self, query: &[f32], k: usize, ids: &[VectorId]) -> Result<Vec<Hit>, IndexError> {
        let mut sorted = ids.to_vec();
        sorted.sort_unstable();
        self.search(query, k, Some(&|id| sorted.binary_search(&id).is_ok()))
    }

    /// Writes the index to `path`, atomically: a reader sees the old file or the new one. `label` says what the
    /// vectors are.
    ///
    /// # Errors
    /// [`IndexError::Io`] if the file cannot be written.
    fn save(&self, path: &Path, label: &Label) -> Result<(), IndexError>;

    /// Replaces the content by that of a file written by [`VectorIndex::save`] of the same back end, setting and
    /// dimension, after everything in it was checked; returns the label it was saved with.
    ///
    /// # Errors
    /// [`IndexError`] for a missing, damaged or foreign file; the index is unchanged then.
    fn load(&mut self, path: &Path) -> Result<Label, IndexError>;

    /// As [`VectorIndex::load`], but an index that can leaves the vectors in the file and reads and checks each when
    /// it is first needed. The file must not be written to while the index lives; replacing it by another is fine.
    ///
    /// # Errors
    /// As [`VectorIndex::load`]. Damage that is found later makes a search fail with [`IndexError::File`]; no vector
    /// is used that was not checked.
    fn open(&mut self, path: &Path) -> Result<Label, IndexError> {
        self.load(path)
    }
}
