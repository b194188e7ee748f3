//! Questions, evidence-oriented queries, and the [`QueryRewriter`] port (section 6 of the method).

use async_trait::async_trait;
use fta_units::{EventTime, SituationType};
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

/// A question as it was asked.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// Its text.
    pub text: &'a str,
    /// When it was asked: what "last week" in the question is resolved against. `None` leaves such words unresolved.
    pub asked_at: Option<DateTime>,
    /// Names of the speakers of the memory, so that the rewriter can see whom the question is about.
    pub speakers: &'a [String],
}

/// What kind of answer the question wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerType {
    /// A date or time ("when", "what year").
    When,
    /// A duration ("how long").
    HowLong,
    /// A person ("who", "whose").
    Who,
    /// A place ("where", "which country").
    Where,
    /// A number ("how many", "how much", "how often").
    HowMany,
    /// Yes or no.
    YesNo,
    /// Several things ("which hobbies", "what are the names of").
    List,
    /// A reason ("why").
    Why,
    /// A feeling ("how did she feel").
    Feeling,
    /// A thing or statement ("what", "which", "how").
    #[default]
    What,
}

/// The evidence-oriented query `q'`: what the retrieval looks for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Query {
    /// The question as asked.
    pub question: String,
    /// `q'`: the text that is embedded and matched; keeps entities, time expressions, relations and intent.
    pub text: String,
    /// Speakers of the memory that the question names.
    pub speakers: Vec<String>,
    /// Other names and quoted titles in the question.
    pub entities: Vec<String>,
    /// Time expressions of the question, resolved.
    pub times: Vec<EventTime>,
    /// Situation types that the question asks for; empty when it asks for none.
    pub situations: Vec<SituationType>,
    /// Emotions that the question names, as in [`fta_units::AffectAnchor::emotions`].
    pub emotions: Vec<String>,
    /// What kind of answer is wanted.
    pub answer: AnswerType,
    /// When the question was asked.
    pub asked_at: Option<DateTime>,
}

/// Rewrites a question into a query.
///
/// # Contract
/// - Nothing is added that the question does not say; `text` is never empty when the question is not.
/// - The result depends on the question alone.
#[async_trait]
pub trait QueryRewriter: Send + Sync {
    /// Name and version.
    fn id(&self) -> &str;

    /// Rewrites.
    ///
    /// # Errors
    /// [`RewriteError`] when the rewriter cannot answer.
    async fn rewrite(&self, question: Question<'_>) -> Result<Query, RewriteError>;
}

/// A rewriter that could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The question holds no text.
    #[error("question is empty")]
    Empty,
    /// The model behind the rewriter gave no usable reply.
    #[error("query rewriter `{rewriter}` got no usable reply")]
    Model {
        /// Its id.
        rewriter: String,
        /// What the model said, by remedy.
        source: fta_llm::ModelError,
    },
    /// The rewriter gave up.
    #[error("query rewriter `{rewriter}` failed: {message}")]
    Failed {
        /// Its id.
        rewriter: String,
        /// Why.
        message: String,
    },
}
