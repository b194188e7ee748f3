//! A session that is still running.

use fta_segment::{SessionId, Turn};

use crate::{Error, IngestReport};

/// A session that is still running.
pub struct RunningSession {}

impl RunningSession {
    /// The session.
    pub fn id(&self) -> &SessionId {
        todo!()
    }
    /// Adds a turn: stored at once; units of fragments that became final are stored with it.
    pub async fn push(&mut self, _turn: Turn) -> Result<(), Error> {
        todo!()
    }
    /// Ends the session.
    pub async fn finish(self) -> Result<IngestReport, Error> {
        todo!()
    }
}
