//! From a session to stored units: segmentation, extraction, embedding, linking, longitudinal update, one transaction.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use fta_retrieve::views::{ViewText, view_texts};
use fta_segment::{Fragment, Session, TurnSpan};
use fta_units::{
    CandidateUnit, FallbackMark, FallbackStep, Lifecycle, Link, Longitudinal, MemoryMeta, SessionState,
    StoreOp, StoredSession, StoredVector, Unit, UnitId,
    offline::coverage,
    pipeline::{self, PipelineSettings, UnitPipeline},
};

use crate::{
    Error, IngestOutcome, IngestReport,
    edit::{longitudinal_without, release_older},
    fallback::{self, StandIn},
    hash::Fnv,
    linking::Linking,
    parts::{Parts, blocking},
    state::UserState,
};

/// One write of a session: all of it, or what became final of a running one.
pub(crate) struct SessionWrite {
    pub(crate) stored: StoredSession,
    /// What was done by a fallback so far; kept with the session when it is finished.
    pub(crate) marks: Vec<FallbackMark>,
    pub(crate) candidates: Vec<CandidateUnit>,
    /// Units of an earlier version of the session, which are replaced.
    pub(crate) replaced: Vec<UnitId>,
}

/// What a write made.
#[derive(Debug, Clone, Default)]
pub(crate) struct Written {
    pub(crate) units: usize,
    pub(crate) links: usize,
    /// Everything that a fallback did, in this write and before it.
    pub(crate) marks: Vec<FallbackMark>,
}

/// Takes in a whole session; unchanged sessions are left alone, changed ones replaced. One transaction.
pub(crate) async fn ingest(
    parts: &Arc<Parts>,
    state: &Arc<UserState>,
    session: &Session,
) -> Result<IngestReport, Error> {
    session.validate()?;
    let _writing = state.writer.lock().await;
    let fingerprint = fingerprint(parts, session);
    let known = state.read().corpus.session(&session.id).cloned();
    match known.filter(|k| k.fingerprint == fingerprint && k.state.is_finished()) {
        Some(known) => Ok(report_unchanged(state, &known)),
        None => make(parts, state, session).await,
    }
}

/// Makes a session's memory, anew if there is one. The caller holds the writer's lock.
pub(crate) async fn make(
    parts: &Arc<Parts>,
    state: &Arc<UserState>,
    session: &Session,
) -> Result<IngestReport, Error> {
    let building = parts.journal.building();
    let (known, replaced, next_session) = {
        let loaded = state.read();
        let known = loaded.corpus.session(&session.id).map(|k| k.ordinal);
        (known, loaded.corpus.units_of(&session.id).to_vec(), loaded.meta.next_session)
    };
    let (fragments, mark) = segment(parts, session).await?;
    let mut marks: Vec<FallbackMark> = mark.into_iter().collect();
    let mut pipeline = UnitPipeline::new(parts.extractor.clone(), PipelineSettings::default());
    let mut candidates = Vec::new();
    for fragments in pipeline::group(&fragments, parts.extractor.max_group_turns()) {
        let (units, mark) = extract(parts, &mut pipeline, session, fragments).await?;
        candidates.extend(units);
        marks.extend(mark);
    }
    candidates.extend(pipeline.finish());
    let outcome = if known.is_some() { IngestOutcome::Replaced } else { IngestOutcome::Added };
    let stored = StoredSession {
        session: session.clone(),
        fragments,
        state: SessionState::Finished,
        fingerprint: fingerprint(parts, session),
        ordinal: known.unwrap_or(next_session),
    };
    let notes = pipeline.take_notes().iter().map(ToString::to_string).collect();
    let n_fragments = stored.fragments.len();
    let written = write_session(parts, state, SessionWrite { stored, marks, candidates, replaced }).await?;
    building.done()?;
    Ok(IngestReport { notes, ..report(state, session, outcome, (n_fragments, written)) })
}

/// Cuts a session on a blocking thread, since the offline detector may embed turns; with the fallback, and a mark, if the
/// segmenter fails.
async fn segment(
    parts: &Arc<Parts>,
    session: &Session,
) -> Result<(Vec<Fragment>, Option<FallbackMark>), Error> {
    let (parts, session, runtime) = (parts.clone(), session.clone(), tokio::runtime::Handle::current());
    blocking(move || {
        let failed = |source| Error::Segment { session: session.id.clone(), source: Box::new(source) };
        match runtime.block_on(parts.segmenter.segment(&session)) {
            Ok(fragments) => Ok((fragments, None)),
            Err(error) => {
                let (fallback, reason) = fallback::after(parts.fallback.as_ref(), error).map_err(failed)?;
                let fragments = runtime.block_on(fallback.segmenter.segment(&session)).map_err(failed)?;
                Ok((fragments, Some(FallbackMark { step: FallbackStep::Boundaries, reason })))
            }
        }
    })
    .await
}

