//! Doing again what a fallback did, and only that.

use std::{collections::BTreeSet, sync::Arc};

use fta_segment::{Fragment, TurnSpan};
use fta_units::{
    CandidateUnit, FallbackMark, FallbackStep, SessionState, StoredSession, Unit, UnitId, UnitStatus,
    pipeline::{self, PipelineSettings, UnitPipeline},
};

use crate::{
    Error, IngestOutcome, IngestReport,
    ingest::{self, SessionWrite, report, write_session},
    parts::Parts,
    state::UserState,
};

/// Does again what fallbacks did, session by session, each in one transaction; sessions in order of ingestion.
///
/// Units that a person corrected are left alone. Units that are made or linked anew get new ids.
pub(crate) async fn retry(parts: &Arc<Parts>, state: &Arc<UserState>) -> Result<Vec<IngestReport>, Error> {
    let _writing = state.writer.lock().await;
    let marked: Vec<StoredSession> = {
        let loaded = state.read();
        let sessions = loaded.corpus.sessions().into_iter();
        sessions.filter(|s| !s.state.marks().is_empty()).cloned().collect()
    };
    let mut reports = Vec::with_capacity(marked.len());
    for stored in marked {
        let badly_cut = stored.state.marks().iter().any(|m| m.step == FallbackStep::Boundaries);
        // Other boundaries make other fragments, so nothing of the session's units could stay; a correction must.
        let corrected = {
            let corpus = &state.read().corpus;
            let units = corpus.units_of(&stored.session.id).iter();
            units.filter_map(|&id| corpus.unit(id)).any(|u| u.provenance.corrected_at.is_some())
        };
        reports.push(if badly_cut && !corrected {
            ingest::make(parts, state, &stored.session).await?
        } else {
            redo(parts, state, stored).await?
        });
    }
    Ok(reports)
}

/// Makes the marked parts of one session anew.
async fn redo(
    parts: &Arc<Parts>,
    state: &Arc<UserState>,
    stored: StoredSession,
) -> Result<IngestReport, Error> {
    let building = parts.journal.building();
    let session = stored.session.clone();
    let own: Vec<Unit> = {
        let loaded = state.read();
        let ids = loaded.corpus.units_of(&session.id);
        ids.iter().filter_map(|&id| loaded.corpus.unit(id).cloned()).collect()
    };
    let mut work = Redo::default();
    let marks = stored.state.marks();
    let spans =
        marks.iter().filter_map(|m| if let FallbackStep::Units(span) = m.step { Some(span) } else { None });
    work.extract(parts, &stored, (spans.collect(), &own)).await?;
    for mark in marks {
        match &mark.step {
            FallbackStep::Relations(units) => work.link(units, &own),
            // A session with a correction keeps its boundaries, and says so.
            FallbackStep::Boundaries => work.marks.push(mark.clone()),
            // Any write of a finished session brings U and H up to date.
            FallbackStep::Units(_) | FallbackStep::Longitudinal => {}
        }
    }
    let outcome = IngestOutcome::Replaced;
    let n_fragments = stored.fragments.len();
    let write = SessionWrite {
        stored: StoredSession { state: SessionState::Finished, ..stored },
        marks: work.marks,
        candidates: work.candidates,
        replaced: work.replaced.into_iter().collect(),
    };
    let written = write_session(parts, state, write).await?;
    building.done()?;
    Ok(IngestReport { notes: work.notes, ..report(state, &session, outcome, (n_fragments, written)) })
}

/// What one session's marks ask for.
#[derive(Default)]
struct Redo {
    candidates: Vec<CandidateUnit>,
    replaced: BTreeSet<UnitId>,
    marks: Vec<FallbackMark>,
    notes: Vec<String>,
}

impl Redo {
    /// Extracts from the fragments of spans again, in order, so that a partial unit is carried from one to the next; what
    /// the fallback had made of them goes.
    async fn extract(
        &mut self,
        parts: &Parts,
        stored: &StoredSession,
        (spans, own): (Vec<TurnSpan>, &[Unit]),
    ) -> Result<(), Error> {
        let made_by_fallback = |unit: &Unit| {
            let turns = unit.evidence.turns;
            unit.provenance.is_fallback()
                && unit.provenance.corrected_at.is_none()
                && spans.iter().any(|span| turns.start < span.end && span.start < turns.end)
        };
        let (gone, stay): (Vec<&Unit>, Vec<&Unit>) = own.iter().partition(|u| made_by_fallback(u));
        self.replaced.extend(gone.iter().map(|u| u.id));
        let mut pipeline = UnitPipeline::new(parts.extractor.clone(), PipelineSettings::default());
        for span in &spans {
            // What began before the span was half said there, and would not be found again.
            let begun = |u: &&&Unit| {
                let turns = u.evidence.turns;
                turns.start < span.start && span.start < turns.end
            };
            gone.iter().filter(begun).for_each(|u| pipeline.carry(as_candidate(u)));
            let inside = |f: &&Fragment| span.start <= f.span.start && f.span.end <= span.end;
            let fragments: Vec<Fragment> = stored.fragments.iter().filter(inside).copied().collect();
            for group in pipeline::group(&fragments, parts.extractor.max_group_turns()) {
                let (units, mark) = ingest::extract(parts, &mut pipeline, &stored.session, group).await?;
                self.candidates.extend(units);
                self.marks.extend(mark);
            }
        }
        self.candidates.extend(pipeline.finish());
        self.notes.extend(pipeline.take_notes().iter().map(ToString::to_string));
        // A partial unit that a later fragment had completed then is partial again now; the completed one says it all.
        self.candidates.retain(|candidate| {
            let turns = candidate.evidence.turns;
            candidate.status != UnitStatus::Partial
                || !stay.iter().any(|u| u.evidence.turns.cover(turns) == u.evidence.turns)
        });
        Ok(())
    }

    /// Puts units in again as they are, so that they are linked anew. Those that are made anew already are left out.
    fn link(&mut self, units: &[UnitId], own: &[Unit]) {
        let again = |unit: &&Unit| units.contains(&unit.id) && unit.provenance.corrected_at.is_none();
        for unit in own.iter().filter(again) {
            if self.replaced.insert(unit.id) {
                self.candidates.push(as_candidate(unit));
            }
        }
    }
}

/// The unit as it was before it was stored.
fn as_candidate(unit: &Unit) -> CandidateUnit {
    CandidateUnit {
        fact: unit.fact.clone(),
        time: unit.time.clone(),
        affect: unit.affect.clone(),
        evidence: unit.evidence.clone(),
        status: unit.status,
        provenance: unit.provenance.clone(),
    }
}
