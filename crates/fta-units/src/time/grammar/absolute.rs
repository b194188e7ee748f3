//! Days by date: "25 May 2023", "May 25th", "2023-05-25", "on the 5th"; and the years behind them.

use std::ops::Range;

use jiff::civil::Date;

use super::{Found, Kind, Look, Parser};
use crate::time::calendar::{Direction, Holiday, Yearly, month_of, plus_months};
use crate::time::{DateInterval, Granularity, lexicon};

/// A month's name, how it was written.
pub(super) struct MonthName {
    pub(super) month: i8,
    pub(super) is_short: bool,
    pub(super) end: usize,
}

impl Parser<'_> {
    /// A date with day and month, in any order, with or without a year.
    pub(super) fn date(&self, at: usize, look: Look) -> Option<Found> {
        let mut from = at;
        let has_weekday =
            lexicon::weekday(self.word(at)).is_some() || lexicon::short_weekday(self.word(at)).is_some();
        if has_weekday {
            from = self.skip(self.skip(at + 1, "."), ",");
        }
        from = self.skip(from, "the");
        self.numeric_date(from, look)
            .or_else(|| self.day_then_month(from, look, at))
            .or_else(|| self.month_then_day(from, look, at))
            .or_else(|| {
                if has_weekday && self.word_before(from) == "the" {
                    self.day_alone(from, look, at)
                } else {
                    None
                }
            })
    }

    /// "2023-05-25", "25/05/2023", "5/25/2023", "25.05.2023". A slash date that can be read both ways is
    /// month/day/year; with dots it is day.month.year.
    fn numeric_date(&self, at: usize, look: Look) -> Option<Found> {
        if let Some(found) = self.numeric_day(at, look) {
            return Some(found);
        }
        let mark = self.word(at + 1);
        let is_numeric = [at, at + 2, at + 4].iter().all(|&place| self.kind(place) == Some(Kind::Number));
        let is_whole = (at + 1..=at + 4).all(|place| self.is_glued(place))
            && mark == self.word(at + 3)
            && !self.is_tail(at)
            && !(self.is_glued(at + 5)
                && (self.word(at + 5) == mark || self.word(at + 5) == "-")
                && self.is_glued(at + 6));
        if !is_numeric || !is_whole || !matches!(mark, "-" | "/" | ".") {
            return None;
        }
        let part = |place: usize| (self.tokens[place].value, self.tokens[place].n_digits);
        let ((a, a_digits), (b, b_digits), (c, c_digits)) = (part(at), part(at + 2), part(at + 4));
        let (year, month, day) = match (a_digits, b_digits, c_digits) {
            (4, 1..=2, 1..=2) if mark != "." => (a, b, c),
            (1..=2, 1..=2, 4) if a > 12 || mark == "." => (c, b, a),
            (1..=2, 1..=2, 4) => (c, a, b),
            (1..=2, 1..=2, 2) if mark == "/" && a > 12 => (c + 2000, b, a),
            (1..=2, 1..=2, 2) if mark == "/" => (c + 2000, a, b),
            _ => return None,
        };
        if !(1000..3000).contains(&year) {
            return None;
        }
        let date =
            Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok();
        Some(Found::day(at + 5, date))
    }

    /// "on 3/22": month and day behind a preposition that asks for a day; day and month if only that fits.
    fn numeric_day(&self, at: usize, look: Look) -> Option<Found> {
        let is_asked = look.in_context
            || matches!(
                self.word_before(at),
                "on" | "since" | "by" | "until" | "till" | "from" | "before" | "after"
            );
        let is_pair = [at, at + 2].iter().all(|&place| {
            self.tokens.get(place).is_some_and(|token| token.kind == Kind::Number && token.n_digits <= 2)
        });
        let is_whole = self.word(at + 1) == "/"
            && self.is_glued(at + 1)
            && self.is_glued(at + 2)
            && !(self.is_glued(at + 3)
                && (matches!(self.word(at + 3), "/" | "-" | ":") || self.kind(at + 3) == Some(Kind::Word)));
        if !is_asked || !is_pair || !is_whole || self.is_tail(at) {
            return None;
        }
        let (first, second) = (self.tokens[at].value, self.tokens[at + 2].value);
        let (month, day) = if first > 12 { (second, first) } else { (first, second) };
        let month = i8::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
        if !(1..=31).contains(&day) {
            return None;
        }
        self.dated((month, day, day), at..at + 3, look)
    }

    /// Whether the number at `at` is the tail of something longer ("+44-20", "v1.2").
    fn is_tail(&self, at: usize) -> bool {
        matches!(self.word_before(at), "version" | "release" | "v" | "build")
            || self.is_glued(at) && !matches!(self.word_before(at), "(" | "[" | "\"" | "'" | "“" | "," | ":")
    }

    pub(super) fn month_name(&self, at: usize) -> Option<MonthName> {
        let word = self.stem(at);
        if let Some(month) = lexicon::month(word) {
            return Some(MonthName { month, is_short: false, end: at + 1 });
        }
        let month = lexicon::short_month(word).filter(|_| self.is_capital(at))?;
        Some(MonthName {
            month,
            is_short: true,
            end: if self.is_glued(at + 1) { self.skip(at + 1, ".") } else { at + 1 },
        })
    }

    /// A day of the month, 1 to 31, and whether it is an ordinal.
    fn day_number(&self, at: usize) -> Option<(i64, usize, bool)> {
        if self.kind(at) == Some(Kind::Number) && self.tokens[at].n_digits <= 2 && !self.is_tail_of_amount(at)
        {
            let value = self.tokens[at].value;
            return (1..=31).contains(&value).then_some((value, at + 1, false));
        }
        let (value, end) = self.ordinal(at)?;
        (1..=31).contains(&value).then_some((value, end, true))
    }

    fn is_tail_of_amount(&self, at: usize) -> bool {
        self.is_glued(at)
            && matches!(self.word_before(at), "$" | "€" | "£" | "#" | "." | "/" | ":" | "+" | "_")
    }

    /// "25 May", "the 25th of May, 2023", "3-5 May".
    fn day_then_month(&self, from: usize, look: Look, at: usize) -> Option<Found> {
        let (first, mut end, mut is_ordinal) = self.day_number(from)?;
        let mut last = first;
        if matches!(self.word(end), "-" | "to" | "and" | "through")
            && let Some((until, behind, ordinal)) = self.day_number(end + 1)
            && until > first
        {
            (last, end, is_ordinal) = (until, behind, ordinal);
        }
        let has_of = self.word(end) == "of" && is_ordinal;
        let name = self.month_name(if has_of { end + 1 } else { end })?;
        if !has_of && !self.is_capital(end) {
            return None;
        }
        self.dated((name.month, first, last), at..name.end, look)
    }

    /// "May 25", "May 25th, 2023", "May the 25th", "May 3-5, 2023".
    fn month_then_day(&self, from: usize, look: Look, at: usize) -> Option<Found> {
        let name = self.month_name(from)?;
        let day_at = self.skip(name.end, "the");
        let (first, mut end, mut is_ordinal) = self.day_number(day_at)?;
        if !self.is_capital(from) && (lexicon::month_is_ambiguous(name.month) && !is_ordinal) {
            return None;
        }
        let mut last = first;
        let is_joined = matches!(self.word(end), "-" | "to" | "through")
            || (is_ordinal
                && matches!(self.word(end), "and" | "&")
                && self.kind(end + 1) == Some(Kind::Ordinal));
        if is_joined
            && let Some((until, behind, ordinal)) = self.day_number(end + 1)
            && until > first
            && self.month_name(behind).is_none()
        {
            (last, end, is_ordinal) = (until, behind, ordinal);
        }
        if !is_ordinal && (lexicon::is_counted(self.word(end)) || self.goes_on_as_number(end)) {
            return None;
        }
        self.dated((name.month, first, last), at..end, look)
    }

    fn goes_on_as_number(&self, at: usize) -> bool {
        self.is_glued(at) && (matches!(self.word(at), "%" | ":") || self.kind(at) == Some(Kind::Word))
    }

    /// Day(s) of a month, with the year that follows, or the nearest one that fits the tense.
    fn dated(&self, (month, first, last): (i8, i64, i64), place: Range<usize>, look: Look) -> Option<Found> {
        let (at, end) = (place.start, place.end);
        let (first, last) = (i8::try_from(first).ok()?, i8::try_from(last).ok()?);
        let granularity = if last > first { Granularity::Week } else { Granularity::Day };
        if let Some((year, end)) = self.year_behind(end) {
            let year = i16::try_from(year).ok()?;
            let interval = Date::new(year, month, first)
                .ok()
                .zip(Date::new(year, month, last).ok())
                .map(|(first, last)| DateInterval::new(first, last));
            return Some(Found::new(end, interval, granularity));
        }
        let near =
            Yearly::Day(Holiday::Fixed(month, first)).near(self.said_on, self.direction(look, at, end));
        let interval = near.and_then(|near| {
            let last = Date::new(near.first.year(), month, last).ok()?;
            Some(DateInterval { first: near.first, last })
        });
        Some(Found::new(end, interval, granularity))
    }

    /// A year behind a date, month or season: ", 2023", "of 2023", "last year".
    pub(super) fn year_behind(&self, at: usize) -> Option<(i64, usize)> {
        let from = match self.word(at) {
            "," | "of" | "in" => at + 1,
            _ => at,
        };
        // "April.2023"
        if self.word(at) == "." && self.is_glued(at) && self.is_glued(at + 1) {
            let year =
                self.tokens.get(at + 1).filter(|token| token.kind == Kind::Number && token.n_digits == 4)?;
            return (1800..2200).contains(&year.value).then_some((year.value, at + 2));
        }
        let this_year = i64::from(self.said_on.year());
        match (self.word(from), self.stem(from + 1)) {
            ("last", "year") => return Some((this_year - 1, from + 2)),
            ("this", "year") => return Some((this_year, from + 2)),
            ("next", "year") => return Some((this_year + 1, from + 2)),
            _ => {}
        }
        if self.word(from) == "'" && self.is_glued(from + 1) {
            let token = self
                .tokens
                .get(from + 1)
                .filter(|token| token.kind == Kind::Number && token.n_digits == 2)?;
            return Some((token.value + if token.value < 50 { 2000 } else { 1900 }, from + 2));
        }
        self.year_number(from).map(|year| (year, from + 1))
    }

    /// A number that can be a year: four digits, 1800 to 2199, not an amount.
    pub(super) fn year_number(&self, at: usize) -> Option<i64> {
        let token = self.tokens.get(at)?;
        let is_year =
            token.kind == Kind::Number && token.n_digits == 4 && (1800..2200).contains(&token.value);
        let is_amount = self.is_tail_of_amount(at)
            || (self.is_glued(at) && self.word_before(at) == "-")
            || lexicon::is_counted(self.word(at + 1))
            || (self.is_glued(at + 1) && matches!(self.word(at + 1), "%" | "/" | ":" | "_"))
            || (self.is_glued(at + 1) && self.kind(at + 1) == Some(Kind::Word))
            || (matches!(self.word(at + 1), "." | ",")
                && self.is_glued(at + 2)
                && self.kind(at + 2) == Some(Kind::Number));
        (is_year && !is_amount).then_some(token.value)
    }

    /// "on the 5th", "by the 20th": the nearest such day that fits the tense.
    pub(super) fn day_of_month(&self, at: usize, look: Look) -> Option<Found> {
        let from = self.after(at, "the")?;
        let is_asked = look.in_context
            || matches!(self.word_before(at), "on" | "by" | "until" | "since" | "till" | "from");
        let end = self.ordinal(from)?.1;
        if !is_asked
            || self.kind(from) != Some(Kind::Ordinal)
            || !(self.is_clause_end(end)
                || lexicon::is_function_word(self.word(end))
                || self.of_month(end).is_some())
        {
            return None;
        }
        self.day_alone(from, look, at)
    }

    fn day_alone(&self, from: usize, look: Look, at: usize) -> Option<Found> {
        let (day, end) = self.ordinal(from)?;
        let day = i8::try_from(day).ok().filter(|day| (1..=31).contains(day))?;
        // "in March, from the 15th": of the month just named.
        let month = self.previous.filter(|&(_, granularity, behind)| {
            granularity == Granularity::Month && at.saturating_sub(behind) <= 8
        });
        let month = month.map(|(month, ..)| month).filter(|month| month_of(month.first) == *month);
        if let Some(month) = month.filter(|_| look.direction.is_none()) {
            let date = Date::new(month.first.year(), month.first.month(), day).ok();
            return Some(Found::day(end, date));
        }
        if let Some((n_months, end)) = self.of_month(end) {
            let month = plus_months(self.said_on.first_of_month(), n_months)?;
            return Some(Found::day(end, Date::new(month.year(), month.month(), day).ok()));
        }
        let direction = self.direction(look, at, end);
        let candidates = (-2..=2).filter_map(|n| {
            let month = plus_months(self.said_on.first_of_month(), n)?;
            Date::new(month.year(), month.month(), day).ok()
        });
        let nearest = candidates
            .filter(|date| match direction {
                Some(Direction::Past) => *date <= self.said_on,
                Some(Direction::Future) => *date >= self.said_on,
                None => true,
            })
            .min_by_key(|date| (*date - self.said_on).get_days().abs());
        Some(Found::day(end, nearest))
    }

    /// "of this month", "of last month": months from the current one.
    fn of_month(&self, at: usize) -> Option<(i64, usize)> {
        let n_months = match (self.word(at), self.word(at + 1), self.word(at + 2)) {
            ("of", "this" | "the", "month") => 0,
            ("of", "last", "month") => -1,
            ("of", "next", "month") => 1,
            _ => return None,
        };
        Some((n_months, at + 3))
    }
}
