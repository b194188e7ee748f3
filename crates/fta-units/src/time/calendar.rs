//! Calendar arithmetic on civil dates: weeks, months, seasons, holidays. Everything is checked; nothing panics.

use jiff::Span;
use jiff::civil::{Date, Weekday};

use super::{DateInterval, Granularity};

/// Direction of search from an anchor day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// Backwards.
    Past,
    /// Forwards.
    Future,
}

/// A season of the northern hemisphere, in whole months: spring is March to May, winter December to February.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Season {
    Spring,
    Summer,
    Autumn,
    Winter,
}

/// A day that comes once a year by rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holiday {
    /// Month and day.
    Fixed(i8, i8),
    /// Month, count (negative from the end) and weekday.
    NthWeekday(i8, i8, Weekday),
    /// Days from Easter Sunday.
    Easter(i32),
    /// The day after Thanksgiving.
    BlackFriday,
}

/// Something that comes once a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Yearly {
    Month(i8),
    Season(Season),
    Day(Holiday),
}

/// What can be counted: "two weeks ago", "three summers ago".
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Less than a day.
    Moment,
    Day,
    Weekend,
    Week,
    Fortnight,
    Month,
    Year,
    Decade,
    Century,
    Season(Season),
    Weekday(Weekday),
}

impl Unit {
    /// Granularity of one such unit.
    pub(super) fn granularity(self) -> Granularity {
        match self {
            Unit::Moment | Unit::Day | Unit::Weekday(_) => Granularity::Day,
            Unit::Weekend => Granularity::Weekend,
            Unit::Week | Unit::Fortnight => Granularity::Week,
            Unit::Month => Granularity::Month,
            Unit::Season(_) => Granularity::Season,
            Unit::Year => Granularity::Year,
            Unit::Decade | Unit::Century => Granularity::Years,
        }
    }
}

/// The granularity of a handful of units of `granularity`.
pub(super) fn several(granularity: Granularity) -> Granularity {
    match granularity {
        Granularity::Day => Granularity::Week,
        Granularity::Weekend | Granularity::Week => Granularity::Month,
        Granularity::Month => Granularity::Season,
        Granularity::Season | Granularity::Year | Granularity::Years => Granularity::Years,
    }
}

/// `n_days` after `day`.
pub(super) fn plus_days(day: Date, n_days: i64) -> Option<Date> {
    day.checked_add(Span::new().try_days(n_days).ok()?).ok()
}

/// `n_months` after `day`, at most the month's last day.
pub(super) fn plus_months(day: Date, n_months: i64) -> Option<Date> {
    day.checked_add(Span::new().try_months(n_months).ok()?).ok()
}

/// Monday to Sunday around `day`.
pub(super) fn week_of(day: Date) -> Option<DateInterval> {
    let first = plus_days(day, -i64::from(day.weekday().to_monday_zero_offset()))?;
    Some(DateInterval { first, last: plus_days(first, 6)? })
}

/// Saturday and Sunday of the week of `day`.
pub(super) fn weekend_of(day: Date) -> Option<DateInterval> {
    let last = week_of(day)?.last;
    Some(DateInterval { first: plus_days(last, -1)?, last })
}

/// The calendar month of `day`.
pub(super) fn month_of(day: Date) -> DateInterval {
    DateInterval { first: day.first_of_month(), last: day.last_of_month() }
}

/// The calendar year of `day`.
pub(super) fn year_of(day: Date) -> DateInterval {
    DateInterval { first: day.first_of_year(), last: day.last_of_year() }
}

/// The calendar year `year`.
pub(super) fn whole_year(year: i64) -> Option<DateInterval> {
    Some(year_of(Date::new(i16::try_from(year).ok()?, 1, 1).ok()?))
}

/// The years from `first` to `last`.
pub(super) fn years(first: i64, last: i64) -> Option<DateInterval> {
    Some(DateInterval { first: whole_year(first)?.first, last: whole_year(last)?.last })
}

