//! Runs that cannot go on.

use std::path::PathBuf;

use super::{ExperimentError, LoadFailure};
use crate::{
    metrics::{MetricError, ScoreError},
    systems::SystemError,
};

/// A run that cannot go on. What it has done so far stays in its directory.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The experiment cannot be used.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A metric cannot be used.
    #[error("metric of the experiment cannot be used")]
    Metric(#[from] MetricError),
    /// The data file cannot be read.
    #[error("data file `{path}` cannot be read")]
    ReadData {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The data file cannot be used.
    #[error("data file cannot be used")]
    Data(#[source] LoadFailure),
    /// A conversation is not in the data.
    #[error("there is no conversation `{id}`; the data has {known}")]
    NoConversation {
        /// What was asked for.
        id: String,
        /// What is there.
        known: String,
    },
    /// There is nothing to ask.
    #[error("no question of the data can be used: {wanted}")]
    NoQuestions {
        /// What is needed.
        wanted: &'static str,
    },
    /// Another run writes into the directory.
    #[error("another run is writing into `{path}`; wait for it, or name another directory with `--out`")]
    InUse {
        /// The directory.
        path: PathBuf,
    },
    /// The directory holds something else.
    #[error("`{path}` is no directory of a run and is not empty; name another one with `--out`")]
    NotARun {
        /// The directory.
        path: PathBuf,
    },
    /// The directory is of a run with other settings.
    #[error(
        "`{path}` is of a run with other settings ({differences}); name another directory with `--out`, or begin it anew \
         with `--restart`"
    )]
    OtherSettings {
        /// The directory.
        path: PathBuf,
        /// What differs: `seed: 1 there, 2 here`.
        differences: String,
    },
    /// The run was begun by another build of the program.
    #[error(
        "`{path}` was begun by another build of this program, and its records must not be mixed; begin it anew with \
         `--restart`, or name another directory with `--out`"
    )]
    OtherProgram {
        /// The directory.
        path: PathBuf,
    },
    /// The run is not at its end.
    #[error("the run in `{path}` is not at its end; run it again with the same settings to finish it")]
    Incomplete {
        /// The directory.
        path: PathBuf,
    },
    /// A file of a run cannot be read.
    #[error("`{path}` cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A file of a run is not what it should be.
    #[error("`{path}`, line {line}: {message}; it was changed since, or is damaged")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// A file cannot be written.
    #[error(
        "`{path}` cannot be written; make room or check its permissions, then give the same command: the run goes on where it stopped"
    )]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// A system cannot be made of an arm.
    #[error("arm `{arm}` cannot be made")]
    Arm {
        /// The arm.
        arm: String,
        /// The cause.
        source: Box<SystemError>,
    },
    /// A system failed.
    #[error("arm `{arm}` failed in conversation `{conversation}`")]
    System {
        /// The arm.
        arm: String,
        /// The conversation.
        conversation: String,
        /// The cause.
        source: Box<SystemError>,
    },
    /// A score cannot be made.
    #[error("score cannot be made")]
    Score(#[from] ScoreError),
    /// Statistics cannot be made.
    #[error("statistics cannot be made")]
    Stats(#[from] crate::stats::StatsError),
    /// The report cannot be made.
    #[error("report cannot be made: {message}")]
    Report {
        /// Why.
        message: String,
    },
    /// A task ended early.
    #[error("task ended early: {message}")]
    Task {
        /// What was said.
        message: String,
    },
}
