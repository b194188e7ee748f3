//! One session as a transcript, cut into fragments, each with its units.

use std::fmt::Write as _;

use fta_mem::units::{SessionState, StoredSession, Unit};
use serde::Serialize;

use super::{
    date,
    table::cut,
    unit::turn_lines,
    wire::{WireTurn, WireUnit},
};
use crate::{paint::Paint, words};

/// The session as text.
pub(crate) fn view(stored: &StoredSession, units: &[Unit], paint: Paint, width: usize) -> String {
    let session = &stored.session;
    let mut out = String::new();
    let when = session.started_at.map_or_else(|| "undated".to_owned(), date::moment);
    let running = if stored.state == SessionState::Running { ", still running" } else { "" };
    let facts = format!(
        "{when}, {} turns, {} fragments, {} units{running}",
        session.turns.len(),
        stored.fragments.len(),
        units.len()
    );
    let _ = writeln!(out, "{}  {}", paint.id(&session.id.0), paint.dim(&facts));
    for mark in stored.state.marks() {
        let _ = writeln!(out, "  {}", paint.warn(&format!("{mark}; `fta retry` does it again")));
    }
    for (position, fragment) in stored.fragments.iter().enumerate() {
        let here: Vec<&Unit> = units.iter().filter(|u| fragment.span.contains(last_turn(u))).collect();
        let head = format!("Fragment {}, ends by {}", position + 1, words::cue(fragment.cue));
        let _ = writeln!(out, "\n  {}", paint.dim(&head));
        for turn in session.span(fragment.span) {
            turn_lines(&mut out, turn, &[], paint, width);
        }
        for unit in here {
            let claim = cut(&unit.fact.claim, width.saturating_sub(14));
            let _ = writeln!(out, "    = {} {claim}", paint.id(&unit.id.to_string()));
        }
    }
    out
}

/// The turn with which a unit is told: it belongs to the fragment that holds it.
fn last_turn(unit: &Unit) -> u32 {
    unit.evidence.turns.end.saturating_sub(1)
}

/// The session as JSON.
#[derive(Serialize)]
pub(crate) struct WireSession {
    session: String,
    started_at: Option<String>,
    running: bool,
    turns: Vec<WireTurn>,
    fragments: Vec<WireFragment>,
    units: Vec<WireUnit>,
}

/// A fragment: the half-open range of turn indexes `[start, end]`.
#[derive(Serialize)]
struct WireFragment {
    turns: [u32; 2],
    ends_by: &'static str,
}

impl WireSession {
    /// The session with its units.
    pub(crate) fn new(stored: &StoredSession, units: &[Unit]) -> Self {
        Self {
            session: stored.session.id.to_string(),
            started_at: stored.session.started_at.map(|at| at.to_string()),
            running: stored.state == SessionState::Running,
            turns: stored.session.turns.iter().map(WireTurn::from).collect(),
            fragments: stored
                .fragments
                .iter()
                .map(|f| WireFragment { turns: [f.span.start, f.span.end], ends_by: words::cue(f.cue) })
                .collect(),
            units: units.iter().map(WireUnit::from).collect(),
        }
    }
}
