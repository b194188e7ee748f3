//! Distances from the dialogue day: "two weeks ago", "in three months", "a week from Friday", "two days later".

use jiff::civil::Date;

use super::quantity::Duration;
use super::{Found, Look, Parser};
use crate::time::calendar::{Direction, Unit, exactly, hull, nth_weekday_from, plus_days, several, shifted};
use crate::time::{DateInterval, Granularity, TimeBound, clause, lexicon};

impl Duration {
    /// Granularity of a point so far away.
    pub(super) fn granularity(self) -> Granularity {
        let one = self.unit.granularity();
        if self.high > self.low { several(one) } else { one }
    }

    /// The units so far from `day`: backwards if `sign` is -1. A couple of days is two or three.
    pub(super) fn from(self, day: Date, sign: i64) -> Option<DateInterval> {
        let near = shifted(day, self.unit, self.low.checked_mul(sign)?)?;
        let far = shifted(day, self.unit, self.high.checked_mul(sign)?)?;
        Some(hull(near, far))
    }
}

impl Parser<'_> {
    /// "two weeks ago", "a year ago today", "three weeks ago on Friday", "a few years back".
    pub(super) fn ago(&self, at: usize, _look: Look) -> Option<Found> {
        let duration = self.duration(at).map(|duration| self.loosened(at, duration))?;
        let end = match (self.word(duration.end), self.word(duration.end + 1)) {
            ("ago", _) => duration.end + 1,
            ("back", next) if !matches!(next, "to" | "from" | "in" | "and" | "at" | "home") => {
                duration.end + 1
            }
            ("prior" | "earlier" | "before", _) if self.is_clause_end(duration.end + 1) => {
                let (anchor, known) =
                    self.carried(at).map_or((self.said_on, false), |carried| (carried.first, true));
                let interval = if known { duration.from(anchor, -1) } else { None };
                return Some(Found::new(duration.end + 1, interval, duration.granularity()).past());
            }
            _ => return None,
        };
        if let Some(found) = self.ago_to_the_day(duration, end) {
            return Some(found.past());
        }
        Some(Found::new(end, duration.from(self.said_on, -1), duration.granularity()).past())
    }

    /// "a couple of days" is two or three.
    fn loosened(&self, at: usize, mut duration: Duration) -> Duration {
        let is_couple = (at..duration.end).any(|place| self.word(place) == "couple");
        if is_couple && duration.unit == Unit::Day {
            duration.high = 3;
        }
        duration
    }

    /// "a year ago today", "a week ago yesterday", "two weeks ago on Friday".
    fn ago_to_the_day(&self, duration: Duration, end: usize) -> Option<Found> {
        let offset = match self.word(end) {
            "today" => Some(0),
            "yesterday" => Some(-1),
            "tomorrow" => Some(1),
            _ => None,
        };
        if let Some(offset) = offset {
            let day = exactly(plus_days(self.said_on, offset)?, duration.unit, -duration.low);
            return Some(Found::day(end + 1, day));
        }
        let day_at = self.skip(end, "on");
        let weekday = lexicon::weekday(self.word(day_at))?;
        let weeks = match duration.unit {
            Unit::Week => duration.low,
            Unit::Fortnight => duration.low.checked_mul(2)?,
            _ => return None,
        };
        let last = nth_weekday_from(self.said_on, -1, weekday)?;
        Some(Found::day(self.skip_day_part(day_at + 1), plus_days(last, weeks.checked_mul(-7)?)))
    }

    /// "in two weeks", "within a month", "two weeks from now", "a week from Friday", "two days later".
    pub(super) fn ahead(&self, at: usize, look: Look) -> Option<Found> {
        match self.word(at) {
            "in" => self.in_duration(at, look),
            "within" => {
                let duration = self.duration(self.skip(self.skip(at + 1, "the"), "next"))?;
                if duration.unit == Unit::Moment
                    || self.direction(look, at, duration.end) == Some(Direction::Past)
                {
                    return None;
                }
                let last = exactly(self.said_on, duration.unit, duration.high);
                let interval = last.map(|last| DateInterval { first: self.said_on, last });
                Some(Found::new(duration.end, interval, duration.granularity()).future())
            }
            _ => self.distance_from(at, look),
        }
    }

    fn in_duration(&self, at: usize, look: Look) -> Option<Found> {
        let from = at + 1;
        let duration = self.duration(from)?;
        if matches!(duration.unit, Unit::Moment | Unit::Season(_) | Unit::Weekday(_)) {
            return None;
        }
        let end = self
            .phrase(duration.end, &["'", "time"])
            .or_else(|| self.after(duration.end, "time"))
            .unwrap_or(duration.end);
        if matches!(self.word(end), "of" | "or" | "old") || self.word(end) == "-" {
            return None;
        }
        // "in a day" and "in one night" are mostly durations, "in a couple of days" is a time.
        let is_single_day = duration.unit == Unit::Day && duration.high == 1;
        // "I haven't seen him in years", but not "I've read two books in a week".
        if clause::is_perfect(self.tokens, at) && clause::is_negated(self.tokens, at) {
            let interval = duration.from(self.said_on, -1);
            return Some(
                Found::new(end, interval, duration.granularity()).present().bounded(TimeBound::Since),
            );
        }
        if is_single_day || self.direction(look, at, end) == Some(Direction::Past) {
            return None;
        }
        Some(Found::new(end, duration.from(self.said_on, 1), duration.granularity()).future())
    }

    fn distance_from(&self, at: usize, look: Look) -> Option<Found> {
        let duration = self.duration(at)?;
        let end = duration.end;
        match self.word(end) {
            "hence" => {
                Some(Found::new(end + 1, duration.from(self.said_on, 1), duration.granularity()).future())
            }
            "from" if self.word(end + 1) == "now" => {
                Some(Found::new(end + 2, duration.from(self.said_on, 1), duration.granularity()).future())
            }
            "from" => {
                let anchor = self.point(end + 1, look.inner(Some(Direction::Future)))?;
                let day = exactly(anchor.sense.interval?.last, duration.unit, duration.low);
                Some(Found::day(anchor.end, day))
            }
            "later" | "after" if self.is_clause_end(end + 1) || self.word(end) == "later" => {
                if self.word_before(at) == "until" || duration.unit == Unit::Moment {
                    return None;
                }
                let interval = self.carried(at).and_then(|carried| duration.from(carried.last, 1));
                Some(Found::new(end + 1, interval, duration.granularity()))
            }
            _ => None,
        }
    }
}
