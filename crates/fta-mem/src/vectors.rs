//! The vectors of one user: an index that follows the store, and its file, so that opening a large memory need not
//! read all vectors again.
//!
//! The file is a cache. It holds the vectors of all units below an id, its generation; what was added since is read
//! from the store. As soon as anything below that id changes or goes, the file is removed, before the store is
//! written, and made anew when the memory is next opened. So a file that is there is right, and what is deleted is
//! deleted there first.

use std::{
    io,
    path::{Path, PathBuf},
};

use fta_index::{IndexError, IndexSpec, Label, VectorIndex};
use fta_retrieve::views::vector_id;
use fta_units::{MemorySnapshot, Namespace, StoreOp, StoredVector, UnitId};

use crate::{
    Error,
    hash::Fnv,
    parts::{IndexFactory, Parts},
};

/// Fewer vectors are read from the store faster than a file is worth.
const SAVE_FROM: usize = 2_000;

/// A file is written anew when more than one in so many vectors are not in it.
const STALE_SHARE: usize = 8;

/// Vectors of a unit, about: what a choice by size goes by before they are counted.
const VECTORS_PER_UNIT: usize = 4;

/// Units whose vectors are read from the store at a time.
const UNITS_AT_A_TIME: usize = 256;

/// Units whose vectors are compared with the store when a file is opened.
const SAMPLES: usize = 8;

/// A vector and itself are at least so similar, whatever an index has rounded.
const SAME: f32 = 0.9;

/// How indexes are made.
pub(crate) enum IndexMaker {
    Spec(IndexSpec),
    Factory(Box<IndexFactory>),
}

impl IndexMaker {
    pub(crate) fn make(&self, dim: usize, n_units: usize) -> Result<Box<dyn VectorIndex>, IndexError> {
        match self {
            Self::Spec(spec) => spec.build(dim, n_units.saturating_mul(VECTORS_PER_UNIT)),
            Self::Factory(make) => make(dim),
        }
    }
}

/// The index of one user and what its file holds.
pub(crate) struct Vectors {
    pub(crate) index: Box<dyn VectorIndex>,
    /// The file, if the memory has a directory.
    path: Option<PathBuf>,
    /// The file is there and holds all units below this.
    covered: Option<UnitId>,
}

impl Vectors {
    /// Opens the index of a memory: its file and what the store has beyond it, or all from the store.
    pub(crate) fn open(
        parts: &Parts,
        namespace: &Namespace,
        records: &MemorySnapshot,
    ) -> Result<Self, Error> {
        let path = parts.index_directory.as_ref().map(|directory| directory.join(file_name(namespace)));
        let mut vectors = Self { index: empty(parts, records)?, path, covered: None };
        if let Some(path) = vectors.path.clone().filter(|path| path.exists()) {
            match reuse(parts, namespace, records, (&mut *vectors.index, &path)) {
                Ok(covered) => vectors.covered = Some(covered),
                Err(reason) => {
                    tracing::info!(path = %path.display(), reason, "vector index is made anew from the store");
                    vectors.index = empty(parts, records)?;
                    vectors.forget_file()?;
                }
            }
        }
        let before = vectors.index.len();
        let from = vectors.covered.unwrap_or(UnitId(0));
        add_from(parts, namespace, records, (&mut *vectors.index, from))?;
        let added = vectors.index.len() - before;
        if vectors.index.len() >= SAVE_FROM && added > vectors.index.len() / STALE_SHARE {
            vectors.save(records);
        }
        Ok(vectors)
    }

    /// Makes all anew from the store.
    pub(crate) fn rebuild(
        parts: &Parts,
        namespace: &Namespace,
        records: &MemorySnapshot,
    ) -> Result<Self, Error> {
        forget(parts, namespace)?;
        Self::open(parts, namespace, records)
    }

    /// Writes the file. A failure costs time at the next opening, and nothing else.
    fn save(&mut self, records: &MemorySnapshot) {
        let Some(path) = &self.path else { return };
        let label = Label { model_id: records.meta.embedder.clone(), generation: records.meta.next_unit };
        let written = path
            .parent()
            .map_or(Ok(()), std::fs::create_dir_all)
            .map_err(|source| IndexError::Io { path: path.clone(), source })
            .and_then(|()| self.index.save(path, &label));
        match written {
            Ok(()) => {
                self.covered = Some(UnitId(label.generation));
                // The vectors are in the file now, and need not be in memory a second time.
                if let Err(error) = self.index.open(path) {
                    tracing::warn!(%error, "vector index was written but cannot be opened");
                }
            }
            Err(error) => tracing::warn!(%error, "vector index could not be kept in a file"),
        }
    }

