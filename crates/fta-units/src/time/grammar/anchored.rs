//! Times told from another time: "the Sunday before 25 May", "the week of 9 June", "two days before Christmas".

use super::{Found, Look, Parser};
use crate::time::calendar::{Direction, Unit, shifted};
use crate::time::lexicon;

/// What stands behind "before" or "after".
enum Anchor {
    /// A time, resolved or not.
    Time(Found),
    /// Something that has no date here ("my exam", "we met"); tokens up to here.
    Unknown(usize),
    /// Nothing: the clause ends.
    Missing,
}

impl Parser<'_> {
    /// "the Sunday before 25 May 2023", "the week of 9 June", "the day after my exam", "the week before".
    pub(super) fn anchored_unit(&self, at: usize, look: Look) -> Option<Found> {
        let from = self.skip(at, "the");
        let has_article = from > at;
        let unit = lexicon::unit(self.word(from)).filter(|unit| *unit != Unit::Moment)?;
        if lexicon::is_plural(self.word(from)) {
            return None;
        }
        let (n, anchor_at) = match (self.word(from + 1), self.word(from + 2)) {
            ("prior", "to") => (-1, from + 3),
            ("before" | "preceding", _) => (-1, from + 2),
            ("after" | "following", _) => (1, from + 2),
            ("of", _) => (0, from + 2),
            _ => return None,
        };
        match self.anchor(anchor_at, look) {
            Anchor::Time(anchor) => {
                let interval = anchor.sense.interval.and_then(|anchor| match n {
                    0 if unit == Unit::Day => Some(anchor),
                    ..=0 => shifted(anchor.first, unit, n),
                    _ => shifted(anchor.last, unit, n),
                });
                Some(Found::new(anchor.end, interval, unit.granularity()))
            }
            Anchor::Unknown(_) if n == 0 || !has_article => None,
            Anchor::Unknown(end) => Some(Found::new(end, None, unit.granularity())),
            Anchor::Missing if n == 0 || !has_article => None,
            Anchor::Missing => {
                let carried = self.carried(at);
                let from = match (carried, n) {
                    (None, _) => self.said_on,
                    (Some(carried), ..0) => carried.first,
                    (Some(carried), _) => carried.last,
                };
                Some(Found::new(anchor_at, shifted(from, unit, n), unit.granularity()))
            }
        }
    }

    /// "two days before Christmas", "three years after 2020", "two weeks before my exam".
    pub(super) fn anchored_duration(&self, at: usize, look: Look) -> Option<Found> {
        let duration = self.duration(at).filter(|duration| duration.unit != Unit::Moment)?;
        let (sign, anchor_at) = match (self.word(duration.end), self.word(duration.end + 1)) {
            ("before", _) => (-1, duration.end + 1),
            ("after", _) => (1, duration.end + 1),
            ("prior", "to") => (-1, duration.end + 2),
            _ => return None,
        };
        match self.anchor(anchor_at, look) {
            Anchor::Time(anchor) => {
                let interval = anchor.sense.interval.and_then(|anchor| {
                    duration.from(if sign < 0 { anchor.first } else { anchor.last }, sign)
                });
                Some(Found::new(anchor.end, interval, duration.granularity()))
            }
            Anchor::Unknown(end) => Some(Found::new(end, None, duration.granularity())),
            Anchor::Missing => None,
        }
    }

    fn anchor(&self, at: usize, look: Look) -> Anchor {
        let from = self.skip(self.skip(at, "on"), "in");
        if let Some(found) = self.point(from, Look { direction: look.direction, ..look.inner(None) }) {
            return Anchor::Time(found);
        }
        if self.is_clause_end(at) {
            return Anchor::Missing;
        }
        let n_words = if lexicon::is_determiner(self.word(at)) { 2 } else { 0 };
        if matches!(self.word(at), "and" | "but" | "or" | "so" | "when" | "then" | "was") {
            return Anchor::Missing;
        }
        Anchor::Unknown((at + n_words).min(self.tokens.len()))
    }

    /// Direction that the operand of "since", "until" and the like has when the clause does not show one.
    pub(super) fn direction_or(&self, at: usize, end: usize, other: Direction) -> Direction {
        self.direction(Look::default(), at, end).unwrap_or(other)
    }
}
