//! One unit, made to be read.

use std::fmt::Write as _;

use fta_mem::{
    Neighbour, UnitView,
    segment::{SessionId, Turn},
    units::{Completion, Quote, Unit},
};

use super::{
    date,
    table::{Table, cut, wrap},
};
use crate::{paint::Paint, words};

/// Units as a table.
pub(crate) fn list(units: &[Unit], paint: Paint, width: usize) -> String {
    let mut table = Table::new(&["ID", "SAID", "HAPPENED", "KIND", "CLAIM"]);
    for unit in units {
        let happened = unit.time.event.as_ref().and_then(date::event_days).unwrap_or_else(|| "-".to_owned());
        let mut claim = unit.fact.claim.clone();
        if let Some(successor) = unit.lifecycle.superseded_by {
            claim = format!("(superseded by {successor}) {claim}");
        }
        table.row(vec![
            unit.id.to_string(),
            date::short(unit.time.said_at),
            cut(&happened, 34),
            words::situation(unit.fact.situation).to_owned(),
            claim,
        ]);
    }
    table.render(paint, width)
}

/// A unit with evidence and links.
pub(crate) fn view(view: &UnitView, paint: Paint, width: usize) -> String {
    let unit = &view.unit;
    let mut out = String::new();
    let mut marks = vec![words::situation(unit.fact.situation), words::status(unit.status)];
    if unit.time.completion != Completion::Unknown {
        marks.push(words::completion(unit.time.completion));
    }
    let _ = writeln!(out, "{}  {}", paint.id(&unit.id.to_string()), paint.dim(&marks.join(", ")));
    for line in wrap(&unit.fact.claim, width.saturating_sub(2)) {
        let _ = writeln!(out, "  {}", paint.bold(&line));
    }
    out.push('\n');
    for (label, value) in anchors(view) {
        let _ = writeln!(out, "  {} {value}", paint.dim(&format!("{label:<10}")));
    }
    evidence(&mut out, view, paint, width);
    if !view.neighbours.is_empty() {
        let _ = writeln!(out, "\n  {}", paint.dim("Linked"));
        for neighbour in &view.neighbours {
            let _ = writeln!(out, "    {}", link_line(unit, neighbour, paint, width.saturating_sub(4)));
        }
    }
    out
}

