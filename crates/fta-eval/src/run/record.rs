//! What a run writes down: one [`QuestionRecord`] per question, one [`CaseRecord`] per conversation, each for each arm.
//!
//! Times are apart in [`Timing`], since they differ from run to run and records must not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::datasets::EvidenceRef;

/// One question, asked of one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionRecord {
    /// Name of the arm.
    pub arm: String,
    /// The conversation.
    pub conversation: String,
    /// The question's id, unique in its conversation.
    pub question: String,
    /// Its category as shown.
    pub category: String,
    /// Whether the conversation holds an answer.
    pub answerable: bool,
    /// Its text.
    pub text: String,
    /// The gold answer.
    pub gold: String,
    /// Turns that the gold answer rests on.
    pub evidence: Vec<EvidenceRef>,
    /// The answer; `None` if the run does not answer.
    pub answer: Option<String>,
    /// Whether the arm says that it abstained; `None` if it does not say.
    pub abstained: Option<bool>,
    /// What the answer was made from, best first.
    pub context: Vec<ItemRecord>,
    /// Tokens of the context as it was handed to the answerer.
    pub context_tokens: usize,
    /// Contexts within token budgets, by rising budget.
    pub within: Vec<WithinRecord>,
    /// Model calls that the answer took, or the context where there is none, by step.
    pub calls: BTreeMap<String, CallRecord>,
    /// Scores by metric; a metric that does not apply is not there.
    pub scores: BTreeMap<String, f64>,
}

/// One thing that was handed to an answerer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ItemRecord {
    /// Its id in the arm, as `u12` or `D1:3`.
    pub id: String,
    /// Turns that it was made from.
    pub turns: Vec<EvidenceRef>,
    /// Its beginning, to read; only of the first items.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// What fits into a token budget.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WithinRecord {
    /// The budget, in tokens.
    pub budget: usize,
    /// Tokens that were used.
    pub tokens: usize,
    /// The evidence turns that are in it, verbatim.
    pub found: Vec<EvidenceRef>,
}

/// Calls of one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CallRecord {
    /// Requests.
    pub calls: u64,
    /// Those of them that failed.
    pub errors: u64,
    /// Tokens of the prompts.
    pub prompt_tokens: u64,
    /// Tokens of the replies.
    pub reply_tokens: u64,
}

/// One conversation, taken in by one arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CaseRecord {
    /// Name of the arm.
    pub arm: String,
    /// The conversation.
    pub conversation: String,
    /// Its sessions.
    pub sessions: usize,
    /// Its turns.
    pub turns: usize,
    /// What the arm keeps: units, turns, pairs or sessions.
    pub items: usize,
    /// Turns that say something, and those of them that some item holds; where the arm knows.
    pub covered: Option<(usize, usize)>,
    /// Model calls that taking it in took, by step.
    pub calls: BTreeMap<String, CallRecord>,
}

/// How long something took.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Name of the arm.
    pub arm: String,
    /// The conversation.
    pub conversation: String,
    /// The question; `None` for taking the conversation in.
    pub question: Option<String>,
    /// To take in, or to make the context of the answer.
    pub context_milliseconds: f64,
    /// To answer, context included.
    pub answer_milliseconds: Option<f64>,
}

impl CallRecord {
    /// Adds another step's.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.prompt_tokens += other.prompt_tokens;
        self.reply_tokens += other.reply_tokens;
    }
}
