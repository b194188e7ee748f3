//! Candidate sentences: every sentence of the turns that support a unit of the packet.

use std::{collections::BTreeMap, ops::Range};

use fta_segment::{SessionId, Turn};
use fta_units::{
    EventTime, Quote, Unit,
    time::{TimeContext, find_times},
};
use jiff::civil::DateTime;

use crate::{
    packet::Packet,
    render::WHOLE_TURN,
    views::{head, tail},
    words,
};

/// A sentence that may hold the answer.
#[derive(Debug, Clone)]
pub(super) struct Candidate<'a> {
    /// The best-ranked unit that it supports.
    pub(super) unit: &'a Unit,
    /// Rank of the unit; linked units come after all primary ones.
    pub(super) rank: usize,
    /// Score of the unit; 0 for linked units.
    pub(super) unit_score: f32,
    /// The turn; `None` when the packet has no source text and the claim stands in.
    pub(super) turn: Option<&'a Turn>,
    /// Who said it.
    pub(super) speaker: &'a str,
    /// Session of the turn.
    pub(super) session: &'a SessionId,
    /// First byte in the turn's text.
    pub(super) start: usize,
    /// The sentence.
    pub(super) text: &'a str,
    /// What was said around it: the turn before, the rest of the turn, the picture.
    pub(super) context: String,
    /// When it was said.
    pub(super) said_at: Option<DateTime>,
    /// Time expressions of the sentence, in text order.
    pub(super) times: Vec<EventTime>,
    /// Whether the unit's claim rests on this very sentence.
    pub(super) quoted: bool,
    /// Whether the turn before, by somebody else, ends in a question.
    pub(super) after_question: bool,
}

impl Candidate<'_> {
    /// Whether the sentence asks.
    pub(super) fn is_question(&self) -> bool {
        self.text.trim_end_matches(['"', '\u{201d}', ')']).ends_with('?')
    }
}

/// All candidates of a packet in a fixed order: by rank, session, turn and position. Each sentence once.
///
/// Of a very long turn, of which the packet shows only what units quote, the sentences with a quote.
pub(super) fn candidates(packet: &Packet) -> Vec<Candidate<'_>> {
    let n_primary = packet.primary.len();
    let primary = packet.ranked().into_iter().map(|p| {
        // A score that is no number says nothing.
        let total = if p.score.total.is_finite() { p.score.total } else { 0.0 };
        (&p.unit, p.rank, total)
    });
    let linked = packet.linked.iter().enumerate().map(|(i, l)| (&l.unit, n_primary + i, 0.0));
    let mut gathered = Gathered::default();
    for (unit, rank, unit_score) in primary.chain(linked) {
        gathered.add(packet, unit, rank, unit_score);
    }
    gathered.candidates
}

