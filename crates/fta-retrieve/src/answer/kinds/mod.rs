//! From ranked candidates to an answer, one module per kind of answer.

mod feeling;
pub(super) mod how_long;
mod list;
pub(super) mod number;
mod person;
pub(super) mod place;
mod reason;
mod what;
mod when;
mod yes_no;

use fta_units::EventTime;

pub(super) use what::occupation;

use super::{asked::Asked, extractive::ExtractiveConfig, score::Scored};
use crate::query::AnswerType;

/// An answer before abstention is decided.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Extracted {
    /// The answer.
    pub(super) text: String,
    /// The time, when it is one.
    pub(super) time: Option<EventTime>,
    /// How well the sentence form gave the answer, in `[0, 1]`.
    pub(super) certainty: f32,
    /// Positions of the candidates used, best first; never empty.
    pub(super) used: Vec<usize>,
}

impl Extracted {
    fn one(text: String, certainty: f32, used: usize) -> Self {
        Self { text, time: None, certainty, used: vec![used] }
    }
}

/// What a kind of answer is extracted from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Input<'i, 'a> {
    /// The question.
    pub(super) asked: &'i Asked<'i>,
    /// Candidates, best first.
    pub(super) scored: &'i [Scored<'a>],
    /// Settings.
    pub(super) config: &'i ExtractiveConfig,
}

impl<'i, 'a> Input<'i, 'a> {
    /// Candidates near enough to the best one to answer, best first, with their positions.
    fn leading(self) -> impl Iterator<Item = (usize, &'i Scored<'a>)> {
        let floor = self.scored.first().map_or(0.0, |s| s.score) - self.config.lead_margin;
        self.scored
            .iter()
            .enumerate()
            .take(self.config.max_leading)
            .take_while(move |(_, s)| s.score >= floor)
    }
}

/// Extracts the answer of the kind that is wanted; falls back to the statement that fits best. `None` without candidates.
pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    let found = match input.asked.kind {
        AnswerType::When => when::extract(input),
        AnswerType::HowLong => how_long::extract(input),
        AnswerType::Who => person::extract(input),
        AnswerType::Where => place::extract(input),
        AnswerType::HowMany => number::extract(input),
        AnswerType::YesNo => yes_no::extract(input),
        AnswerType::List => list::extract(input),
        AnswerType::Why => reason::extract(input),
        AnswerType::Feeling => feeling::extract(input),
        AnswerType::What => what::extract(input),
    };
    found.filter(|e| !e.text.trim().is_empty()).or_else(|| what::statement(input))
}
