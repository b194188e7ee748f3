//! Runs of experiments: what is run, what is written down, what is made of it, and how two runs compare.

#[cfg(feature = "bench")]
pub mod analysis;
mod compare;
#[cfg(feature = "bench")]
mod directory;
#[cfg(feature = "bench")]
mod error;
#[cfg(feature = "bench")]
mod experiment;
#[cfg(feature = "bench")]
mod manifest;
mod record;
#[cfg(feature = "bench")]
mod registry;
#[cfg(feature = "bench")]
mod runner;
#[cfg(feature = "bench")]
mod summary;

pub use crate::digest::sha256;
pub use compare::{
    ArmPair, CompareError, CompareOptions, Comparison, Flip, MetricRow, PairComparison, QuestionKey, compare,
    equal_arms,
};
#[cfg(feature = "bench")]
pub use directory::{FinishedRun, RunDirectory};
#[cfg(feature = "bench")]
pub use error::RunError;
#[cfg(feature = "bench")]
pub use experiment::{
    Analysis, Arm, ArmModel, EXPERIMENTS, Experiment, ExperimentError, NamedExperiment, Reported,
};
#[cfg(feature = "bench")]
pub use manifest::{FORMAT, Machine, Manifest, Program, RunSettings};
pub use record::{CallRecord, CaseRecord, ItemRecord, QuestionRecord, Timing, WithinRecord};
#[cfg(feature = "bench")]
pub use registry::{DataSet, LoadFailure, Registry};
#[cfg(feature = "bench")]
pub use runner::{Progress, Runner, Watcher};
#[cfg(feature = "bench")]
pub use summary::{ArmSummary, Cost, Mean, MetricSummary, RunSummary};