/// Extracts from neighbouring fragments as one; from each alone by the fallback, with a mark, if the extractor fails.
pub(crate) async fn extract(
    parts: &Parts,
    pipeline: &mut UnitPipeline,
    session: &Session,
    fragments: &[Fragment],
) -> Result<(Vec<CandidateUnit>, Option<FallbackMark>), Error> {
    let error = match pipeline.step_with(&*parts.extractor, session, fragments).await {
        Ok(units) => return Ok((units, None)),
        Err(error) => error,
    };
    let (fallback, reason) = fallback::after(parts.fallback.as_ref(), error)?;
    let stand_in = StandIn { extractor: &*fallback.extractor, wanted: parts.extractor.id() };
    let mut units = Vec::new();
    for fragment in fragments {
        units.extend(pipeline.step_with(&stand_in, session, std::slice::from_ref(fragment)).await?);
    }
    let span = fragments.iter().map(|f| f.span).reduce(TurnSpan::cover);
    Ok((units, span.map(|span| FallbackMark { step: FallbackStep::Units(span), reason })))
}

fn report_unchanged(state: &UserState, known: &StoredSession) -> IngestReport {
    let (units, links) = {
        let loaded = state.read();
        let units = loaded.corpus.units_of(&known.session.id);
        let links = units.iter().map(|&id| loaded.corpus.links_of(id).filter(|l| l.from == id).count()).sum();
        (units.len(), links)
    };
    let marks = known.state.marks().to_vec();
    let counts = (known.fragments.len(), Written { units, links, marks });
    report(state, &known.session, IngestOutcome::Unchanged, counts)
}

pub(crate) fn report(
    state: &UserState,
    session: &Session,
    outcome: IngestOutcome,
    (fragments, written): (usize, Written),
) -> IngestReport {
    let loaded = state.read();
    let units: Vec<&Unit> =
        loaded.corpus.units_of(&session.id).iter().filter_map(|&id| loaded.corpus.unit(id)).collect();
    let coverage = coverage(session, units.iter().map(|u| &u.evidence));
    IngestReport {
        session: session.id.clone(),
        outcome,
        turns: session.turns.len(),
        fragments,
        units: written.units,
        links: written.links,
        content_turns: coverage.content_turns,
        covered_turns: coverage.covered_turns,
        fallbacks: written.marks,
        notes: Vec::new(),
    }
}

/// Writes a session with new units in one transaction. The caller holds the writer's lock.
pub(crate) async fn write_session(
    parts: &Arc<Parts>,
    state: &Arc<UserState>,
    write: SessionWrite,
) -> Result<Written, Error> {
    let meta = state.read().meta.clone();
    let finished = write.stored.state.is_finished();
    let session = write.stored.session.clone();
    let units = with_ids(write.candidates, meta.next_unit);
    let released = release_older(&state.read().corpus, &write.replaced);
    let mut changes: Vec<StoreOp> = write.replaced.iter().map(|&id| StoreOp::DeleteUnit(id)).collect();
    let next_session = meta.next_session.max(write.stored.ordinal + 1);
    changes.push(StoreOp::PutMeta(MemoryMeta {
        next_unit: meta.next_unit + units.len() as u64,
        next_session,
        ..meta.clone()
    }));
    let vectors = embed_units(parts, &units, &session).await?;
    // Units that the replaced ones had closed are linked as they are without those.
    let mut changed: BTreeMap<UnitId, Unit> = released.iter().map(|u| (u.id, u.clone())).collect();
    let linking = Linking::new((parts, state), (&units, &vectors), &write.stored, &write.replaced);
    let linked = linking.run(&mut changed).await?;
    let mut marks = write.marks;
    marks.extend(linked.marks);
    let links = linked.links;
    let mut written = units;
    for own in &mut written {
        if let Some(linked) = changed.remove(&own.id) {
            *own = linked;
        }
    }
    changes.extend(changed.into_values().map(StoreOp::PutUnit));
    changes.extend(written.iter().cloned().map(StoreOp::PutUnit));
    changes.extend(vectors.into_iter().map(StoreOp::PutVector));
    changes.extend(links.iter().copied().map(StoreOp::PutLink));
    let (n_units, n_links) = (written.len(), links.len());
    if finished || !write.replaced.is_empty() {
        let current = longitudinal_without(parts, state, &write.replaced, &released).await?;
        let made = (&session, written, &links[..]);
        let (change, mark) = longitudinal(parts, state, current, made, &write.replaced).await?;
        changes.push(change);
        marks.extend(mark);
    }
    let mut stored = write.stored;
    if finished {
        stored.state = SessionState::finished(marks.clone());
    }
    // Units are indexed with the turns of their session, which must be there first.
    changes.insert(0, StoreOp::PutSession(stored));
    let (parts, state) = (parts.clone(), state.clone());
    blocking(move || state.write(&parts, &changes)).await?;
    Ok(Written { units: n_units, links: n_links, marks })
}

