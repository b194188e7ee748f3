//! Parts of periods: "mid-May", "the end of June", "the first weekend of August", "the second half of 2022".

use super::{Found, Look, Parser};
use crate::time::calendar::{Unit, edge, hull, nth_weekday, plus_days, plus_months, shifted, weekend_of};
use crate::time::{DateInterval, Granularity, lexicon};

/// Which third of a period.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Third {
    Early,
    Middle,
    Late,
    /// "the beginning of": narrower than "early".
    Start,
    /// "the end of": narrower than "late".
    End,
}

/// What is counted in "the second weekend of August".
#[derive(Debug, Clone, Copy)]
struct Nth {
    /// From 1; -1 for "last".
    n: i64,
    /// How many of them ("the first few days").
    count: i64,
    unit: Unit,
}

impl Parser<'_> {
    /// "early June", "mid-May", "late last year", "the end of the month", "the first half of 2023".
    pub(super) fn part_of_period(&self, at: usize, look: Look) -> Option<Found> {
        // "in their early thirties" is an age.
        if matches!(self.word_before(at), "my" | "your" | "his" | "her" | "our" | "their" | "its") {
            return None;
        }
        let from = self.skip(at, "the");
        let (third, target_at) = match (self.word(from), self.word(from + 1)) {
            ("early", _) => (Third::Early, self.skip(self.skip(from + 1, "-"), "in")),
            ("mid", _) => (Third::Middle, self.skip(from + 1, "-")),
            ("late", _) => (Third::Late, self.skip(self.skip(from + 1, "-"), "in")),
            ("beginning" | "start", "of") => (Third::Start, from + 2),
            ("middle", "of") => (Third::Middle, from + 2),
            ("end", "of") => (Third::End, from + 2),
            ("rest" | "remainder", "of") => return self.rest_of_period(from + 2, look),
            _ => return self.half_of_period(from, look),
        };
        let target = self.period_named(target_at, look)?;
        let interval =
            target.sense.interval.and_then(|whole| third_of(whole, target.sense.granularity, third));
        let granularity = match target.sense.granularity {
            Granularity::Month => Granularity::Week,
            Granularity::Year if matches!(third, Third::Start | Third::End) => Granularity::Month,
            Granularity::Season => Granularity::Month,
            Granularity::Year => Granularity::Season,
            other => other,
        };
        Some(Found::new(target.end, interval, granularity))
    }

    fn half_of_period(&self, from: usize, look: Look) -> Option<Found> {
        let is_second = match self.word(from) {
            "first" => false,
            "second" | "last" | "latter" => true,
            _ => return None,
        };
        let target = self.period_named(self.phrase(from + 1, &["half", "of"])?, look)?;
        let interval = target.sense.interval.and_then(|whole| {
            let middle = plus_days(whole.first, whole.days() / 2)?;
            let middle = if whole.days() > 60 { middle.first_of_month() } else { middle };
            if is_second {
                Some(DateInterval { first: middle, last: whole.last })
            } else {
                Some(DateInterval { first: whole.first, last: plus_days(middle, -1)?.max(whole.first) })
            }
        });
        let granularity = match target.sense.granularity {
            Granularity::Year => Granularity::Season,
            Granularity::Season => Granularity::Month,
            Granularity::Month => Granularity::Week,
            other => other,
        };
        Some(Found::new(target.end, interval, granularity))
    }

    fn rest_of_period(&self, at: usize, look: Look) -> Option<Found> {
        let target = self.period_named(at, look)?;
        let interval = target.sense.interval.map(|whole| DateInterval {
            first: if whole.contains(self.said_on) { self.said_on } else { whole.first },
            last: whole.last,
        });
        Some(Found::new(target.end, interval, target.sense.granularity).future())
    }

    /// A period that has parts: a time expression, or "the month", "the year" for the current one.
    fn period_named(&self, at: usize, look: Look) -> Option<Found> {
        if let Some(found) = self.point(at, look.inner(look.direction)) {
            let is_day = found.sense.granularity == Granularity::Day;
            return if is_day { None } else { Some(found) };
        }
        let unit_at = self.after(at, "the")?;
        let unit = lexicon::unit(self.word(unit_at))
            .filter(|unit| matches!(unit, Unit::Week | Unit::Month | Unit::Year | Unit::Decade))
            .filter(|_| !lexicon::is_plural(self.word(unit_at)))?;
        Some(Found::new(unit_at + 1, shifted(self.said_on, unit, 0), unit.granularity()))
    }

    /// "the first weekend of August 2023", "last Sunday of May", "the first few days of June".
    pub(super) fn nth_in_period(&self, at: usize, look: Look) -> Option<Found> {
        let mut from = self.skip(at, "the");
        from = if self.word(from) == "very" { from + 1 } else { from };
        let (n, behind) = match self.word(from) {
            "last" | "final" => (-1, from + 1),
            _ => self.ordinal(from).filter(|(n, _)| *n <= 5)?,
        };
        let (count, unit_at) = match self.count(behind) {
            Some(count) if self.word(behind) != "a" => (count.high, count.end),
            _ => (1, behind),
        };
        let unit = lexicon::unit(self.word(unit_at))?;
        let target_at = self.after(unit_at + 1, "of").or_else(|| self.after(unit_at + 1, "in"))?;
        let target = self.period_named(target_at, look)?;
        if target.sense.granularity < Granularity::Month && unit != Unit::Day {
            return None;
        }
        let nth = Nth { n, count, unit };
        let interval = target.sense.interval.and_then(|whole| nth.within(whole));
        let granularity =
            if count > 1 { Granularity::Week.max(unit.granularity()) } else { unit.granularity() };
        Some(Found::new(target.end, interval, granularity))
    }
}

