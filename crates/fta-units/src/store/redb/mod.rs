//! The durable store: one redb file.
//!
//! One table per record kind, keys as in [`super::record::key`], values as in [`super::record`]. The table `format`
//! names the file as a store of ours and carries its format version. One batch of changes is one durable transaction.

mod file;
mod stamp;
#[cfg(test)]
mod tests;

use std::{
    ops::Range,
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock},
};

use ::redb::{
    Database, ReadTransaction, ReadableDatabase, ReadableTable, Table, TableDefinition, TableError,
    WriteTransaction,
};
use fta_segment::SessionId;
use serde::de::DeserializeOwned;

use super::{
    MemorySnapshot, Namespace, StoreError, StoreOp, StoredSession, StoredVector, UnitStore,
    record::{self, RecordError, after, id_bytes, key},
};
use crate::unit::UnitId;

type Bytes = &'static [u8];
type KeyRange = std::ops::Range<Vec<u8>>;

const FORMAT: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("format");
const META: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("meta");
const SESSIONS: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("sessions");
const UNITS: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("units");
/// By `(from, to)`.
const LINKS: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("links");
/// By `(to, from)`, without value: finds the links to a unit that is deleted.
const LINKS_BY_TARGET: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("links_by_target");
const VECTORS: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("vectors");
const LONGITUDINAL: TableDefinition<'_, Bytes, Bytes> = TableDefinition::new("longitudinal");

/// The tables that hold records of memories.
const RECORD_TABLES: [TableDefinition<'_, Bytes, Bytes>; 7] =
    [META, SESSIONS, UNITS, LINKS, LINKS_BY_TARGET, VECTORS, LONGITUDINAL];

/// A [`UnitStore`] in one file, which one process at a time may have open.
pub struct RedbStore {
    path: PathBuf,
    /// Locked for writing only while `purge` exchanges the file; taken out when the store is dropped.
    database: RwLock<Option<Database>>,
    /// Files from this length on are not verified again if nobody touched them.
    note_from: u64,
}

impl std::fmt::Debug for RedbStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RedbStore").field("path", &self.path).finish_non_exhaustive()
    }
}

impl RedbStore {
    /// Opens the store in file `path`, or makes it, with its directory, if it is not there.
    ///
    /// The whole file is verified first (checksums of all pages), which costs about the time of reading it; a large one
    /// only if it was touched since this program closed it, which a note beside it tells. A file that was not closed,
    /// after a crash, is recovered; a damaged or foreign one is left exactly as it is.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if another handle has it open, [`StoreError::Damaged`] for an empty, cut off, altered or
    /// foreign file, [`StoreError::Version`] for another format version, [`StoreError::Backend`] if the operating
    /// system refuses.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        Self::open_noted(path, stamp::NOTE_FROM)
    }

    fn open_noted(path: &Path, note_from: u64) -> Result<Self, StoreError> {
        let database = guarded(path, || file::open(path, note_from))?;
        Ok(Self { path: path.to_owned(), database: RwLock::new(Some(database)), note_from })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs `work` on the database with every failure and panic of the engine as a typed error.
    fn with<T>(&self, work: impl FnOnce(&Database) -> Result<T, Failure>) -> Result<T, StoreError> {
        let database = self.database.read().unwrap_or_else(PoisonError::into_inner);
        let database = database.as_ref().expect("it is there until the store is dropped");
        guarded(&self.path, || work(database).map_err(|failure| failure.at(&self.path)))
    }
}

impl Drop for RedbStore {
    fn drop(&mut self) {
        // Closing writes to the file, so the note comes after it.
        drop(self.database.get_mut().unwrap_or_else(PoisonError::into_inner).take());
        if std::fs::metadata(&self.path).is_ok_and(|metadata| metadata.len() >= self.note_from) {
            stamp::write(&self.path);
        }
    }
}

