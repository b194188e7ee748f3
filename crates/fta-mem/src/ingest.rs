//! From a session to stored units: segmentation, extraction, embedding, linking, longitudinal update, one transaction.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use fta_retrieve::views::{RHO, ViewText, unit_view, view_texts};
use fta_segment::{Fragment, Session};
use fta_units::{
    CandidateUnit, Lifecycle, Link, Longitudinal, MemoryMeta, Neighbour, Relation, SessionState, StoreOp,
    StoredSession, StoredVector, Unit, UnitId, link,
    offline::coverage,
    pipeline::{PipelineSettings, UnitPipeline},
};

use crate::{
    Error, IngestOutcome, IngestReport,
    edit::{longitudinal_without, release_older},
    parts::{Parts, blocking},
    state::UserState,
};

/// One write of a session: all of it, or what became final of a running one.
pub(crate) struct SessionWrite {
    pub(crate) stored: StoredSession,
    pub(crate) candidates: Vec<CandidateUnit>,
    /// Units of an earlier version of the session, which are replaced.
    pub(crate) replaced: Vec<UnitId>,
}

/// What a write made.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Written {
    pub(crate) units: usize,
    pub(crate) links: usize,
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
    let (known, replaced, meta) = {
        let loaded = state.read();
        let known = loaded.corpus.session(&session.id).cloned();
        (known, loaded.corpus.units_of(&session.id).to_vec(), loaded.meta.clone())
    };
    if let Some(known) = known.as_ref().filter(|k| k.fingerprint == fingerprint && k.state.is_finished()) {
        return Ok(report_unchanged(state, known));
    }
    let fragments = segment(parts, session).await?;
    let mut pipeline = UnitPipeline::new(parts.extractor.clone(), PipelineSettings::default());
    let mut candidates = Vec::new();
    for &fragment in &fragments {
        candidates.extend(pipeline.step(session, fragment).await?);
    }
    candidates.extend(pipeline.finish());
    let outcome = if known.is_some() { IngestOutcome::Replaced } else { IngestOutcome::Added };
    let stored = StoredSession {
        session: session.clone(),
        fragments,
        state: SessionState::Finished,
        fingerprint,
        ordinal: known.map_or(meta.next_session, |k| k.ordinal),
    };
    let notes = pipeline.take_notes().iter().map(ToString::to_string).collect();
    let n_fragments = stored.fragments.len();
    let written = write_session(parts, state, SessionWrite { stored, candidates, replaced }).await?;
    Ok(IngestReport { notes, ..report(state, session, outcome, (n_fragments, written)) })
}

/// Segments on a blocking thread: the offline detector embeds turns.
async fn segment(parts: &Arc<Parts>, session: &Session) -> Result<Vec<Fragment>, Error> {
    let (parts, session, runtime) = (parts.clone(), session.clone(), tokio::runtime::Handle::current());
    blocking(move || {
        let fragments = runtime.block_on(parts.segmenter.segment(&session));
        fragments.map_err(|source| Error::Segment { session: session.id.clone(), source })
    })
    .await
}