/// Gives candidates their ids and lifecycle.
fn with_ids(candidates: Vec<CandidateUnit>, first: u64) -> Vec<Unit> {
    let ids = first..;
    ids.zip(candidates)
        .map(|(id, candidate)| {
            let event = candidate.time.event.as_ref().and_then(|e| e.interval).map(|interval| interval.first);
            let said = candidate.time.said_at.map(jiff::civil::DateTime::date);
            Unit {
                id: UnitId(id),
                fact: candidate.fact,
                time: candidate.time,
                affect: candidate.affect,
                evidence: candidate.evidence,
                status: candidate.status,
                provenance: candidate.provenance,
                lifecycle: Lifecycle { valid_from: event.or(said), valid_until: None, superseded_by: None },
            }
        })
        .collect()
}

/// Embeds all views of the units, in one batch.
pub(crate) async fn embed_units(
    parts: &Arc<Parts>,
    units: &[Unit],
    session: &Session,
) -> Result<Vec<StoredVector>, Error> {
    let texts = units
        .iter()
        .flat_map(|unit| view_texts(unit, session).into_iter().map(|view| (unit.id, view)))
        .collect();
    embed_views(parts, texts).await
}

/// Embeds views, in one batch.
pub(crate) async fn embed_views(
    parts: &Arc<Parts>,
    texts: Vec<(UnitId, ViewText)>,
) -> Result<Vec<StoredVector>, Error> {
    let parts = parts.clone();
    blocking(move || {
        let batch: Vec<&str> = texts.iter().map(|(_, view)| view.text.as_str()).collect();
        let rows = parts.embedder.embed(&batch)?;
        Ok(texts
            .iter()
            .zip(rows.rows())
            .map(|((unit, view), row)| StoredVector { unit: *unit, view: view.view, values: row.to_vec() })
            .collect())
    })
    .await
}

/// `U` and `H` after the session, from all its units; `current`: before it, without the replaced ones.
async fn longitudinal(
    parts: &Parts,
    state: &UserState,
    current: Longitudinal,
    (session, mut units, links): (&Session, Vec<Unit>, &[Link]),
    replaced: &[UnitId],
) -> Result<(StoreOp, Option<FallbackMark>), Error> {
    {
        let loaded = state.read();
        let known: BTreeSet<UnitId> = replaced.iter().copied().chain(units.iter().map(|u| u.id)).collect();
        let earlier = loaded.corpus.units_of(&session.id).iter().filter(|id| !known.contains(id));
        let mut all: Vec<Unit> = earlier.filter_map(|&id| loaded.corpus.unit(id).cloned()).collect();
        all.append(&mut units);
        units = all;
    }
    let (updated, mark) = match parts.longitudinal.update(&current, &session.id, &units, links).await {
        Ok(updated) => (updated, None),
        Err(error) => {
            let (fallback, reason) = fallback::after(parts.fallback.as_ref(), error)?;
            let updated = fallback.longitudinal.update(&current, &session.id, &units, links).await?;
            (updated, Some(FallbackMark { step: FallbackStep::Longitudinal, reason }))
        }
    };
    Ok((StoreOp::PutLongitudinal(updated), mark))
}

/// Hash of all that a session's units depend on: turns, times, and the versions of the parts that make units.
pub(crate) fn fingerprint(parts: &Parts, session: &Session) -> u64 {
    let mut hash = Fnv::default();
    // Not the embedder: all of a memory's vectors are of one model, whatever it is, and are not what units are made of.
    for id in [parts.segmenter.id(), parts.extractor.id(), parts.classifier.id()] {
        hash.field(id.as_bytes());
    }
    hash.field(format!("{:?}", session.started_at).as_bytes());
    for turn in &session.turns {
        hash.field(turn.source_id.as_bytes());
        hash.field(turn.speaker.as_bytes());
        hash.field(format!("{:?} {:?}", turn.role, turn.at).as_bytes());
        hash.field(turn.text.as_bytes());
        hash.field(turn.caption.as_deref().unwrap_or("").as_bytes());
    }
    hash.value()
}