impl UnitStore for RedbStore {
    fn namespaces(&self) -> Result<Vec<Namespace>, StoreError> {
        self.with(|database| {
            let transaction = database.begin_read()?;
            let mut names = std::collections::BTreeSet::new();
            for definition in RECORD_TABLES {
                let Some(table) = open_table(&transaction, definition)? else { continue };
                let mut from = Vec::new();
                // From the first key of one name right to the first of the next.
                while let Some(entry) = table.range::<&[u8]>(from.as_slice()..)?.next() {
                    let entry = entry?;
                    let name = entry.0.value().split(|b| *b == 0).next().unwrap_or_default();
                    let name = std::str::from_utf8(name).map_err(|_| damaged("a key is not text"))?;
                    from = after(&key(name, &[]));
                    names.insert(Namespace::new(name).map_err(|_| damaged("a key names no memory"))?);
                }
            }
            Ok(names.into_iter().collect())
        })
    }

    fn read(&self, namespace: &Namespace) -> Result<MemorySnapshot, StoreError> {
        self.with(|database| {
            let transaction = database.begin_read()?;
            let name = namespace.as_str();
            let vectors = vectors(&transaction, name, under(&key(name, &[])))?;
            Ok(MemorySnapshot { vectors, ..records(&transaction, name)? })
        })
    }

    fn read_records(&self, namespace: &Namespace) -> Result<MemorySnapshot, StoreError> {
        self.with(|database| records(&database.begin_read()?, namespace.as_str()))
    }

    fn read_vectors(
        &self,
        namespace: &Namespace,
        units: Range<UnitId>,
    ) -> Result<Vec<StoredVector>, StoreError> {
        let name = namespace.as_str();
        let range = key(name, &[&id_bytes(units.start)])..key(name, &[&id_bytes(units.end)]);
        if range.start >= range.end {
            return Ok(Vec::new());
        }
        self.with(|database| vectors(&database.begin_read()?, name, range))
    }

    fn apply(&self, namespace: &Namespace, changes: &[StoreOp]) -> Result<(), StoreError> {
        changes.iter().try_for_each(StoreOp::check)?;
        self.with(|database| {
            let transaction = file::begin_write(database)?;
            {
                let mut tables = Tables::open(&transaction)?;
                for op in changes {
                    tables.apply(namespace.as_str(), op)?;
                }
            }
            transaction.commit()?;
            Ok(())
        })
    }

    fn purge(&self) -> Result<(), StoreError> {
        let mut database = self.database.write().unwrap_or_else(PoisonError::into_inner);
        let old = database.as_ref().expect("it is there until the store is dropped");
        let fresh = guarded(&self.path, || file::rewrite(&self.path, old))?;
        // The old file has no name any more; dropping its handle frees it.
        *database = Some(fresh);
        Ok(())
    }
}

/// All tables of a write transaction.
struct Tables<'t> {
    meta: Table<'t, Bytes, Bytes>,
    sessions: Table<'t, Bytes, Bytes>,
    units: Table<'t, Bytes, Bytes>,
    links: Table<'t, Bytes, Bytes>,
    links_by_target: Table<'t, Bytes, Bytes>,
    vectors: Table<'t, Bytes, Bytes>,
    longitudinal: Table<'t, Bytes, Bytes>,
}

impl<'t> Tables<'t> {
    fn open(transaction: &'t WriteTransaction) -> Result<Self, Failure> {
        Ok(Self {
            meta: transaction.open_table(META)?,
            sessions: transaction.open_table(SESSIONS)?,
            units: transaction.open_table(UNITS)?,
            links: transaction.open_table(LINKS)?,
            links_by_target: transaction.open_table(LINKS_BY_TARGET)?,
            vectors: transaction.open_table(VECTORS)?,
            longitudinal: transaction.open_table(LONGITUDINAL)?,
        })
    }

    fn apply(&mut self, name: &str, op: &StoreOp) -> Result<(), Failure> {
        match op {
            StoreOp::PutMeta(meta) => put(&mut self.meta, &key(name, &[]), &record::encode(meta)?),
            StoreOp::PutSession(session) => {
                put(&mut self.sessions, &session_key(name, &session.session.id), &record::encode(session)?)
            }
            StoreOp::DeleteSession(id) => delete(&mut self.sessions, &session_key(name, id)),
            StoreOp::PutUnit(unit) => {
                put(&mut self.units, &key(name, &[&id_bytes(unit.id)]), &record::encode(unit)?)
            }
            StoreOp::DeleteUnit(id) => self.delete_unit(name, *id),
            StoreOp::PutLink(link) => {
                put(&mut self.links, &pair_key(name, link.from, link.to), &record::encode(link)?)?;
                put(&mut self.links_by_target, &pair_key(name, link.to, link.from), &[])
            }
            StoreOp::PutVector(vector) => {
                let key = key(name, &[&id_bytes(vector.unit), &vector.view.to_be_bytes()]);
                put(&mut self.vectors, &key, &record::encode_vector(&vector.values)?)
            }
            StoreOp::DeleteVectors(id) => delete_range(&mut self.vectors, &key(name, &[&id_bytes(*id)])),
            StoreOp::PutLongitudinal(longitudinal) => {
                put(&mut self.longitudinal, &key(name, &[]), &record::encode(longitudinal)?)
            }
            StoreOp::DeleteAll => self.delete_all(name),
        }
    }