fn report_unchanged(state: &UserState, known: &StoredSession) -> IngestReport {
    let (units, links) = {
        let loaded = state.read();
        let units = loaded.corpus.units_of(&known.session.id);
        let links = units.iter().map(|&id| loaded.corpus.links_of(id).filter(|l| l.from == id).count()).sum();
        (units.len(), links)
    };
    let counts = (known.fragments.len(), Written { units, links });
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
    changes.push(StoreOp::PutSession(write.stored));
    let vectors = embed_units(parts, &units, &session).await?;
    // Units that the replaced ones had closed are linked as they are without those.
    let mut changed: BTreeMap<UnitId, Unit> = released.iter().map(|u| (u.id, u.clone())).collect();
    let links = link_units(parts, state, (&units, &mut changed), (&vectors, &write.replaced)).await?;
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
    let counts = Written { units: written.len(), links: links.len() };
    if finished || !write.replaced.is_empty() {
        let current = longitudinal_without(parts, state, &write.replaced, &released).await?;
        changes
            .push(longitudinal(parts, state, current, (&session, written, &links), &write.replaced).await?);
    }
    let (parts, state) = (parts.clone(), state.clone());
    blocking(move || state.write(&parts, &changes)).await?;
    Ok(counts)
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
    let texts: Vec<(UnitId, ViewText)> = units
        .iter()
        .flat_map(|unit| view_texts(unit, session).into_iter().map(|view| (unit.id, view)))
        .collect();
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

/// Links each new unit to its nearest older units, those of the same write included. `changed`: units that the write
/// changes, to which those are added that a link changes.
async fn link_units(
    parts: &Parts,
    state: &UserState,
    (units, changed): (&[Unit], &mut BTreeMap<UnitId, Unit>),
    (vectors, replaced): (&[StoredVector], &[UnitId]),
) -> Result<Vec<Link>, Error> {
    let rho: Vec<&StoredVector> = vectors.iter().filter(|v| v.view == RHO).collect();
    let own: BTreeMap<UnitId, &Unit> = units.iter().map(|u| (u.id, u)).collect();
    let replaced: BTreeSet<UnitId> = replaced.iter().copied().collect();
    let mut links = Vec::new();
    for (position, unit) in units.iter().enumerate() {
        let mut near = nearest_older(parts, state, (&rho, position), &replaced)?;
        near.extend(older_of_interest(parts, state, (units, &rho, position), (&near, &replaced))?);
        let older: Vec<(Unit, f32)> = {
            let loaded = state.read();
            let current = |id: UnitId| {
                changed.get(&id).or_else(|| own.get(&id).copied()).or_else(|| loaded.corpus.unit(id))
            };
            near.iter().filter_map(|&(id, similarity)| Some((current(id)?.clone(), similarity))).collect()
        };
        if older.is_empty() {
            continue;
        }
        let neighbours: Vec<Neighbour<'_>> =
            older.iter().map(|(unit, similarity)| Neighbour { unit, similarity: *similarity }).collect();
        let labels: Vec<Option<Relation>> = parts.classifier.classify(unit, &neighbours).await?;
        for ((mut older, similarity), relation) in older.into_iter().zip(labels) {
            let Some(relation) = relation else { continue };
            links.push(Link { from: unit.id, to: older.id, relation, similarity });
            if link::effect(unit, &older, relation).apply(&mut older) {
                changed.insert(older.id, older);
            }
        }
    }
    Ok(links)
}

/// The nearest older units of the new unit at `position`, nearest first: from the index and from the same write.
///
/// Looks at every older unit once, as an exact index does: `O(units * dim)`.
fn nearest_older(
    parts: &Parts,
    state: &UserState,
    (rho, position): (&[&StoredVector], usize),
    replaced: &BTreeSet<UnitId>,
) -> Result<Vec<(UnitId, f32)>, Error> {
    let linking = &parts.config.linking;
    let query = rho[position];
    let allowed = |id: u64| {
        let (unit, view) = unit_view(id);
        view == RHO && !replaced.contains(&unit)
    };
    let hits = state.read().index.search(&query.values, linking.neighbours, Some(&allowed))?;
    let mut near: Vec<(UnitId, f32)> = hits.into_iter().map(|hit| (unit_view(hit.id).0, hit.score)).collect();
    near.extend(rho[..position].iter().map(|v| (v.unit, dot(&v.values, &query.values))));
    near.retain(|(_, similarity)| *similarity >= linking.min_similarity);
    let nearer = |a: &(UnitId, f32), b: &(UnitId, f32)| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0));
    if linking.neighbours > 0 && near.len() > linking.neighbours {
        near.select_nth_unstable_by(linking.neighbours - 1, nearer);
    }
    near.truncate(linking.neighbours);
    near.sort_by(nearer);
    Ok(near)
}

