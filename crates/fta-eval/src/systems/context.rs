//! Contexts as packets: what the yardsticks retrieve is handed to an answerer in the form that ours has.

use std::collections::{BTreeMap, BTreeSet};

use fta_mem::{
    retrieve::{Background, Packet, PacketStyle, PrimaryUnit, Query, SourceSpan, UnitScore},
    units::{
        AffectAnchor, Evidence, FactAnchor, Lifecycle, Provenance, Quote, TimeAnchor, Unit, UnitId,
        UnitStatus,
    },
};
use fta_segment::{Session, TurnSpan};

use super::{Budget, Context, ContextItem, tokens};
use crate::datasets::EvidenceRef;

/// A piece of dialogue that is retrieved as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Position of its session.
    pub(super) session: usize,
    /// Its turns.
    pub(super) turns: TurnSpan,
}

/// A retrieved chunk and its score in `[0, 1]`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Found<'a> {
    pub(super) chunk: &'a Chunk,
    pub(super) score: f32,
}

/// Chunks, best first, as a packet: each a primary unit that claims nothing but its own words.
pub(super) fn packet(query: &Query, sessions: &[Session], found: &[Found<'_>]) -> Packet {
    let mut primary: Vec<PrimaryUnit> =
        found.iter().enumerate().map(|(rank, found)| primary_unit(sessions, *found, rank)).collect();
    primary.sort_by_key(|p| (p.unit.time.said_at, p.unit.id));
    Packet {
        query: query.clone(),
        primary,
        linked: Vec::new(),
        spans: spans(sessions, found),
        background: Background::default(),
        style: PacketStyle::Compact,
    }
}

fn primary_unit(sessions: &[Session], found: Found<'_>, rank: usize) -> PrimaryUnit {
    let session = &sessions[found.chunk.session];
    let turns = session.span(found.chunk.turns);
    let mut participants: Vec<String> = turns.iter().map(|t| t.speaker.clone()).collect();
    participants.sort();
    participants.dedup();
    let quote = |t: &fta_segment::Turn| Quote { turn: t.index, start: 0, end: t.text.len() as u32 };
    let unit = Unit {
        id: UnitId(rank as u64 + 1),
        fact: FactAnchor {
            claim: turns.iter().map(|t| t.text.as_str()).collect::<Vec<_>>().join("\n"),
            participants,
            ..FactAnchor::default()
        },
        time: TimeAnchor { said_at: session.said_at(found.chunk.turns.start), ..TimeAnchor::default() },
        affect: AffectAnchor::default(),
        evidence: Evidence {
            session: session.id.clone(),
            turns: found.chunk.turns,
            quotes: turns.iter().map(quote).collect(),
        },
        status: UnitStatus::Unknown,
        provenance: Provenance { extractor: "verbatim/1".to_owned(), ..Provenance::default() },
        lifecycle: Lifecycle::default(),
    };
    let score = UnitScore { total: found.score, embedding: found.score, ..UnitScore::default() };
    PrimaryUnit { unit, score, rank }
}

/// The turns of the chunks as contiguous spans in time order, each turn once.
fn spans(sessions: &[Session], found: &[Found<'_>]) -> Vec<SourceSpan> {
    let mut shown: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for found in found {
        shown.entry(found.chunk.session).or_default().extend(found.chunk.turns.range());
    }
    let mut spans = Vec::new();
    for (position, turns) in shown {
        let session = &sessions[position];
        let mut runs: Vec<TurnSpan> = Vec::new();
        for turn in turns {
            match runs.last_mut() {
                Some(run) if run.end == turn => run.end += 1,
                _ => runs.push(TurnSpan::new(turn, turn + 1)),
            }
        }
        spans.extend(runs.into_iter().map(|span| SourceSpan {
            session: session.id.clone(),
            started_at: session.started_at,
            span,
            turns: session.span(span).to_vec(),
        }));
    }
    spans
}

/// The best chunks that fit into `budget`: up to the first that does not fit, as people read a list from its top.
pub(super) fn fit<'f, 'a>(
    query: &Query,
    sessions: &[Session],
    found: &'f [Found<'a>],
    budget: Budget,
) -> &'f [Found<'a>] {
    let found = &found[..budget.items.unwrap_or(usize::MAX).min(found.len())];
    let Some(most) = budget.tokens else { return found };
    // A packet of more chunks is never shorter.
    let (mut fits, mut too_many) = (0, found.len() + 1);
    while too_many - fits > 1 {
        let middle = usize::midpoint(fits, too_many);
        if packet(query, sessions, &found[..middle]).tokens() <= most {
            fits = middle;
        } else {
            too_many = middle;
        }
    }
    &found[..fits]
}

/// What a packet shows; `sessions` are those of the conversation.
pub(super) fn shown(packet: &Packet, sessions: &[Session], id: impl Fn(&PrimaryUnit) -> String) -> Context {
    let text = packet.render();
    let items = packet.ranked().into_iter().map(|primary| {
        let evidence = &primary.unit.evidence;
        let session = sessions.iter().find(|s| s.id == evidence.session);
        let turns = session.map(|s| references(s, evidence.turns)).unwrap_or_default();
        let text = primary.unit.fact.claim.clone();
        ContextItem { id: id(primary), turns, tokens: tokens(&text), text }
    });
    let mut turns: Vec<EvidenceRef> = Vec::new();
    for span in &packet.spans {
        // A very long turn may be cut; then it is not there word for word.
        let whole = span.turns.iter().filter(|t| text.contains(t.text.trim()));
        turns.extend(whole.map(|t| EvidenceRef { session: span.session.clone(), turn: t.source_id.clone() }));
    }
    Context { items: items.collect(), turns, tokens: tokens(&text) }
}

/// Turns of a session by source id.
fn references(session: &Session, span: TurnSpan) -> Vec<EvidenceRef> {
    let turns = session.span(span).iter();
    turns.map(|t| EvidenceRef { session: session.id.clone(), turn: t.source_id.clone() }).collect()
}
