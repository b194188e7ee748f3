//! [`FaissIndex`]: the indexes of faiss, for memories that a scan is too slow or too large for. Feature `faiss`.
//!
//! faiss holds rows and finds rows; everything else is done here, the same for every kind: ids, replacement,
//! removal, filters, order and ties, training when there are vectors to train from, and files that are verified
//! before faiss sees them.

mod build;
mod config;
mod cpu;
mod disk;
mod factory;
mod ffi;
mod rows;
mod search;

use std::{collections::BTreeSet, path::Path};

use crate::{
    check::{check_batch, check_queries, check_query},
    error::IndexError,
    exact::ExactIndex,
    file::Label,
    vector::{Filter, Hit, VectorId, VectorIndex},
};

pub use config::FaissConfig;
pub use factory::{Codes, Factory};

use ffi::Native;
use rows::Rows;

/// Vectors in an index of faiss.
///
/// - **Exactness.** `Flat` is exact; `HNSW` and `IVF` may miss neighbours, `SQ8` and `PQ` round scores as well. Every
///   kind keeps the rest of the contract: what is found passes the filter, is in order, and is `k` or all there is.
/// - **Training.** Kinds that learn from the data scan an [`ExactIndex`] until there are enough vectors, then train and
///   move over. `IVF` without a number trains anew whenever there are four times as many.
/// - **Removal** hides a vector; when a fifth of the rows is hidden, the index is built anew from the others, for which
///   there must be room for a second one, and in the case of a graph the time. Kinds that round do so from what they
///   kept, so codes in lists lose a little each time.
/// - **Filters** that leave few vectors are answered by a scan over these, others by a search that skips the rest.
/// - **Threads.** Any number may search while none adds: put a lock around it.
///
/// # Examples
/// ```
/// use fta_index::{VectorIndex, faiss::{FaissConfig, FaissIndex}};
///
/// let mut index = FaissIndex::new(2, FaissConfig::new("HNSW32".parse()?))?;
/// index.add(&[7, 9], &[1.0, 0.0, 0.6, 0.8])?;
/// assert_eq!(index.search(&[0.0, 1.0], 1, None)?[0].id, 9);
/// # Ok::<(), fta_index::IndexError>(())
/// ```
#[derive(Debug)]
pub struct FaissIndex {
    dim: usize,
    config: FaissConfig,
    state: State,
}

#[derive(Debug)]
enum State {
    /// Too few vectors to train from.
    Collecting(Collecting),
    /// In faiss.
    Ready(Ready),
}

#[derive(Debug)]
struct Collecting {
    exact: ExactIndex,
    ids: BTreeSet<VectorId>,
    /// Vectors to train at.
    train_at: usize,
}

#[derive(Debug)]
struct Ready {
    native: Native,
    rows: Rows,
    /// The kind inside faiss: with the number of lists that it has.
    factory: Factory,
    /// Vectors at which the lists are to be trained anew.
    retrain_at: Option<usize>,
}

impl FaissIndex {
    /// Makes an empty index for vectors of `dim` values.
    ///
    /// # Errors
    /// [`IndexError::Shape`] if `dim` is 0 or beyond what faiss can hold; [`IndexError::Spec`] if the kind does not
    /// fit the dimension; [`IndexError::Setting`] for another value out of range; [`IndexError::Processor`] if this
    /// machine cannot run the faiss that was built.
    pub fn new(dim: usize, config: FaissConfig) -> Result<Self, IndexError> {
        cpu::check()?;
        config.check(dim)?;
        let state = State::empty(dim, &config)?;
        Ok(Self { dim, config, state })
    }

    /// The settings it was made with.
    pub fn config(&self) -> &FaissConfig {
        &self.config
    }

    /// Changes how many threads a call takes.
    ///
    /// # Errors
    /// [`IndexError::Setting`] if it is 0 or above 1,024.
    pub fn set_threads(&mut self, threads: usize) -> Result<(), IndexError> {
        let config = FaissConfig { threads, ..self.config.clone() };
        config.check(self.dim)?;
        self.config = config;
        if let State::Ready(ready) = &mut self.state {
            ready.native.set_threads(threads);
        }
        Ok(())
    }

