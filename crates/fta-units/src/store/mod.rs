//! The [`UnitStore`] port: the durable truth. Everything else (vectors' index, lexical index) is rebuilt from it.

#[cfg(any(test, feature = "testing"))]
pub mod conformance;
mod memory;
#[cfg(feature = "redb")]
mod overlay;
#[cfg(feature = "redb")]
mod record;
#[cfg(feature = "redb")]
mod redb;

use std::ops::Range;

use fta_segment::{Fragment, Session, SessionId, TurnSpan};
use serde::{Deserialize, Serialize};

pub use self::memory::MemoryStore;
#[cfg(feature = "redb")]
pub use self::redb::RedbStore;
use crate::{
    longitudinal::Longitudinal,
    unit::{Link, Unit, UnitId},
};

/// Name of one user's memory. Memories of different names cannot see each other.
///
/// 1 to 200 bytes, no control characters, so that it can be shown, typed and used as a key prefix.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Namespace(String);

impl Namespace {
    /// Checks a name.
    ///
    /// # Errors
    /// [`StoreError::Namespace`] for an empty or too long name, or one with control characters.
    pub fn new(name: impl Into<String>) -> Result<Self, StoreError> {
        let name = name.into();
        if name.trim().is_empty() || name.len() > 200 || name.chars().any(char::is_control) {
            return Err(StoreError::Namespace { name });
        }
        Ok(Self(name))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Namespace {
    type Error = StoreError;
    fn try_from(name: String) -> Result<Self, StoreError> {
        Self::new(name)
    }
}

impl From<Namespace> for String {
    fn from(namespace: Namespace) -> Self {
        namespace.0
    }
}

impl std::fmt::Display for Namespace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a session is whole.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionState {
    /// Still running: turns arrive one by one.
    Running,
    /// Finished: its units are final.
    Finished,
    /// Finished, but a step failed and was done by its fallback: its units are whole, and can be made anew.
    FinishedWithFallback(Vec<FallbackMark>),
}

impl SessionState {
    /// The state of a finished session with these marks.
    pub fn finished(marks: Vec<FallbackMark>) -> Self {
        if marks.is_empty() { Self::Finished } else { Self::FinishedWithFallback(marks) }
    }

    /// Whether the session is over.
    pub fn is_finished(&self) -> bool {
        !matches!(self, Self::Running)
    }

    /// What was done by a fallback.
    pub fn marks(&self) -> &[FallbackMark] {
        match self {
            Self::FinishedWithFallback(marks) => marks,
            Self::Running | Self::Finished => &[],
        }
    }
}

/// A step of a session that failed for good and was done by its fallback.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct FallbackMark {
    /// The step.
    pub step: FallbackStep,
    /// Why it failed; holds nothing of the dialogue.
    pub reason: String,
}

impl std::fmt::Display for FallbackMark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.step {
            FallbackStep::Boundaries => f.write_str("boundaries")?,
            FallbackStep::Units(span) => write!(f, "units of turns `{span}`")?,
            FallbackStep::Relations(units) => write!(f, "links of {} units", units.len())?,
            FallbackStep::Longitudinal => f.write_str("longitudinal memory")?,
        }
        write!(f, " by the fallback: {}", self.reason)
    }
}

/// A step that can fall back.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackStep {
    /// Cutting the session into fragments.
    Boundaries,
    /// Making units of these turns.
    Units(TurnSpan),
    /// Linking these units to older ones.
    Relations(Vec<UnitId>),
    /// Bringing `U` and `H` up to date.
    Longitudinal,
}

/// A session with the raw turns and how it was cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredSession {
    /// The raw turns: a unit is never the only copy of what was said.
    pub session: Session,
    /// Its fragments.
    pub fragments: Vec<Fragment>,
    /// Whether it is whole.
    pub state: SessionState,
    /// Hash of everything that the units depend on (turns and the ids of detector, extractor, ...); a second ingest of
    /// the same session with the same hash changes nothing. 0 while it runs.
    pub fingerprint: u64,
    /// Position in the order of ingestion, from 0.
    pub ordinal: u64,
}

/// One vector of a unit.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredVector {
    /// The unit.
    pub unit: UnitId,
    /// Which text of the unit it embeds (see `fta-mem`): 0 is the retrieval text `rho(m)`.
    pub view: u16,
    /// The unit vector.
    pub values: Vec<f32>,
}

/// Constants of one memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryMeta {
    /// Id of the embedding model of all stored vectors; empty while there is none.
    pub embedder: String,
    /// Dimension of all stored vectors.
    pub dim: u32,
    /// The id that the next unit gets.
    pub next_unit: u64,
    /// The ordinal that the next session gets.
    pub next_session: u64,
}

/// Everything that a memory holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MemorySnapshot {
    /// Constants.
    pub meta: MemoryMeta,
    /// Sessions by rising ordinal.
    pub sessions: Vec<StoredSession>,
    /// Units by rising id.
    pub units: Vec<Unit>,
    /// Links by rising `(from, to)`.
    pub links: Vec<Link>,
    /// Vectors by rising `(unit, view)`.
    pub vectors: Vec<StoredVector>,
    /// `U` and `H`.
    pub longitudinal: Longitudinal,
}

