//! [`ExactIndex`]: an exact scan over contiguous rows. Pure Rust, no training, no thread pool.
//!
//! Up to some hundred thousand vectors this is as fast as an index that only comes near, and it is the oracle that
//! approximate back ends are tested against.

mod blocks;
mod codes;
mod file;
mod kernels;
mod select;

use std::{collections::HashMap, ops::Range, path::Path};

use crate::{
    check::{check_batch, check_queries, check_query},
    error::IndexError,
    file::Label,
    vector::{Filter, Hit, VectorId, VectorIndex},
};

use blocks::{BLOCK_ROWS, Blocks};
use codes::{CodedQueries, CodedQuery, Codes};
use kernels::F32Kernel;
use select::{Nearest, Sieve};

/// With fewer rows a search is over before a second thread has started.
const ROWS_WORTH_A_THREAD: usize = 1 << 15;

/// What a scan reads. Either way results are those of an exact search in `f32`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Precision {
    /// The vectors, 4 bytes a value.
    #[default]
    F32,
    /// Codes of 1 byte a value, then the vectors of all rows that the codes' known error cannot rule out. A quarter
    /// of the memory traffic, for a quarter more memory.
    Int8,
}

/// Settings of an [`ExactIndex`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExactConfig {
    /// What a scan reads.
    pub precision: Precision,
    /// Most threads of a search; more than one only helps from some ten thousand rows on.
    pub threads: usize,
}

impl Default for ExactConfig {
    /// `f32` on the calling thread.
    fn default() -> Self {
        Self { precision: Precision::F32, threads: 1 }
    }
}

/// Exact nearest-neighbour search by a scan over all vectors.
///
/// Search costs `O(len * dim)`, add and remove `O(dim)` per vector. The same operations give the same hits bit
/// for bit on one machine, whatever the precision, the number of threads, or whether queries come one by one or in a
/// batch; scores may differ in the last bits between machines whose vector units differ.
///
/// Memory: `4 * dim` bytes a vector and about 30 for its id, and `dim + 4` more with [`Precision::Int8`]. After
/// [`VectorIndex::open`] only ids are in memory; the rest is the operating system's to keep or to drop.
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
    config: ExactConfig,
    /// Id of each row.
    ids: Vec<VectorId>,
    /// Blocks of [`BLOCK_ROWS`] rows, `[rows, dim]`; only the last may have fewer.
    rows: Blocks<f32>,
    /// The same rows, for [`Precision::Int8`].
    codes: Option<Codes>,
    /// Row of each id: the inverse of `ids`.
    row_of: HashMap<VectorId, usize>,
    kernel: F32Kernel,
}

impl ExactIndex {
    /// Makes an empty index for vectors of `dim` values with the default settings.
    ///
    /// # Errors
    /// [`IndexError::Shape`] if `dim` is 0.
    pub fn new(dim: usize) -> Result<Self, IndexError> {
        Self::with_config(dim, ExactConfig::default())
    }

    /// Makes an empty index for vectors of `dim` values.
    ///
    /// # Errors
    /// [`IndexError::Shape`] if `dim` is 0, or above 65,536 with [`Precision::Int8`].
    pub fn with_config(dim: usize, config: ExactConfig) -> Result<Self, IndexError> {
        if dim == 0 || (config.precision == Precision::Int8 && dim > codes::MAX_DIM) {
            return Err(IndexError::Shape { dim, values: 0 });
        }
        Ok(Self {
            dim,
            config,
            ids: Vec::new(),
            rows: Blocks::default(),
            codes: (config.precision == Precision::Int8).then(|| Codes::new(dim)),
            row_of: HashMap::new(),
            kernel: F32Kernel::detect(),
        })
    }

    /// The vector with this id, `[dim]`, or `None` if there is none.
    ///
    /// # Errors
    /// [`IndexError::File`] if it lies in an opened file that turns out to be damaged.
    pub fn vector(&self, id: VectorId) -> Result<Option<&[f32]>, IndexError> {
        self.row_of.get(&id).map(|&row| self.row(row)).transpose()
    }

