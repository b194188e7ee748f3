//! Filling an index of faiss: adding, training, and building anew.

use super::{
    Collecting, FaissConfig, FaissIndex, Ready, State, factory::TRAINING_PER_LIST, ffi::Native, rows::GONE,
    rows::Rows,
};
use crate::{
    error::IndexError,
    vector::{VectorId, VectorIndex as _},
};

/// Rows that are copied at a time.
const CHUNK: usize = 1 << 16;
/// Rows that may be gone before they are cleared away, whatever the size of the index.
const FEW_DEAD: usize = 64;
/// Lists are trained anew when there are so many times the vectors they were trained from.
const GROWTH: usize = 4;
/// Training more than so many times what is the least per centroid takes long and gains little.
const TRAINING_ENOUGH: usize = 3;

impl FaissConfig {
    /// Sets what faiss keeps as state of an index.
    pub(super) fn apply(&self, native: &mut Native) -> Result<(), IndexError> {
        if let super::Factory::Hnsw { .. } = self.factory {
            native.set("efConstruction", self.ef_construction)?;
            native.set("efSearch", self.ef_search)?;
        }
        Ok(())
    }

    /// Vectors at which an index that was trained from `n` is trained anew.
    pub(super) fn retrain_at(&self, n: usize) -> Option<usize> {
        let grows = matches!(self.factory, super::Factory::Ivf { lists: None, .. });
        grows.then(|| n.saturating_mul(GROWTH))
    }
}

impl Collecting {
    /// The vector of an id that is there.
    pub(super) fn vector(&self, id: VectorId) -> Result<&[f32], IndexError> {
        Ok(self.exact.vector(id)?.expect("both tables hold the same ids"))
    }
}

impl Ready {
    pub(super) fn add(&mut self, ids: &[VectorId], vectors: &[f32]) -> Result<(), IndexError> {
        // Rows that a failed call left behind are nobody's.
        self.rows.pad(self.native.len());
        self.native.add(vectors)?;
        for &id in ids {
            self.rows.push(id);
        }
        Ok(())
    }
}

impl FaissIndex {
    /// Trains, clears away what is gone, or trains anew, if it is time to.
    ///
    /// All this only makes the index better. If it fails the index is as it was and still right, so the vectors that
    /// were added are not refused for it; it is tried again when there is more to gain.
    pub(super) fn maintain(&mut self) {
        match &mut self.state {
            State::Collecting(collecting) if collecting.exact.len() >= collecting.train_at => {
                match train(self.dim, &self.config, collecting) {
                    Ok(ready) => self.state = State::Ready(ready),
                    Err(_) => collecting.train_at = collecting.train_at.saturating_mul(2),
                }
            }
            State::Ready(ready) if ready.retrain_at.is_some_and(|n| ready.rows.live() >= n) => {
                match retrain(self.dim, &self.config, ready) {
                    Ok(better) => *ready = better,
                    Err(_) => ready.retrain_at = self.config.retrain_at(ready.rows.live()),
                }
            }
            State::Ready(ready) => {
                let dead = ready.rows.dead();
                if dead > FEW_DEAD
                    && dead > ready.rows.len() / 5
                    && let Ok(smaller) = compact(self.dim, &self.config, ready)
                {
                    *ready = smaller;
                }
            }
            State::Collecting(_) => {}
        }
    }
}

fn train(dim: usize, config: &FaissConfig, collecting: &Collecting) -> Result<Ready, IndexError> {
    let ids: Vec<VectorId> = collecting.ids.iter().copied().collect();
    let rows = |first: usize, n: usize, out: &mut Vec<f32>| {
        for &id in &ids[first..first + n] {
            out.extend_from_slice(collecting.vector(id)?);
        }
        Ok(())
    };
    fill_trained(dim, config, &ids, &rows)
}

fn retrain(dim: usize, config: &FaissConfig, ready: &Ready) -> Result<Ready, IndexError> {
    fill_trained(dim, config, ready.rows.ids(), &ready.reader(dim))
}

/// The same without the rows that are gone. faiss can remove from some kinds, but not from a graph, and from lists
/// only such that rows keep their numbers.
fn compact(dim: usize, config: &FaissConfig, ready: &Ready) -> Result<Ready, IndexError> {
    let mut native = if ready.factory.needs_training() {
        ready.native.emptied()?
    } else {
        Native::new(dim, ready.factory, config.threads)?
    };
    config.apply(&mut native)?;
    let rows = fill(dim, &mut native, ready.rows.ids(), &ready.reader(dim))?;
    Ok(Ready { native, rows, ..*ready })
}

impl Ready {
    fn reader(&self, dim: usize) -> impl Fn(usize, usize, &mut Vec<f32>) -> Result<(), IndexError> {
        move |first, n, out| {
            out.resize(n * dim, 0.0);
            self.native.read_rows(first, n, out)
        }
    }
}

/// Appends rows `first..first + n` to an empty vector.
type Reader<'a> = &'a dyn Fn(usize, usize, &mut Vec<f32>) -> Result<(), IndexError>;

fn fill_trained(
    dim: usize,
    config: &FaissConfig,
    ids: &[VectorId],
    read: Reader<'_>,
) -> Result<Ready, IndexError> {
    let live = ids.iter().filter(|id| **id != GONE).count();
    let factory = config.factory.for_count(live);
    let mut native = Native::new(dim, factory, config.threads)?;
    config.apply(&mut native)?;
    native.train(&sample(dim, factory, ids, read)?)?;
    let rows = fill(dim, &mut native, ids, read)?;
    Ok(Ready { native, rows, factory, retrain_at: config.retrain_at(live) })
}

/// Vectors to train from, spread over all.
fn sample(
    dim: usize,
    factory: super::Factory,
    ids: &[VectorId],
    read: Reader<'_>,
) -> Result<Vec<f32>, IndexError> {
    let enough = (factory.least_training() * TRAINING_PER_LIST * TRAINING_ENOUGH).max(CHUNK);
    let step = (ids.len() / enough).max(1);
    let mut sample = Vec::new();
    for_each_chunk(ids, read, |first, chunk_ids, vectors| {
        let rows = chunk_ids.iter().zip(vectors.chunks_exact(dim)).enumerate();
        for (_, (_, vector)) in rows.filter(|(at, (id, _))| **id != GONE && (first + at).is_multiple_of(step))
        {
            sample.extend_from_slice(vector);
        }
        Ok(())
    })?;
    Ok(sample)
}

/// Adds all rows that are not gone.
fn fill(dim: usize, native: &mut Native, ids: &[VectorId], read: Reader<'_>) -> Result<Rows, IndexError> {
    let mut rows = Rows::default();
    for_each_chunk(ids, read, |_, chunk_ids, vectors| {
        let mut live = Vec::with_capacity(vectors.len());
        for (&id, vector) in chunk_ids.iter().zip(vectors.chunks_exact(dim)).filter(|(id, _)| **id != GONE) {
            live.extend_from_slice(vector);
            rows.push(id);
        }
        native.add(&live)
    })?;
    Ok(rows)
}

fn for_each_chunk(
    ids: &[VectorId],
    read: Reader<'_>,
    mut each: impl FnMut(usize, &[VectorId], &[f32]) -> Result<(), IndexError>,
) -> Result<(), IndexError> {
    let mut vectors = Vec::new();
    for (number, chunk) in ids.chunks(CHUNK).enumerate() {
        vectors.clear();
        read(number * CHUNK, chunk.len(), &mut vectors)?;
        each(number * CHUNK, chunk, &vectors)?;
    }
    Ok(())
}