    /// The kind that searches now: `None` while there are too few vectors to train from, else the kind with the number
    /// of lists that it has.
    pub fn trained(&self) -> Option<Factory> {
        match &self.state {
            State::Collecting(_) => None,
            State::Ready(ready) => Some(ready.factory),
        }
    }
}

impl State {
    fn empty(dim: usize, config: &FaissConfig) -> Result<Self, IndexError> {
        if config.factory.needs_training() {
            let exact = ExactIndex::new(dim)?;
            return Ok(Self::Collecting(Collecting {
                exact,
                ids: BTreeSet::new(),
                train_at: config.train_at(),
            }));
        }
        let factory = config.factory;
        let mut native = Native::new(dim, factory, config.threads)?;
        config.apply(&mut native)?;
        Ok(Self::Ready(Ready { native, rows: Rows::default(), factory, retrain_at: None }))
    }
}

impl VectorIndex for FaissIndex {
    fn dim(&self) -> usize {
        self.dim
    }

    fn len(&self) -> usize {
        match &self.state {
            State::Collecting(collecting) => collecting.exact.len(),
            State::Ready(ready) => ready.rows.live(),
        }
    }

    fn contains(&self, id: VectorId) -> bool {
        match &self.state {
            State::Collecting(collecting) => collecting.exact.contains(id),
            State::Ready(ready) => ready.rows.row(id).is_some(),
        }
    }

    fn add(&mut self, ids: &[VectorId], vectors: &[f32]) -> Result<(), IndexError> {
        check_batch(self.dim, ids, vectors)?;
        match &mut self.state {
            State::Collecting(collecting) => {
                collecting.exact.add(ids, vectors)?;
                collecting.ids.extend(ids);
            }
            State::Ready(ready) => ready.add(ids, vectors)?,
        }
        self.maintain();
        Ok(())
    }

    fn remove(&mut self, ids: &[VectorId]) -> Result<usize, IndexError> {
        let n_removed = match &mut self.state {
            State::Collecting(collecting) => {
                for id in ids {
                    collecting.ids.remove(id);
                }
                collecting.exact.remove(ids)?
            }
            State::Ready(ready) => ids.iter().filter(|&&id| ready.rows.remove(id)).count(),
        };
        self.maintain();
        Ok(n_removed)
    }

    fn search(&self, query: &[f32], k: usize, filter: Option<Filter<'_>>) -> Result<Vec<Hit>, IndexError> {
        check_query(self.dim, query)?;
        match &self.state {
            State::Collecting(collecting) => collecting.exact.search(query, k, filter),
            State::Ready(_) if k == 0 => Ok(Vec::new()),
            State::Ready(ready) => {
                let mask = filter.map(|allowed| ready.rows.mask(allowed));
                ready.search(&self.config, query, k, mask.as_ref())
            }
        }
    }

    fn search_batch(&self, queries: &[f32], k: usize) -> Result<Vec<Vec<Hit>>, IndexError> {
        check_queries(self.dim, queries)?;
        match &self.state {
            State::Collecting(collecting) => collecting.exact.search_batch(queries, k),
            State::Ready(ready) => ready.search_batch(&self.config, queries, k),
        }
    }

    fn search_among(&self, query: &[f32], k: usize, ids: &[VectorId]) -> Result<Vec<Hit>, IndexError> {
        check_query(self.dim, query)?;
        match &self.state {
            State::Collecting(collecting) => collecting.exact.search_among(query, k, ids),
            State::Ready(ready) => ready.search(&self.config, query, k, Some(&ready.rows.mask_of(ids))),
        }
    }

    fn save(&self, path: &Path, label: &Label) -> Result<(), IndexError> {
        disk::save(self, path, label)
    }

    fn load(&mut self, path: &Path) -> Result<Label, IndexError> {
        let (state, label) = disk::load(self.dim, &self.config, path)?;
        self.state = state;
        Ok(label)
    }
}