    fn row(&self, row: usize) -> Result<&[f32], IndexError> {
        let at = row % BLOCK_ROWS * self.dim;
        Ok(&self.rows.get(row / BLOCK_ROWS)?[at..at + self.dim])
    }

    fn set_row(&mut self, row: usize, vector: &[f32]) -> Result<(), IndexError> {
        let at = row % BLOCK_ROWS * self.dim;
        self.rows.get_mut(row / BLOCK_ROWS)?[at..at + self.dim].copy_from_slice(vector);
        if let Some(codes) = &mut self.codes {
            codes.set(row, vector)?;
        }
        Ok(())
    }

    fn push_row(&mut self, vector: &[f32]) -> Result<(), IndexError> {
        let row = self.ids.len();
        if row / BLOCK_ROWS == self.rows.len() {
            self.rows.push(Vec::with_capacity(self.dim));
        }
        self.rows.get_mut(row / BLOCK_ROWS)?.extend_from_slice(vector);
        if let Some(codes) = &mut self.codes {
            codes.set(row, vector)?;
        }
        Ok(())
    }

    /// Takes the last row off.
    fn pop_row(&mut self) -> Result<(), IndexError> {
        let last = self.ids.len() - 1;
        if last.is_multiple_of(BLOCK_ROWS) {
            self.rows.pop();
        } else {
            self.rows.get_mut(last / BLOCK_ROWS)?.truncate(last % BLOCK_ROWS * self.dim);
        }
        if let Some(codes) = &mut self.codes {
            codes.truncate(last);
        }
        self.ids.pop();
        Ok(())
    }

    /// Ids of a block, and its first row.
    fn block_ids(&self, number: usize) -> (usize, &[VectorId]) {
        let first = number * BLOCK_ROWS;
        (first, &self.ids[first..(first + BLOCK_ROWS).min(self.ids.len())])
    }

    /// Runs a scan over all blocks, a part on each thread, and gives the parts in order.
    fn in_parts<T: Send>(
        &self,
        scan: impl Fn(Range<usize>) -> Result<T, IndexError> + Sync,
    ) -> Result<Vec<T>, IndexError> {
        let n_blocks = self.rows.len();
        let n_threads = self.config.threads.min(self.ids.len() / ROWS_WORTH_A_THREAD).max(1);
        if n_threads == 1 {
            return Ok(vec![scan(0..n_blocks)?]);
        }
        let part = n_blocks.div_ceil(n_threads);
        let parts: Vec<Range<usize>> = (0..n_threads)
            .map(|i| i * part..((i + 1) * part).min(n_blocks))
            .filter(|p| !p.is_empty())
            .collect();
        std::thread::scope(|scope| {
            let scan = &scan;
            let others: Vec<_> =
                parts[1..].iter().map(|part| scope.spawn(move || scan(part.clone()))).collect();
            let first = scan(parts[0].clone());
            let others = others.into_iter().map(|thread| thread.join().expect("a scan does not panic"));
            std::iter::once(first).chain(others).collect()
        })
    }

    fn scan(&self, query: &[f32], k: usize, filter: Option<Filter<'_>>) -> Result<Nearest, IndexError> {
        let parts = self.in_parts(|blocks| {
            let mut nearest = Nearest::new(k);
            let mut scores = [0.0; BLOCK_ROWS];
            for number in blocks {
                let rows = self.rows.get(number)?;
                let (_, ids) = self.block_ids(number);
                match filter {
                    // Few may pass, and then most scores would be for nothing.
                    Some(allowed) if !nearest.is_full() => {
                        for (id, row) in ids.iter().zip(rows.chunks_exact(self.dim)) {
                            if allowed(*id) {
                                self.kernel.score(row, query, &mut scores[..1]);
                                nearest.offer(&[*id], &scores[..1], None);
                            }
                        }
                    }
                    _ => {
                        self.kernel.score(rows, query, &mut scores[..ids.len()]);
                        nearest.offer(ids, &scores[..ids.len()], filter);
                    }
                }
            }
            Ok(nearest)
        })?;
        Ok(parts
            .into_iter()
            .reduce(|mut all, part| {
                all.absorb(part);
                all
            })
            .unwrap_or_else(|| Nearest::new(k)))
    }

