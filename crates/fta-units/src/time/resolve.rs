//! Finds and resolves time expressions in a text.

use std::ops::Range;

use jiff::civil::Date;

use super::grammar::{Found, Parser};
use super::tokens::tokenize;
use super::{DateInterval, EventTime};
use crate::unit::TimeOrientation;

/// What a time expression is resolved against.
#[derive(Debug, Clone, Copy)]
pub struct TimeContext {
    /// The day on which the text was said. Never today's date.
    pub said_on: Date,
    /// Year of birth of the speaker, where known: "since I was ten" needs it.
    pub birth_year: Option<i16>,
}

impl TimeContext {
    /// A context with only the dialogue date.
    pub fn on(said_on: Date) -> Self {
        Self { said_on, birth_year: None }
    }
}

/// A time expression and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeMention {
    /// Bytes of the text.
    pub range: Range<usize>,
    /// What it means.
    pub time: EventTime,
}

/// Finds the time expressions of an English text and resolves them, in text order, without overlap.
///
/// Conventions: weeks run from Monday to Sunday; "last week" is the calendar week before, "two weeks ago" the
/// calendar week that contains the day 14 days back, months and years alike, days exactly. "last Friday" is the last
/// Friday strictly before the dialogue day, "next Friday" the first one after it, "this Friday" that of the current
/// week or the next to come. A bare weekday, month, date or holiday is the next one if the nearest verb speaks of the
/// future, the last one if it speaks of the past, and otherwise the nearest (a weekday: the last). Seasons are whole
/// months of the northern hemisphere. "soon" is the coming month, "recently" and "lately" the month before. A
/// recurrence ("every Friday") and an anchor without a date ("the day after my exam") have no interval.
///
/// `O(n)`; reads no clock; never panics, whatever the text.
pub fn find_times(text: &str, context: &TimeContext) -> Vec<TimeMention> {
    let tokens = tokenize(text);
    let mut parser =
        Parser { tokens: &tokens, said_on: context.said_on, birth_year: context.birth_year, previous: None };
    let mut mentions = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let Some(found) = parser.longest(at) else {
            at += 1;
            continue;
        };
        let end = found.end.clamp(at + 1, tokens.len());
        let range = tokens[at].start..tokens[end - 1].end;
        if let Some(interval) = found.sense.interval {
            parser.previous = Some((interval, found.sense.granularity, end));
        }
        let time = event_time(&text[range.clone()], found, context.said_on);
        mentions.push(TimeMention { range, time });
        at = end;
    }
    mentions
}

fn event_time(text: &str, found: Found, said_on: Date) -> EventTime {
    let sense = found.sense;
    let interval = sense.interval.map(|interval| DateInterval::new(interval.first, interval.last));
    let orientation = sense.orientation.or_else(|| interval.map(|interval| seen_from(said_on, interval)));
    EventTime {
        text: text.to_owned(),
        interval,
        granularity: sense.granularity,
        orientation: orientation.unwrap_or_default(),
        bound: sense.bound,
    }
}

fn seen_from(said_on: Date, interval: DateInterval) -> TimeOrientation {
    if interval.last < said_on {
        TimeOrientation::Past
    } else if interval.first > said_on {
        TimeOrientation::Future
    } else {
        TimeOrientation::Present
    }
}
