//! Small memories for the tests of this crate.

use fta_segment::{Role, Session, SessionId, Turn, TurnSpan};
use fta_units::{
    AffectAnchor, DateInterval, EventTime, Evidence, FactAnchor, Granularity, Lifecycle, Link,
    MemorySnapshot, Provenance, Quote, Relation, SessionState, StoredSession, TimeAnchor, TimeBound,
    TimeOrientation, Unit, UnitId, UnitStatus,
};
use jiff::{Span, civil::date};

use crate::corpus::Corpus;

/// A session of Ada and Bo in turn, begun in the evening of the `day`-th day of 2024.
pub(crate) fn session(id: &str, day: u32, texts: &[&str]) -> StoredSession {
    let turns = texts.iter().zip(0..).map(|(text, index)| Turn {
        index,
        source_id: format!("{id}:{}", index + 1),
        speaker: ["Ada", "Bo"][index as usize % 2].to_owned(),
        role: Role::Peer,
        at: None,
        text: (*text).to_owned(),
        caption: None,
    });
    let started_at = date(2023, 12, 31).at(19, 0, 0, 0) + Span::new().days(day);
    StoredSession {
        session: Session { id: SessionId::from(id), started_at: Some(started_at), turns: turns.collect() },
        fragments: Vec::new(),
        state: SessionState::Finished,
        fingerprint: 0,
        ordinal: u64::from(day),
    }
}

pub(crate) fn quote(turn: u32, start: u32, end: u32) -> Quote {
    Quote { turn, start, end }
}

/// A unit that quotes one whole turn; its exchange holds the turn before as well.
pub(crate) fn unit(id: u64, stored: &StoredSession, turn: u32) -> Unit {
    let said = &stored.session.turns[turn as usize];
    Unit {
        id: UnitId(id),
        fact: FactAnchor {
            claim: format!("{}: {}", said.speaker, said.text),
            participants: vec![said.speaker.clone()],
            ..FactAnchor::default()
        },
        time: TimeAnchor { said_at: stored.session.started_at, ..TimeAnchor::default() },
        affect: AffectAnchor::default(),
        evidence: Evidence {
            session: stored.session.id.clone(),
            turns: TurnSpan::new(turn.saturating_sub(1), turn + 1),
            quotes: vec![quote(turn, 0, said.text.len() as u32)],
        },
        status: UnitStatus::Complete,
        provenance: Provenance::default(),
        lifecycle: Lifecycle::default(),
    }
}

/// An event time in days of 2024, `(month, day)` from the first to the last.
pub(crate) fn event(text: &str, (first, last): ((i8, i8), (i8, i8))) -> EventTime {
    let day = |(month, day)| date(2024, month, day);
    EventTime {
        text: text.to_owned(),
        interval: Some(DateInterval::new(day(first), day(last))),
        granularity: Granularity::Day,
        orientation: TimeOrientation::Past,
        bound: TimeBound::Within,
    }
}

pub(crate) fn link(from: u64, to: u64, relation: Relation, similarity: f32) -> Link {
    Link { from: UnitId(from), to: UnitId(to), relation, similarity }
}

pub(crate) fn snapshot(sessions: Vec<StoredSession>, units: Vec<Unit>, links: Vec<Link>) -> MemorySnapshot {
    MemorySnapshot { sessions, units, links, ..MemorySnapshot::default() }
}

pub(crate) fn corpus(sessions: Vec<StoredSession>, units: Vec<Unit>, links: Vec<Link>) -> Corpus {
    Corpus::new(&snapshot(sessions, units, links))
}