/// The `count`-th `weekday` of the month (negative counts from the end).
pub(super) fn nth_weekday(year: i16, month: i8, count: i8, weekday: Weekday) -> Option<Date> {
    Date::new(year, month, 1).ok()?.nth_weekday_of_month(count, weekday).ok()
}

/// The nearest `weekday` strictly before (negative `n`) or after `day`, `n` times over.
pub(super) fn nth_weekday_from(day: Date, n: i64, weekday: Weekday) -> Option<Date> {
    let n = i32::try_from(n).ok()?;
    day.nth_weekday(n, weekday).ok()
}

/// `weekday` in the week of `day`.
pub(super) fn weekday_in_week(day: Date, weekday: Weekday) -> Option<Date> {
    plus_days(week_of(day)?.first, i64::from(weekday.to_monday_zero_offset()))
}

/// Easter Sunday, Gregorian (the "anonymous" algorithm).
#[expect(clippy::many_single_char_names, reason = "the names of the published algorithm")]
fn easter(year: i16) -> Option<Date> {
    let y = i32::from(year);
    let (a, b, c) = (y.rem_euclid(19), y.div_euclid(100), y.rem_euclid(100));
    let g = (8 * b + 13) / 25;
    let h = (19 * a + b - b / 4 - g + 15).rem_euclid(30);
    let m = (a + 11 * h) / 319;
    let r = (2 * b.rem_euclid(4) + 2 * (c / 4) - c.rem_euclid(4) - h + m + 32).rem_euclid(7);
    let month = (h - m + r + 90) / 25;
    let day = (h - m + r + month + 19).rem_euclid(32);
    Date::new(year, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok()
}

impl Holiday {
    fn in_year(self, year: i16) -> Option<Date> {
        match self {
            Holiday::Fixed(month, day) => Date::new(year, month, day).ok(),
            Holiday::NthWeekday(month, count, weekday) => nth_weekday(year, month, count, weekday),
            Holiday::Easter(offset) => plus_days(easter(year)?, i64::from(offset)),
            Holiday::BlackFriday => plus_days(nth_weekday(year, 11, 4, Weekday::Thursday)?, 1),
        }
    }
}

impl Season {
    /// First month, 1 to 12.
    pub(super) fn first_month(self) -> i8 {
        match self {
            Season::Spring => 3,
            Season::Summer => 6,
            Season::Autumn => 9,
            Season::Winter => 12,
        }
    }
}

impl Yearly {
    /// Its days in `year`; a winter belongs to the year in which it begins.
    pub(super) fn in_year(self, year: i64) -> Option<DateInterval> {
        let year = i16::try_from(year).ok()?;
        match self {
            Yearly::Month(month) => Some(month_of(Date::new(year, month, 1).ok()?)),
            Yearly::Season(season) => {
                let first = Date::new(year, season.first_month(), 1).ok()?;
                Some(DateInterval { first, last: plus_months(first, 2)?.last_of_month() })
            }
            Yearly::Day(holiday) => Some(DateInterval::day(holiday.in_year(year)?)),
        }
    }

    /// How exact it is.
    pub(super) fn granularity(self) -> Granularity {
        match self {
            Yearly::Month(_) => Granularity::Month,
            Yearly::Season(_) => Granularity::Season,
            Yearly::Day(_) => Granularity::Day,
        }
    }

    /// Occurrences around `day`, in order. Nine years each way, so that 29 February is among them.
    fn around(self, day: Date) -> impl DoubleEndedIterator<Item = DateInterval> {
        let year = i64::from(day.year());
        (year - 9..=year + 9).filter_map(move |year| self.in_year(year))
    }

    /// The `n`-th that ended before `day` (negative `n`) or begins after it.
    pub(super) fn nth_from(self, day: Date, n: i64) -> Option<DateInterval> {
        let nearest = if n < 0 {
            self.around(day).rev().find(|found| found.last < day)?
        } else {
            self.around(day).find(|found| found.first > day)?
        };
        let more = n + if n < 0 { 1 } else { -1 };
        if more == 0 { Some(nearest) } else { self.in_year(i64::from(nearest.first.year()) + more) }
    }

    /// The one of the current year; in January and February "this winter" is the one that goes on.
    pub(super) fn current(self, day: Date) -> Option<DateInterval> {
        let goes_on = self == Yearly::Season(Season::Winter) && day.month() <= 2;
        self.in_year(i64::from(day.year()) - i64::from(goes_on))
    }

    /// The one meant without a year: the last that has begun, the next that has not ended, or the nearest.
    pub(super) fn near(self, day: Date, direction: Option<Direction>) -> Option<DateInterval> {
        match direction {
            Some(Direction::Past) => self.around(day).rev().find(|found| found.first <= day),
            Some(Direction::Future) => self.around(day).find(|found| found.last >= day),
            None => self.around(day).min_by_key(|found| gap(*found, day)),
        }
    }
}

/// Days between `day` and the nearest day of `interval`.
fn gap(interval: DateInterval, day: Date) -> i32 {
    if interval.contains(day) {
        0
    } else {
        (day - interval.first).get_days().abs().min((day - interval.last).get_days().abs())
    }
}

/// The unit that lies `n` units from `day`: days exactly, else the calendar week, weekend, month or year that
/// contains the day so far away; summers, Fridays and the like are counted.
pub(super) fn shifted(day: Date, unit: Unit, n: i64) -> Option<DateInterval> {
    match unit {
        Unit::Moment => Some(DateInterval::day(day)),
        Unit::Day => Some(DateInterval::day(plus_days(day, n)?)),
        Unit::Weekend => weekend_of(plus_days(day, n.checked_mul(7)?)?),
        Unit::Week => week_of(plus_days(day, n.checked_mul(7)?)?),
        Unit::Fortnight => week_of(plus_days(day, n.checked_mul(14)?)?),
        Unit::Month => Some(month_of(plus_months(day, n)?)),
        Unit::Year => whole_year(i64::from(day.year()).checked_add(n)?),
        Unit::Decade => {
            let year = i64::from(day.year()).checked_add(n.checked_mul(10)?)?;
            years(year - 1, year + 1)
        }
        Unit::Century => {
            let year = i64::from(day.year()).checked_add(n.checked_mul(100)?)?;
            years(year - 10, year + 10)
        }
        Unit::Season(season) if n != 0 => Yearly::Season(season).nth_from(day, n),
        Unit::Season(season) => Yearly::Season(season).current(day),
        Unit::Weekday(weekday) if n != 0 => Some(DateInterval::day(nth_weekday_from(day, n, weekday)?)),
        Unit::Weekday(weekday) => Some(DateInterval::day(weekday_in_week(day, weekday)?)),
    }
}

/// The day `n` units from `day`, to the day.
pub(super) fn exactly(day: Date, unit: Unit, n: i64) -> Option<Date> {
    match unit {
        Unit::Week => plus_days(day, n.checked_mul(7)?),
        Unit::Fortnight => plus_days(day, n.checked_mul(14)?),
        Unit::Month => plus_months(day, n),
        Unit::Year => plus_months(day, n.checked_mul(12)?),
        Unit::Decade => plus_months(day, n.checked_mul(120)?),
        Unit::Century => plus_months(day, n.checked_mul(1200)?),
        _ => Some(shifted(day, unit, n)?.first),
    }
}

/// From the first day of the earlier to the last day of the later.
pub(super) fn hull(a: DateInterval, b: DateInterval) -> DateInterval {
    DateInterval { first: a.first.min(b.first), last: a.last.max(b.last) }
}

/// From the start of `a` to the end of `b`, if in order.
pub(super) fn ordered_hull(a: DateInterval, b: DateInterval) -> Option<DateInterval> {
    (a.first <= b.last).then(|| hull(a, b))
}

/// The first or last `n_days` of `interval`.
pub(super) fn edge(interval: DateInterval, n_days: i64, is_last: bool) -> Option<DateInterval> {
    if is_last {
        let first = plus_days(interval.last, 1 - n_days)?;
        Some(DateInterval { first: first.max(interval.first), last: interval.last })
    } else {
        let last = plus_days(interval.first, n_days - 1)?;
        Some(DateInterval { first: interval.first, last: last.min(interval.last) })
    }
}