impl Nth {
    /// Weeks of a month are counted from its first day, the last one back from its last day.
    fn within(self, whole: DateInterval) -> Option<DateInterval> {
        let is_last = self.n < 0;
        let index = if is_last { 0 } else { self.n - 1 };
        let found = match self.unit {
            Unit::Day | Unit::Week => {
                let length = if self.unit == Unit::Day { 1 } else { 7 };
                let start = plus_days(whole.first, index.checked_mul(length)?)?;
                edge(
                    DateInterval { first: start.min(whole.last), last: whole.last },
                    length.checked_mul(self.count)?,
                    is_last,
                )?
            }
            Unit::Weekend => {
                let saturday = nth_of(whole, self.n, jiff::civil::Weekday::Saturday)?;
                weekend_of(saturday)?
            }
            Unit::Weekday(weekday) => DateInterval::day(nth_of(whole, self.n, weekday)?),
            Unit::Month => {
                let from = if is_last { whole.last } else { plus_months(whole.first, index)? };
                let other = plus_months(from, if is_last { 1 - self.count } else { self.count - 1 })?;
                hull(shifted(from, Unit::Month, 0)?, shifted(other, Unit::Month, 0)?)
            }
            _ => return None,
        };
        whole.contains(found.first).then_some(found)
    }
}

/// The `n`-th `weekday` in `whole` (-1 for the last).
fn nth_of(whole: DateInterval, n: i64, weekday: jiff::civil::Weekday) -> Option<jiff::civil::Date> {
    let n = i8::try_from(n).ok()?;
    let (year, month) = if n < 0 {
        (whole.last.year(), whole.last.month())
    } else {
        (whole.first.year(), whole.first.month())
    };
    nth_weekday(year, month, n, weekday)
}

/// Thirds: a month by days 1-10, 11-20 and the rest; longer periods by whole months; a week Monday to Wednesday,
/// Wednesday to Friday, Thursday to Sunday. Beginning and end of a year are its first and last month.
fn third_of(whole: DateInterval, granularity: Granularity, third: Third) -> Option<DateInterval> {
    let DateInterval { first, last } = whole;
    let days = |from: i64, to: i64| {
        Some(DateInterval { first: plus_days(first, from)?, last: plus_days(first, to)?.min(last) })
    };
    match granularity {
        Granularity::Week if whole.days() == 7 => match third {
            Third::Early | Third::Start => days(0, 2),
            Third::Middle => days(2, 4),
            Third::Late | Third::End => days(3, 6),
        },
        Granularity::Month if whole.days() >= 28 => match third {
            Third::Early | Third::Start => days(0, 9),
            Third::Middle => days(10, 19),
            Third::Late | Third::End => days(20, 40),
        },
        Granularity::Season | Granularity::Year | Granularity::Years if whole.days() >= 84 => {
            let n_months = (whole.days() + 15) * 12 / 365;
            let (from, to) = match third {
                Third::Early => (0, n_months / 3),
                Third::Start => (0, (n_months / 12).max(1)),
                Third::Middle => (n_months / 3, n_months * 2 / 3),
                Third::Late => (n_months * 2 / 3, n_months),
                Third::End => (n_months - (n_months / 12).max(1), n_months),
            };
            let start = plus_months(first, from)?;
            Some(DateInterval {
                first: start,
                last: plus_days(plus_months(first, to.max(from + 1))?, -1)?.min(last).max(start),
            })
        }
        _ => Some(whole),
    }
}