    fn delete_unit(&mut self, name: &str, id: UnitId) -> Result<(), Failure> {
        let unit_key = key(name, &[&id_bytes(id)]);
        delete(&mut self.units, &unit_key)?;
        delete_range(&mut self.vectors, &unit_key)?;
        for other in partners(&self.links, &unit_key)? {
            delete(&mut self.links_by_target, &pair_key(name, other, id))?;
        }
        for other in partners(&self.links_by_target, &unit_key)? {
            delete(&mut self.links, &pair_key(name, other, id))?;
        }
        delete_range(&mut self.links, &unit_key)?;
        delete_range(&mut self.links_by_target, &unit_key)
    }

    fn delete_all(&mut self, name: &str) -> Result<(), Failure> {
        let tables = [
            &mut self.meta,
            &mut self.sessions,
            &mut self.units,
            &mut self.links,
            &mut self.links_by_target,
            &mut self.vectors,
            &mut self.longitudinal,
        ];
        tables.into_iter().try_for_each(|table| delete_range(table, &key(name, &[])))
    }
}

fn session_key(name: &str, id: &SessionId) -> Vec<u8> {
    key(name, &[id.0.as_bytes()])
}

fn pair_key(name: &str, a: UnitId, b: UnitId) -> Vec<u8> {
    key(name, &[&id_bytes(a), &id_bytes(b)])
}

fn under(prefix: &[u8]) -> KeyRange {
    prefix.to_vec()..after(prefix)
}

fn put(table: &mut Table<'_, Bytes, Bytes>, key: &[u8], value: &[u8]) -> Result<(), Failure> {
    table.insert(key, value)?;
    Ok(())
}

fn delete(table: &mut Table<'_, Bytes, Bytes>, key: &[u8]) -> Result<(), Failure> {
    table.remove(key)?;
    Ok(())
}

fn delete_range(table: &mut Table<'_, Bytes, Bytes>, prefix: &[u8]) -> Result<(), Failure> {
    let range = under(prefix);
    table.retain_in(range.start.as_slice()..range.end.as_slice(), |_, _| false)?;
    Ok(())
}

/// The second ids of all pair keys that start with `prefix`.
fn partners(table: &Table<'_, Bytes, Bytes>, prefix: &[u8]) -> Result<Vec<UnitId>, Failure> {
    let range = under(prefix);
    let mut found = Vec::new();
    for entry in table.range::<&[u8]>(range.start.as_slice()..range.end.as_slice())? {
        let entry = entry?;
        let id = entry.0.value().last_chunk().ok_or_else(|| damaged("the key of a link is cut off"))?;
        found.push(UnitId(u64::from_be_bytes(*id)));
    }
    Ok(found)
}