/// Older units that are not among the nearest, and may have a link all the same: those that share rare words, open plans
/// of the same person, and what was said just before.
fn older_of_interest(
    parts: &Parts,
    state: &UserState,
    (units, rho, position): (&[Unit], &[&StoredVector], usize),
    (near, replaced): (&[(UnitId, f32)], &BTreeSet<UnitId>),
) -> Result<Vec<(UnitId, f32)>, Error> {
    let (linking, unit, query) = (&parts.config.linking, &units[position], rho[position]);
    let known = |id: &UnitId| near.iter().any(|(n, _)| n == id) || replaced.contains(id);
    let loaded = state.read();
    let mut by_words: Vec<(UnitId, f32)> = loaded.corpus.lexical(&unit.fact.claim).0.into_iter().collect();
    by_words.retain(|(id, _)| !known(id));
    by_words.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    by_words.truncate(linking.by_words);
    let person = unit.fact.participants.first();
    let mut plans: Vec<UnitId> = loaded
        .corpus
        .units()
        .filter(|u| link::is_open(u) && u.fact.participants.first() == person)
        .map(|u| u.id)
        .collect();
    plans.retain(|id| !known(id));
    let plans = plans.iter().rev().take(linking.open_plans).copied();
    let wanted: BTreeSet<UnitId> = by_words.iter().map(|(id, _)| *id).chain(plans).collect();
    let mut found: Vec<(UnitId, f32)> = Vec::new();
    if !wanted.is_empty() {
        let allowed = |id: u64| {
            let (unit, view) = unit_view(id);
            view == RHO && wanted.contains(&unit)
        };
        let hits = loaded.index.search(&query.values, wanted.len(), Some(&allowed))?;
        found.extend(hits.into_iter().map(|hit| (unit_view(hit.id).0, hit.score)));
    }
    let preceding = &rho[position.saturating_sub(linking.preceding)..position];
    let preceding = preceding.iter().filter(|v| !known(&v.unit));
    found.extend(preceding.map(|v| (v.unit, dot(&v.values, &query.values))));
    Ok(found)
}

/// Scalar product, in eight sums side by side: a single sum fixes an order that no vector instruction can keep.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0_f32; 8];
    for (x, y) in a.iter().zip(b) {
        for lane in 0..8 {
            sums[lane] += x[lane] * y[lane];
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f32>() + rest
}

/// `U` and `H` after the session, from all its units; `current`: before it, without the replaced ones.
async fn longitudinal(
    parts: &Parts,
    state: &UserState,
    current: Longitudinal,
    (session, mut units, links): (&Session, Vec<Unit>, &[Link]),
    replaced: &[UnitId],
) -> Result<StoreOp, Error> {
    {
        let loaded = state.read();
        let known: BTreeSet<UnitId> = replaced.iter().copied().chain(units.iter().map(|u| u.id)).collect();
        let earlier = loaded.corpus.units_of(&session.id).iter().filter(|id| !known.contains(id));
        let mut all: Vec<Unit> = earlier.filter_map(|&id| loaded.corpus.unit(id).cloned()).collect();
        all.append(&mut units);
        units = all;
    }
    let updated = parts.longitudinal.update(&current, &session.id, &units, links).await?;
    Ok(StoreOp::PutLongitudinal(updated))
}

/// Hash of all that a session's units depend on: turns, times, and the versions of the parts that make units.
pub(crate) fn fingerprint(parts: &Parts, session: &Session) -> u64 {
    let mut hash = Fnv::default();
    for id in [parts.segmenter.id(), parts.extractor.id(), parts.classifier.id(), parts.embedder.model_id()] {
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
    hash.0
}

/// FNV-1a: stored with sessions, so it must not change between versions as the standard library's hasher may.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds a field and its length, so that "ab", "c" and "a", "bc" differ.
    fn field(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
