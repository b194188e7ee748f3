//! Correcting and deleting: a person's rights over the memory (spec section 9.8).

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use fta_retrieve::Corpus;
use fta_segment::SessionId;
use fta_units::{
    Completion, Link, Longitudinal, Relation, StoreOp, Unit, UnitId, UnitStatus,
    time::{TimeContext, find_times},
};

use crate::{
    Correction, Deleted, Error,
    ingest::embed_units,
    parts::{Parts, blocking},
    reindex,
    state::UserState,
};

/// Changes that undo what units about to vanish did to others: validity that they closed, plans that they completed.
pub(crate) fn release_older(corpus: &Corpus, gone: &[UnitId]) -> Vec<Unit> {
    if gone.is_empty() {
        return Vec::new();
    }
    let gone: BTreeSet<UnitId> = gone.iter().copied().collect();
    let mut released = Vec::new();
    for unit in corpus.units().filter(|u| !gone.contains(&u.id)) {
        let superseded = unit.lifecycle.superseded_by.is_some_and(|by| gone.contains(&by));
        let carried_out = was_open(unit) && only_followed_by(corpus, unit.id, &gone);
        if !superseded && !carried_out {
            continue;
        }
        let mut unit = unit.clone();
        if superseded {
            unit.lifecycle.superseded_by = None;
            unit.lifecycle.valid_until = None;
        }
        if carried_out {
            unit.time.completion = Completion::Planned;
            unit.status = UnitStatus::Pending;
        }
        released.push(unit);
    }
    released
}

/// Whether the unit is a plan that was carried out or called off.
fn was_open(unit: &Unit) -> bool {
    unit.affect.intention.is_some()
        && matches!(unit.time.completion, Completion::Completed | Completion::Cancelled)
}

/// Whether follow-ups on the unit are known, and all of them are among `gone`.
fn only_followed_by(corpus: &Corpus, id: UnitId, gone: &BTreeSet<UnitId>) -> bool {
    let mut followers =
        corpus.links_of(id).filter(|l| l.to == id && l.relation == Relation::FollowUp).peekable();
    followers.peek().is_some() && followers.all(|l| gone.contains(&l.from))
}

/// `U` and `H` without the units `gone`: entries that rested on others too are made again from those. `released`: units
/// that their going changes, as they are afterwards.
pub(crate) async fn longitudinal_without(
    parts: &Parts,
    state: &UserState,
    gone: &[UnitId],
    released: &[Unit],
) -> Result<Longitudinal, Error> {
    let (current, remaining, links) = {
        let loaded = state.read();
        let current = loaded.corpus.longitudinal().clone();
        if gone.is_empty() {
            return Ok(current);
        }
        let gone: BTreeSet<UnitId> = gone.iter().copied().collect();
        let of_entries =
            current.profile.iter().map(|e| &e.units).chain(current.support.iter().map(|e| &e.units));
        let bereft: BTreeSet<UnitId> = of_entries
            .filter(|units| units.iter().any(|id| gone.contains(id)))
            .flatten()
            .copied()
            .filter(|id| !gone.contains(id))
            .collect();
        let now = |id: UnitId| released.iter().find(|u| u.id == id).or_else(|| loaded.corpus.unit(id));
        let remaining: Vec<Unit> = bereft.iter().filter_map(|&id| now(id).cloned()).collect();
        let stays = |link: &&Link| !gone.contains(&link.from) && !gone.contains(&link.to);
        let links: BTreeMap<(UnitId, UnitId), Link> = bereft
            .iter()
            .flat_map(|&id| loaded.corpus.links_of(id).filter(stays))
            .map(|link| ((link.from, link.to), *link))
            .collect();
        (current, remaining, links.into_values().collect::<Vec<Link>>())
    };
    Ok(parts.longitudinal.rederive(&current, gone, &remaining, &links).await?)
}

/// Deletes units (and, with them, a session's record), then purges the store: no byte of them is left.
pub(crate) async fn delete(
    parts: &Arc<Parts>,
    state: &Arc<UserState>,
    units: Vec<UnitId>,
    session: Option<&SessionId>,
) -> Result<Deleted, Error> {
    let released = release_older(&state.read().corpus, &units);
    let longitudinal = longitudinal_without(parts, state, &units, &released).await?;
    let (changes, deleted) = {
        let loaded = state.read();
        let mut changes: Vec<StoreOp> = released.into_iter().map(StoreOp::PutUnit).collect();
        let mut links = BTreeSet::new();
        for &id in &units {
            links.extend(loaded.corpus.links_of(id).map(|l| (l.from, l.to)));
            changes.push(StoreOp::DeleteUnit(id));
        }
        changes.extend(session.map(|id| StoreOp::DeleteSession(id.clone())));
        changes.push(StoreOp::PutLongitudinal(longitudinal));
        let vectors = loaded.index().len();
        let deleted = Deleted {
            sessions: usize::from(session.is_some()),
            units: units.len(),
            links: links.len(),
            vectors,
        };
        (changes, deleted)
    };
    apply_and_purge(parts, state, changes).await?;
    Ok(Deleted { vectors: deleted.vectors - state.read().index().len(), ..deleted })
}

/// Deletes everything of one user, then purges the store.
pub(crate) async fn delete_all(parts: &Arc<Parts>, state: &Arc<UserState>) -> Result<Deleted, Error> {
    let deleted = {
        let loaded = state.read();
        Deleted {
            sessions: loaded.corpus.sessions().len(),
            units: loaded.corpus.len(),
            links: loaded.corpus.links().len(),
            vectors: loaded.index().len(),
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
        parts.store.purge()?;
        reindex::forget(&parts)?;
        parts.journal.clear()
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
