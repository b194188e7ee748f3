//! An answer and the turns that it rests on.

use std::fmt::Write as _;

use fta_mem::{
    Asked,
    retrieve::{Packet, TurnRef},
    units::Unit,
};

use super::{
    date,
    table::{cut, wrap},
    unit::mark,
};
use crate::paint::Paint;

/// Turns of evidence that are shown.
const SHOWN: usize = 3;

/// The answer, then who said what it rests on, and when.
pub(crate) fn view(asked: &Asked, paint: Paint, width: usize) -> String {
    let Asked { answer, packet, notes: _ } = asked;
    let mut out = String::new();
    if answer.abstained {
        let _ = writeln!(out, "{}", paint.warn(&answer.text));
        return out;
    }
    let _ = writeln!(out, "{}", paint.bold(&answer.text));
    for at in answer.evidence.iter().take(SHOWN) {
        out.push('\n');
        turn(&mut out, asked, at, paint, width);
    }
    let rest = answer.evidence.len().saturating_sub(SHOWN);
    if rest > 0 {
        let _ = writeln!(out, "\n  {}", paint.dim(&format!("and {rest} more turns")));
    }
    let units = answer.units.iter().filter_map(|id| unit_of(packet, *id)).take(SHOWN);
    for (position, unit) in units.enumerate() {
        if position == 0 {
            out.push('\n');
        }
        let claim = cut(&unit.fact.claim, width.saturating_sub(16));
        let _ = writeln!(out, "  {} {} {claim}", paint.dim("from"), paint.id(&unit.id.to_string()));
    }
    out
}

/// The nearest units of an answer that abstains, for a person who wonders.
pub(crate) fn nearest(packet: &Packet, paint: Paint, width: usize) -> String {
    let ranked = packet.ranked();
    let mut out = String::new();
    for primary in ranked.iter().take(SHOWN) {
        let claim = cut(&primary.unit.fact.claim, width.saturating_sub(16));
        let _ = write!(out, "\n  {} {claim}", paint.id(&primary.unit.id.to_string()));
    }
    if out.is_empty() {
        "nothing near was found".to_owned()
    } else {
        format!("the nearest that is known:{out}")
    }
}

fn turn(out: &mut String, asked: &Asked, at: &TurnRef, paint: Paint, width: usize) {
    let packet = &asked.packet;
    let span = packet.spans.iter().find(|s| s.session == at.session);
    let Some(turn) = packet.turn(&at.session, at.turn) else {
        let _ = writeln!(out, "  {}", paint.dim(&at.source_id));
        return;
    };
    let when = turn.at.or(span.and_then(|s| s.started_at)).map_or_else(|| "undated".to_owned(), date::moment);
    let place = paint.dim(&format!("{when}, turn {}", at.source_id));
    let _ = writeln!(out, "  {}, {place}", paint.name(&turn.speaker));
    let quotes: Vec<(usize, usize)> = asked
        .answer
        .units
        .iter()
        .filter_map(|id| unit_of(packet, *id))
        .filter(|unit| unit.evidence.session == at.session)
        .flat_map(|unit| &unit.evidence.quotes)
        .filter(|quote| quote.turn == at.turn)
        .map(|quote| (quote.start as usize, quote.end as usize))
        .collect();
    for line in wrap(&mark(&turn.text, &quotes, paint), width.saturating_sub(4)) {
        let _ = writeln!(out, "    {line}");
    }
}

fn unit_of(packet: &Packet, id: fta_mem::units::UnitId) -> Option<&Unit> {
    let primary = packet.primary.iter().map(|p| &p.unit);
    primary.chain(packet.linked.iter().map(|l| &l.unit)).find(|unit| unit.id == id)
}
