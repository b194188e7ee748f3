//! Bounds and durations: "since 2016", "until June", "from March to May", "for four years".

use super::{Found, Look, Parser};
use crate::time::calendar::{Direction, Unit, ordered_hull, several};
use crate::time::{DateInterval, Granularity, TimeBound, clause, lexicon};

impl Parser<'_> {
    /// "since 2016", "since last summer", "since I was ten", "since then".
    pub(super) fn since(&self, at: usize, look: Look) -> Option<Found> {
        let from = self.skip(at, "ever");
        let target_at = match self.word(from) {
            "since" => from + 1,
            "starting" | "as" if self.word(from + 1) == "of" || self.word(from) == "starting" => return None,
            _ => return None,
        };
        if self.word(target_at) == "then" {
            let (interval, granularity, _) = self.previous.filter(|_| self.carried(at).is_some())?;
            let found = Found::new(target_at + 1, Some(interval), granularity);
            return Some(found.present().bounded(TimeBound::Since));
        }
        if let Some(found) = self.stage_of_life(target_at, look).or_else(|| self.childhood(target_at)) {
            return Some(found.present().bounded(TimeBound::Since));
        }
        let from = self.skip(self.skip(target_at, "around"), "about");
        let found = self.point(from, look.inner(Some(Direction::Past)))?;
        Some(found.present().bounded(TimeBound::Since))
    }

    fn childhood(&self, at: usize) -> Option<Found> {
        let from = if matches!(self.word(at), "my" | "his" | "her" | "our" | "their") { at + 1 } else { at };
        let is_stage =
            matches!(self.word(from), "childhood" | "birth" | "kindergarten" | "college" | "university")
                || (self.word(from) == "high" && self.word(from + 1) == "school");
        let end = if self.word(from) == "high" { from + 2 } else { from + 1 };
        is_stage.then(|| Found::new(end, None, Granularity::Years))
    }

    /// "until June", "by next Friday", "before the summer", "after Christmas", "by the end of the year".
    pub(super) fn limit(&self, at: usize, look: Look) -> Option<Found> {
        let (bound, direction) = match self.word(at) {
            // "surprised by winter": an agent, not a limit.
            "by" if self.is_agent(at) => {
                return None;
            }
            "until" | "till" | "til" | "by" => (TimeBound::Until, Some(Direction::Future)),
            "before" => (TimeBound::Before, None),
            "after" => (TimeBound::After, None),
            _ => return None,
        };
        if bound == TimeBound::Until && self.word(at) != "by" && self.word(at + 1) == "now" {
            return Some(Found::day(at + 2, Some(self.said_on)).present().bounded(bound));
        }
        let from = self.skip(self.skip(at + 1, "around"), "about");
        let found = if self.word(at) == "by" && self.word(from) == "now"
            || self.word(from) == "today" && bound == TimeBound::After
        {
            return None;
        } else {
            let direction = direction.map(|other| self.direction_or(at, from + 1, other));
            self.point(from, look.inner(direction.or_else(|| clause::direction(self.tokens, at, from + 1))))?
        };
        Some(found.bounded(bound))
    }

    /// Whether the "by" at `at` names who or what did it.
    pub(super) fn is_agent(&self, at: usize) -> bool {
        matches!(
            self.word_before(at),
            "surprised" | "inspired" | "loved" | "hated" | "amazed" | "touched" | "exhausted" | "charmed"
        )
    }

    /// "between 2019 and 2021", "from March to May 2020".
    pub(super) fn span(&self, at: usize, look: Look) -> Option<Found> {
        let is_between = match self.word(at) {
            "between" => true,
            "from" => false,
            _ => return None,
        };
        let first = self.point(at + 1, look.inner(look.direction))?;
        let joined = match self.word(first.end) {
            "and" => is_between,
            "to" | "until" | "till" | "through" | "-" => !is_between,
            _ => false,
        };
        if !joined {
            return None;
        }
        let last = self.point(first.end + 1, look.inner(look.direction))?;
        let start = last.sense.interval.and_then(|last| self.before_of_year(at + 1, first, last));
        let start = start.or(first.sense.interval);
        let interval = start.zip(last.sense.interval).and_then(|(a, b)| ordered_hull(a, b));
        Some(Found::new(last.end, interval, several(last.sense.granularity)))
    }

    /// A month or date without a year takes the year of the end: "from November to February 2020".
    fn before_of_year(&self, at: usize, first: Found, last: DateInterval) -> Option<DateInterval> {
        let is_named = (at..first.end).any(|place| lexicon::month(self.word(place)).is_some());
        let has_year = (at..first.end).any(|place| self.tokens[place].n_digits == 4);
        if !is_named || has_year {
            return None;
        }
        let seen_from_end = Parser { said_on: last.last, previous: None, ..*self };
        let look = Look { depth: 1, ..Look::default() };
        seen_from_end.point(at, look.inner(Some(Direction::Past)))?.sense.interval
    }

    /// "for four years": since then in the present perfect, else a mere duration.
    pub(super) fn for_duration(&self, at: usize, _look: Look) -> Option<Found> {
        let mut from = self.after(at, "for")?;
        let is_rolling = matches!(
            (self.word(from), self.word(from + 1)),
            ("the" | "these", "past" | "last") | ("past" | "last", _)
        );
        if is_rolling {
            from = if matches!(self.word(from), "past" | "last") { from + 1 } else { from + 2 };
        }
        let is_perfect = clause::is_perfect(self.tokens, at);
        if let Some((granularity, end)) = self.endless(from) {
            let end = self.skip(end, "now");
            return is_perfect
                .then(|| Found::new(end, None, granularity).present().bounded(TimeBound::Since));
        }
        let duration = if is_rolling {
            self.duration(from).or_else(|| self.single(from))?
        } else {
            self.duration(from)?
        };
        if matches!(duration.unit, Unit::Moment | Unit::Weekday(_))
            || matches!(self.word(duration.end), "old" | "-" | "ago")
        {
            return None;
        }
        let end = self.skip(duration.end, "now");
        let holds = is_perfect || end > duration.end;
        if is_rolling && !holds {
            return None;
        }
        let granularity = duration.granularity();
        if holds {
            let interval = duration.from(self.said_on, -1);
            return Some(Found::new(end, interval, granularity).present().bounded(TimeBound::Since));
        }
        // "for a summer job" is no duration.
        let is_adjective = matches!(self.word(from), "a" | "an" | "one")
            && !self.is_clause_end(end)
            && !lexicon::is_function_word(self.word(end));
        if is_adjective {
            return None;
        }
        let granularity = if duration.unit == Unit::Year { Granularity::Years } else { granularity };
        Some(Found::new(end, None, granularity))
    }

    /// "years", "ages", "a long time", "so long".
    fn endless(&self, at: usize) -> Option<(Granularity, usize)> {
        let from = if matches!(self.word(at), "many" | "so" | "quite") { at + 1 } else { at };
        match (self.word(from), self.word(from + 1), self.word(from + 2)) {
            ("years" | "ages" | "decades" | "forever", ..) => Some((Granularity::Years, from + 1)),
            ("months", ..) => Some((Granularity::Season, from + 1)),
            ("weeks", ..) => Some((Granularity::Month, from + 1)),
            ("long", ..) => Some((Granularity::Years, from + 1)),
            ("a", "long", "time" | "while") => Some((Granularity::Years, from + 3)),
            ("a", "while", _) => Some((Granularity::Month, from + 2)),
            ("some", "time", _) => Some((Granularity::Month, from + 2)),
            _ => None,
        }
    }

    /// "seven years now", "been married four years", "it's been two weeks".
    pub(super) fn up_to_now(&self, at: usize, _look: Look) -> Option<Found> {
        if matches!(self.word_before(at), "for" | "in" | "of" | "about" | "over" | "last" | "past" | "next") {
            return None;
        }
        let duration = self.duration(at).filter(|_| self.word(at) != "few")?;
        if matches!(duration.unit, Unit::Moment | Unit::Weekday(_)) {
            return None;
        }
        let is_now = self.word(duration.end) == "now";
        let been = (1..=3).any(|back| at.checked_sub(back).is_some_and(|place| self.word(place) == "been"));
        let is_other = matches!(
            self.word(duration.end),
            "ago" | "old" | "later" | "before" | "after" | "from" | "-" | "of" | "back"
        );
        if is_other || !(is_now || (been && clause::is_perfect(self.tokens, at))) {
            return None;
        }
        let end = if is_now { duration.end + 1 } else { duration.end };
        let found = Found::new(end, duration.from(self.said_on, -1), duration.granularity());
        Some(found.present().bounded(TimeBound::Since))
    }
}
