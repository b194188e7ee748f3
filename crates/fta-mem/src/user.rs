//! The memory of one user.

use fta_retrieve::Packet;
use fta_segment::{Session, SessionId};
use fta_units::{Link, Longitudinal, Namespace, StoredSession, Unit, UnitId};
use jiff::civil::DateTime;

use crate::{
    Asked, Correction, Deleted, Error, IngestReport, ListFilter, MemoryStats, RetrieveOptions, RunningSession, UnitView,
    transfer::ImportReport,
};

/// The memory of one user.
#[derive(Clone)]
pub struct UserMemory {}

impl UserMemory {
    /// Its name.
    pub fn namespace(&self) -> &Namespace {
        todo!()
    }
    /// Takes in a session.
    pub async fn ingest(&self, _session: &Session) -> Result<IngestReport, Error> {
        todo!()
    }
    /// Begins a session whose turns arrive one by one.
    pub async fn begin(&self, _id: SessionId, _started_at: Option<DateTime>) -> Result<RunningSession, Error> {
        todo!()
    }
    /// Retrieves the packet for a question.
    pub async fn retrieve(&self, _question: &str, _options: &RetrieveOptions) -> Result<Packet, Error> {
        todo!()
    }
    /// Answers a question.
    pub async fn ask(&self, _question: &str, _options: &RetrieveOptions) -> Result<Asked, Error> {
        todo!()
    }
    /// Lists units by time.
    pub fn list(&self, _filter: &ListFilter) -> Vec<Unit> {
        todo!()
    }
    /// One unit with evidence and links.
    pub fn show(&self, _id: UnitId) -> Result<UnitView, Error> {
        todo!()
    }
    /// All links.
    pub fn links(&self) -> Vec<Link> {
        todo!()
    }
    /// All sessions.
    pub fn sessions(&self) -> Vec<StoredSession> {
        todo!()
    }
    /// `U` and `H`.
    pub fn longitudinal(&self) -> Longitudinal {
        todo!()
    }
    /// Figures.
    pub fn stats(&self) -> MemoryStats {
        todo!()
    }
    /// Corrects a unit.
    pub async fn correct(&self, _id: UnitId, _correction: &Correction) -> Result<Unit, Error> {
        todo!()
    }
    /// Deletes a unit.
    pub async fn delete_unit(&self, _id: UnitId) -> Result<Deleted, Error> {
        todo!()
    }
    /// Deletes a session.
    pub async fn delete_session(&self, _id: &SessionId) -> Result<Deleted, Error> {
        todo!()
    }
    /// Deletes all.
    pub async fn delete_all(&self) -> Result<Deleted, Error> {
        todo!()
    }
    /// Writes everything as JSON lines; returns the number of lines.
    pub fn export(&self, _out: &mut dyn std::io::Write) -> Result<usize, Error> {
        todo!()
    }
    /// Reads what [`UserMemory::export`] wrote.
    pub async fn import(&self, _input: &mut dyn std::io::BufRead) -> Result<ImportReport, Error> {
        todo!()
    }
    /// Rebuilds the index from the store; returns the number of vectors.
    pub fn rebuild_index(&self) -> Result<usize, Error> {
        todo!()
    }
}
