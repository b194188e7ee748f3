//! Dates by number and name: "25 May 2023", "2023-05-25", "in May", "2019", "the 90s", "last summer of school".

use jiff::civil::Date;

use super::{Found, Kind, Look, Parser};
use crate::time::calendar::{
    Direction, Holiday, Unit, Yearly, hull, plus_days, plus_months, shifted, whole_year, years,
};
use crate::time::{DateInterval, Granularity, clause, lexicon};

/// A month's name, how it was written.
struct MonthName {
    month: i8,
    is_short: bool,
    end: usize,
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
        self.numeric_date(from)
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
    fn numeric_date(&self, at: usize) -> Option<Found> {
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
            _ => return None,
        };
        if !(1000..3000).contains(&year) {
            return None;
        }
        let date =
            Date::new(i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?).ok();
        Some(Found::day(at + 5, date))
    }

    /// Whether the number at `at` is the tail of something longer ("+44-20", "v1.2").
    fn is_tail(&self, at: usize) -> bool {
        matches!(self.word_before(at), "version" | "release" | "v" | "build")
            || self.is_glued(at) && !matches!(self.word_before(at), "(" | "[" | "\"" | "'" | "“" | "," | ":")
    }

    fn month_name(&self, at: usize) -> Option<MonthName> {
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
        self.dated(name.month, (first, last), name.end, look, at)
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
        if matches!(self.word(end), "-" | "to" | "through")
            && let Some((until, behind, ordinal)) = self.day_number(end + 1)
            && until > first
            && self.month_name(behind).is_none()
        {
            (last, end, is_ordinal) = (until, behind, ordinal);
        }
        if !is_ordinal && (lexicon::is_counted(self.word(end)) || self.goes_on_as_number(end)) {
            return None;
        }
        self.dated(name.month, (first, last), end, look, at)
    }

    fn goes_on_as_number(&self, at: usize) -> bool {
        self.is_glued(at) && (matches!(self.word(at), "%" | ":") || self.kind(at) == Some(Kind::Word))
    }

    /// Day(s) of a month, with the year that follows, or the nearest one that fits the tense.
    fn dated(&self, month: i8, days: (i64, i64), end: usize, look: Look, at: usize) -> Option<Found> {
        let (first, last) = (i8::try_from(days.0).ok()?, i8::try_from(days.1).ok()?);
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
            "." if self.is_glued(at) && self.is_glued(at + 1) => at + 1,
            _ => at,
        };
        let this_year = i64::from(self.said_on.year());
        match (self.word(from), self.stem(from + 1)) {
            ("last", "year") => return Some((this_year - 1, from + 2)),
            ("this", "year") => return Some((this_year, from + 2)),
            ("next", "year") => return Some((this_year + 1, from + 2)),
            ("the", "year") => {}
            _ => {}
        }
        self.year_number(from).map(|year| (year, from + 1))
    }

    /// A number that can be a year: four digits, 1800 to 2199, not an amount.
    fn year_number(&self, at: usize) -> Option<i64> {
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

    /// A month: with a year, behind "last", "this", "next", or by itself where it is surely a month.
    pub(super) fn month(&self, at: usize, look: Look) -> Option<Found> {
        let modifier = match (self.word(at), self.word(at + 1)) {
            ("this", "past" | "coming") => Some((if self.word(at + 1) == "past" { -1 } else { 1 }, at + 2)),
            ("last" | "past", _) => Some((-1, at + 1)),
            ("next" | "coming", _) => Some((1, at + 1)),
            ("this", _) => Some((0, at + 1)),
            _ => None,
        };
        let name_at = modifier.map_or(at, |(_, end)| end);
        let name = self.month_name(name_at)?;
        let yearly = Yearly::Month(name.month);
        let capital = self.is_capital(name_at);
        if let Some((n, _)) = modifier {
            if lexicon::month_is_ambiguous(name.month) && !capital {
                return None;
            }
            return Some(self.modified(yearly, n, name.end));
        }
        let in_context = look.in_context
            || (lexicon::is_time_preposition(self.word_before(at)) && self.word_before(at) != "of")
            || (self.word_before(at) == "of" && capital);
        if let Some((year, end)) = self.year_behind(name.end).filter(|_| capital || in_context) {
            return Some(Found::new(end, yearly.in_year(year), Granularity::Month));
        }
        let is_sure = if lexicon::month_is_ambiguous(name.month) || name.is_short {
            capital && in_context
        } else {
            capital || in_context
        };
        if !is_sure {
            return None;
        }
        Some(Found::new(
            name.end,
            yearly.near(self.said_on, self.direction(look, at, name.end)),
            Granularity::Month,
        ))
    }

    /// Something yearly behind "last" (-1), "this" (0) or "next" (1).
    fn modified(&self, yearly: Yearly, n: i64, end: usize) -> Found {
        let interval = if n == 0 { yearly.current(self.said_on) } else { yearly.nth_from(self.said_on, n) };
        let found = Found::new(end, interval, yearly.granularity());
        match n {
            ..0 => found.past(),
            0 => found,
            _ => found.future(),
        }
    }

    /// A bare year behind a word that makes it one ("in 2019", "the year 2019"), or as the whole text.
    pub(super) fn year(&self, at: usize, look: Look) -> Option<Found> {
        let year = self.year_number(at)?;
        let is_whole = at == 0 && (1..self.tokens.len()).all(|place| self.kind(place) == Some(Kind::Mark));
        let is_subject =
            matches!(self.word(at + 1), "was" | "has") && (at == 0 || self.word_before(at) == ".");
        let in_context =
            look.in_context || lexicon::is_time_preposition(self.word_before(at)) || is_whole || is_subject;
        if !in_context {
            return None;
        }
        Some(Found::new(at + 1, whole_year(year), Granularity::Year))
    }

    /// "the 90s", "the 1990s", "the nineties", "the 19th century".
    pub(super) fn decade(&self, at: usize, look: Look) -> Option<Found> {
        let has_article = self.word(at) == "the"
            || matches!(self.word_before(at), "early" | "mid" | "late" | "-")
            || look.in_context;
        let mut from = self.skip(at, "the");
        if matches!(self.word(from), "early" | "late") && has_article {
            return None;
        }
        from = self.skip(from, "'");
        let token = self.tokens.get(from)?;
        let first = match token.kind {
            Kind::Plural
                if token.n_digits == 4 && (1800..2200).contains(&token.value) && token.value % 10 == 0 =>
            {
                token.value
            }
            Kind::Plural
                if has_article && token.n_digits == 2 && token.value % 10 == 0 && token.value >= 50 =>
            {
                1900 + token.value
            }
            Kind::Word if has_article => 1900 + lexicon::decade(&token.lower)?,
            Kind::Ordinal if self.word(from + 1) == "century" && (1..=22).contains(&token.value) => {
                let first = (token.value - 1) * 100 + 1;
                return Some(Found::new(from + 2, years(first, first + 99), Granularity::Years));
            }
            _ => return None,
        };
        Some(Found::new(from + 1, years(first, first + 9), Granularity::Years))
    }

    /// "the summer", "summer of 2022", "in spring"; "last summer" is a relative period.
    pub(super) fn season(&self, at: usize, look: Look) -> Option<Found> {
        let mut name_at = self.skip(at, "the");
        while name_at > at && matches!(self.word(name_at), "whole" | "entire") {
            name_at += 1;
        }
        let season = lexicon::season(self.stem(name_at))?;
        let yearly = Yearly::Season(season);
        let end = name_at + 1;
        if let Some((year, end)) = self.year_behind(end) {
            return Some(Found::new(end, yearly.in_year(year), Granularity::Season));
        }
        let before = self.word_before(at);
        let in_context = look.in_context
            || lexicon::is_time_preposition(before)
            || matches!(before, "over" | "for" | "this" | "all" | "by");
        let is_noun = !matches!(self.word(name_at), "fall" | "spring");
        let is_sure =
            in_context && (is_noun || name_at > at || self.is_clause_end(end)) || (name_at > at && is_noun);
        if !is_sure || lexicon::is_thing_of_season(self.word(end)) || (!is_noun && self.word(end) == "of") {
            return None;
        }
        if name_at == at && before == "of" {
            return None;
        }
        Some(self.near(yearly, at, end, look))
    }

    /// Something yearly without a year: the one that fits the tense, none for a habit.
    fn near(&self, yearly: Yearly, at: usize, end: usize, look: Look) -> Found {
        if clause::is_habit(self.tokens, at, end) {
            return Found::new(end, None, yearly.granularity()).present();
        }
        Found::new(end, yearly.near(self.said_on, self.direction(look, at, end)), yearly.granularity())
    }

    /// A holiday's name at `at`, with a capital, and how many words it has.
    pub(super) fn holiday_name(&self, at: usize) -> Option<(Yearly, usize)> {
        if !self.is_capital(at) {
            return None;
        }
        if (self.word(at) == "fourth" || self.word(at) == "4th")
            && self.word(at + 1) == "of"
            && self.word(at + 2) == "july"
        {
            return Some((Yearly::Day(Holiday::Fixed(7, 4)), 3));
        }
        let (holiday, n_words) = lexicon::holiday([self.word(at), self.word(at + 1), self.word(at + 2)])?;
        Some((Yearly::Day(holiday), n_words))
    }

    /// "last Christmas", "on Halloween", "Thanksgiving 2022".
    pub(super) fn holiday(&self, at: usize, look: Look) -> Option<Found> {
        let modifier = match (self.word(at), self.word(at + 1)) {
            ("this", "past") => Some((-1, at + 2)),
            ("this", "coming") => Some((1, at + 2)),
            ("last" | "past", _) => Some((-1, at + 1)),
            ("next" | "coming", _) => Some((1, at + 1)),
            ("this", _) => Some((0, at + 1)),
            _ => None,
        };
        let name_at = modifier.map_or(at, |(_, end)| end);
        let (yearly, n_words) = self.holiday_name(name_at)?;
        let end = name_at + n_words;
        if let Some((n, _)) = modifier {
            return Some(self.modified(yearly, n, end));
        }
        if let Some((year, end)) = self.year_behind(end) {
            return Some(Found::new(end, yearly.in_year(year), Granularity::Day));
        }
        if lexicon::is_thing_of_season(self.word(end)) {
            return None;
        }
        let is_time = look.in_context
            || matches!(
                self.word_before(at),
                "on" | "at"
                    | "for"
                    | "over"
                    | "during"
                    | "before"
                    | "after"
                    | "by"
                    | "until"
                    | "till"
                    | "since"
                    | "around"
                    | "near"
                    | "of"
                    | "with"
                    | "celebrated"
                    | "celebrate"
                    | "celebrating"
                    | "spent"
                    | "spend"
            )
            || lexicon::day_part(self.word(end))
            || matches!(self.word(end - 1), "day" | "eve");
        if !is_time {
            return None;
        }
        let end = self.skip_day_part(end);
        Some(self.near(yearly, at, end, look))
    }

    /// "on the 5th", "by the 20th": the nearest such day that fits the tense.
    pub(super) fn day_of_month(&self, at: usize, look: Look) -> Option<Found> {
        let from = self.after(at, "the")?;
        let is_asked = look.in_context
            || matches!(self.word_before(at), "on" | "by" | "until" | "since" | "till" | "from");
        let end = self.ordinal(from)?.1;
        if !is_asked
            || self.kind(from) != Some(Kind::Ordinal)
            || !(self.is_clause_end(end) || lexicon::is_function_word(self.word(end)))
        {
            return None;
        }
        self.day_alone(from, look, at)
    }

    fn day_alone(&self, from: usize, look: Look, at: usize) -> Option<Found> {
        let (day, end) = self.ordinal(from)?;
        let day = i8::try_from(day).ok().filter(|day| (1..=31).contains(day))?;
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
        let end = match self.phrase(end, &["of", "this", "month"]) {
            Some(behind) => behind,
            None => end,
        };
        Some(Found::day(end, nearest))
    }
}

/// The period that "the month", "the year" means by itself: the current one.
pub(super) fn current(said_on: Date, unit: Unit) -> Option<DateInterval> {
    shifted(said_on, unit, 0)
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
