//! From a question to an answer: query rewriting, cue score, ranking, linked neighbours, the packet, extractive answers.

pub mod answer;
pub mod cue;
mod emotion;
pub mod packet;
pub mod query;
pub mod rewrite;
mod words;

pub use answer::{
    Answer, AnswerError, Answerer, DateStyle, ExtractiveAnswerer, ExtractiveConfig, NOT_MENTIONED,
    ScoreWeights, TurnRef, date_answer,
};
pub use cue::{CueScore, CueWeights, cue_score};
pub use packet::{Background, LinkedUnit, Packet, PrimaryUnit, SourceSpan, UnitScore};
pub use query::{AnswerType, Query, QueryRewriter, Question, RewriteError};
pub use rewrite::RuleRewriter;
