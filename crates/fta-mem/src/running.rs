//! A session that is still running: its turns arrive one by one.

use std::sync::Arc;

use fta_segment::{Fragment, IncrementalSegmenter, SegmentError, Session, SessionId, Turn};
use fta_units::{
    CandidateUnit, FallbackMark, FallbackStep, SessionState, StoredSession, UnitId,
    pipeline::{self, PipelineSettings, UnitPipeline},
};
use jiff::civil::DateTime;

use crate::{
    Error, IngestOutcome, IngestReport, fallback,
    ingest::{SessionWrite, Written, extract, fingerprint, report, write_session},
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
    /// How many of `fragments` were extracted from; the rest waits for its group to be full.
    extracted: usize,
    marks: Vec<FallbackMark>,
    /// Units that are not written yet; they wait here if a later step fails.
    candidates: Vec<CandidateUnit>,
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
            extracted: 0,
            marks: Vec::new(),
            candidates: Vec::new(),
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
        let parts = self.parts.clone();
        let building = parts.journal.building();
        turn.index = self.session.turns.len() as u32;
        self.session.turns.push(turn.clone());
        match self.segmenter.push(turn).await {
            Ok(fragments) => self.take(fragments),
            Err(error) => self.segment_by_fallback(error, false).await?,
        }
        self.extract(false).await?;
        self.write(SessionState::Running).await?;
        building.done()
    }

    /// Ends the session: the rest becomes final, and the longitudinal memory is updated.
    ///
    /// # Errors
    /// [`fta_segment::DialogueError::NoTurns`] for a session without turns; else the [`Error`] of the step that failed.
    pub async fn finish(mut self) -> Result<IngestReport, Error> {
        self.session.validate()?;
        let parts = self.parts.clone();
        let building = parts.journal.building();
        match self.segmenter.finish().await {
            Ok(fragments) => self.take(fragments),
            Err(error) => self.segment_by_fallback(error, true).await?,
        }
        self.extract(true).await?;
        self.candidates.extend(self.pipeline.finish());
        self.write(SessionState::Finished).await?;
        building.done()?;
        let notes = self.pipeline.take_notes().iter().map(ToString::to_string).collect();
        let counts = (self.fragments.len(), std::mem::take(&mut self.written));
        Ok(IngestReport { notes, ..report(&self.state, &self.session, self.outcome, counts) })
    }

    /// Goes on with the fallback's segmenter: what was cut stays, the rest is cut anew.
    async fn segment_by_fallback(&mut self, error: SegmentError, finish: bool) -> Result<(), Error> {
        let id = self.session.id.clone();
        let failed = |source| Error::Segment { session: id.clone(), source: Box::new(source) };
        let (fallback, reason) = fallback::after(self.parts.fallback.as_ref(), error).map_err(failed)?;
        let mut segmenter = fallback.segmenter.incremental(self.session.id.clone(), self.session.started_at);
        let mut fragments = Vec::new();
        for turn in &self.session.turns {
            fragments.extend(segmenter.push(turn.clone()).await.map_err(failed)?);
        }
        if finish {
            fragments.extend(segmenter.finish().await.map_err(failed)?);
        }
        self.segmenter = segmenter;
        self.marks.push(FallbackMark { step: FallbackStep::Boundaries, reason });
        self.take(fragments);
        Ok(())
    }

    /// Takes final fragments, without what lies before the end of those that are there.
    fn take(&mut self, fragments: Vec<Fragment>) {
        for mut fragment in fragments {
            let end = self.fragments.last().map_or(0, |f| f.span.end);
            fragment.span.start = fragment.span.start.max(end);
            if !fragment.span.is_empty() {
                self.fragments.push(fragment);
            }
        }
    }

    /// Extracts from the groups of fragments that are full, or from all that is left. A group is full when another
    /// fragment follows that does not fit in, so the groups are those of a whole ingest.
    async fn extract(&mut self, all: bool) -> Result<(), Error> {
        let waiting = self.fragments[self.extracted..].to_vec();
        let max_turns = self.parts.extractor.max_group_turns();
        let mut groups = pipeline::group(&waiting, max_turns);
        if !all && max_turns > 0 {
            groups.pop();
        }
        for fragments in groups {
            let (units, mark) = extract(&self.parts, &mut self.pipeline, &self.session, fragments).await?;
            self.candidates.extend(units);
            self.marks.extend(mark);
            self.extracted += fragments.len();
        }
        Ok(())
    }

    async fn write(&mut self, state: SessionState) -> Result<(), Error> {
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
        // What is written leaves here only when it is written, so that a failure loses nothing.
        let write = SessionWrite {
            stored,
            marks: self.marks.clone(),
            candidates: self.candidates.clone(),
            replaced: self.replaced.clone(),
        };
        let written = write_session(&self.parts, &self.state, write).await?;
        self.candidates.clear();
        self.replaced.clear();
        self.written.units += written.units;
        self.written.links += written.links;
        self.marks.clone_from(&written.marks);
        self.written.marks = written.marks;
        Ok(())
    }
}
