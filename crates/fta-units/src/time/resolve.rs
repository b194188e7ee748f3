//! Finds and resolves time expressions in a text.

use std::ops::Range;

use jiff::civil::Date;

use super::EventTime;

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
pub fn find_times(_text: &str, _context: &TimeContext) -> Vec<TimeMention> {
    Vec::new()
}
