//! How much of what was said lies in the evidence of units.

use fta_segment::Session;

use super::turns::{ReadTurn, TurnKind};
use crate::unit::Evidence;

/// Turns that say something, and how many of them units rest on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Coverage {
    /// Turns that say something.
    pub content_turns: usize,
    /// Of these, turns in the evidence span of some unit.
    pub covered_turns: usize,
    /// Of these, turns with a quote of their own in some unit.
    pub quoted_turns: usize,
}

impl Coverage {
    /// The sum over sessions.
    pub fn plus(self, other: Self) -> Self {
        Self {
            content_turns: self.content_turns + other.content_turns,
            covered_turns: self.covered_turns + other.covered_turns,
            quoted_turns: self.quoted_turns + other.quoted_turns,
        }
    }
}

/// Counts the turns of a session that say something and how many of them units rest on, given the evidence of those
/// units.
///
/// A turn says something when it shares a picture or has a sentence that is no filler. Units of other sessions do not count.
pub fn coverage<'e>(session: &Session, units: impl IntoIterator<Item = &'e Evidence>) -> Coverage {
    let names = session.speakers();
    let n_turns = session.turns.len();
    let (mut covered, mut quoted) = (vec![false; n_turns], vec![false; n_turns]);
    for evidence in units.into_iter().filter(|e| e.session == session.id) {
        let span = evidence.turns;
        covered[(span.start as usize).min(n_turns)
            ..(span.end as usize).min(n_turns).max((span.start as usize).min(n_turns))]
            .fill(true);
        for quote in &evidence.quotes {
            if let Some(flag) = quoted.get_mut(quote.turn as usize) {
                *flag = true;
            }
        }
    }
    let mut counts = Coverage::default();
    for (at, turn) in session.turns.iter().enumerate() {
        if ReadTurn::new(turn, &names).kind() != TurnKind::Filler {
            counts.content_turns += 1;
            counts.covered_turns += usize::from(covered[at]);
            counts.quoted_turns += usize::from(quoted[at]);
        }
    }
    counts
}
