//! Memories under test behind one port, [`MemorySystem`]: ours and the yardsticks that every comparison needs.
//!
//! A system gets sessions, one after the other, and then questions; it never sees a data set's annotations, gold answers
//! or evidence. Scores are made elsewhere.

mod bm25;
mod chunks;
mod context;
mod error;
mod fta;
mod ranking;
mod reader;
pub(crate) mod settings;
pub mod stand_in;
mod trial;
mod without;

use std::sync::Arc;

use async_trait::async_trait;
use fta_mem::{index::Embedder, llm::LanguageModel, profile::Profile};
use fta_segment::Session;
use jiff::civil::DateTime;

pub use bm25::Bm25;
pub use chunks::{ChunkSystem, Granularity};
pub use error::SystemError;
pub use fta::FtaSystem;
pub use ranking::Ranking;
pub use settings::{ChunkSettings, FtaSettings, Preset, Segmentation, Without};
pub use stand_in::StandIn;

use crate::datasets::EvidenceRef;

/// A memory of one conversation.
///
/// # Contract
/// - Sessions come oldest first, each once; then [`MemorySystem::finish`]; then questions, one at a time.
/// - The same sessions and questions give the same contexts and answers.
/// - Items of a context stand best first; a budget is never exceeded.
#[async_trait]
pub trait MemorySystem: Send + Sync {
    /// Takes a session in.
    ///
    /// # Errors
    /// [`SystemError`] if it cannot be taken in.
    async fn ingest(&mut self, session: &Session) -> Result<(), SystemError>;

    /// Does what is due after the last session, as building an index.
    ///
    /// # Errors
    /// [`SystemError`] if it cannot be done.
    async fn finish(&mut self) -> Result<(), SystemError> {
        Ok(())
    }

    /// What would be read for a question within `budget`.
    ///
    /// # Errors
    /// [`SystemError`] if nothing can be retrieved.
    async fn context(&self, question: &Asked<'_>, budget: Budget) -> Result<Context, SystemError>;

    /// Answers a question from a context of the size that the system's settings say.
    ///
    /// # Errors
    /// [`SystemError`] if it cannot answer; weak evidence is no error.
    async fn answer(&self, question: &Asked<'_>) -> Result<Reply, SystemError>;

    /// What it keeps of the conversation.
    fn kept(&self) -> Kept;
}

/// A question as it is asked.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Its text.
    pub text: &'a str,
    /// When it is asked; `None` is after the whole history.
    pub asked_at: Option<DateTime>,
}

/// How large a context may be; `None` leaves it to the system's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Budget {
    /// Items at most.
    pub items: Option<usize>,
    /// Tokens (characters / 4) of the whole context at most.
    pub tokens: Option<usize>,
}

/// What is read for a question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Context {
    /// Its items, best first.
    pub items: Vec<ContextItem>,
    /// Turns whose text is in it word for word.
    pub turns: Vec<EvidenceRef>,
    /// Its length as an answerer gets it, in tokens (characters / 4).
    pub tokens: usize,
}

/// One thing that is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextItem {
    /// Its id within the system.
    pub id: String,
    /// Turns that it was made from.
    pub turns: Vec<EvidenceRef>,
    /// What a person reads of it.
    pub text: String,
    /// Its own length in tokens (characters / 4).
    pub tokens: usize,
}

/// An answer and what it was made from.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Reply {
    /// The answer.
    pub text: String,
    /// Whether the system says that it abstains; `None` if it does not say.
    pub abstained: Option<bool>,
    /// What it was made from.
    pub context: Context,
}

/// What a system keeps of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Kept {
    /// Units, turns, pairs or sessions that can be retrieved.
    pub items: usize,
    /// Turns that say something, and those of them that some item holds; `None` where the system does not know.
    pub covered: Option<(usize, usize)>,
}

/// What a system is made of besides its settings.
#[derive(Clone)]
pub struct Parts {
    /// Id of the conversation, to name things.
    pub conversation: String,
    /// The embedding model, the same for all systems.
    pub embedder: Arc<dyn Embedder>,
    /// The language model, if there is one. Its calls are counted by [`fta_mem::llm::ChatRequest::step`].
    pub by_model: Option<ByModel>,
}

/// A language model and who it does what for.
#[derive(Clone)]
pub struct ByModel {
    /// Which steps it does, and how.
    pub profile: Profile,
    /// The model.
    pub model: Arc<dyn LanguageModel>,
}

/// Tokens of a text: characters / 4, rounded up.
pub fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

#[cfg(test)]
mod tests;