/// One change. Deleting what is not there is no error.
#[derive(Debug, Clone, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "most changes are units, and none lives long")]
pub enum StoreOp {
    /// Sets the constants.
    PutMeta(MemoryMeta),
    /// Adds or replaces a session by id.
    PutSession(StoredSession),
    /// Removes a session's record (not its units).
    DeleteSession(SessionId),
    /// Adds or replaces a unit by id.
    PutUnit(Unit),
    /// Removes a unit, its vectors and every link from or to it.
    DeleteUnit(UnitId),
    /// Adds or replaces a link by `(from, to)`.
    PutLink(Link),
    /// Adds or replaces a vector by `(unit, view)`.
    PutVector(StoredVector),
    /// Removes all vectors of a unit.
    DeleteVectors(UnitId),
    /// Replaces `U` and `H`.
    PutLongitudinal(Longitudinal),
    /// Removes the memory and all it holds.
    DeleteAll,
}

impl StoreOp {
    /// Checks what every store refuses, so that stores agree: a vector without values, or with one that is not
    /// finite, would be served as a result for ever.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        match self {
            Self::PutVector(vector) if vector.values.is_empty() => Err(StoreError::Refused {
                what: format!("vector `{}` of unit `{}`", vector.view, vector.unit),
                reason: "it has no values".to_owned(),
            }),
            Self::PutVector(vector) if !vector.values.iter().all(|v| v.is_finite()) => {
                Err(StoreError::Refused {
                    what: format!("vector `{}` of unit `{}`", vector.view, vector.unit),
                    reason: "a value is not finite".to_owned(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// Keeps memories durably.
///
/// # Contract
/// - `apply` is atomic and durable: after it returns the changes survive a crash; before, none of them is seen.
/// - Readers see a consistent state while a writer works.
/// - A memory is there while it holds anything; one whose last record goes is gone.
/// - A vector that is empty or not finite is refused ([`StoreError::Refused`]), and with it its whole batch.
/// - Namespaces are separate: no call reads or writes outside the one it names, `purge` and `namespaces` apart.
/// - After `purge`, no byte of anything deleted or replaced before remains in the store's files.
pub trait UnitStore: Send + Sync {
    /// Names of all memories, in order.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read.
    fn namespaces(&self) -> Result<Vec<Namespace>, StoreError>;

    /// All that a memory holds; empty for a name that is not there.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be read or a record is damaged.
    fn read(&self, namespace: &Namespace) -> Result<MemorySnapshot, StoreError>;

    /// As [`UnitStore::read`], but without the vectors, for a reader that has them elsewhere.
    ///
    /// # Errors
    /// As [`UnitStore::read`].
    fn read_records(&self, namespace: &Namespace) -> Result<MemorySnapshot, StoreError> {
        Ok(MemorySnapshot { vectors: Vec::new(), ..self.read(namespace)? })
    }

    /// The vectors of the units in a half-open range of ids, by rising `(unit, view)`.
    ///
    /// # Errors
    /// As [`UnitStore::read`].
    fn read_vectors(
        &self,
        namespace: &Namespace,
        units: Range<UnitId>,
    ) -> Result<Vec<StoredVector>, StoreError> {
        let mut vectors = self.read(namespace)?.vectors;
        vectors.retain(|vector| units.contains(&vector.unit));
        Ok(vectors)
    }

    /// Applies all changes in order, or none.
    ///
    /// # Errors
    /// [`StoreError`] if the changes cannot be written.
    fn apply(&self, namespace: &Namespace, changes: &[StoreOp]) -> Result<(), StoreError>;

    /// Removes what deleted and replaced records left behind.
    ///
    /// # Errors
    /// [`StoreError`] if the store cannot be rewritten; nothing is lost then.
    fn purge(&self) -> Result<(), StoreError>;
}

/// What can go wrong in a store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The name cannot be used.
    #[error("`{name}` is no memory name: 1 to 200 bytes without control characters are needed")]
    Namespace {
        /// The name.
        name: String,
    },
    /// Another process has the store open.
    #[error("memory `{path}` is in use by another process; wait for it or choose another directory")]
    InUse {
        /// The file.
        path: std::path::PathBuf,
    },
    /// The file is not a store, or it is damaged.
    #[error("memory `{path}` is damaged or no FTA-Mem store: {reason}; restore it from an export")]
    Damaged {
        /// The file.
        path: std::path::PathBuf,
        /// What was found.
        reason: String,
    },
    /// The file was written by a version that this one cannot read.
    #[error(
        "memory `{path}` has format `{found}`, this version reads `{supported}`; use the version that wrote it to export"
    )]
    Version {
        /// The file.
        path: std::path::PathBuf,
        /// Format of the file.
        found: u32,
        /// Format that can be read.
        supported: u32,
    },
    /// A change that no store takes; nothing of its batch was written.
    #[error("{what} cannot be stored: {reason}")]
    Refused {
        /// The record.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The operating system or the engine refused.
    #[error("store `{path}` failed: {message}")]
    Backend {
        /// The file.
        path: std::path::PathBuf,
        /// What was said.
        message: String,
    },
}
