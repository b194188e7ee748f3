//! Numbers and counted units: "three weeks", "a couple of days", "two or three years", "a year and a half".

use super::{Kind, Parser};
use crate::time::calendar::Unit;
use crate::time::lexicon;

/// A count of units; `low <= high`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) end: usize,
}

/// So many units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Duration {
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) unit: Unit,
    pub(super) end: usize,
}

impl Parser<'_> {
    /// A whole number, in digits or words.
    pub(super) fn number(&self, at: usize) -> Option<(i64, usize)> {
        let token = self.tokens.get(at)?;
        if token.kind == Kind::Number {
            let tail = self.word(at + 1);
            let goes_on = self.is_glued(at + 1)
                && (matches!(tail, "." | "," | ":" | "/")
                    && self.is_glued(at + 2)
                    && self.kind(at + 2) == Some(Kind::Number)
                    || tail == "%");
            let is_tail = token.glued
                && matches!(
                    self.word_before(at),
                    "." | "," | "-" | "/" | ":" | "$" | "€" | "£" | "#" | "+" | "_"
                );
            return (!goes_on && !is_tail).then_some((token.value, at + 1));
        }
        let tens = lexicon::number(&token.lower)?;
        if tens >= 20 {
            let ones_at = self.skip(at + 1, "-");
            if let Some(ones) = lexicon::number(self.word(ones_at)).filter(|ones| *ones < 10) {
                return Some((tens + ones, ones_at + 1));
            }
        }
        Some((tens, at + 1))
    }

    /// An ordinal, in digits or words.
    pub(super) fn ordinal(&self, at: usize) -> Option<(i64, usize)> {
        let token = self.tokens.get(at)?;
        if token.kind == Kind::Ordinal {
            return Some((token.value, at + 1));
        }
        if let Some(value) = lexicon::ordinal(&token.lower) {
            return Some((value, at + 1));
        }
        let tens = lexicon::number(&token.lower).filter(|tens| matches!(tens, 20 | 30))?;
        let ones_at = self.skip(at + 1, "-");
        let ones = lexicon::ordinal(self.word(ones_at)).filter(|ones| *ones < 10)?;
        Some((tens + ones, ones_at + 1))
    }

    /// Behind words that only soften a number.
    pub(super) fn skip_hedges(&self, mut at: usize) -> usize {
        for _ in 0..3 {
            at = match self.word(at) {
                "about" | "around" | "almost" | "nearly" | "roughly" | "approximately" | "over" | "under"
                | "just" | "exactly" | "maybe" | "like" | "only" | "barely" | "close" | "well"
                | "probably" => at + 1,
                "more" | "less" if self.word(at + 1) == "than" => at + 2,
                "at" if matches!(self.word(at + 1), "least" | "most") => at + 2,
                "a" if matches!(self.word(at + 1), "little" | "bit")
                    && matches!(self.word(at + 2), "over" | "under" | "more" | "less") =>
                {
                    at + 2
                }
                "a" if matches!(self.word(at + 1), "good" | "whole" | "full" | "solid") => at + 1,
                "to" if self.word_before(at) == "close" => at + 1,
                _ => return at,
            };
        }
        at
    }

    /// "three", "a couple of", "a few", "two or three", "2-3".
    pub(super) fn count(&self, at: usize) -> Option<Count> {
        let exactly = |n, end| Some(Count { low: n, high: n, end });
        match (self.word(at), self.word(at + 1)) {
            ("a", "couple") => return exactly(2, self.skip(at + 2, "of")),
            ("couple", _) => return exactly(2, self.skip(at + 1, "of")),
            ("a", "few") => return Some(Count { low: 2, high: 5, end: at + 2 }),
            ("few", _) => return Some(Count { low: 2, high: 5, end: at + 1 }),
            ("several", _) => return Some(Count { low: 3, high: 7, end: at + 1 }),
            ("a", "dozen") => return exactly(12, at + 2),
            ("a" | "an", _) => return exactly(1, at + 1),
            _ => {}
        }
        let (low, end) = self.number(at)?;
        if matches!(self.word(end), "or" | "to" | "-")
            && let Some((high, end)) = self.number_after(end)
            && low < high
        {
            return Some(Count { low, high, end });
        }
        exactly(low, end)
    }

    /// The number behind "or", "to" or a hyphen; the hyphen may touch it.
    fn number_after(&self, at: usize) -> Option<(i64, usize)> {
        match self.tokens.get(at + 1)? {
            token if token.kind == Kind::Number => Some((token.value, at + 2)),
            _ => self.number(at + 1),
        }
    }

    /// "three weeks", "a year and a half", "half a year".
    pub(super) fn duration(&self, at: usize) -> Option<Duration> {
        let at = self.skip_hedges(at);
        if self.word(at) == "half" {
            let article = self.after(at + 1, "a").or_else(|| self.after(at + 1, "an"))?;
            let (low, unit) = half(lexicon::unit(self.word(article))?)?;
            return Some(Duration { low, high: low, unit, end: article + 1 });
        }
        let count = self.count(at)?;
        let halved = self.phrase(count.end, &["and", "a", "half"]);
        let unit_at = halved.unwrap_or(count.end);
        let unit = self.counted_unit(unit_at)?;
        let mut end = unit_at + 1;
        let halved =
            halved.or_else(|| self.phrase(end, &["and", "a", "half"]).inspect(|&behind| end = behind));
        if halved.is_some()
            && let Some((more, smaller)) = half(unit)
        {
            let per_unit = more * 2;
            let scale = |n: i64| n.saturating_mul(per_unit).saturating_add(more);
            return Some(Duration { low: scale(count.low), high: scale(count.high), unit: smaller, end });
        }
        // "a week or so", "a day or two"
        if let Some(behind) = self.phrase(end, &["or", "so"]) {
            return Some(Duration { low: count.low, high: count.high, unit, end: behind });
        }
        let more = self.after(end, "or").and_then(|at| self.number(at)).filter(|&(more, behind)| {
            count.low == count.high && more > count.high && lexicon::unit(self.stem(behind)).is_none()
        });
        let (high, end) = more.unwrap_or((count.high, end));
        Some(Duration { low: count.low, high, unit, end })
    }

    /// One unit without an article, as in "the last year and a half".
    pub(super) fn single(&self, at: usize) -> Option<Duration> {
        let unit = lexicon::unit(self.stem(at))?;
        match (self.phrase(at + 1, &["and", "a", "half"]), half(unit)) {
            (Some(end), Some((more, smaller))) => {
                Some(Duration { low: more * 3, high: more * 3, unit: smaller, end })
            }
            _ => Some(Duration { low: 1, high: 1, unit, end: at + 1 }),
        }
    }

    /// A unit, not the ordinal "second" and not a weekday that only stands behind a number.
    fn counted_unit(&self, at: usize) -> Option<Unit> {
        let unit = lexicon::unit(self.stem(at))?;
        let is_weekday = matches!(unit, Unit::Weekday(_)) && !self.stem(at).ends_with('s');
        (!is_weekday).then_some(unit)
    }
}

/// Half of a unit, in smaller ones.
fn half(unit: Unit) -> Option<(i64, Unit)> {
    Some(match unit {
        Unit::Year => (6, Unit::Month),
        Unit::Month => (2, Unit::Week),
        Unit::Decade => (5, Unit::Year),
        Unit::Century => (50, Unit::Year),
        Unit::Week => (3, Unit::Day),
        _ => return None,
    })
}