/// Labels and values of the anchors, those that say nothing left out.
fn anchors(view: &UnitView) -> Vec<(&'static str, String)> {
    let unit = &view.unit;
    let mut rows: Vec<(&'static str, String)> = Vec::new();
    let said = unit.time.said_at.or(view.session_started_at);
    rows.push(("said", said.map_or_else(|| "at an unknown time".to_owned(), date::moment)));
    if let Some(event) = &unit.time.event {
        rows.push(("happened", date::event(event)));
    }
    if !unit.affect.emotions.is_empty() {
        rows.push(("feeling", unit.affect.emotions.join(", ")));
    }
    if let Some(plan) = &unit.affect.intention {
        rows.push(("plan", plan.clone()));
    }
    if !unit.affect.relation_cues.is_empty() {
        rows.push(("relation", unit.affect.relation_cues.join(", ")));
    }
    if !unit.fact.participants.is_empty() {
        rows.push(("about", unit.fact.participants.join(", ")));
    }
    if !unit.fact.mentioned.is_empty() {
        rows.push(("mentions", unit.fact.mentioned.join(", ")));
    }
    let lifecycle = &unit.lifecycle;
    if lifecycle.valid_until.is_some() || lifecycle.superseded_by.is_some() {
        let mut text = lifecycle.valid_from.map(|d| format!("from {} ", date::day(d))).unwrap_or_default();
        text.push_str(&lifecycle.valid_until.map(|d| format!("until {}", date::day(d))).unwrap_or_default());
        if let Some(successor) = lifecycle.superseded_by {
            let _ = write!(text, ", superseded by {successor}");
        }
        rows.push(("held", text.trim_start_matches([',', ' ']).to_owned()));
    }
    let mut made = unit.provenance.extractor.clone();
    if let Some(model) = &unit.provenance.model {
        let _ = write!(made, " with {model}");
    }
    if let Some(at) = unit.provenance.corrected_at {
        let _ = write!(made, ", corrected by hand on {}", date::moment(at));
    }
    rows.push(("made by", made));
    rows
}

fn evidence(out: &mut String, view: &UnitView, paint: Paint, width: usize) {
    let session: &SessionId = &view.unit.evidence.session;
    let started = view.session_started_at.map(|at| format!(", {}", date::moment(at))).unwrap_or_default();
    let _ = writeln!(out, "\n  {}", paint.dim(&format!("Evidence, from session {session}{started}")));
    for turn in &view.turns {
        turn_lines(out, turn, &view.unit.evidence.quotes, paint, width);
    }
}

/// A turn: its id and speaker, and below the text with the quoted parts marked.
pub(crate) fn turn_lines(out: &mut String, turn: &Turn, quotes: &[Quote], paint: Paint, width: usize) {
    let at = turn.at.map(|at| format!("  {}", date::moment(at))).unwrap_or_default();
    let _ =
        writeln!(out, "    {} {}{}", paint.name(&turn.speaker), paint.dim(&turn.source_id), paint.dim(&at));
    let ranges = quotes.iter().filter(|q| q.turn == turn.index).map(|q| (q.start as usize, q.end as usize));
    for line in wrap(&mark(&turn.text, &ranges.collect::<Vec<_>>(), paint), width.saturating_sub(6)) {
        let _ = writeln!(out, "      {line}");
    }
    if let Some(caption) = &turn.caption {
        let _ = writeln!(out, "      {}", paint.dim(&format!("[picture: {caption}]")));
    }
}

/// The text with byte ranges marked. Ranges with nothing but space between them are marked as one.
pub(crate) fn mark(text: &str, ranges: &[(usize, usize)], paint: Paint) -> String {
    let mut sorted: Vec<(usize, usize)> = ranges.to_vec();
    sorted.sort_unstable();
    let mut joined: Vec<(usize, usize)> = Vec::new();
    for (start, end) in sorted {
        // A range that does not fit the text marks nothing.
        if text.get(start..end).is_none_or(str::is_empty) {
            continue;
        }
        match joined.last_mut() {
            Some((_, last)) if text.get(*last..start).is_none_or(|gap| gap.trim().is_empty()) => {
                *last = end.max(*last);
            }
            _ => joined.push((start, end)),
        }
    }
    let mut out = String::new();
    let mut at = 0;
    for (start, end) in joined {
        out.push_str(&text[at..start]);
        out.push_str(&paint.quote(&text[start..end]));
        at = end;
    }
    out.push_str(&text[at..]);
    out
}

/// One link in the words of the unit that is looked at.
fn link_line(unit: &Unit, neighbour: &Neighbour, paint: Paint, width: usize) -> String {
    let verb = if neighbour.newer {
        words::relation_verb_back(neighbour.relation)
    } else {
        words::relation_verb(neighbour.relation)
    };
    let other = &neighbour.unit;
    let plain = format!("{} {verb} {} ({}): ", unit.id, other.id, date::short(other.time.said_at));
    let room = width.saturating_sub(plain.chars().count()).max(20);
    format!(
        "{} {verb} {} {} {}",
        unit.id,
        paint.id(&other.id.to_string()),
        paint.dim(&format!("({}):", date::short(other.time.said_at))),
        cut(&other.fact.claim, room)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_are_marked_and_nothing_is_lost() {
        let plain = Paint::new(false);
        assert_eq!(mark("So, I moved. Yes.", &[(4, 12)], plain), "So, «I moved.» Yes.");
        assert_eq!(mark("One. Two. Three.", &[(5, 9), (0, 4)], plain), "«One. Two.» Three.");
        assert_eq!(mark("abc", &[(0, 1), (0, 2)], plain), "«ab»c");
        assert_eq!(mark("é", &[(1, 2)], plain), "é");
        assert_eq!(mark("abc", &[(2, 9)], plain), "abc");
    }
}
