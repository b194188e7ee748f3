//! Embedding a memory anew with another model.
//!
//! Vectors are gathered in a store of their own, batch by batch, each durable; its constants say for which model they
//! are and how far they go. When all are there, one transaction puts them in the place of the old ones.

use std::{collections::HashMap, io, ops::Range, path::Path, sync::Arc};

use fta_retrieve::views::{ViewText, view_texts};
use fta_segment::{Session, SessionId};
use fta_units::{
    MemoryMeta, MemorySnapshot, Namespace, StoreOp, Unit, UnitId, UnitStore, store::MemoryStore,
};

use crate::{
    Error,
    hash::Fnv,
    ingest::embed_views,
    parts::{Parts, blocking},
    vectors,
};

/// Units that are embedded together, and what is lost at most when it is interrupted.
const UNITS_AT_A_TIME: usize = 64;

/// How far a re-embedding has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReindexProgress {
    /// Units whose vectors are there, those of an earlier, interrupted run included.
    pub done: usize,
    /// Units of the memory.
    pub total: usize,
}

pub(crate) async fn reindex(
    parts: &Arc<Parts>,
    namespace: &Namespace,
    progress: &mut (dyn FnMut(ReindexProgress) + Send),
) -> Result<usize, Error> {
    let (reading, name) = (parts.clone(), namespace.clone());
    let records = blocking(move || Ok(reading.store.read_records(&name)?)).await?;
    let target = Target { model: parts.embedder.model_id().to_owned(), dim: parts.embedder.dim() as u32 };
    if records.units.is_empty() || target.is_of(&records.meta) {
        forget(parts)?;
        return Ok(0);
    }
    let staging = open_staging(parts).await?;
    let texts = Texts::new(&records);
    let (mut done, mut hash) = resume(&*staging, namespace, &texts, &target)?;
    let total = records.units.len();
    progress(ReindexProgress { done, total });
    while done < total {
        let batch = done..(done + UNITS_AT_A_TIME).min(total);
        let views = texts.of(batch.clone());
        add_to(&mut hash, &views);
        let vectors = embed_views(parts, views).await?;
        done = batch.end;
        let mut changes: Vec<StoreOp> = vectors.into_iter().map(StoreOp::PutVector).collect();
        changes.push(StoreOp::PutMeta(MemoryMeta {
            embedder: target.model.clone(),
            dim: target.dim,
            next_unit: records.units[done - 1].id.0 + 1,
            next_session: hash.value(),
        }));
        let (writing, name) = (staging.clone(), namespace.clone());
        blocking(move || Ok(writing.apply(&name, &changes)?)).await?;
        progress(ReindexProgress { done, total });
    }
    let (finishing, name) = (parts.clone(), namespace.clone());
    blocking(move || finish(&finishing, (staging, &name), &records, &target)).await
}

/// The model that a memory is to be embedded with.
struct Target {
    model: String,
    dim: u32,
}

impl Target {
    fn is_of(&self, meta: &MemoryMeta) -> bool {
        meta.embedder == self.model && meta.dim == self.dim
    }
}

/// How many units an earlier run has done, and the hash of their texts. What it gathered for another model, or of texts that were other then, is
/// thrown away.
fn resume(
    staging: &dyn UnitStore,
    namespace: &Namespace,
    texts: &Texts<'_>,
    target: &Target,
) -> Result<(usize, Fnv), Error> {
    let meta = staging.read_records(namespace)?.meta;
    let done = texts.units.partition_point(|unit| unit.id.0 < meta.next_unit);
    let mut hash = Fnv::default();
    // In the batches of the first run, so that not all texts are in memory at once.
    for from in (0..done).step_by(UNITS_AT_A_TIME) {
        add_to(&mut hash, &texts.of(from..(from + UNITS_AT_A_TIME).min(done)));
    }
    if target.is_of(&meta) && hash.value() == meta.next_session {
        return Ok((done, hash));
    }
    staging.apply(namespace, &[StoreOp::DeleteAll])?;
    Ok((0, Fnv::default()))
}

/// The texts of a memory's units.
struct Texts<'a> {
    units: &'a [Unit],
    sessions: HashMap<&'a SessionId, &'a Session>,
}

impl<'a> Texts<'a> {
    fn new(records: &'a MemorySnapshot) -> Self {
        let sessions = records.sessions.iter().map(|stored| (&stored.session.id, &stored.session)).collect();
        Self { units: &records.units, sessions }
    }

    fn of(&self, units: Range<usize>) -> Vec<(UnitId, ViewText)> {
        self.units[units]
            .iter()
            .filter_map(|unit| Some((unit, self.sessions.get(&unit.evidence.session)?)))
            .flat_map(|(unit, session)| view_texts(unit, session).into_iter().map(|view| (unit.id, view)))
            .collect()
    }
}

fn add_to(hash: &mut Fnv, views: &[(UnitId, ViewText)]) {
    for (unit, view) in views {
        hash.field(&unit.0.to_le_bytes());
        hash.field(&view.view.to_le_bytes());
        hash.field(view.text.as_bytes());
    }
}

/// Puts the gathered vectors in the place of the old ones.
fn finish(
    parts: &Parts,
    (staging, namespace): (Arc<dyn UnitStore>, &Namespace),
    records: &MemorySnapshot,
    target: &Target,
) -> Result<usize, Error> {
    let gathered = staging.read_vectors(namespace, UnitId(0)..UnitId(u64::MAX))?;
    let n_vectors = gathered.len();
    let mut changes: Vec<StoreOp> =
        records.units.iter().map(|unit| StoreOp::DeleteVectors(unit.id)).collect();
    changes.extend(gathered.into_iter().map(StoreOp::PutVector));
    changes.push(StoreOp::PutMeta(MemoryMeta {
        embedder: target.model.clone(),
        dim: target.dim,
        ..records.meta.clone()
    }));
    vectors::forget(parts, namespace)?;
    parts.store.apply(namespace, &changes)?;
    drop(staging);
    forget(parts)?;
    Ok(n_vectors)
}

#[cfg(feature = "redb")]
async fn open_staging(parts: &Arc<Parts>) -> Result<Arc<dyn UnitStore>, Error> {
    match parts.staging.clone() {
        Some(path) => {
            blocking(move || {
                let store: Arc<dyn UnitStore> = Arc::new(fta_units::store::RedbStore::open(&path)?);
                Ok(store)
            })
            .await
        }
        None => Ok(Arc::new(MemoryStore::new())),
    }
}

#[cfg(not(feature = "redb"))]
async fn open_staging(_parts: &Arc<Parts>) -> Result<Arc<dyn UnitStore>, Error> {
    Ok(Arc::new(MemoryStore::new()))
}

/// Removes what an interrupted run has gathered: it is derived from what was said.
pub(crate) fn forget(parts: &Parts) -> Result<(), Error> {
    let Some(path) = &parts.staging else { return Ok(()) };
    let note = path.with_extension("redb.checked");
    for file in [path.as_path(), &note] {
        remove(file)?;
    }
    Ok(())
}

fn remove(file: &Path) -> Result<(), Error> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
