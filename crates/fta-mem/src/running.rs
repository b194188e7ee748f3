//! A session that is still running: its turns arrive one by one.

use std::sync::Arc;

use fta_segment::{Fragment, IncrementalSegmenter, Session, SessionId, Turn};
use fta_units::{
    CandidateUnit, SessionState, StoredSession, UnitId,
    pipeline::{PipelineSettings, UnitPipeline},
};
use jiff::civil::DateTime;

use crate::{
    Error, IngestOutcome, IngestReport,
    ingest::{SessionWrite, Written, fingerprint, report, write_session},
    parts::Parts,
    state::UserState,
};

/// A session that is still running.
///
/// Every turn is stored when [`RunningSession::push`] returns, and units of fragments that became final can be
/// retrieved from then on. After a crash the stored turns are there; begin the session again with the same id and push
/// all its turns, and it is made anew. The result after [`RunningSession::finish`] is that of a whole ingest.
pub struct RunningSession {
    parts: Arc<Parts>,
    state: Arc<UserState>,
    session: Session,
    segmenter: Box<dyn IncrementalSegmenter>,
    pipeline: UnitPipeline,
    fragments: Vec<Fragment>,
    ordinal: Option<u64>,
    /// Units of an earlier version, until the first write replaces them.
    replaced: Vec<UnitId>,
    outcome: IngestOutcome,
    written: Written,
}

impl RunningSession {
    pub(crate) fn begin(
        parts: Arc<Parts>,
        state: Arc<UserState>,
        id: SessionId,
        started_at: Option<DateTime>,
    ) -> Result<Self, Error> {
        if id.0.trim().is_empty() {
            return Err(fta_segment::DialogueError::EmptySessionId.into());
        }
        let (replaced, ordinal) = {
            let loaded = state.read();
            (loaded.corpus.units_of(&id).to_vec(), loaded.corpus.session(&id).map(|s| s.ordinal))
        };
        let outcome = if ordinal.is_some() { IngestOutcome::Replaced } else { IngestOutcome::Added };
        Ok(Self {
            segmenter: parts.segmenter.incremental(id.clone(), started_at),
            pipeline: UnitPipeline::new(parts.extractor.clone(), PipelineSettings::default()),
            session: Session { id, started_at, turns: Vec::new() },
            fragments: Vec::new(),
            written: Written::default(),
            parts,
            state,
            ordinal,
            replaced,
            outcome,
        })
    }

    /// The session.
    pub fn id(&self) -> &SessionId {
        &self.session.id
    }

    /// Adds a turn; it is stored when the call returns. Its index is set to the next one.
    ///
    /// # Errors
    /// [`Error`] of the step that failed. The turn is kept in the session; call [`RunningSession::finish`] or push the
    /// next turn to go on.
    pub async fn push(&mut self, mut turn: Turn) -> Result<(), Error> {
        turn.index = self.session.turns.len() as u32;
        self.session.turns.push(turn.clone());
        let fragments = self.segmenter.push(turn).await.map_err(|source| self.segment_error(source))?;
        let candidates = self.extract(&fragments).await?;
        self.write(candidates, SessionState::Running).await
    }

    /// Ends the session: the rest becomes final, and the longitudinal memory is updated.
    ///
    /// # Errors
    /// [`fta_segment::DialogueError::NoTurns`] for a session without turns; else the [`Error`] of the step that failed.
    pub async fn finish(mut self) -> Result<IngestReport, Error> {
        self.session.validate()?;
        let fragments = self.segmenter.finish().await.map_err(|source| self.segment_error(source))?;
        let mut candidates = self.extract(&fragments).await?;
        candidates.extend(self.pipeline.finish());
        self.write(candidates, SessionState::Finished).await?;
        let notes = self.pipeline.take_notes().iter().map(ToString::to_string).collect();
        let counts = (self.fragments.len(), self.written);
        Ok(IngestReport { notes, ..report(&self.state, &self.session, self.outcome, counts) })
    }

    fn segment_error(&self, source: fta_segment::SegmentError) -> Error {
        Error::Segment { session: self.session.id.clone(), source }
    }

    async fn extract(&mut self, fragments: &[Fragment]) -> Result<Vec<CandidateUnit>, Error> {
        let mut candidates = Vec::new();
        for &fragment in fragments {
            candidates.extend(self.pipeline.step(&self.session, fragment).await?);
            self.fragments.push(fragment);
        }
        Ok(candidates)
    }

    async fn write(&mut self, candidates: Vec<CandidateUnit>, state: SessionState) -> Result<(), Error> {
        let _writing = self.state.writer.lock().await;
        let ordinal = *self.ordinal.get_or_insert_with(|| self.state.read().meta.next_session);
        // Only a finished session can be found unchanged, so the hash over all its turns is made once.
        let finished = state.is_finished();
        let stored = StoredSession {
            session: self.session.clone(),
            fragments: self.fragments.clone(),
            state,
            fingerprint: if finished { fingerprint(&self.parts, &self.session) } else { 0 },
            ordinal,
        };
        let replaced = std::mem::take(&mut self.replaced);
        let written =
            write_session(&self.parts, &self.state, SessionWrite { stored, candidates, replaced }).await?;
        self.written.units += written.units;
        self.written.links += written.links;
        Ok(())
    }
}
