//! Runs of experiments: what they write down, and how two of them compare.

mod compare;
mod record;

pub use compare::{
    ArmPair, CompareError, CompareOptions, Comparison, Flip, MetricRow, PairComparison, QuestionKey, compare,
    equal_arms,
};
pub use record::{CallRecord, CaseRecord, ItemRecord, QuestionRecord, Timing, WithinRecord};
