//! Correcting and deleting: a person's rights over the memory (spec section 9.8).

use std::{collections::BTreeSet, sync::Arc};

use fta_retrieve::Corpus;
use fta_segment::SessionId;
use fta_units::{
    Completion, Relation, StoreOp, Unit, UnitId, UnitStatus, longitudinal,
    time::{TimeContext, find_times},
};

use crate::{
    Correction, Deleted, Error,
    ingest::embed_units,
    parts::{Parts, blocking},
    state::UserState,
};

/// Changes that undo what units about to vanish did to others: validity that they closed, plans that they completed.
pub(crate) fn release_older(corpus: &Corpus, gone: &[UnitId]) -> Vec<StoreOp> {
    let gone: BTreeSet<UnitId> = gone.iter().copied().collect();
    let mut changes = Vec::new();
    for unit in corpus.units().filter(|u| !gone.contains(&u.id)) {
        let mut unit = unit.clone();
        let mut changed = false;
        if unit.lifecycle.superseded_by.is_some_and(|by| gone.contains(&by)) {
            unit.lifecycle.superseded_by = None;
            unit.lifecycle.valid_until = None;
            changed = true;
        }
        let followers: Vec<UnitId> = corpus
            .links_of(unit.id)
            .filter(|l| l.to == unit.id && l.relation == Relation::FollowUp)
            .map(|l| l.from)
            .collect();
        let was_open = unit.affect.intention.is_some()
            && matches!(unit.time.completion, Completion::Completed | Completion::Cancelled);
        if was_open && !followers.is_empty() && followers.iter().all(|id| gone.contains(id)) {
            unit.time.completion = Completion::Planned;
            unit.status = UnitStatus::Pending;
            changed = true;
        }
        if changed {
            changes.push(StoreOp::PutUnit(unit));
        }
    }
    changes
}

/// Deletes units (and, with them, a session's record), then purges the store: no byte of them is left.
pub(crate) async fn delete(
    parts: &Arc<Parts>,
    state: &Arc<UserState>,
    units: Vec<UnitId>,
    session: Option<&SessionId>,
) -> Result<Deleted, Error> {
    let (changes, deleted) = {
        let loaded = state.read();
        let mut changes = release_older(&loaded.corpus, &units);
        let mut links = BTreeSet::new();
        for &id in &units {
            links.extend(loaded.corpus.links_of(id).map(|l| (l.from, l.to)));
            changes.push(StoreOp::DeleteUnit(id));
        }
        changes.extend(session.map(|id| StoreOp::DeleteSession(id.clone())));
        changes
            .push(StoreOp::PutLongitudinal(longitudinal::remove_units(loaded.corpus.longitudinal(), &units)));
        let vectors = loaded.index.len();
        let deleted = Deleted {
            sessions: usize::from(session.is_some()),
            units: units.len(),
            links: links.len(),
            vectors,
        };
        (changes, deleted)
    };
    apply_and_purge(parts, state, changes).await?;
    Ok(Deleted { vectors: deleted.vectors - state.read().index.len(), ..deleted })
}

/// Deletes everything of one user, then purges the store.
pub(crate) async fn delete_all(parts: &Arc<Parts>, state: &Arc<UserState>) -> Result<Deleted, Error> {
    let deleted = {
        let loaded = state.read();
        Deleted {
            sessions: loaded.corpus.sessions().len(),
            units: loaded.corpus.len(),
            links: loaded.corpus.links().len(),
            vectors: loaded.index.len(),
        }
    };
    apply_and_purge(parts, state, vec![StoreOp::DeleteAll]).await?;
    Ok(deleted)
}

async fn apply_and_purge(
    parts: &Arc<Parts>,
    state: &Arc<UserState>,
    changes: Vec<StoreOp>,
) -> Result<(), Error> {
    let (parts, state) = (parts.clone(), state.clone());
    blocking(move || {
        state.write(&parts, &changes)?;
        Ok(parts.store.purge()?)
    })
    .await
}

/// Corrects a unit: same id and evidence, links kept, embedded anew.
pub(crate) async fn correct(
    parts: &Arc<Parts>,
    state: &Arc<UserState>,
    id: UnitId,
    correction: &Correction,
) -> Result<Unit, Error> {
    let (old, session, links) = {
        let loaded = state.read();
        let old = loaded.corpus.unit(id).cloned().ok_or(Error::NoUnit { id })?;
        let stored = loaded.corpus.session(&old.evidence.session);
        let session = stored
            .map(|s| s.session.clone())
            .ok_or_else(|| Error::NoSession { session: old.evidence.session.clone() })?;
        let links: Vec<StoreOp> = loaded.corpus.links_of(id).copied().map(StoreOp::PutLink).collect();
        (old, session, links)
    };
    let unit = corrected(old, correction)?;
    let vectors = embed_units(parts, std::slice::from_ref(&unit), &session).await?;
    // Deleting first removes vectors of views that the corrected unit no longer has.
    let mut changes = vec![StoreOp::DeleteUnit(id), StoreOp::PutUnit(unit.clone())];
    changes.extend(vectors.into_iter().map(StoreOp::PutVector));
    changes.extend(links);
    let (parts, state) = (parts.clone(), state.clone());
    blocking(move || state.write(&parts, &changes)).await?;
    Ok(unit)
}

fn corrected(mut unit: Unit, correction: &Correction) -> Result<Unit, Error> {
    let refuse = |id: UnitId, reason: &str| Error::Correction { id, reason: reason.to_owned() };
    if let Some(claim) = &correction.claim {
        if claim.trim().is_empty() {
            return Err(refuse(unit.id, "the claim is empty; delete the unit instead"));
        }
        claim.trim().clone_into(&mut unit.fact.claim);
        claim.trim().clone_into(&mut unit.fact.summary);
    }
    if let Some(text) = &correction.event_time {
        let said = unit
            .time
            .said_at
            .ok_or_else(|| refuse(unit.id, "its session has no date to resolve a time against"))?;
        let mention =
            find_times(text, &TimeContext::on(said.date())).into_iter().find(|m| m.time.interval.is_some());
        let event = mention
            .ok_or_else(|| refuse(unit.id, "the event time is no time expression that can be resolved"))?
            .time;
        unit.lifecycle.valid_from = event.interval.map(|i| i.first);
        unit.time.orientation = event.orientation;
        unit.time.mentions = vec![event.clone()];
        unit.time.event = Some(event);
    }
    unit.fact.situation = correction.situation.unwrap_or(unit.fact.situation);
    unit.status = correction.status.unwrap_or(unit.status);
    unit.time.completion = correction.completion.unwrap_or(unit.time.completion);
    if let Some(emotions) = &correction.emotions {
        unit.affect.emotions.clone_from(emotions);
    }
    // The library reads no clock: whoever corrects says when.
    let at = correction.at.ok_or_else(|| refuse(unit.id, "it does not say when it was made"))?;
    unit.provenance.corrected_at = Some(at);
    Ok(unit)
}
