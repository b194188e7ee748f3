//! Scores of answers and of retrieval, each under its own name.
//!
//! There is no plain "F1" here: systems that print one mean different things by it. A [`Metric`] names a score in a
//! file, says what it needs and which way is better, and scores an [`Observation`]; [`evaluate`] and [`summarise`]
//! make means with their number of questions. The functions below them score strings and ids alone. [`Scorer`] is the
//! port behind which metrics stand beside judges by a language model, which are not here, and scores of one's own.

mod abstention;
mod audit;
#[cfg(feature = "bench")]
mod bertscore;
mod bleu;
mod error;
mod es_memeval;
mod evidence;
mod locomo;
mod longmemeval;
mod metric;
mod overlap;
mod porter;
mod ranking;
mod rouge;
mod score;
mod scorer;
mod summary;
mod word_tokenize;
mod words;

pub use abstention::{Abstention, refuses};
pub use audit::{AuditFinding, AuditReadError, GoldAudit, GoldErrorKind};
#[cfg(feature = "bench")]
pub use bertscore::{BertScore, BertScoreConfig, BertScoreError, BertScores};
pub use bleu::bleu1;
pub use error::MetricError;
pub use es_memeval::{Cleaning, clean_answer, es_memeval_f1, es_memeval_recall, ndcg_es_parity};
pub use evidence::{
    BudgetedTurns, RecallWithinTokens, RetrievedItem, evidence_recall, recall_at_items, recall_within_tokens,
};
pub use locomo::{
    LocomoCategory, locomo_context_recall, locomo_normalise, locomo_official_f1, locomo_official_refusal,
    round_to_thousandths,
};
pub use longmemeval::{TurnToSession, longmemeval_turn_to_session};
pub use metric::{Aggregation, Cutoff, Direction, Metric, Need};
pub use overlap::{set_f1_simple, set_f1_word};
pub use porter::porter_stem;
pub use ranking::{longmemeval_ndcg, longmemeval_recall_all, longmemeval_recall_any, ndcg};
pub use rouge::{rouge_l, rouge1, rouge2};
pub use score::Observation;
pub use scorer::{ScoreError, Scorer, scorer_by_name};
pub use summary::{Mean, Scored, Summary, evaluate, summarise};
pub use word_tokenize::word_tokenize;

#[cfg(test)]
pub(crate) mod tests;
