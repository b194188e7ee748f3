//! Single measurements of our memory: event times, coverage, cost of a build, growth. Experiments are in `run`.
//!
//! Only the public facade of `fta-mem` is used. Nothing here prints; tables come back as text.

pub mod cost;
pub mod coverage;
mod embedder;
mod error;
pub mod growth;
mod memory;
mod table;
pub mod temporal;

pub use embedder::{cached_embedder, embedder};
pub use error::BenchError;

use crate::datasets::{Case, CaseQuestion};

/// Tells a watcher how far a run is.
pub type Watch<'a> = &'a dyn Fn(Step<'_>);

/// How far a run is.
#[derive(Debug, Clone, Copy)]
pub struct Step<'a> {
    /// The conversation.
    pub conversation: &'a str,
    /// What is being done with it.
    pub doing: &'a str,
    /// Steps done, over all conversations.
    pub done: usize,
    /// Steps in all.
    pub total: usize,
}

/// Which conversations and questions a run uses.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// Conversations by id; empty for all.
    pub conversations: Vec<String>,
    /// At most so many questions of each conversation.
    pub limit: Option<usize>,
}

impl Selection {
    /// The cases of the selection, in order.
    ///
    /// # Errors
    /// [`BenchError::NoConversation`] for an id that is not there.
    pub fn cases<'c>(&self, cases: &'c [Case]) -> Result<Vec<&'c Case>, BenchError> {
        if self.conversations.is_empty() {
            return Ok(cases.iter().collect());
        }
        let find = |id: &String| {
            cases.iter().find(|case| &case.conversation.id == id).ok_or_else(|| BenchError::NoConversation {
                id: id.clone(),
                known: cases
                    .iter()
                    .take(12)
                    .map(|c| format!("`{}`", c.conversation.id))
                    .collect::<Vec<_>>()
                    .join(", "),
            })
        };
        self.conversations.iter().map(find).collect()
    }

    /// The questions of a case that `wanted` takes, at most `limit`.
    pub fn questions<'c>(
        &self,
        case: &'c Case,
        wanted: impl Fn(&CaseQuestion) -> bool,
    ) -> Vec<&'c CaseQuestion> {
        case.questions.iter().filter(|q| wanted(q)).take(self.limit.unwrap_or(usize::MAX)).collect()
    }
}

#[cfg(test)]
mod tests;
