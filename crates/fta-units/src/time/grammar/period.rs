//! "last week", "this summer", "the past two months", "next year", "that weekend".

use super::quantity::Duration;
use super::{Found, Look, Parser};
use crate::time::calendar::{
    Direction, Unit, exactly, hull, month_of, plus_days, plus_months, several, shifted,
};
use crate::time::{DateInterval, Granularity, lexicon};

impl Parser<'_> {
    /// "last week", "this Friday", "next summer", "this past weekend", "the week before last".
    pub(super) fn relative_period(&self, at: usize, look: Look) -> Option<Found> {
        if let Some(found) = self.period_beyond(at) {
            return Some(found);
        }
        for (words, n_months) in
            [(["this", "time", "last", "year"], -12), (["this", "time", "next", "year"], 12)]
        {
            if let Some(end) = self.phrase(at, &words) {
                let interval = plus_months(self.said_on, n_months).map(month_of);
                return Some(Found::new(end, interval, Granularity::Month));
            }
        }
        let from = self.skip(at, "the");
        let (n, unit_at) = match (self.word(from), self.word(from + 1)) {
            ("this", "past" | "last") => (-1, from + 2),
            ("this", "coming" | "upcoming" | "next") => (1, from + 2),
            ("last" | "past", _) => (-1, from + 1),
            ("next" | "coming" | "upcoming", _) => (1, from + 1),
            ("this", "very" | "same") => (0, from + 2),
            ("this", _) => (0, from + 1),
            ("earlier" | "later", "this") => (0, from + 2),
            _ => return None,
        };
        let unit = self.period_unit(unit_at)?;
        let end = unit_at + 1;
        if matches!(self.word(from), "earlier" | "later") {
            return self.side_of_current(unit, self.word(from) == "later", end);
        }
        if from > at && n == 1 && self.word(from) == "next" {
            return None;
        }
        let is_past = matches!(self.word(from), "past") || matches!(self.word(from + 1), "past" | "last");
        if is_past && matches!(unit, Unit::Day | Unit::Week | Unit::Month | Unit::Year | Unit::Decade) {
            return self.rolling(Duration { low: 1, high: 1, unit, end }, Direction::Past);
        }
        if matches!(unit, Unit::Day | Unit::Moment) {
            return None;
        }
        let end = if matches!(unit, Unit::Weekday(_)) { self.skip_day_part(end) } else { end };
        let found = Found::new(end, self.period(unit, n, self.direction(look, at, end)), unit.granularity());
        Some(match n {
            ..0 => found.past(),
            0 => found,
            _ => found.future(),
        })
    }

    /// A unit behind "last" and the like, singular; short weekdays need a capital.
    fn period_unit(&self, at: usize) -> Option<Unit> {
        let word = self.stem(at);
        if self.is_capital(at)
            && let Some(weekday) = lexicon::short_weekday(word)
        {
            return Some(Unit::Weekday(weekday));
        }
        let unit = lexicon::unit(word).filter(|_| !lexicon::is_plural(word))?;
        // "in the last minute" and "this second" are no times to resolve.
        (unit != Unit::Moment).then_some(unit)
    }

    /// Calendar unit `n` from the current one. "this Friday" is the one of this week unless it is over and not
    /// spoken of in the past; "next Friday" is the first after the dialogue day, "last Friday" the last before it.
    fn period(&self, unit: Unit, n: i64, direction: Option<Direction>) -> Option<DateInterval> {
        let found = shifted(self.said_on, unit, n)?;
        let is_over = matches!(unit, Unit::Weekday(_)) && n == 0 && found.last < self.said_on;
        if is_over && direction != Some(Direction::Past) {
            shifted(self.said_on, unit, 1)
        } else {
            Some(found)
        }
    }

    /// "earlier this week", "later this year".
    fn side_of_current(&self, unit: Unit, is_later: bool, end: usize) -> Option<Found> {
        let whole = shifted(self.said_on, unit, 0)?;
        if is_later {
            let interval = (self.said_on <= whole.last)
                .then_some(DateInterval { first: self.said_on, last: whole.last });
            Some(Found::new(end, interval.or(Some(whole)), unit.granularity()).future())
        } else {
            let interval = (whole.first <= self.said_on)
                .then_some(DateInterval { first: whole.first, last: self.said_on });
            Some(Found::new(end, interval.or(Some(whole)), unit.granularity()).past())
        }
    }

    /// "the week before last", "the Friday after next".
    fn period_beyond(&self, at: usize) -> Option<Found> {
        let from = self.skip(at, "the");
        let unit = self.period_unit(from)?;
        let (n, is_past) = match (self.word(from + 1), self.word(from + 2)) {
            ("before", "last") => (-2, true),
            ("after", "next") => (2, false),
            _ => return None,
        };
        let end = from + 3;
        if lexicon::unit(self.stem(end)).is_some() {
            return None;
        }
        let found = Found::new(end, shifted(self.said_on, unit, n), unit.granularity());
        Some(if is_past { found.past() } else { found.future() })
    }

    /// "the past two weeks", "the last few months", "the next couple of days", "recent years".
    pub(super) fn rolling_period(&self, at: usize, _look: Look) -> Option<Found> {
        if self.word(at) == "recent" || (self.word(at) == "coming" && lexicon::is_plural(self.word(at + 1))) {
            let unit = lexicon::unit(self.word(at + 1)).filter(|_| lexicon::is_plural(self.word(at + 1)))?;
            let direction = if self.word(at) == "recent" { Direction::Past } else { Direction::Future };
            return self.rolling(Duration { low: 2, high: 5, unit, end: at + 2 }, direction);
        }
        let mut from = at;
        if matches!(self.word(from), "the" | "these" | "this" | "my" | "our") {
            from += 1;
        }
        let direction = match self.word(from) {
            "past" | "last" => Direction::Past,
            "next" | "coming" => Direction::Future,
            _ => return None,
        };
        if let Some(duration) = self.duration(from + 1) {
            return self.rolling(duration, direction);
        }
        // "over the last year" is no calendar year.
        let duration = self.single(from + 1)?;
        if duration.unit == Unit::Month && duration.high > 1 {
            return self.rolling(duration, direction);
        }
        let unit = self.period_unit(from + 1)?;
        let rolls = matches!(
            self.word_before(at),
            "over" | "in" | "during" | "within" | "throughout" | "for" | "through"
        ) && from > at
            && matches!(unit, Unit::Week | Unit::Month | Unit::Year | Unit::Decade);
        if rolls { self.rolling(duration, direction) } else { None }
    }

    fn rolling(&self, duration: Duration, direction: Direction) -> Option<Found> {
        if duration.unit == Unit::Moment {
            return None;
        }
        let one = duration.unit.granularity();
        let granularity = if duration.high > 1 { several(one) } else { one };
        let sign = if direction == Direction::Past { -1 } else { 1 };
        let high = duration.high.checked_mul(sign)?;
        let interval = if matches!(duration.unit, Unit::Season(_) | Unit::Weekday(_) | Unit::Weekend) {
            let (near, far) =
                (shifted(self.said_on, duration.unit, sign), shifted(self.said_on, duration.unit, high));
            near.zip(far).map(|(near, far)| hull(near, far))
        } else {
            exactly(self.said_on, duration.unit, high).map(|far| DateInterval::new(far, self.said_on))
        };
        let found = Found::new(duration.end, interval, granularity);
        Some(if direction == Direction::Past { found.past() } else { found.future() })
    }

    /// "the weekend", "over the summer": the one that the tense asks for.
    pub(super) fn definite_period(&self, at: usize, look: Look) -> Option<Found> {
        let mut unit_at = self.after(at, "the")?;
        while matches!(self.word(unit_at), "whole" | "entire" | "long") {
            unit_at += 1;
        }
        if self.word(unit_at) != "weekend" || lexicon::unit(self.word(unit_at)) != Some(Unit::Weekend) {
            return None;
        }
        let end = unit_at + 1;
        let current = shifted(self.said_on, Unit::Weekend, 0)?;
        let is_now = current.contains(self.said_on);
        let interval = match self.direction(look, at, end) {
            Some(Direction::Future) => Some(current),
            _ if is_now => Some(current),
            _ => shifted(self.said_on, Unit::Weekend, -1),
        };
        Some(Found::new(end, interval, Unit::Weekend.granularity()))
    }

    /// "the next day", "the previous night", "that weekend": from the expression before, else from the dialogue day.
    pub(super) fn carried_period(&self, at: usize, look: Look) -> Option<Found> {
        let (n, unit_at) = match (self.word(at), self.word(at + 1)) {
            ("the", "next" | "following") => (1, at + 2),
            ("the", "previous" | "preceding") => (-1, at + 2),
            ("that" | "the", "same") => (0, at + 2),
            ("that", "very") => (0, at + 2),
            ("that", _) => (0, at + 1),
            ("later", "that") => (0, at + 2),
            _ => return None,
        };
        let unit = self.period_unit(unit_at)?;
        let end = unit_at + 1;
        let carried = self.carried(at);
        if n == 0 {
            let anchor = carried?;
            let interval = match unit {
                Unit::Day => Some(anchor),
                _ => shifted(anchor.first, unit, 0),
            };
            let granularity = unit.granularity();
            return Some(Found::new(end, interval, granularity));
        }
        // "we left the next day": told of a day that is named nowhere.
        if carried.is_none() && n > 0 && self.direction(look, at, end) == Some(Direction::Past) {
            return Some(Found::new(end, None, unit.granularity()).past());
        }
        let anchor = carried.unwrap_or(DateInterval::day(self.said_on));
        let from = if n > 0 { anchor.last } else { anchor.first };
        Some(Found::new(end, shifted(from, unit, n), unit.granularity()))
    }

    /// "all week", "all summer", "all day long": the current one, up to now.
    pub(super) fn all_of_period(&self, at: usize, _look: Look) -> Option<Found> {
        let unit_at = self.after(at, "all")?;
        let unit = self.period_unit(unit_at)?;
        let end = self.skip(unit_at + 1, "long");
        if self.word(end) == "round" || self.word(end) == "-" {
            return None;
        }
        let is_night = matches!(self.word(unit_at), "night" | "evening");
        let interval = match unit {
            _ if is_night => plus_days(self.said_on, -1).map(DateInterval::day),
            Unit::Weekday(_) => return None,
            Unit::Weekend if !shifted(self.said_on, unit, 0)?.contains(self.said_on) => {
                shifted(self.said_on, unit, -1)
            }
            _ => shifted(self.said_on, unit, 0),
        };
        Some(Found::new(end, interval, unit.granularity()))
    }
}