    /// To be called before the store is changed: removes the file if it will not be right any more.
    pub(crate) fn before(&mut self, changes: &[StoreOp]) -> Result<(), Error> {
        let Some(covered) = self.covered else { return Ok(()) };
        let stale = changes.iter().any(|change| match change {
            StoreOp::PutVector(vector) => vector.unit < covered,
            StoreOp::DeleteUnit(unit) | StoreOp::DeleteVectors(unit) => *unit < covered,
            StoreOp::DeleteAll => true,
            _ => false,
        });
        if stale { self.forget_file() } else { Ok(()) }
    }

    fn forget_file(&mut self) -> Result<(), Error> {
        self.covered = None;
        self.path.as_deref().map_or(Ok(()), remove)
    }
}

/// Removes the file of a memory's index, if there is one.
pub(crate) fn forget(parts: &Parts, namespace: &Namespace) -> Result<(), Error> {
    let path = parts.index_directory.as_ref().map(|directory| directory.join(file_name(namespace)));
    path.as_deref().map_or(Ok(()), remove)
}

fn empty(parts: &Parts, records: &MemorySnapshot) -> Result<Box<dyn VectorIndex>, IndexError> {
    parts.index.make(parts.embedder.dim(), records.units.len())
}

/// Removes the file of an index and makes that last.
fn remove(path: &Path) -> Result<(), Error> {
    let removed = match std::fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => Err(error),
        Ok(()) => Ok(()),
    };
    removed.map_err(|source| IndexError::Io { path: path.to_owned(), source })?;
    // Where folders cannot be opened there is nothing to sync.
    if let Some(Ok(directory)) = path.parent().map(std::fs::File::open) {
        let _ = directory.sync_all();
    }
    Ok(())
}

/// Any name of a memory makes a legal file name this way.
fn file_name(namespace: &Namespace) -> String {
    let mut hash = Fnv::default();
    hash.field(namespace.as_str().as_bytes());
    format!("{:016x}.index", hash.value())
}

/// Opens the file, if it is of this memory; returns up to which unit it goes, else why it cannot be used.
fn reuse(
    parts: &Parts,
    namespace: &Namespace,
    records: &MemorySnapshot,
    (index, path): (&mut dyn VectorIndex, &Path),
) -> Result<UnitId, String> {
    let label = index.open(path).map_err(|error| error.to_string())?;
    if label.model_id != records.meta.embedder {
        return Err(format!("its vectors are of model `{}`", label.model_id));
    }
    let covered = records.units.partition_point(|unit| unit.id.0 < label.generation);
    if label.generation > records.meta.next_unit || (covered == 0) != index.is_empty() {
        return Err("it is of another state of the memory".to_owned());
    }
    // The store may have been replaced by another one, or an older copy of itself.
    for sample in 0..SAMPLES.min(covered) {
        let unit = records.units[(covered - 1) * sample / (SAMPLES - 1).max(1)].id;
        let stored = read(parts, namespace, unit, unit).map_err(|error| error.to_string())?;
        for vector in stored {
            let id = vector_id(vector.unit, vector.view);
            let found = index.search_among(&vector.values, 1, &[id]).map_err(|error| error.to_string())?;
            if found.first().is_none_or(|hit| hit.score < SAME) {
                return Err(format!("it has other vectors of unit `{unit}`"));
            }
        }
    }
    Ok(UnitId(label.generation))
}

/// Adds the vectors of all units from one on.
fn add_from(
    parts: &Parts,
    namespace: &Namespace,
    records: &MemorySnapshot,
    (index, from): (&mut dyn VectorIndex, UnitId),
) -> Result<(), Error> {
    let first = records.units.partition_point(|unit| unit.id < from);
    for units in records.units[first..].chunks(UNITS_AT_A_TIME) {
        let vectors = read(parts, namespace, units[0].id, units[units.len() - 1].id)?;
        let ids: Vec<u64> = vectors.iter().map(|v| vector_id(v.unit, v.view)).collect();
        let values: Vec<f32> = vectors.iter().flat_map(|v| v.values.iter().copied()).collect();
        index.add(&ids, &values)?;
    }
    Ok(())
}

fn read(
    parts: &Parts,
    namespace: &Namespace,
    first: UnitId,
    last: UnitId,
) -> Result<Vec<StoredVector>, Error> {
    Ok(parts.store.read_vectors(namespace, first..UnitId(last.0 + 1))?)
}
