//! Query rewriting without a model: rules that read speakers, entities, times, intent and wording off the question.

mod answer_type;
mod names;
mod situation;

use async_trait::async_trait;
use fta_units::{
    EventTime,
    time::{TimeContext, find_times},
};

use crate::{
    emotion,
    query::{Query, QueryRewriter, Question, RewriteError},
};

pub use answer_type::answer_type;
pub(crate) use names::{entities, is_name_of, quoted};

/// Rewrites questions with rules: offline, deterministic, English.
///
/// `q'` is the question in its own words: what asks in it ("when did", "how many") helps the embedding to find what
/// answers, and without it less was found (decision 18).
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleRewriter;

impl RuleRewriter {
    /// Rewrites without waiting; what [`QueryRewriter::rewrite`] returns.
    ///
    /// # Errors
    /// [`RewriteError::Empty`] for a question without text.
    pub fn rewrite_now(self, question: Question<'_>) -> Result<Query, RewriteError> {
        let text = question.text.trim();
        if text.is_empty() {
            return Err(RewriteError::Empty);
        }
        let speakers = names::speakers_named(text, question.speakers);
        let times = times_of(text, &question);
        let entities = names::entities(text, question.speakers, &times);
        Ok(Query {
            question: text.to_owned(),
            text: text.to_owned(),
            speakers,
            entities,
            situations: situation::situations_asked(text),
            emotions: emotion::emotions_in(text),
            answer: answer_type(text),
            asked_at: question.asked_at,
            times,
        })
    }
}

/// Time expressions of the question. Without the day of asking only absolute ones keep their interval.
pub(crate) fn times_of(text: &str, question: &Question<'_>) -> Vec<EventTime> {
    // Any day serves to find the expressions; those that hang on it lose their interval below.
    let anchor = jiff::civil::date(2000, 1, 1);
    let said_on = question.asked_at.map_or(anchor, jiff::civil::DateTime::date);
    let found = find_times(text, &TimeContext::on(said_on));
    if question.asked_at.is_some() {
        return found.into_iter().map(|m| m.time).collect();
    }
    let other_anchor = jiff::civil::date(1987, 5, 20);
    let again = find_times(text, &TimeContext::on(other_anchor));
    found
        .into_iter()
        .map(|mention| {
            let absolute =
                again.iter().any(|m| m.range == mention.range && m.time.interval == mention.time.interval);
            let mut time = mention.time;
            if !absolute {
                time.interval = None;
                time.orientation = fta_units::TimeOrientation::Unknown;
            }
            time
        })
        .collect()
}

#[async_trait]
impl QueryRewriter for RuleRewriter {
    fn id(&self) -> &'static str {
        "rules/2"
    }

    async fn rewrite(&self, question: Question<'_>) -> Result<Query, RewriteError> {
        self.rewrite_now(question)
    }
}

#[cfg(test)]
mod tests;