    /// Finds candidates by their codes, then scores them.
    fn scan_codes(
        &self,
        (codes, coded): (&Codes, &CodedQuery),
        query: &[f32],
        k: usize,
        filter: Option<Filter<'_>>,
    ) -> Result<Nearest, IndexError> {
        let error = coded.error(codes.row_error()?);
        let parts = self.in_parts(|blocks| {
            let mut sieve = Sieve::new(k, error);
            let mut scores = [0.0; BLOCK_ROWS];
            for number in blocks {
                let (first, ids) = self.block_ids(number);
                codes.score(number, coded, &mut scores[..ids.len()])?;
                sieve.offer(first, &scores[..ids.len()], |row| {
                    filter.is_none_or(|allowed| allowed(self.ids[row]))
                });
            }
            Ok(sieve)
        })?;
        self.settle(parts, query, k)
    }

    /// Scores what sieves have kept.
    fn settle(&self, parts: Vec<Sieve>, query: &[f32], k: usize) -> Result<Nearest, IndexError> {
        let mut nearest = Nearest::new(k);
        let kept = parts.into_iter().reduce(|mut all, part| {
            all.absorb(part);
            all
        });
        for row in kept.into_iter().flat_map(Sieve::into_rows) {
            self.offer_row(row, query, &mut nearest)?;
        }
        Ok(nearest)
    }

    fn offer_row(&self, row: usize, query: &[f32], nearest: &mut Nearest) -> Result<(), IndexError> {
        let mut score = [0.0];
        self.kernel.score(self.row(row)?, query, &mut score);
        nearest.offer(&[self.ids[row]], &score, None);
        Ok(())
    }

    /// Looks for `k` of each query in one walk over all rows, then scores what can be among the best as a single
    /// search does.
    fn scan_batch(&self, queries: &[f32], k: usize) -> Result<Vec<Nearest>, IndexError> {
        let each: Vec<&[f32]> = queries.chunks_exact(self.dim).collect();
        let coded = match &self.codes {
            Some(codes) => each
                .iter()
                .map(|query| codes.encode_query(query))
                .collect::<Option<Vec<_>>>()
                .map(|each| (codes, each)),
            None => None,
        };
        let coded = coded.map(|(codes, each)| (codes, CodedQueries::new(each)));
        let errors: Vec<f32> = match &coded {
            Some((codes, queries)) => {
                let row_error = codes.row_error()?;
                queries.each().iter().map(|query| query.error(row_error)).collect()
            }
            None => each.iter().map(|query| self.rounding(query)).collect(),
        };
        let parts = self.in_parts(|blocks| {
            let mut sieves: Vec<Sieve> = errors.iter().map(|&error| Sieve::new(k, error)).collect();
            let mut scores = vec![0.0; each.len() * BLOCK_ROWS];
            for number in blocks {
                let (first, ids) = self.block_ids(number);
                let scores = &mut scores[..each.len() * ids.len()];
                match &coded {
                    Some((codes, queries)) => codes.score_batch(number, queries, (scores, ids.len()))?,
                    None => self.kernel.score_batch((self.rows.get(number)?, self.dim), queries, scores),
                }
                for (sieve, scores) in sieves.iter_mut().zip(scores.chunks_exact(ids.len())) {
                    sieve.offer(first, scores, |_| true);
                }
            }
            Ok(sieves)
        })?;
        let mut parts: Vec<_> = parts.into_iter().map(Vec::into_iter).collect();
        each.iter()
            .map(|query| {
                let sieves = parts.iter_mut().filter_map(Iterator::next).collect();
                self.settle(sieves, query, k)
            })
            .collect()
    }

