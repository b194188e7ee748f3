//! A store in the process's memory, for tests and for memories that need not last.

use std::{
    collections::BTreeMap,
    sync::{PoisonError, RwLock},
};

use fta_segment::SessionId;

use super::{
    MemoryMeta, MemorySnapshot, Namespace, StoreError, StoreOp, StoredSession, StoredVector, UnitStore,
};
use crate::{
    longitudinal::Longitudinal,
    unit::{Link, Unit, UnitId},
};

/// Keeps memories until it is dropped; the oracle of the conformance suite.
#[derive(Debug, Default)]
pub struct MemoryStore {
    memories: RwLock<BTreeMap<Namespace, Records>>,
}

/// What one memory holds, by key.
#[derive(Debug, Default)]
struct Records {
    meta: Option<MemoryMeta>,
    sessions: BTreeMap<SessionId, StoredSession>,
    units: BTreeMap<UnitId, Unit>,
    links: BTreeMap<(UnitId, UnitId), Link>,
    vectors: BTreeMap<(UnitId, u16), StoredVector>,
    longitudinal: Option<Longitudinal>,
}

impl Records {
    fn is_empty(&self) -> bool {
        self.meta.is_none()
            && self.sessions.is_empty()
            && self.units.is_empty()
            && self.links.is_empty()
            && self.vectors.is_empty()
            && self.longitudinal.is_none()
    }

    fn apply(&mut self, op: &StoreOp) {
        match op {
            StoreOp::PutMeta(meta) => self.meta = Some(meta.clone()),
            StoreOp::PutSession(session) => {
                self.sessions.insert(session.session.id.clone(), session.clone());
            }
            StoreOp::DeleteSession(id) => {
                self.sessions.remove(id);
            }
            StoreOp::PutUnit(unit) => {
                self.units.insert(unit.id, unit.clone());
            }
            StoreOp::DeleteUnit(id) => {
                self.units.remove(id);
                self.links.retain(|(from, to), _| from != id && to != id);
                self.vectors.retain(|(unit, _), _| unit != id);
            }
            StoreOp::PutLink(link) => {
                self.links.insert((link.from, link.to), *link);
            }
            StoreOp::PutVector(vector) => {
                self.vectors.insert((vector.unit, vector.view), vector.clone());
            }
            StoreOp::DeleteVectors(id) => self.vectors.retain(|(unit, _), _| unit != id),
            StoreOp::PutLongitudinal(longitudinal) => self.longitudinal = Some(longitudinal.clone()),
            StoreOp::DeleteAll => *self = Self::default(),
        }
    }

    fn snapshot(&self) -> MemorySnapshot {
        let mut sessions: Vec<StoredSession> = self.sessions.values().cloned().collect();
        sessions.sort_by_key(|s| s.ordinal);
        MemorySnapshot {
            meta: self.meta.clone().unwrap_or_default(),
            sessions,
            units: self.units.values().cloned().collect(),
            links: self.links.values().copied().collect(),
            vectors: self.vectors.values().cloned().collect(),
            longitudinal: self.longitudinal.clone().unwrap_or_default(),
        }
    }
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }
}

impl UnitStore for MemoryStore {
    fn namespaces(&self) -> Result<Vec<Namespace>, StoreError> {
        let memories = self.memories.read().unwrap_or_else(PoisonError::into_inner);
        Ok(memories.keys().cloned().collect())
    }

    fn read(&self, namespace: &Namespace) -> Result<MemorySnapshot, StoreError> {
        let memories = self.memories.read().unwrap_or_else(PoisonError::into_inner);
        Ok(memories.get(namespace).map(Records::snapshot).unwrap_or_default())
    }

    fn apply(&self, namespace: &Namespace, changes: &[StoreOp]) -> Result<(), StoreError> {
        // Everything that can fail comes before the first change: that is what makes the batch atomic.
        changes.iter().try_for_each(StoreOp::check)?;
        let mut memories = self.memories.write().unwrap_or_else(PoisonError::into_inner);
        let records = memories.entry(namespace.clone()).or_default();
        for op in changes {
            records.apply(op);
        }
        if records.is_empty() {
            memories.remove(namespace);
        }
        Ok(())
    }

    fn purge(&self) -> Result<(), StoreError> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conforms() {
        crate::store::conformance::unit_store(|| Box::new(MemoryStore::new()));
    }
}
