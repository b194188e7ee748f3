//! What is kept in memory of one user: corpus and index, in step with the store.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use fta_index::{IndexError, VectorIndex};
use fta_retrieve::{
    Corpus,
    views::{MAX_VIEWS, vector_id},
};
use fta_units::{MemoryMeta, MemorySnapshot, Namespace, StoreOp};

use crate::{Error, parts::Parts, vectors::Vectors};

/// One user's memory as it is searched. The store is the truth; this is rebuilt from it.
pub(crate) struct UserState {
    pub(crate) namespace: Namespace,
    /// Held by whoever writes, from reading what the write depends on to its end.
    pub(crate) writer: tokio::sync::Mutex<()>,
    loaded: RwLock<Loaded>,
}

/// Corpus, index and constants of one user.
pub(crate) struct Loaded {
    pub(crate) corpus: Corpus,
    pub(crate) vectors: Vectors,
    pub(crate) meta: MemoryMeta,
}

impl Loaded {
    fn new(parts: &Parts, records: &MemorySnapshot, vectors: Vectors) -> Self {
        let meta = if records.meta.next_unit == 0 { fresh_meta(parts) } else { records.meta.clone() };
        Self { corpus: Corpus::new(records), vectors, meta }
    }

    /// The index.
    pub(crate) fn index(&self) -> &dyn VectorIndex {
        &*self.vectors.index
    }
}

fn fresh_meta(parts: &Parts) -> MemoryMeta {
    MemoryMeta {
        embedder: parts.embedder.model_id().to_owned(),
        dim: parts.embedder.dim() as u32,
        next_unit: 1,
        next_session: 0,
    }
}

impl UserState {
    /// Reads a user's memory and checks that its vectors are of the configured model.
    pub(crate) fn load(parts: &Parts, namespace: Namespace) -> Result<Self, Error> {
        let records = parts.store.read_records(&namespace)?;
        check_model(parts, &namespace, &records)?;
        let vectors = Vectors::open(parts, &namespace, &records)?;
        let loaded = RwLock::new(Loaded::new(parts, &records, vectors));
        Ok(Self { namespace, writer: tokio::sync::Mutex::new(()), loaded })
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Loaded> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the changes to the store, then follows them in memory. The only way in which a memory changes.
    ///
    /// If following fails, the memory is read anew: the store is the truth.
    pub(crate) fn write(&self, parts: &Parts, changes: &[StoreOp]) -> Result<(), Error> {
        self.loaded.write().unwrap_or_else(PoisonError::into_inner).vectors.before(changes)?;
        parts.store.apply(&self.namespace, changes)?;
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = follow(&mut loaded, parts, changes) {
            tracing::warn!(%error, "index did not follow the store and is rebuilt");
            *loaded = self.fresh(parts)?;
        }
        Ok(())
    }

    /// Searches; if a file of the index turns out to be damaged, once more after it was rebuilt from the store.
    pub(crate) fn search<T>(
        &self,
        parts: &Parts,
        search: impl Fn(&Loaded) -> Result<T, IndexError>,
    ) -> Result<T, Error> {
        // Bound first: the guard must be gone when the index is rebuilt.
        let result = search(&self.read());
        match result {
            Err(error @ IndexError::File { .. }) => {
                tracing::warn!(%error, "vector index is damaged and is rebuilt from the store");
                self.rebuild(parts)?;
                Ok(search(&self.read())?)
            }
            result => Ok(result?),
        }
    }

    /// Rebuilds corpus and index from the store; returns the number of vectors.
    pub(crate) fn rebuild(&self, parts: &Parts) -> Result<usize, Error> {
        let fresh = self.fresh(parts)?;
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        *loaded = fresh;
        Ok(loaded.index().len())
    }

    fn fresh(&self, parts: &Parts) -> Result<Loaded, Error> {
        let records = parts.store.read_records(&self.namespace)?;
        let vectors = Vectors::rebuild(parts, &self.namespace, &records)?;
        Ok(Loaded::new(parts, &records, vectors))
    }
}

/// A memory without units takes any model.
fn check_model(parts: &Parts, namespace: &Namespace, records: &MemorySnapshot) -> Result<(), Error> {
    let model = parts.embedder.model_id();
    let same = records.meta.embedder == model && records.meta.dim as usize == parts.embedder.dim();
    if records.units.is_empty() || same {
        return Ok(());
    }
    Err(Error::Embedder {
        namespace: namespace.to_string(),
        found: records.meta.embedder.clone(),
        expected: model.to_owned(),
    })
}

fn follow(loaded: &mut Loaded, parts: &Parts, changes: &[StoreOp]) -> Result<(), Error> {
    let mut ids = Vec::new();
    let mut values = Vec::new();
    for change in changes {
        match change {
            StoreOp::PutVector(vector) => {
                ids.push(vector_id(vector.unit, vector.view));
                values.extend_from_slice(&vector.values);
            }
            StoreOp::DeleteUnit(unit) | StoreOp::DeleteVectors(unit) => {
                // A unit has at most so many views; those that it lacks are skipped by the index.
                let views: Vec<u64> = (0..MAX_VIEWS).map(|view| vector_id(*unit, view)).collect();
                loaded.vectors.index.remove(&views)?;
            }
            StoreOp::PutMeta(meta) => loaded.meta = meta.clone(),
            StoreOp::DeleteAll => {
                loaded.vectors.index = parts.index.make(parts.embedder.dim(), 0)?;
                loaded.meta = fresh_meta(parts);
            }
            _ => {}
        }
    }
    loaded.vectors.index.add(&ids, &values)?;
    loaded.corpus.apply(changes);
    Ok(())
}
