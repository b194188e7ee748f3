//! The grammar: small rules over tokens, each of which either matches at a token or does not. The longest match wins.
//!
//! Every rule looks at a bounded number of tokens, so a text costs `O(tokens)`.
#![expect(clippy::match_same_arms, reason = "one arm per phrase reads better than one per outcome")]

mod absolute;
mod anchored;
mod bounds;
mod deictic;
mod life;
mod named;
mod offset;
mod parts;
mod period;
mod quantity;
mod weekday;

use jiff::civil::Date;

use super::calendar::Direction;
use super::tokens::{Kind, Token};
use super::{DateInterval, Granularity, TimeBound, clause, lexicon};
use crate::unit::TimeOrientation;

/// How deep "the day before the Sunday before ..." may nest.
const MAX_DEPTH: u8 = 3;

/// How far back, in tokens, "the next day" looks for the expression that it continues.
const MAX_CARRY: usize = 60;

/// What a rule knows from the rule that calls it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Look {
    /// Direction that the caller demands; else the clause decides.
    direction: Option<Direction>,
    /// Whether a bare year or month name is surely a time here.
    in_context: bool,
    depth: u8,
}

impl Look {
    /// For the operand of another rule.
    fn inner(self, direction: Option<Direction>) -> Self {
        Self { direction, in_context: true, depth: self.depth + 1 }
    }
}

/// What an expression means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sense {
    pub(super) interval: Option<DateInterval>,
    pub(super) granularity: Granularity,
    /// Orientation that the words themselves show; else the interval decides.
    pub(super) orientation: Option<TimeOrientation>,
    pub(super) bound: TimeBound,
}

/// A match: tokens up to `end`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) end: usize,
    pub(super) sense: Sense,
}

impl Found {
    fn new(end: usize, interval: Option<DateInterval>, granularity: Granularity) -> Self {
        Self { end, sense: Sense { interval, granularity, orientation: None, bound: TimeBound::Within } }
    }

    fn day(end: usize, day: Option<Date>) -> Self {
        Self::new(end, day.map(DateInterval::day), Granularity::Day)
    }

    fn toward(mut self, orientation: TimeOrientation) -> Self {
        self.sense.orientation = Some(orientation);
        self
    }

    fn past(self) -> Self {
        self.toward(TimeOrientation::Past)
    }

    fn present(self) -> Self {
        self.toward(TimeOrientation::Present)
    }

    fn future(self) -> Self {
        self.toward(TimeOrientation::Future)
    }

    fn bounded(mut self, bound: TimeBound) -> Self {
        self.sense.bound = bound;
        self
    }
}

/// Tries the rules at one token after the other.
pub(super) struct Parser<'t> {
    pub(super) tokens: &'t [Token],
    pub(super) said_on: Date,
    pub(super) birth_year: Option<i16>,
    /// The last resolved expression, and the token after it.
    pub(super) previous: Option<(DateInterval, Granularity, usize)>,
}

type Rule<'t> = fn(&Parser<'t>, usize, Look) -> Option<Found>;

impl<'t> Parser<'t> {
    /// Expressions that name a time by themselves.
    const POINTS: [Rule<'t>; 19] = [
        Parser::deictic,
        Parser::rolling_period,
        Parser::relative_period,
        Parser::definite_period,
        Parser::weekday,
        Parser::date,
        Parser::month,
        Parser::year,
        Parser::decade,
        Parser::season,
        Parser::holiday,
        Parser::day_of_month,
        Parser::ago,
        Parser::ahead,
        Parser::anchored_unit,
        Parser::anchored_duration,
        Parser::carried_period,
        Parser::part_of_period,
        Parser::nth_in_period,
    ];

    /// Expressions built on others, and those that cannot be an operand.
    const WHOLES: [Rule<'t>; 8] = [
        Parser::since,
        Parser::limit,
        Parser::span,
        Parser::for_duration,
        Parser::up_to_now,
        Parser::recurring,
        Parser::all_of_period,
        Parser::stage_of_life,
    ];

    /// The longest expression that begins at token `at`.
    pub(super) fn longest(&self, at: usize) -> Option<Found> {
        let look = Look::default();
        longer(self.point(at, look), best(self, &Self::WHOLES, at, look))
    }

    /// The longest expression that names a time by itself.
    fn point(&self, at: usize, look: Look) -> Option<Found> {
        if look.depth > MAX_DEPTH || at >= self.tokens.len() {
            return None;
        }
        best(self, &Self::POINTS, at, look)
    }

    /// Text of a token, lower case; empty beyond the end.
    fn word(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.lower.as_str())
    }

    /// Text of the token before `at`.
    fn word_before(&self, at: usize) -> &str {
        at.checked_sub(1).map_or("", |before| self.word(before))
    }

    /// Like [`Self::word`], without a possessive `'s`.
    fn stem(&self, at: usize) -> &str {
        let word = self.word(at);
        word.strip_suffix("'s").unwrap_or(word)
    }

    fn is_capital(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.capital)
    }

    fn is_glued(&self, at: usize) -> bool {
        self.tokens.get(at).is_some_and(|token| token.glued)
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    /// `at` behind `word` if it stands there.
    fn after(&self, at: usize, word: &str) -> Option<usize> {
        (self.word(at) == word).then_some(at + 1)
    }

    /// `at` behind `word` if it stands there, else `at`.
    fn skip(&self, at: usize, word: &str) -> usize {
        self.after(at, word).unwrap_or(at)
    }

    /// `at` behind all of `words`.
    fn phrase(&self, at: usize, words: &[&str]) -> Option<usize> {
        words.iter().enumerate().all(|(n, word)| self.word(at + n) == *word).then_some(at + words.len())
    }

    /// Whether the expression ends the clause at `at`: end of text or a mark that is no hyphen or apostrophe.
    fn is_clause_end(&self, at: usize) -> bool {
        match self.kind(at) {
            None => true,
            Some(Kind::Mark) => !matches!(self.word(at), "'" | "-" | "/" | "$" | "€" | "£" | "#" | "%"),
            Some(_) => false,
        }
    }

    /// Behind a part of the day ("morning", "in the evening"), else `at`.
    fn skip_day_part(&self, at: usize) -> usize {
        if lexicon::day_part(self.stem(at)) {
            return at + 1;
        }
        match self.phrase(at, &["in", "the"]).or_else(|| self.after(at, "at")) {
            Some(part) if lexicon::day_part(self.stem(part)) => part + 1,
            _ => at,
        }
    }

    /// Direction that the caller demands, else that of the clause around `start..end`.
    fn direction(&self, look: Look, start: usize, end: usize) -> Option<Direction> {
        look.direction.or_else(|| clause::direction(self.tokens, start, end))
    }

    /// The expression just before `at`, if near enough to be continued.
    fn carried(&self, at: usize) -> Option<DateInterval> {
        self.previous.filter(|&(.., end)| at.saturating_sub(end) <= MAX_CARRY).map(|(interval, ..)| interval)
    }
}

fn best<'t>(parser: &Parser<'t>, rules: &[Rule<'t>], at: usize, look: Look) -> Option<Found> {
    rules.iter().fold(None, |found, rule| longer(found, rule(parser, at, look)))
}

/// The longer match, the first if equally long.
fn longer(first: Option<Found>, second: Option<Found>) -> Option<Found> {
    match (first, second) {
        (Some(a), Some(b)) => Some(if b.end > a.end { b } else { a }),
        (a, b) => a.or(b),
    }
}
