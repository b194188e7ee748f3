//! What a comparison gives, and what can go wrong.

use serde::{Deserialize, Serialize};

use super::ArmPair;
use crate::{
    run::QuestionRecord,
    stats::{Interval, PValue, StatsError},
};

/// A question by its conversation and its id.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct QuestionKey {
    /// The conversation.
    pub conversation: String,
    /// The question's id.
    pub question: String,
}

/// What changed between two runs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// What the runs are called, `a` first.
    pub names: [String; 2],
    /// Share of the draws that an interval holds.
    pub confidence: f64,
    /// Each pair of arms, in the order asked for.
    pub pairs: Vec<PairComparison>,
}

/// What changed between two arms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairComparison {
    /// The arms.
    pub arms: ArmPair,
    /// Questions that both have.
    pub n_shared: usize,
    /// Questions of the first alone, in order.
    pub only_a: Vec<QuestionKey>,
    /// Questions of the second alone, in order.
    pub only_b: Vec<QuestionKey>,
    /// Shared questions whose text, gold answer, category or evidence differs, so that their scores do not compare.
    ///
    /// They are compared all the same.
    pub unlike: Vec<QuestionKey>,
    /// By metric: first over all questions, then by category.
    pub rows: Vec<MetricRow>,
    /// Questions that flipped, largest change first; at most as many as asked for.
    pub flips: Vec<Flip>,
    /// All that flipped.
    pub n_flips: usize,
}

/// A metric in two arms, over questions that have it in both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricRow {
    /// The metric.
    pub metric: String,
    /// The category; `None` for all questions.
    pub category: Option<String>,
    /// Questions.
    pub n_questions: usize,
    /// Conversations.
    pub n_conversations: usize,
    /// Score of the first arm.
    pub mean_a: f64,
    /// Score of the second arm.
    pub mean_b: f64,
    /// `mean_b - mean_a`.
    pub difference: f64,
    /// Interval of the difference by drawing conversations; `None` of one conversation.
    pub interval: Option<Interval>,
    /// By flipping signs of conversations; `None` of one conversation.
    pub p: Option<PValue>,
}

/// A question whose score crossed one half, or that is refused in one arm alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Flip {
    /// The metric that crossed and changed most; `None` if none crossed.
    pub metric: Option<String>,
    /// That metric in the first and the second arm.
    pub scores: Option<[f64; 2]>,
    /// Whether the first and the second arm refused, if that differs.
    pub refused: Option<[bool; 2]>,
    /// Size of the change: of the score, or 1 for a refusal that came or went.
    pub size: f64,
    /// The question in the first and the second arm.
    pub records: Box<[QuestionRecord; 2]>,
}

/// Runs that do not compare.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompareError {
    /// No arms are to be compared.
    #[error("no pair of arms to compare: the first run has {a:?}, the second {b:?}")]
    NoArms {
        /// Arms of the first run.
        a: Vec<String>,
        /// Arms of the second run.
        b: Vec<String>,
    },
    /// A run does not have an arm.
    #[error("run `{run}` has no arm `{arm}`, it has {known:?}")]
    UnknownArm {
        /// What the run is called.
        run: String,
        /// The arm.
        arm: String,
        /// Its arms.
        known: Vec<String>,
    },
    /// A run has a question twice in the same arm.
    #[error("run `{run}` has question `{question}` of conversation `{conversation}` twice in arm `{arm}`")]
    Twice {
        /// What the run is called.
        run: String,
        /// The arm.
        arm: String,
        /// The conversation.
        conversation: String,
        /// The question.
        question: String,
    },
    /// Arms have no question in common.
    #[error("arms `{}` and `{}` have no question in common", .arms.a, .arms.b)]
    NothingShared {
        /// The arms.
        arms: ArmPair,
    },
    /// A metric that was asked for is in no question that both runs have.
    #[error("no question has metric `{metric}` in both arms `{}` and `{}`", .arms.a, .arms.b)]
    NoMetric {
        /// The metric.
        metric: String,
        /// The arms.
        arms: ArmPair,
    },
    /// Scores are unusable, or settings of the statistics are.
    #[error("compare `{metric}`")]
    Stats {
        /// The metric.
        metric: String,
        /// What is wrong.
        source: StatsError,
    },
}
