//! The packet's four sections as the values of the answer prompts.

use std::collections::BTreeMap;

use fta_segment::SessionId;
use fta_units::{DateInterval, Quote, Unit, UnitId};
use serde::Serialize;

use crate::{
    packet::{Packet, PacketStyle},
    render::{relation_words, turn_line},
};

/// The values of the answer prompts.
#[derive(Debug, Serialize)]
pub(super) struct Data<'a> {
    primary: Vec<UnitRow>,
    linked: Vec<UnitRow>,
    relations: Vec<(String, &'static str, String)>,
    source: Vec<SourceRow>,
    background: Vec<String>,
    question: &'a str,
    asked_on: Option<String>,
    plain: bool,
}

/// `[id, day, claim]`, with a fourth item where there is more to say.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum UnitRow {
    Short(String, Option<String>, String),
    Full(String, Option<String>, String, Details),
}

/// What a unit says beside its claim.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Details {
    #[serde(skip_serializing_if = "Option::is_none")]
    when: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    feels: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    until: Option<String>,
}

/// `[day]` opens a session; `[units, speaker, text]` is a turn, with a fourth item where there are notes.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum SourceRow {
    Session((String,)),
    Turn(String, String, String),
    Noted(String, String, String, String),
}

impl<'a> Data<'a> {
    /// Of a compact packet, units whose quoted turns are all among the source turns are named there alone.
    pub(super) fn new(packet: &'a Packet, plain: bool) -> Self {
        let shown = |unit: &Unit| {
            packet.style == PacketStyle::Compact
                && !unit.evidence.quotes.is_empty()
                && unit.evidence.quotes.iter().all(|q| packet.turn(&unit.evidence.session, q.turn).is_some())
        };
        let primary = packet.primary.iter().map(|p| &p.unit);
        let linked = packet.linked.iter().map(|l| &l.unit);
        let background = &packet.background;
        let support = background.support.iter().map(|s| {
            let outcome = match s.outcome {
                fta_units::SupportOutcome::Helped => " (helped)",
                fta_units::SupportOutcome::DidNotHelp => " (did not help)",
                fta_units::SupportOutcome::Agreed => " (agreed)",
                fta_units::SupportOutcome::Unknown => "",
            };
            format!("{}{outcome}", s.attempt)
        });
        Self {
            primary: primary.filter(|u| !shown(u)).map(unit_row).collect(),
            linked: linked.filter(|u| !shown(u)).map(unit_row).collect(),
            relations: packet
                .linked
                .iter()
                .map(|l| {
                    let (newer, older) = if l.newer { (l.unit.id, l.of) } else { (l.of, l.unit.id) };
                    (newer.to_string(), relation_words(l.relation), older.to_string())
                })
                .collect(),
            source: source_rows(packet),
            background: background.profile.iter().map(|p| p.text.clone()).chain(support).collect(),
            question: &packet.query.question,
            asked_on: packet.query.asked_at.map(|at| at.date().to_string()),
            plain,
        }
    }
}

fn unit_row(unit: &Unit) -> UnitRow {
    let details = Details {
        when: unit.time.event.as_ref().filter(|e| e.interval.is_some()).map(fta_units::EventTime::describe),
        feels: (!unit.affect.emotions.is_empty()).then(|| unit.affect.emotions.join(", ")),
        until: unit.lifecycle.valid_until.map(|day| DateInterval::day(day).describe()),
    };
    let day = unit.time.said_at.map(|at| at.date().to_string());
    let (id, claim) = (unit.id.to_string(), unit.fact.claim.clone());
    if details == Details::default() {
        UnitRow::Short(id, day, claim)
    } else {
        UnitRow::Full(id, day, claim, details)
    }
}

/// What a unit adds to the turn that it rests on: its resolved time, a person's correction, the end of its validity.
fn turn_notes(unit: &Unit) -> Vec<String> {
    let dated = unit
        .time
        .event
        .as_ref()
        .filter(|e| e.interval.is_some_and(|i| !e.text.contains(&i.first.year().to_string())));
    let mut notes: Vec<String> =
        dated.map(|e| format!("{} = {}", e.text, e.describe())).into_iter().collect();
    if unit.provenance.corrected_at.is_some() {
        notes.push(format!("corrected: {}", unit.fact.claim));
    }
    notes
        .extend(unit.lifecycle.valid_until.map(|day| format!("until {}", DateInterval::day(day).describe())));
    notes
}

fn source_rows(packet: &Packet) -> Vec<SourceRow> {
    let mut quotes: BTreeMap<&SessionId, Vec<Quote>> = BTreeMap::new();
    let mut units: BTreeMap<(&SessionId, u32), Vec<UnitId>> = BTreeMap::new();
    let mut notes: BTreeMap<(&SessionId, u32), Vec<String>> = BTreeMap::new();
    for unit in packet.primary.iter().map(|p| &p.unit).chain(packet.linked.iter().map(|l| &l.unit)) {
        let session = &unit.evidence.session;
        quotes.entry(session).or_default().extend(&unit.evidence.quotes);
        for quote in &unit.evidence.quotes {
            let here = units.entry((session, quote.turn)).or_default();
            if !here.contains(&unit.id) {
                here.push(unit.id);
            }
        }
        let Some(turn) = unit.evidence.quotes.first().map(|q| q.turn) else { continue };
        for note in turn_notes(unit) {
            let here = notes.entry((session, turn)).or_default();
            if !here.contains(&note) {
                here.push(note);
            }
        }
    }
    let mut rows = Vec::new();
    let mut open: Option<&SessionId> = None;
    for span in &packet.spans {
        if open != Some(&span.session) {
            let day = span.started_at.map_or_else(|| span.session.to_string(), |at| at.date().to_string());
            rows.push(SourceRow::Session((day,)));
            open = Some(&span.session);
        }
        let quotes = quotes.get(&span.session).map_or(&[][..], Vec::as_slice);
        for turn in &span.turns {
            let line = turn_line(turn, quotes);
            let text =
                line.get(turn.speaker.len() + 2..).unwrap_or_default().trim_end_matches('\n').to_owned();
            let key = (&span.session, turn.index);
            let ids: Vec<String> = units.get(&key).into_iter().flatten().map(UnitId::to_string).collect();
            let (ids, speaker) = (ids.join(" "), turn.speaker.clone());
            rows.push(match notes.get(&key) {
                Some(notes) => SourceRow::Noted(ids, speaker, text, notes.join("; ")),
                None => SourceRow::Turn(ids, speaker, text),
            });
        }
    }
    rows
}
