//! From a question to an answer: query rewriting, cue score, ranking, linked neighbours, the packet, extractive answers.

pub mod answer;
pub mod assemble;
pub mod config;
pub mod corpus;
pub mod cue;
mod emotion;
#[cfg(test)]
mod fixture;
pub mod lexical;
pub mod llm;
pub mod packet;
pub mod query;
pub mod render;
pub mod retriever;
pub mod rewrite;
pub mod views;
mod words;

pub use answer::{
    Answer, AnswerError, AnswerReading, Answerer, DateStyle, EvidenceWeights, ExtractiveAnswerer,
    ExtractiveConfig, FEATURES, N_FEATURES, NOT_MENTIONED, ScoreWeights, TurnRef, date_answer,
    default_weights,
};
pub use assemble::{assemble, source_turns};
pub use config::{Boosts, RetrievalConfig, SourceScope, ViewWeights};
pub use corpus::Corpus;
pub use cue::{CueScore, CueWeights, cue_score};
pub use llm::{AnswerStyle, LlmAnswerer, LlmAnswererConfig, LlmRewriter, LlmRewriterConfig};
pub use packet::{Background, LinkedUnit, Packet, PacketStyle, PrimaryUnit, SourceSpan, UnitScore};
pub use query::{AnswerType, Query, QueryRewriter, Question, RewriteError};
pub use retriever::{Ranked, rank};
pub use rewrite::RuleRewriter;
pub use views::claim_turn;
