//! "today", "last night", "the day before yesterday", "recently", "these days", "a while ago".

use super::{Found, Look, Parser};
use crate::time::calendar::{Direction, plus_days, plus_months};
use crate::time::{DateInterval, Granularity};

impl Parser<'_> {
    /// Words that point at the dialogue day or near it.
    pub(super) fn deictic(&self, at: usize, look: Look) -> Option<Found> {
        self.near_day(at, look)
            .or_else(|| self.present(at))
            .or_else(|| self.vague_past(at))
            .or_else(|| self.vague_future(at))
    }

    fn relative_day(&self, n_days: i64, end: usize) -> Found {
        let found = Found::day(end, plus_days(self.said_on, n_days));
        match n_days {
            ..0 => found.past(),
            0 => found.present(),
            _ => found.future(),
        }
    }

    fn near_day(&self, at: usize, look: Look) -> Option<Found> {
        let from = if matches!(self.word(at), "early" | "late" | "later" | "earlier") { at + 1 } else { at };
        let moved = from > at;
        let found = match (self.stem(from), self.stem(from + 1)) {
            ("today", _) => {
                let found = self.relative_day(0, self.skip_day_part(from + 1));
                match self.word(at) {
                    "earlier" => found.past(),
                    "later" => found.future(),
                    _ => found,
                }
            }
            ("tonight", _) => self.relative_day(0, from + 1),
            // "it feels like yesterday"
            ("yesterday", _) if self.is_like_yesterday(at) => return None,
            ("yesterday" | "yday", _) => self.relative_day(-1, self.skip_day_part(from + 1)),
            ("tomorrow" | "tmrw" | "tmr", _) => self.relative_day(1, self.skip_day_part(from + 1)),
            ("last", "night" | "evening") => self.relative_day(-1, from + 2),
            ("this", "morning") => self.relative_day(0, from + 2).past(),
            ("this", "afternoon" | "evening") => {
                let found = self.relative_day(0, from + 2);
                match self.direction(look, at, from + 2) {
                    Some(Direction::Past) => found.past(),
                    Some(Direction::Future) => found.future(),
                    None => found,
                }
            }
            _ if moved => return None,
            _ => return self.day_beyond(at),
        };
        Some(found)
    }

    fn is_like_yesterday(&self, at: usize) -> bool {
        (1..=3).any(|back| at.checked_sub(back).is_some_and(|place| self.word(place) == "like"))
    }

    fn day_beyond(&self, at: usize) -> Option<Found> {
        let from = self.skip(at, "the");
        if let Some(end) = self.phrase(from, &["day", "before", "yesterday"]) {
            return Some(self.relative_day(-2, end));
        }
        if let Some(end) = self.phrase(from, &["night", "before", "last"]) {
            return Some(self.relative_day(-2, end));
        }
        self.phrase(from, &["day", "after", "tomorrow"]).map(|end| self.relative_day(2, end))
    }

    fn present(&self, at: usize) -> Option<Found> {
        let today = DateInterval::day(self.said_on);
        let day = |end| Some(Found::new(end, Some(today), Granularity::Day).present());
        match (self.word(at), self.word(at + 1), self.word(at + 2)) {
            ("right", "now", _) | ("at", "present", _) => day(at + 2),
            ("just", "now", _) => Some(Found::new(at + 2, Some(today), Granularity::Day).past()),
            ("at" | "for", "the", "moment") => day(at + 3),
            ("currently" | "presently", ..) => day(at + 1),
            ("now", "that" | "and", _) => None,
            ("now", ..) if !matches!(self.word_before(at), "by" | "until" | "from" | "every" | "than") => {
                day(at + 1)
            }
            ("these", "days", _) => Some(self.since_days(at + 2, 30, Granularity::Month).present()),
            ("nowadays", ..) => Some(self.since_days(at + 1, 30, Granularity::Month).present()),
            ("lately", ..) => Some(self.since_days(at + 1, 30, Granularity::Month).present()),
            _ => None,
        }
    }

    /// From `n_days` before the dialogue day to it.
    pub(super) fn since_days(&self, end: usize, n_days: i64, granularity: Granularity) -> Found {
        let first = plus_days(self.said_on, -n_days);
        Found::new(end, first.map(|first| DateInterval { first, last: self.said_on }), granularity)
    }

    fn vague_past(&self, at: usize) -> Option<Found> {
        if self.word(at) == "recently" {
            return Some(self.since_days(at + 1, 30, Granularity::Month).past());
        }
        if let Some(unit_at) = self.phrase(at, &["the", "other"]) {
            let (n_days, granularity) = match self.word(unit_at) {
                "day" | "night" | "morning" | "evening" | "afternoon" => (7, Granularity::Week),
                "week" | "weekend" => (30, Granularity::Month),
                _ => return None,
            };
            let last = plus_days(self.said_on, -1)?;
            let first = plus_days(self.said_on, -n_days);
            let interval = first.map(|first| DateInterval { first, last });
            return Some(Found::new(unit_at + 1, interval, granularity).past());
        }
        let unresolved = |end, granularity| Some(Found::new(end, None, granularity).past());
        if self.word(at) == "not"
            && matches!(self.word(at + 1), "so" | "too" | "that" | "very")
            && let Some(end) = self.phrase(at + 2, &["long", "ago"])
        {
            return unresolved(end, Granularity::Month);
        }
        let from = self.skip(self.skip(self.skip(at, "quite"), "a"), "little");
        match (self.word(from), self.word(from + 1), self.word(from + 2)) {
            ("while", "ago" | "back", _) => unresolved(from + 2, Granularity::Month),
            ("long", "ago", _) => unresolved(from + 2, Granularity::Years),
            ("long", "time", "ago" | "back") => unresolved(from + 3, Granularity::Years),
            ("ages" | "years" | "decades", "ago" | "back", _) => unresolved(from + 2, Granularity::Years),
            ("months", "ago" | "back", _) => unresolved(from + 2, Granularity::Season),
            ("weeks", "ago" | "back", _) => unresolved(from + 2, Granularity::Month),
            ("days", "ago", _) => unresolved(from + 2, Granularity::Week),
            ("many" | "some", "years", "ago" | "back") => unresolved(from + 3, Granularity::Years),
            ("many" | "some", "months", "ago" | "back") => unresolved(from + 3, Granularity::Season),
            ("some", "time" | "weeks", "ago") => unresolved(from + 3, Granularity::Month),
            _ => None,
        }
    }

    /// "soon" is the coming month.
    fn vague_future(&self, at: usize) -> Option<Found> {
        // "Talk to you soon" is a farewell.
        let is_idle =
            matches!(self.word_before(at), "as" | "too" | "how" | "you" | "ya" | "u" | "talk" | "chat");
        if self.word(at) != "soon" || is_idle {
            return None;
        }
        if matches!(self.word(at + 1), "after" | "as" | "enough" | "became" | "realized" | "found") {
            return None;
        }
        let last = plus_months(self.said_on, 1);
        let interval = last.map(|last| DateInterval { first: self.said_on, last });
        Some(Found::new(at + 1, interval, Granularity::Month).future())
    }
}
