//! What is kept in memory of one user: corpus and index, in step with the store.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

use fta_index::VectorIndex;
use fta_retrieve::{
    Corpus,
    views::{MAX_VIEWS, vector_id},
};
use fta_units::{MemoryMeta, MemorySnapshot, Namespace, StoreOp};

use crate::{Error, parts::Parts};

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
    pub(crate) index: Box<dyn VectorIndex>,
    pub(crate) meta: MemoryMeta,
}

impl Loaded {
    fn build(parts: &Parts, snapshot: &MemorySnapshot) -> Result<Self, Error> {
        let mut index = (parts.index)(parts.embedder.dim())?;
        let ids: Vec<u64> = snapshot.vectors.iter().map(|v| vector_id(v.unit, v.view)).collect();
        let values: Vec<f32> = snapshot.vectors.iter().flat_map(|v| v.values.iter().copied()).collect();
        index.add(&ids, &values)?;
        let meta = if snapshot.meta.next_unit == 0 { fresh_meta(parts) } else { snapshot.meta.clone() };
        Ok(Self { corpus: Corpus::new(snapshot), index, meta })
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
        let snapshot = parts.store.read(&namespace)?;
        let model = parts.embedder.model_id();
        if !snapshot.vectors.is_empty()
            && (snapshot.meta.embedder != model || snapshot.meta.dim as usize != parts.embedder.dim())
        {
            return Err(Error::Embedder {
                namespace: namespace.to_string(),
                found: snapshot.meta.embedder,
                expected: model.to_owned(),
            });
        }
        let loaded = Loaded::build(parts, &snapshot)?;
        Ok(Self { namespace, writer: tokio::sync::Mutex::new(()), loaded: RwLock::new(loaded) })
    }

    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Loaded> {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the changes to the store, then follows them in memory. The only way in which a memory changes.
    ///
    /// If following fails, the memory is read anew: the store is the truth.
    pub(crate) fn write(&self, parts: &Parts, changes: &[StoreOp]) -> Result<(), Error> {
        parts.store.apply(&self.namespace, changes)?;
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = follow(&mut loaded, parts, changes) {
            tracing::warn!(%error, "index did not follow the store and is rebuilt");
            *loaded = Loaded::build(parts, &parts.store.read(&self.namespace)?)?;
        }
        Ok(())
    }

    /// Rebuilds corpus and index from the store; returns the number of vectors.
    pub(crate) fn rebuild(&self, parts: &Parts) -> Result<usize, Error> {
        let fresh = Loaded::build(parts, &parts.store.read(&self.namespace)?)?;
        let mut loaded = self.loaded.write().unwrap_or_else(PoisonError::into_inner);
        *loaded = fresh;
        Ok(loaded.index.len())
    }
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
            StoreOp::DeleteUnit(unit) => {
                // A unit has at most so many views; those that it lacks are skipped by the index.
                let views: Vec<u64> = (0..MAX_VIEWS).map(|view| vector_id(*unit, view)).collect();
                loaded.index.remove(&views)?;
            }
            StoreOp::PutMeta(meta) => loaded.meta = meta.clone(),
            StoreOp::DeleteAll => {
                loaded.index = (parts.index)(parts.embedder.dim())?;
                loaded.meta = fresh_meta(parts);
            }
            _ => {}
        }
    }
    loaded.index.add(&ids, &values)?;
    loaded.corpus.apply(changes);
    Ok(())
}
