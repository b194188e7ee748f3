//! Months, years, decades, seasons and holidays by name: "in May", "2019", "the 90s", "the summer", "Christmas".

use super::{Found, Kind, Look, Parser};
use crate::time::calendar::{Holiday, Yearly, whole_year, years};
use crate::time::{Granularity, clause, lexicon};

impl Parser<'_> {
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
        let is_listed =
            matches!(self.word_before(at), "or" | "and") && at > 1 && self.month_name(at - 2).is_some();
        let in_context = look.in_context
            || is_listed
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
        if token.n_digits < 4 && self.tells_an_age(at) {
            return None;
        }
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

    /// "their early thirties" is an age, not a decade.
    fn tells_an_age(&self, at: usize) -> bool {
        (1..=3).any(|back| {
            at.checked_sub(back).is_some_and(|place| {
                matches!(self.word(place), "my" | "your" | "his" | "her" | "our" | "their" | "someone's")
            })
        })
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
        if name_at == at && (before == "of" || (before == "by" && self.is_agent(at - 1))) {
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
            || matches!(self.word(end), "was" | "were")
            || matches!(self.word(end - 1), "day" | "eve" | "friday");
        if !is_time {
            return None;
        }
        let end = self.skip_day_part(end);
        Some(self.near(yearly, at, end, look))
    }
}
