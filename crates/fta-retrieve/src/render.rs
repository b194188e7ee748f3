//! Writes a packet out for an answer model or a person.

use std::{collections::BTreeMap, fmt::Write as _};

use fta_segment::{SessionId, Turn};
use fta_units::{EventTime, Quote, Relation, Unit};
use jiff::civil::DateTime;

use crate::packet::{Packet, PacketStyle, SourceSpan};

/// Turns longer than this many bytes are handed back as the sentences that units quote, with `…` between.
pub(crate) const WHOLE_TURN: usize = 1_500;

/// Line that opens the turns of a session.
pub(crate) fn session_line(id: &SessionId, started_at: Option<DateTime>) -> String {
    match started_at {
        Some(at) => format!("[{}]\n", at.date()),
        None => format!("[{id}]\n"),
    }
}

/// One turn: `Speaker: text [picture: caption]`. Of a very long turn only what `quotes` cover.
pub(crate) fn turn_line(turn: &Turn, quotes: &[Quote]) -> String {
    let mut line = format!("{}: ", turn.speaker);
    let mut mine: Vec<&Quote> = quotes.iter().filter(|q| q.turn == turn.index).collect();
    if turn.text.len() <= WHOLE_TURN || mine.is_empty() {
        line.push_str(&turn.text);
    } else {
        mine.sort_by_key(|q| q.start);
        mine.dedup();
        let pieces: Vec<&str> = mine
            .iter()
            .filter_map(|q| turn.text.get(q.start as usize..q.end as usize))
            .map(str::trim)
            .collect();
        line.push_str("… ");
        line.push_str(&pieces.join(" … "));
    }
    if let Some(caption) = &turn.caption {
        let _ = write!(line, " [picture: {caption}]");
    }
    line.push('\n');
    line
}

/// `yesterday = 7 May 2023`, for an event time that its own words do not date.
pub(crate) fn time_note(event: &EventTime) -> Option<String> {
    let interval = event.interval?;
    let year = interval.first.year().to_string();
    (!event.text.contains(&year)).then(|| {
        if interval.first == interval.last {
            format!("{} = {}", event.text, interval.first)
        } else {
            format!("{} = {} to {}", event.text, interval.first, interval.last)
        }
    })
}

/// Line of a relation between two units, as people say it.
pub fn relation_words(relation: Relation) -> &'static str {
    match relation {
        Relation::SameSituation => "same situation as",
        Relation::Update => "updates",
        Relation::Contradiction => "contradicts",
        Relation::FollowUp => "follows up",
        Relation::Support => "supports",
    }
}

impl Packet {
    /// The packet as text for an answer model: four sections, each under its heading, empty ones left out.
    ///
    /// In the compact style the source turns stand for the units that quote them, with their resolved times.
    pub fn render(&self) -> String {
        match self.style {
            PacketStyle::Full => self.render_full(),
            PacketStyle::Compact => self.render_compact(),
        }
    }

    /// Tokens of the rendered packet: characters / 4, rounded up.
    pub fn tokens(&self) -> usize {
        self.render().chars().count().div_ceil(4)
    }

    fn quotes(&self) -> BTreeMap<&SessionId, Vec<Quote>> {
        let mut quotes: BTreeMap<&SessionId, Vec<Quote>> = BTreeMap::new();
        let units = self.primary.iter().map(|p| &p.unit).chain(self.linked.iter().map(|l| &l.unit));
        for unit in units {
            quotes.entry(&unit.evidence.session).or_default().extend(&unit.evidence.quotes);
        }
        quotes
    }