/// Candidates so far.
#[derive(Default)]
struct Gathered<'a> {
    candidates: Vec<Candidate<'a>>,
    /// Where the candidate for a sentence is, by session, turn and first byte.
    places: BTreeMap<(&'a SessionId, u32, usize), usize>,
    /// The sentences of turns: many units may rest on one long turn.
    sentences: BTreeMap<(&'a SessionId, u32), Vec<Range<usize>>>,
}

impl<'a> Gathered<'a> {
    fn add(&mut self, packet: &'a Packet, unit: &'a Unit, rank: usize, unit_score: f32) {
        let session = &unit.evidence.session;
        let mut has_source = false;
        for span in packet.spans.iter().filter(|s| &s.session == session) {
            for (at, turn) in span.turns.iter().enumerate() {
                if !unit.evidence.turns.contains(turn.index) {
                    continue;
                }
                let said_at = turn.at.or(span.started_at).or(unit.time.said_at);
                let before = at.checked_sub(1).map(|b| &span.turns[b]).filter(|b| b.speaker != turn.speaker);
                for (range, quoted) in self.sentences_of(session, unit, turn) {
                    has_source = true;
                    let key = (session, turn.index, range.start);
                    if let Some(&known) = self.places.get(&key) {
                        // A worse-ranked unit may still be the one whose claim rests on the sentence.
                        self.candidates[known].quoted |= quoted;
                        continue;
                    }
                    self.places.insert(key, self.candidates.len());
                    let text = &turn.text[range.clone()];
                    self.candidates.push(Candidate {
                        unit,
                        rank,
                        unit_score,
                        turn: Some(turn),
                        speaker: &turn.speaker,
                        session,
                        start: range.start,
                        text,
                        context: context_of(turn, before, &range),
                        said_at,
                        times: times_of(text, unit, said_at),
                        quoted,
                        after_question: before.is_some_and(|b| b.text.trim_end().ends_with('?')),
                    });
                }
            }
        }
        if !has_source && !unit.fact.claim.trim().is_empty() {
            self.candidates.push(claim_candidate(unit, rank, unit_score));
        }
    }

    /// The sentences of a turn that a unit hands back, each with whether the unit quotes it.
    fn sentences_of(
        &mut self,
        session: &'a SessionId,
        unit: &Unit,
        turn: &Turn,
    ) -> Vec<(Range<usize>, bool)> {
        let quotes: Vec<&Quote> = unit.evidence.quotes.iter().filter(|q| q.turn == turn.index).collect();
        let all = self.sentences.entry((session, turn.index)).or_insert_with(|| words::sentences(&turn.text));
        let is_quoted = |range: &Range<usize>| {
            quotes.iter().any(|q| (q.start as usize) < range.end && range.start < q.end as usize)
        };
        let shows_all = turn.text.len() <= WHOLE_TURN || quotes.is_empty();
        let sentences = all.iter().map(|range| (range.clone(), is_quoted(range)));
        sentences.filter(|(_, quoted)| shows_all || *quoted).collect()
    }
}

/// The claim, where the packet carries no source text of the unit.
fn claim_candidate(unit: &Unit, rank: usize, unit_score: f32) -> Candidate<'_> {
    Candidate {
        unit,
        rank,
        unit_score,
        turn: None,
        speaker: unit.fact.participants.first().map_or("", String::as_str),
        session: &unit.evidence.session,
        start: 0,
        text: unit.fact.claim.trim(),
        context: unit.fact.summary.clone(),
        said_at: unit.time.said_at,
        times: unit.time.event.clone().into_iter().collect(),
        quoted: true,
        after_question: false,
    }
}

/// The rest of the turn, the turn before by somebody else (which may have asked), and the picture; of long turns what is
/// near the sentence.
fn context_of(turn: &Turn, before: Option<&Turn>, range: &Range<usize>) -> String {
    let mut context = String::new();
    if let Some(before) = before {
        context.push_str(tail(&before.text, WHOLE_TURN));
        context.push(' ');
    }
    context.push_str(tail(&turn.text[..range.start], WHOLE_TURN));
    context.push(' ');
    context.push_str(head(&turn.text[range.end..], WHOLE_TURN));
    if let Some(caption) = &turn.caption {
        context.push(' ');
        context.push_str(caption);
    }
    context
}

/// Times found in the sentence, and those that the extractor resolved and that stand in it word by word.
fn times_of(text: &str, unit: &Unit, said_at: Option<DateTime>) -> Vec<EventTime> {
    let mut found: Vec<(usize, EventTime)> = Vec::new();
    if let Some(said_at) = said_at {
        let mentions = find_times(text, &TimeContext::on(said_at.date()));
        found.extend(mentions.into_iter().map(|m| (m.range.start, m.time)));
    }
    for time in unit.time.event.iter().chain(&unit.time.mentions) {
        if time.text.is_empty() || found.iter().any(|(_, t)| t.text.contains(&time.text)) {
            continue;
        }
        if let Some(at) = text.find(&time.text) {
            found.push((at, time.clone()));
        }
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, time)| time).collect()
}
