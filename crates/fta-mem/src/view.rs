//! Looking at a memory: lists, single units, figures.

use std::collections::BTreeMap;

use fta_retrieve::Corpus;
use fta_units::{DateInterval, Relation, SituationType, Unit, UnitId, UnitStatus, offline::coverage};

use crate::{Error, ListFilter, MemoryStats, Neighbour, UnitView};

/// Units that pass the filter, by the time they were said, then by id.
pub(crate) fn list(corpus: &Corpus, filter: &ListFilter) -> Vec<Unit> {
    let mut units: Vec<&Unit> = corpus.units().filter(|unit| passes(unit, filter)).collect();
    units.sort_by_key(|unit| (unit.time.said_at, unit.id));
    units.truncate(filter.limit.unwrap_or(usize::MAX));
    units.into_iter().cloned().collect()
}

fn passes(unit: &Unit, filter: &ListFilter) -> bool {
    let person = |name: &String| {
        let mut people = unit.fact.participants.iter().chain(&unit.fact.mentioned);
        people.any(|p| p.to_lowercase() == name.to_lowercase())
    };
    let days = unit
        .time
        .event
        .as_ref()
        .and_then(|e| e.interval)
        .or_else(|| unit.time.said_at.map(|at| DateInterval::day(at.date())));
    filter.session.as_ref().is_none_or(|s| *s == unit.evidence.session)
        && filter.person.as_ref().is_none_or(person)
        && filter.situation.is_none_or(|s| s == unit.fact.situation)
        && filter.status.is_none_or(|s| s == unit.status)
        && filter.emotion.as_ref().is_none_or(|e| unit.affect.emotions.contains(e))
        && filter.from.is_none_or(|from| days.is_some_and(|d| d.last >= from))
        && filter.until.is_none_or(|until| days.is_some_and(|d| d.first <= until))
        && !(filter.current_only && unit.lifecycle.superseded_by.is_some())
}

/// A unit with its evidence and links.
pub(crate) fn show(corpus: &Corpus, id: UnitId) -> Result<UnitView, Error> {
    let unit = corpus.unit(id).cloned().ok_or(Error::NoUnit { id })?;
    let stored = corpus.session(&unit.evidence.session);
    let turns = stored.map(|s| s.session.span(unit.evidence.turns).to_vec()).unwrap_or_default();
    let mut neighbours: Vec<Neighbour> = corpus
        .links_of(id)
        .filter_map(|link| {
            let newer = link.to == id;
            let other = corpus.unit(if newer { link.from } else { link.to })?.clone();
            Some(Neighbour { unit: other, relation: link.relation, newer, similarity: link.similarity })
        })
        .collect();
    neighbours.sort_by_key(|n| (n.unit.time.said_at, n.unit.id));
    Ok(UnitView { unit, session_started_at: stored.and_then(|s| s.session.started_at), turns, neighbours })
}

/// Figures of a corpus; those of the index are the caller's.
pub(crate) fn stats(corpus: &Corpus) -> MemoryStats {
    let mut stats = MemoryStats { units: corpus.len(), ..MemoryStats::default() };
    for stored in corpus.sessions() {
        stats.sessions += 1;
        stats.sessions_to_retry += usize::from(!stored.state.marks().is_empty());
        stats.turns += stored.session.turns.len();
        stats.fragments += stored.fragments.len();
        let units = corpus.units_of(&stored.session.id).iter().filter_map(|&id| corpus.unit(id));
        let coverage = coverage(&stored.session, units.map(|u| &u.evidence));
        stats.content_turns += coverage.content_turns;
        stats.covered_turns += coverage.covered_turns;
        if let Some(at) = stored.session.started_at {
            stats.first_session.get_or_insert(at);
            stats.last_session = Some(at);
        }
    }
    let mut situations: Vec<(SituationType, usize)> = Vec::new();
    let mut statuses: Vec<(UnitStatus, usize)> = Vec::new();
    for unit in corpus.units() {
        count(&mut situations, unit.fact.situation);
        count(&mut statuses, unit.status);
        stats.units_with_event_time +=
            usize::from(unit.time.event.as_ref().is_some_and(|e| e.interval.is_some()));
        stats.superseded += usize::from(unit.lifecycle.superseded_by.is_some());
    }
    let mut links: BTreeMap<Relation, usize> = BTreeMap::new();
    for link in corpus.links() {
        *links.entry(link.relation).or_default() += 1;
    }
    by_count(&mut situations);
    by_count(&mut statuses);
    stats.situations = situations;
    stats.statuses = statuses;
    stats.links = links.into_iter().collect();
    stats.profile_entries = corpus.longitudinal().profile.len();
    stats.support_entries = corpus.longitudinal().support.len();
    stats
}

fn count<T: PartialEq>(counts: &mut Vec<(T, usize)>, item: T) {
    match counts.iter_mut().find(|(other, _)| *other == item) {
        Some((_, n)) => *n += 1,
        None => counts.push((item, 1)),
    }
}

fn by_count<T>(counts: &mut [(T, usize)]) {
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
}
