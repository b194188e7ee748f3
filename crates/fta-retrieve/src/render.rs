//! Writes a packet out for an answer model or a person.

use std::{collections::BTreeMap, fmt::Write as _};

use fta_segment::{SessionId, Turn};
use fta_units::{EventTime, Quote, Relation, Unit, UnitId};
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
                out.push_str(&unit_line(&primary.unit));
            }
        }
        if !self.linked.is_empty() {
            out.push_str("# Linked units\n");
            for linked in &self.linked {
                let (newer, older) =
                    if linked.newer { (linked.unit.id, linked.of) } else { (linked.of, linked.unit.id) };
                out.push_str(&relation_label(newer, linked.relation, older));
                out.push_str(&unit_line(&linked.unit));
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

/// What stands before a linked unit in the full style.
pub(crate) fn relation_label(newer: UnitId, relation: Relation, older: UnitId) -> String {
    format!("({newer} {} {older}) ", relation_words(relation))
}

/// A unit in the full style: claim, when it was said and holds, feelings.
pub(crate) fn unit_line(unit: &Unit) -> String {
    let mut out = format!("{} ", unit.id);
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
    out
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

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;
    use crate::{
        fixture::{event, quote, session, unit},
        packet::{LinkedUnit, PrimaryUnit, UnitScore},
        query::Query,
    };

    #[test]
    fn a_short_turn_is_whole_and_a_long_one_cut_to_its_quotes() {
        let long = "The tide came in at noon. ".repeat(100);
        let stored = session("s1", 1, &["I rowed to the island.", &long]);
        let turns = &stored.session.turns;
        assert_eq!(turn_line(&turns[0], &[quote(0, 2, 7)]), "Ada: I rowed to the island.\n");
        let quotes = [quote(1, 26, 51), quote(1, 0, 25), quote(0, 0, 3)];
        assert_eq!(
            turn_line(&turns[1], &quotes),
            "Bo: … The tide came in at noon. … The tide came in at noon.\n"
        );
        assert_eq!(turn_line(&turns[1], &[]).len(), long.len() + "Bo: \n".len());
        let picture = Turn { caption: Some("a red boat".to_owned()), ..turns[0].clone() };
        assert_eq!(turn_line(&picture, &[]), "Ada: I rowed to the island. [picture: a red boat]\n");
    }

    #[test]
    fn a_time_is_noted_unless_its_words_date_it() {
        let note = |text: &str, last| time_note(&event(text, ((5, 6), last)));
        assert_eq!(note("yesterday", (5, 6)).as_deref(), Some("yesterday = 2024-05-06"));
        assert_eq!(note("that week", (5, 12)).as_deref(), Some("that week = 2024-05-06 to 2024-05-12"));
        assert_eq!(note("6 May 2024", (5, 6)), None);
        assert_eq!(time_note(&EventTime { interval: None, ..event("one day", ((5, 6), (5, 6))) }), None);
    }

    /// Two units of one session, the second linked to the first.
    fn packet(style: PacketStyle) -> Packet {
        let stored = session("s1", 4, &["I rowed to the island.", "Alone?", "My brother rowed back."]);
        let mut first = unit(1, &stored, 0);
        first.lifecycle.valid_until = Some(date(2024, 2, 1));
        let second = unit(2, &stored, 2);
        Packet {
            query: Query::default(),
            primary: vec![PrimaryUnit { unit: first.clone(), score: UnitScore::default(), rank: 0 }],
            linked: vec![LinkedUnit { unit: second, of: first.id, relation: Relation::Update, newer: true }],
            spans: vec![SourceSpan {
                session: stored.session.id.clone(),
                started_at: stored.session.started_at,
                span: fta_segment::TurnSpan::new(0, 3),
                turns: stored.session.turns,
            }],
            style,
            ..Packet::default()
        }
    }

    #[test]
    fn the_compact_style_says_nothing_twice() {
        assert_eq!(
            packet(PacketStyle::Compact).render(),
            "[2024-01-04]\nAda: I rowed to the island. (until 2024-02-01)\nBo: Alone?\nAda: My brother rowed back.\n"
        );
    }

    #[test]
    fn the_full_style_has_a_section_for_each_kind() {
        let packet = packet(PacketStyle::Full);
        let text = packet.render();
        let headings: Vec<&str> = text.lines().filter(|l| l.starts_with('#')).collect();
        assert_eq!(headings, ["# Primary units", "# Linked units", "# Source dialogue"]);
        let label = relation_label(UnitId(2), Relation::Update, UnitId(1));
        assert!(
            text.lines().any(|l| l.starts_with(&label) && l.contains("My brother rowed back.")),
            "{text}"
        );
        assert_eq!(packet.tokens(), text.chars().count().div_ceil(4));
        assert_eq!(Packet { style: PacketStyle::Full, ..Packet::default() }.render(), "");
    }
}
