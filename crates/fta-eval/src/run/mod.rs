//! Runs of experiments: what is run, what is written down, what is made of it.

#[cfg(feature = "bench")]
mod experiment;
mod record;
#[cfg(feature = "bench")]
mod registry;

#[cfg(feature = "bench")]
pub use experiment::{
    Analysis, Arm, ArmModel, EXPERIMENTS, Experiment, ExperimentError, NamedExperiment, Reported,
};
pub use record::{CallRecord, CaseRecord, ItemRecord, QuestionRecord, Timing, WithinRecord};
#[cfg(feature = "bench")]
pub use registry::{DataSet, LoadFailure, Registry};
