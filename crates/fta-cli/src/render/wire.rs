//! The JSON of units, links, turns and answers: wire types of their own, so that the domain may change.

use fta_mem::{
    Asked, UnitView,
    retrieve::{Packet, PrimaryUnit, TurnRef},
    segment::{Turn, TurnSpan},
    units::{EventTime, Link, Unit},
};
use serde::Serialize;

use crate::words;

/// An event time.
#[derive(Serialize)]
pub(crate) struct WireTime {
    text: String,
    first: Option<String>,
    last: Option<String>,
    granularity: fta_mem::units::Granularity,
    bound: fta_mem::units::TimeBound,
    orientation: fta_mem::units::TimeOrientation,
}

impl From<&EventTime> for WireTime {
    fn from(time: &EventTime) -> Self {
        Self {
            text: time.text.clone(),
            first: time.interval.map(|i| i.first.to_string()),
            last: time.interval.map(|i| i.last.to_string()),
            granularity: time.granularity,
            bound: time.bound,
            orientation: time.orientation,
        }
    }
}

/// A piece of a turn: bytes `start..end` of its text.
#[derive(Serialize)]
pub(crate) struct WireQuote {
    turn: u32,
    start: u32,
    end: u32,
}

/// A unit. `turns` is the half-open range of turn indexes `[start, end]`.
#[derive(Serialize)]
pub(crate) struct WireUnit {
    id: String,
    claim: String,
    summary: String,
    situation: fta_mem::units::SituationType,
    status: fta_mem::units::UnitStatus,
    completion: fta_mem::units::Completion,
    participants: Vec<String>,
    mentioned: Vec<String>,
    said_at: Option<String>,
    event_time: Option<WireTime>,
    emotions: Vec<String>,
    intention: Option<String>,
    relation_cues: Vec<String>,
    session: String,
    turns: [u32; 2],
    quotes: Vec<WireQuote>,
    valid_from: Option<String>,
    valid_until: Option<String>,
    superseded_by: Option<String>,
    extractor: String,
    corrected_at: Option<String>,
}

impl From<&Unit> for WireUnit {
    fn from(unit: &Unit) -> Self {
        let TurnSpan { start, end } = unit.evidence.turns;
        Self {
            id: unit.id.to_string(),
            claim: unit.fact.claim.clone(),
            summary: unit.fact.summary.clone(),
            situation: unit.fact.situation,
            status: unit.status,
            completion: unit.time.completion,
            participants: unit.fact.participants.clone(),
            mentioned: unit.fact.mentioned.clone(),
            said_at: unit.time.said_at.map(|at| at.to_string()),
            event_time: unit.time.event.as_ref().map(WireTime::from),
            emotions: unit.affect.emotions.clone(),
            intention: unit.affect.intention.clone(),
            relation_cues: unit.affect.relation_cues.clone(),
            session: unit.evidence.session.to_string(),
            turns: [start, end],
            quotes: unit
                .evidence
                .quotes
                .iter()
                .map(|q| WireQuote { turn: q.turn, start: q.start, end: q.end })
                .collect(),
            valid_from: unit.lifecycle.valid_from.map(|d| d.to_string()),
            valid_until: unit.lifecycle.valid_until.map(|d| d.to_string()),
            superseded_by: unit.lifecycle.superseded_by.map(|id| id.to_string()),
            extractor: unit.provenance.extractor.clone(),
            corrected_at: unit.provenance.corrected_at.map(|at| at.to_string()),
        }
    }
}

/// A turn.
#[derive(Serialize)]
pub(crate) struct WireTurn {
    index: u32,
    id: String,
    speaker: String,
    at: Option<String>,
    text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    caption: Option<String>,
}

impl From<&Turn> for WireTurn {
    fn from(turn: &Turn) -> Self {
        Self {
            index: turn.index,
            id: turn.source_id.clone(),
            speaker: turn.speaker.clone(),
            at: turn.at.map(|at| at.to_string()),
            text: turn.text.clone(),
            caption: turn.caption.clone(),
        }
    }
}

/// A link.
#[derive(Serialize)]
pub(crate) struct WireLink {
    from: String,
    relation: &'static str,
    to: String,
    similarity: f32,
}

