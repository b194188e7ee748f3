//! Exit codes: part of the contract with scripts.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It did what was asked.
    Done,
    /// It ran, but the answer is negative: abstained, nothing found, not confirmed, a demo check failed.
    Negative,
    /// It could not run.
    Error,
}

impl Exit {
    /// [`Exit::Done`] if something was found.
    pub(crate) fn found(found: bool) -> Self {
        if found { Self::Done } else { Self::Negative }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Negative => 1,
            Exit::Error => 2,
        })
    }
}

/// Prints what clap has to say: help and version are no errors.
pub(crate) fn of_usage(error: &clap::Error) -> ExitCode {
    // A closed pipe under `fta --help | head -1` is no error either.
    let _ = error.print();
    if error.use_stderr() { Exit::Error.into() } else { Exit::Done.into() }
}
