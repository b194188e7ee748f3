//! Errors as people see them: message, causes, what to do.

use std::{
    fmt::Write as _,
    io::{ErrorKind, IsTerminal as _, Write as _, stderr},
};

use anyhow::Error;
use fta_mem::{index::weights::WeightsError, units::StoreError};

use crate::{args::Global, settings};

/// Whether the reader of our output went away, which is no error.
pub(crate) fn is_closed_pipe(error: &Error) -> bool {
    error.chain().any(|cause| {
        let io = cause.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        io.or(json) == Some(ErrorKind::BrokenPipe)
    })
}

/// Prints an error to standard error.
pub(crate) fn report(error: &Error, global: &Global) {
    let paint = settings::paint(global.color, stderr().is_terminal());
    let mut text = String::new();
    for (position, message) in messages(error).iter().enumerate() {
        let head = if position == 0 { paint.bad("error") } else { "  because".to_owned() };
        let _ = writeln!(text, "{head}: {message}");
    }
    if let Some(remedy) = remedy(error) {
        let _ = writeln!(text, "{}: {remedy}", paint.good("try"));
    }
    let _ = stderr().lock().write_all(text.as_bytes());
}

/// Messages of the chain; a cause that the message before it already tells is left out.
fn messages(error: &Error) -> Vec<String> {
    let mut messages: Vec<String> = Vec::new();
    for cause in error.chain() {
        let message = cause.to_string();
        if !messages.last().is_some_and(|last| last.contains(&message)) {
            messages.push(message);
        }
    }
    messages
}

/// What to do about it, where the message does not say.
fn remedy(error: &Error) -> Option<&'static str> {
    error.chain().find_map(|cause| {
        if cause.is::<WeightsError>() {
            return Some(
                "`fta setup` with a network, or `--model-dir DIR` with a directory that holds the files",
            );
        }
        if let Some(error) = cause.downcast_ref::<fta_mem::Error>() {
            return match error {
                fta_mem::Error::NoUnit { .. } | fta_mem::Error::UnitId { .. } => {
                    Some("`fta list` names the units")
                }
                fta_mem::Error::NoSession { .. } => Some("`fta stats` names the sessions"),
                fta_mem::Error::Embedder { .. } => {
                    Some("`fta export` it, and `fta import` it into another directory")
                }
                fta_mem::Error::Directory { .. } => {
                    Some("`--data DIR` with a directory that you may write to")
                }
                _ => None,
            };
        }
        matches!(cause.downcast_ref::<StoreError>(), Some(StoreError::InUse { .. }))
            .then_some("again when the other `fta` is done")
    })
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn causes_that_repeat_the_message_are_left_out() {
        let error =
            anyhow!("no such file").context("`a` cannot be read: no such file").context("ingest failed");
        assert_eq!(messages(&error), ["ingest failed", "`a` cannot be read: no such file"]);
    }

    #[test]
    fn a_closed_pipe_is_seen_through_the_chain() {
        let closed = || std::io::Error::from(ErrorKind::BrokenPipe);
        assert!(is_closed_pipe(&Error::new(closed()).context("output")));
        assert!(is_closed_pipe(&Error::new(serde_json::Error::io(closed()))));
        assert!(!is_closed_pipe(&anyhow!("broken pipe")));
    }
}
