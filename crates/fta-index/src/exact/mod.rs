//! [`ExactIndex`]: an exact scan over contiguous `f32` rows. Pure Rust, no training, no thread pool.
//!
//! Up to some hundred thousand vectors this is as fast as a single-threaded flat index of the large libraries,
//! and it is the oracle that approximate back ends are tested against.

mod file;
mod kernels;
mod select;

use std::collections::HashMap;
use std::path::Path;

use crate::check::{check_batch, check_queries, check_query};
use crate::error::IndexError;
use crate::vector::{Filter, Hit, VectorId, VectorIndex};

use kernels::Kernel;
use select::Nearest;

/// Rows that are scored at a time: their scores stay in the first-level cache, and several queries of a batch
/// find the rows themselves in the second.
const BLOCK_ROWS: usize = 256;

/// Exact nearest-neighbour search by a scan over all vectors.
///
/// Search costs `O(len * dim)`, add and remove `O(dim)` per vector. The same operations give the same hits bit
/// for bit on one machine; scores may differ in the last bits between machines whose vector units differ.
///
/// # Examples
/// ```
/// use fta_index::{ExactIndex, VectorIndex};
///
/// let mut index = ExactIndex::new(2)?;
/// index.add(&[7, 9], &[1.0, 0.0, 0.6, 0.8])?;
/// let hits = index.search(&[0.0, 1.0], 1, None)?;
/// assert_eq!(hits[0].id, 9);
/// # Ok::<(), fta_index::IndexError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ExactIndex {
    dim: usize,
    /// Id of each row.
    ids: Vec<VectorId>,
    /// `[ids.len(), dim]`, row-major.
    rows: Vec<f32>,
    /// Row of each id: the inverse of `ids`.
    row_of: HashMap<VectorId, usize>,
    kernel: Kernel,
}

impl ExactIndex {
    /// Makes an empty index for vectors of `dim` values.
    ///
    /// # Errors
    /// [`IndexError::Shape`] if `dim` is 0.
    pub fn new(dim: usize) -> Result<Self, IndexError> {
        if dim == 0 {
            return Err(IndexError::Shape { dim, values: 0 });
        }
        Ok(Self { dim, ids: Vec::new(), rows: Vec::new(), row_of: HashMap::new(), kernel: Kernel::detect() })
    }

    /// The vector with this id, `[dim]`, or `None` if there is none.
    pub fn vector(&self, id: VectorId) -> Option<&[f32]> {
        self.row_of.get(&id).map(|&row| self.row(row))
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.rows[row * self.dim..(row + 1) * self.dim]
    }

    /// Ids and values of each block of rows.
    fn blocks(&self) -> impl Iterator<Item = (&[VectorId], &[f32])> {
        self.ids.chunks(BLOCK_ROWS).zip(self.rows.chunks(BLOCK_ROWS * self.dim))
    }

    fn scan(&self, query: &[f32], nearest: &mut Nearest) {
        let mut scores = [0.0; BLOCK_ROWS];
        for (ids, rows) in self.blocks() {
            let scores = &mut scores[..ids.len()];
            self.kernel.score(rows, query, scores);
            nearest.offer(ids, scores);
        }
    }

    /// As [`Self::scan`], but computes no score of a row that the filter refuses.
    fn scan_allowed(&self, query: &[f32], allowed: Filter<'_>, nearest: &mut Nearest) {
        let mut score = [0.0];
        for (&id, row) in self.ids.iter().zip(self.rows.chunks_exact(self.dim)) {
            if allowed(id) {
                self.kernel.score(row, query, &mut score);
                nearest.offer(&[id], &score);
            }
        }
    }
}

impl VectorIndex for ExactIndex {
    fn dim(&self) -> usize {
        self.dim
    }

    fn len(&self) -> usize {
        self.ids.len()
    }

    fn contains(&self, id: VectorId) -> bool {
        self.row_of.contains_key(&id)
    }

    fn add(&mut self, ids: &[VectorId], vectors: &[f32]) -> Result<(), IndexError> {
        check_batch(self.dim, ids, vectors)?;
        for (&id, vector) in ids.iter().zip(vectors.chunks_exact(self.dim)) {
            if let Some(&row) = self.row_of.get(&id) {
                self.rows[row * self.dim..(row + 1) * self.dim].copy_from_slice(vector);
            } else {
                self.row_of.insert(id, self.ids.len());
                self.ids.push(id);
                self.rows.extend_from_slice(vector);
            }
        }
        Ok(())
    }

    fn remove(&mut self, ids: &[VectorId]) -> Result<usize, IndexError> {
        let before = self.ids.len();
        for id in ids {
            let Some(row) = self.row_of.remove(id) else { continue };
            // The last row moves into the gap.
            let last = self.ids.len() - 1;
            self.ids.swap_remove(row);
            self.rows.copy_within(last * self.dim.., row * self.dim);
            self.rows.truncate(last * self.dim);
            if row < last {
                self.row_of.insert(self.ids[row], row);
            }
        }
        Ok(before - self.ids.len())
    }

    fn search(&self, query: &[f32], k: usize, filter: Option<Filter<'_>>) -> Result<Vec<Hit>, IndexError> {
        check_query(self.dim, query)?;
        let mut nearest = Nearest::new(k.min(self.len()));
        match filter {
            _ if k == 0 => {}
            Some(allowed) => self.scan_allowed(query, allowed, &mut nearest),
            None => self.scan(query, &mut nearest),
        }
        Ok(nearest.into_hits())
    }

    fn search_batch(&self, queries: &[f32], k: usize) -> Result<Vec<Vec<Hit>>, IndexError> {
        check_queries(self.dim, queries)?;
        let k = k.min(self.len());
        let mut nearest: Vec<_> = queries.chunks_exact(self.dim).map(|_| Nearest::new(k)).collect();
        if k > 0 {
            let mut scores = [0.0; BLOCK_ROWS];
            for (ids, rows) in self.blocks() {
                let scores = &mut scores[..ids.len()];
                for (query, nearest) in queries.chunks_exact(self.dim).zip(&mut nearest) {
                    self.kernel.score(rows, query, scores);
                    nearest.offer(ids, scores);
                }
            }
        }
        Ok(nearest.into_iter().map(Nearest::into_hits).collect())
    }

    fn save(&self, path: &Path) -> Result<(), IndexError> {
        // In rising id order, so that the bytes depend on the content alone and not on its history.
        let mut order: Vec<usize> = (0..self.ids.len()).collect();
        order.sort_unstable_by_key(|&row| self.ids[row]);
        file::write(path, self.dim, order.iter().map(|&row| (self.ids[row], self.row(row))))
    }

    fn load(&mut self, path: &Path) -> Result<(), IndexError> {
        let (ids, rows) = file::read(path, self.dim)?;
        self.row_of = ids.iter().enumerate().map(|(row, &id)| (id, row)).collect();
        self.ids = ids;
        self.rows = rows;
        Ok(())
    }
}