impl From<&Link> for WireLink {
    fn from(link: &Link) -> Self {
        Self {
            from: link.from.to_string(),
            relation: words::relation(link.relation),
            to: link.to.to_string(),
            similarity: link.similarity,
        }
    }
}

/// A linked unit, seen from another one.
#[derive(Serialize)]
pub(crate) struct WireNeighbour {
    relation: &'static str,
    newer: bool,
    similarity: f32,
    unit: WireUnit,
}

/// A unit with evidence and links.
#[derive(Serialize)]
pub(crate) struct WireView {
    unit: WireUnit,
    session_started_at: Option<String>,
    turns: Vec<WireTurn>,
    links: Vec<WireNeighbour>,
}

impl From<&UnitView> for WireView {
    fn from(view: &UnitView) -> Self {
        Self {
            unit: WireUnit::from(&view.unit),
            session_started_at: view.session_started_at.map(|at| at.to_string()),
            turns: view.turns.iter().map(WireTurn::from).collect(),
            links: view
                .neighbours
                .iter()
                .map(|n| WireNeighbour {
                    relation: words::relation(n.relation),
                    newer: n.newer,
                    similarity: n.similarity,
                    unit: WireUnit::from(&n.unit),
                })
                .collect(),
        }
    }
}

/// A ranked unit.
#[derive(Serialize)]
pub(crate) struct WireRanked {
    rank: usize,
    score: f32,
    embedding: f32,
    lexical: f32,
    cue_time: Option<f32>,
    cue_situation: Option<f32>,
    cue_participants: Option<f32>,
    cue_affect: Option<f32>,
    unit: WireUnit,
}

impl From<&PrimaryUnit> for WireRanked {
    fn from(primary: &PrimaryUnit) -> Self {
        let score = &primary.score;
        Self {
            rank: primary.rank + 1,
            score: score.total,
            embedding: score.embedding,
            lexical: score.lexical,
            cue_time: score.cues.time,
            cue_situation: score.cues.situation,
            cue_participants: score.cues.participants,
            cue_affect: score.cues.affect,
            unit: WireUnit::from(&primary.unit),
        }
    }
}

/// A turn that an answer rests on.
#[derive(Serialize)]
pub(crate) struct WireEvidence {
    session: String,
    turn: u32,
    id: String,
    speaker: Option<String>,
    said_at: Option<String>,
    text: Option<String>,
}

/// An answer.
#[derive(Serialize)]
pub(crate) struct WireAnswer {
    question: String,
    answer: String,
    abstained: bool,
    confidence: f32,
    time: Option<WireTime>,
    units: Vec<String>,
    evidence: Vec<WireEvidence>,
    packet_tokens: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    packet: Option<String>,
    /// Steps that failed and were done offline.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    notes: Vec<String>,
}

impl WireAnswer {
    /// An answer, with its packet as text if that is wanted.
    pub(crate) fn new(asked: &Asked, with_packet: bool) -> Self {
        let Asked { answer, packet, notes } = asked;
        let rendered = packet.render();
        Self {
            question: packet.query.question.clone(),
            answer: answer.text.clone(),
            abstained: answer.abstained,
            confidence: answer.confidence,
            time: answer.time.as_ref().map(WireTime::from),
            units: answer.units.iter().map(ToString::to_string).collect(),
            evidence: answer.evidence.iter().map(|turn| evidence(packet, turn)).collect(),
            packet_tokens: packet.tokens(),
            packet: with_packet.then_some(rendered),
            notes: notes.clone(),
        }
    }
}

fn evidence(packet: &Packet, at: &TurnRef) -> WireEvidence {
    let turn = packet.turn(&at.session, at.turn);
    let started_at = packet.spans.iter().find(|s| s.session == at.session).and_then(|s| s.started_at);
    WireEvidence {
        session: at.session.to_string(),
        turn: at.turn,
        id: at.source_id.clone(),
        speaker: turn.map(|t| t.speaker.clone()),
        said_at: turn.and_then(|t| t.at).or(started_at).map(|at| at.to_string()),
        text: turn.map(|t| t.text.clone()),
    }
}
