//! Event time: time expressions, resolved against the dialogue time into intervals (spec section 9.5).

mod calendar;
mod clause;
mod describe;
mod grammar;
mod lexicon;
mod resolve;
mod tokens;

#[cfg(test)]
mod tests;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

pub use resolve::{TimeContext, TimeMention, find_times};

use crate::unit::TimeOrientation;

/// Days from `first` to `last`, both included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DateInterval {
    /// First day.
    pub first: Date,
    /// Last day; never before `first`.
    pub last: Date,
}

impl DateInterval {
    /// One day.
    pub fn day(date: Date) -> Self {
        Self { first: date, last: date }
    }

    /// The interval from the earlier to the later of two days.
    pub fn new(a: Date, b: Date) -> Self {
        Self { first: a.min(b), last: a.max(b) }
    }

    /// Whether `date` lies in it.
    pub fn contains(self, date: Date) -> bool {
        self.first <= date && date <= self.last
    }

    /// Whether the two share a day.
    pub fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }

    /// Whether `other` lies in it entirely.
    pub fn covers(self, other: Self) -> bool {
        self.first <= other.first && other.last <= self.last
    }

    /// Number of days, at least 1.
    pub fn days(self) -> i64 {
        i64::from((self.last - self.first).get_days()) + 1
    }
}

/// How exact a time expression is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Granularity {
    /// A day or part of a day.
    Day,
    /// Saturday and Sunday.
    Weekend,
    /// A week, or a few days.
    Week,
    /// A month, or a few weeks.
    Month,
    /// A season, or a few months.
    Season,
    /// A year.
    Year,
    /// Several years.
    Years,
}

/// How the situation stands to the interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeBound {
    /// Within the interval ("last week", "in 2019").
    #[default]
    Within,
    /// From a point in the interval until the dialogue time ("since 2016", "for four years").
    Since,
    /// Up to a point in the interval ("until June").
    Until,
    /// At some time before the interval ("before the summer").
    Before,
    /// At some time after the interval ("after Christmas").
    After,
}

/// A time expression and what it means.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventTime {
    /// The expression as it was said.
    pub text: String,
    /// The days it names; `None` if it cannot be resolved ("since I was ten" with no known birth year).
    pub interval: Option<DateInterval>,
    /// How exact it is.
    pub granularity: Granularity,
    /// Where it lies, seen from the dialogue time.
    pub orientation: TimeOrientation,
    /// How the situation stands to the interval.
    pub bound: TimeBound,
}
