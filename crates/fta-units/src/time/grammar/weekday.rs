//! "on Monday", "Friday night", "Friday last week", "a week from Friday" is in `offset`.

use jiff::civil::Weekday;

use super::{Found, Look, Parser};
use crate::time::calendar::{
    Direction, Unit, nth_weekday_from, plus_days, shifted, week_of, weekday_in_week,
};
use crate::time::{Granularity, clause, lexicon};

impl Parser<'_> {
    /// A weekday's name that stands for a day: capitalised, or small after a word that asks for a day.
    pub(super) fn weekday_name(&self, at: usize) -> Option<Weekday> {
        let word = self.stem(at);
        let before = self.word_before(at);
        if matches!(before, "black" | "good") && at > 0 && self.is_capital(at - 1) {
            return None;
        }
        if let Some(found) = lexicon::weekday(word) {
            let asked = matches!(
                before,
                "on" | "by" | "until" | "since" | "till" | "before" | "after" | "from" | "the"
            );
            return (self.is_capital(at) || asked || lexicon::day_part(self.stem(at + 1))).then_some(found);
        }
        let found = lexicon::short_weekday(word).filter(|_| self.is_capital(at))?;
        let is_sure = matches!(before, "on" | "by" | "until" | "since" | "till" | "before")
            || lexicon::day_part(self.stem(at + 1));
        is_sure.then_some(found)
    }

    /// A bare weekday: the next one if the clause speaks of the future, else the last one. Never the dialogue day.
    pub(super) fn weekday(&self, at: usize, look: Look) -> Option<Found> {
        let weekday = self.weekday_name(at)?;
        let mut end = self.skip_day_part(at + 1);
        if let Some(found) = self.weekday_of_week(weekday, end) {
            return Some(found);
        }
        // "three weeks ago on a Sunday", "next week on Monday".
        let week = self.previous.filter(|&(week, granularity, behind)| {
            granularity == Granularity::Week
                && week_of(week.first) == Some(week)
                && at.saturating_sub(behind) <= 2
        });
        if let Some((week, ..)) = week {
            return Some(Found::day(end, weekday_in_week(week.first, weekday)));
        }
        if clause::is_habit(self.tokens, at, end) {
            return Some(Found::new(end, None, Granularity::Day).present());
        }
        let n = match self.direction(look, at, end) {
            Some(Direction::Future) => 1,
            _ => -1,
        };
        let mut day = nth_weekday_from(self.said_on, n, weekday);
        if self.word(end) == "week" && n == 1 {
            end += 1;
            day = day.and_then(|day| plus_days(day, 7));
        }
        Some(Found::day(end, day))
    }

    /// "Friday last week", "Friday of next week", "on Friday this week".
    fn weekday_of_week(&self, weekday: Weekday, at: usize) -> Option<Found> {
        let from = self.skip(self.skip(at, ","), "of");
        let n = match (self.word(from), self.word(from + 1)) {
            ("last", "week") => -1,
            ("this", "week") => 0,
            ("next", "week") => 1,
            _ => return None,
        };
        let week = shifted(self.said_on, Unit::Week, n)?;
        Some(Found::day(from + 2, weekday_in_week(week.first, weekday)))
    }

    /// "every Friday", "on weekends", "twice a week", "Monday to Friday": no interval.
    pub(super) fn recurring(&self, at: usize, _look: Look) -> Option<Found> {
        let repeats = |end, unit: Unit| Some(Found::new(end, None, unit.granularity()).present());
        match (self.word(at), self.word(at + 1)) {
            ("every" | "each", next) => {
                let mut from = at + if matches!(next, "single" | "other" | "second") { 2 } else { 1 };
                if let Some((_, end)) =
                    self.number(from).or_else(|| (self.word(from) == "few").then_some((0, from + 1)))
                {
                    from = end;
                }
                if lexicon::month(self.word(from)).is_some() && self.is_capital(from) {
                    return repeats(from + 1, Unit::Month);
                }
                if let Some((_, words)) = self.holiday_name(from) {
                    return repeats(from + words, Unit::Day);
                }
                let unit = lexicon::unit(self.stem(from)).filter(|unit| *unit != Unit::Moment)?;
                let end =
                    if matches!(unit, Unit::Weekday(_)) { self.skip_day_part(from + 1) } else { from + 1 };
                repeats(end, unit)
            }
            _ if self.count(at).is_some_and(|count| self.word(count.end) == "times") => {
                self.recurring(self.count(at)?.end, Look::default())
            }
            ("once" | "twice" | "times", "a" | "an" | "each" | "every" | "per") => {
                let unit = lexicon::unit(self.word(at + 2)).filter(|unit| *unit != Unit::Moment)?;
                repeats(at + 3, unit)
            }
            ("on" | "most" | "the", plural @ ("weekends" | "weekdays"))
            | (plural @ ("weekends" | "weekdays"), _) => {
                let end = if self.word(at) == plural { at + 1 } else { at + 2 };
                if plural == "weekends" && matches!(self.word(end), "ago" | "before" | "later" | "from") {
                    return None;
                }
                repeats(end, Unit::Weekend)
            }
            (word, next) => {
                if let Some(weekday) = word.strip_suffix('s').and_then(lexicon::weekday) {
                    return if next == "ago" { None } else { repeats(at + 1, Unit::Weekday(weekday)) };
                }
                let first = lexicon::weekday(word).filter(|_| self.word_before(at) != "from")?;
                let last =
                    lexicon::weekday(self.word(at + 2)).filter(|_| matches!(next, "to" | "through" | "-"))?;
                (first != last).then(|| Found::new(at + 3, None, Unit::Week.granularity()).present())
            }
        }
    }
}
