//! Runs of experiments: what they write down.

mod record;

pub use record::{CallRecord, CaseRecord, ItemRecord, QuestionRecord, Timing, WithinRecord};