fn open_table(
    transaction: &ReadTransaction,
    definition: TableDefinition<'_, Bytes, Bytes>,
) -> Result<Option<::redb::ReadOnlyTable<Bytes, Bytes>>, Failure> {
    match transaction.open_table(definition) {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// All records of one kind of one memory, in key order.
fn values<T: DeserializeOwned>(
    transaction: &ReadTransaction,
    definition: TableDefinition<'_, Bytes, Bytes>,
    name: &str,
) -> Result<Vec<T>, Failure> {
    let Some(table) = open_table(transaction, definition)? else { return Ok(Vec::new()) };
    let range = under(&key(name, &[]));
    let mut found = Vec::new();
    for entry in table.range::<&[u8]>(range.start.as_slice()..range.end.as_slice())? {
        found.push(record::decode(entry?.1.value())?);
    }
    Ok(found)
}

/// All that a memory holds but its vectors.
fn records(transaction: &ReadTransaction, name: &str) -> Result<MemorySnapshot, Failure> {
    let mut sessions: Vec<StoredSession> = values(transaction, SESSIONS, name)?;
    sessions.sort_by_key(|s| s.ordinal);
    Ok(MemorySnapshot {
        meta: values(transaction, META, name)?.pop().unwrap_or_default(),
        sessions,
        units: values(transaction, UNITS, name)?,
        links: values(transaction, LINKS, name)?,
        vectors: Vec::new(),
        longitudinal: values(transaction, LONGITUDINAL, name)?.pop().unwrap_or_default(),
    })
}

fn vectors(transaction: &ReadTransaction, name: &str, range: KeyRange) -> Result<Vec<StoredVector>, Failure> {
    let Some(table) = open_table(transaction, VECTORS)? else { return Ok(Vec::new()) };
    let prefix = key(name, &[]);
    let mut found = Vec::new();
    for entry in table.range::<&[u8]>(range.start.as_slice()..range.end.as_slice())? {
        let entry = entry?;
        let (id, view) = entry.0.value()[prefix.len()..]
            .split_first_chunk()
            .and_then(|(id, view)| Some((*id, <[u8; 2]>::try_from(view).ok()?)))
            .ok_or_else(|| damaged("the key of a vector is cut off"))?;
        found.push(StoredVector {
            unit: UnitId(u64::from_be_bytes(id)),
            view: u16::from_be_bytes(view),
            values: record::decode_vector(entry.1.value())?,
        });
    }
    Ok(found)
}

/// What went wrong, before it is known in which file.
#[derive(Debug)]
pub(super) enum Failure {
    Engine(::redb::Error),
    Record(RecordError),
}

fn damaged(reason: &str) -> Failure {
    Failure::Record(RecordError::Damaged(reason.to_owned()))
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        Self::Record(error)
    }
}

macro_rules! from_engine {
    ($($error:ident),*) => {$(
        impl From<::redb::$error> for Failure {
            fn from(error: ::redb::$error) -> Self {
                Self::Engine(error.into())
            }
        }
    )*};
}
from_engine!(DatabaseError, TransactionError, TableError, StorageError, CommitError);

impl Failure {
    fn at(self, path: &Path) -> StoreError {
        use ::redb::Error as Engine;
        use std::io::ErrorKind;
        let path = path.to_owned();
        match self {
            Self::Record(RecordError::TooLarge(bytes)) => StoreError::Refused {
                what: "a record".to_owned(),
                reason: format!("it has `{bytes}` bytes, at most `{}` are allowed", record::MAX_PAYLOAD),
            },
            Self::Record(RecordError::Version(found)) => StoreError::Version {
                path,
                found: u32::from(found),
                supported: u32::from(record::RECORD_VERSION),
            },
            Self::Record(RecordError::Damaged(reason)) => StoreError::Damaged { path, reason },
            Self::Engine(Engine::DatabaseAlreadyOpen | Engine::LockProtocolMismatch) => {
                StoreError::InUse { path }
            }
            Self::Engine(Engine::Io(error))
                if !matches!(error.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof) =>
            {
                StoreError::Backend { path, message: error.to_string() }
            }
            Self::Engine(
                error @ (Engine::Corrupted(_)
                | Engine::Io(_)
                | Engine::RepairAborted
                | Engine::UpgradeRequired(_)
                | Engine::TableTypeMismatch { .. }
                | Engine::TypeDefinitionChanged { .. }
                | Engine::TableIsMultimap(_)
                | Engine::TableIsNotMultimap(_)
                | Engine::TableDoesNotExist(_)),
            ) => StoreError::Damaged { path, reason: error.to_string() },
            Self::Engine(error) => StoreError::Backend { path, message: error.to_string() },
        }
    }
}

/// Runs `work`, with a panic of the engine as [`StoreError::Damaged`]: it asserts what a file it wrote would hold.
fn guarded<T>(path: &Path, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<&str>().map(|s| (*s).to_owned());
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(StoreError::Damaged { path: path.to_owned(), reason: format!("the engine gave up: {said}") })
    })
}