    fn render_full(&self) -> String {
        let mut out = String::new();
        if !self.primary.is_empty() {
            out.push_str("# Primary units\n");
            for primary in &self.primary {
                unit_line(&mut out, &primary.unit);
            }
        }
        if !self.linked.is_empty() {
            out.push_str("# Linked units\n");
            for linked in &self.linked {
                let (newer, older) =
                    if linked.newer { (linked.unit.id, linked.of) } else { (linked.of, linked.unit.id) };
                let _ = write!(out, "({newer} {} {older}) ", relation_words(linked.relation));
                unit_line(&mut out, &linked.unit);
            }
        }
        if !self.spans.is_empty() {
            out.push_str("# Source dialogue\n");
            let quotes = self.quotes();
            let mut open: Option<&SessionId> = None;
            for span in &self.spans {
                push_span(&mut out, span, &mut open, &quotes, &BTreeMap::new());
            }
        }
        self.push_background(&mut out);
        out
    }

    fn render_compact(&self) -> String {
        let mut out = String::new();
        let quotes = self.quotes();
        let mut notes: BTreeMap<(&SessionId, u32), Vec<String>> = BTreeMap::new();
        for unit in self.primary.iter().map(|p| &p.unit).chain(self.linked.iter().map(|l| &l.unit)) {
            for (turn, note) in unit_notes(unit) {
                let here = notes.entry((&unit.evidence.session, turn)).or_default();
                if !here.contains(&note) {
                    here.push(note);
                }
            }
        }
        let mut open: Option<&SessionId> = None;
        for span in &self.spans {
            push_span(&mut out, span, &mut open, &quotes, &notes);
        }
        self.push_background(&mut out);
        out
    }

    fn push_background(&self, out: &mut String) {
        let entries: Vec<&str> = self
            .background
            .profile
            .iter()
            .map(|p| p.text.as_str())
            .chain(self.background.support.iter().map(|s| s.attempt.as_str()))
            .collect();
        if !entries.is_empty() {
            out.push_str("# Background\n");
            for text in entries {
                let _ = writeln!(out, "- {text}");
            }
        }
    }
}

/// The notes that a unit adds to its turns in the compact style: its resolved time, and a person's correction.
pub(crate) fn unit_notes(unit: &Unit) -> Vec<(u32, String)> {
    let Some(turn) = unit.evidence.quotes.first().map(|q| q.turn) else { return Vec::new() };
    let mut notes = Vec::new();
    if let Some(note) = unit.time.event.as_ref().and_then(time_note) {
        notes.push((turn, note));
    }
    if unit.provenance.corrected_at.is_some() {
        notes.push((turn, format!("corrected: {}", unit.fact.claim)));
    }
    if let Some(until) = unit.lifecycle.valid_until {
        notes.push((turn, format!("until {until}")));
    }
    notes
}

fn unit_line(out: &mut String, unit: &Unit) {
    let _ = write!(out, "{} ", unit.id);
    if let Some(said) = unit.time.said_at {
        let _ = write!(out, "[said {}] ", said.date());
    }
    out.push_str(&unit.fact.claim);
    if let Some(note) = unit.time.event.as_ref().and_then(time_note) {
        let _ = write!(out, " ({note})");
    }
    if !unit.affect.emotions.is_empty() {
        let _ = write!(out, " (feels {})", unit.affect.emotions.join(", "));
    }
    if let Some(until) = unit.lifecycle.valid_until {
        let _ = write!(out, " (until {until})");
    }
    out.push('\n');
}

fn push_span<'p>(
    out: &mut String,
    span: &'p SourceSpan,
    open: &mut Option<&'p SessionId>,
    quotes: &BTreeMap<&SessionId, Vec<Quote>>,
    notes: &BTreeMap<(&SessionId, u32), Vec<String>>,
) {
    if *open != Some(&span.session) {
        out.push_str(&session_line(&span.session, span.started_at));
        *open = Some(&span.session);
    }
    let quotes = quotes.get(&span.session).map_or(&[][..], Vec::as_slice);
    for turn in &span.turns {
        let line = turn_line(turn, quotes);
        match notes.get(&(&span.session, turn.index)) {
            Some(notes) => {
                let _ = writeln!(out, "{} ({})", line.trim_end_matches('\n'), notes.join("; "));
            }
            None => out.push_str(&line),
        }
    }
}