    /// How far two orders of summing a score may be apart.
    fn rounding(&self, query: &[f32]) -> f32 {
        let norm = query.iter().map(|x| x * x).sum::<f32>().sqrt();
        self.dim as f32 * f32::EPSILON * norm
    }

    fn take(&mut self, content: file::Content) -> Label {
        self.row_of = content.ids.iter().enumerate().map(|(row, &id)| (id, row)).collect();
        self.ids = content.ids;
        self.rows = content.rows;
        self.codes = content.codes;
        content.label
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
                self.set_row(row, vector)?;
            } else {
                self.push_row(vector)?;
                self.row_of.insert(id, self.ids.len());
                self.ids.push(id);
            }
        }
        Ok(())
    }

    fn remove(&mut self, ids: &[VectorId]) -> Result<usize, IndexError> {
        let before = self.ids.len();
        for id in ids {
            let Some(&row) = self.row_of.get(id) else { continue };
            // The last row moves into the gap.
            let last = self.ids.len() - 1;
            if row < last {
                let vector = self.row(last)?.to_vec();
                self.set_row(row, &vector)?;
                self.ids[row] = self.ids[last];
                self.row_of.insert(self.ids[row], row);
            }
            self.row_of.remove(id);
            self.pop_row()?;
        }
        Ok(before - self.ids.len())
    }

    fn search(&self, query: &[f32], k: usize, filter: Option<Filter<'_>>) -> Result<Vec<Hit>, IndexError> {
        check_query(self.dim, query)?;
        let k = k.min(self.len());
        if k == 0 {
            return Ok(Vec::new());
        }
        // Where a good part of the rows is wanted, looking at codes first saves nothing.
        let codes = self.codes.as_ref().filter(|_| k <= self.len() / 8);
        let coded = codes.and_then(|codes| Some((codes, codes.encode_query(query)?)));
        let nearest = match &coded {
            Some((codes, coded)) => self.scan_codes((codes, coded), query, k, filter)?,
            None => self.scan(query, k, filter)?,
        };
        Ok(nearest.into_hits())
    }

    fn search_batch(&self, queries: &[f32], k: usize) -> Result<Vec<Vec<Hit>>, IndexError> {
        check_queries(self.dim, queries)?;
        let k = k.min(self.len());
        let tame = queries.chunks_exact(self.dim).all(|query| self.rounding(query).is_finite());
        if k == 0 || !tame || k > self.len() / 8 || queries.len() == self.dim {
            return queries.chunks_exact(self.dim).map(|query| self.search(query, k, None)).collect();
        }
        Ok(self.scan_batch(queries, k)?.into_iter().map(Nearest::into_hits).collect())
    }

    fn search_among(&self, query: &[f32], k: usize, ids: &[VectorId]) -> Result<Vec<Hit>, IndexError> {
        check_query(self.dim, query)?;
        let mut rows: Vec<usize> = ids.iter().filter_map(|id| self.row_of.get(id).copied()).collect();
        // In the order of memory, and each once.
        rows.sort_unstable();
        rows.dedup();
        let mut nearest = Nearest::new(k.min(rows.len()));
        for row in rows {
            self.offer_row(row, query, &mut nearest)?;
        }
        Ok(nearest.into_hits())
    }

    fn save(&self, path: &Path, label: &Label) -> Result<(), IndexError> {
        file::save(self, path, label)
    }

    fn load(&mut self, path: &Path) -> Result<Label, IndexError> {
        let content = file::read(path, self.dim, self.config.precision, false)?;
        Ok(self.take(content))
    }

    fn open(&mut self, path: &Path) -> Result<Label, IndexError> {
        let content = file::read(path, self.dim, self.config.precision, true)?;
        Ok(self.take(content))
    }
}
