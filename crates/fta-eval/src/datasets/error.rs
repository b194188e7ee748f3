//! Files that cannot be used.

use std::path::PathBuf;

use super::Format;

/// A file that cannot be used: what, where, and what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The file cannot be read.
    #[error("dialogue file `{path}` cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is empty.
    #[error("`{path}` is empty: a JSON or JSON lines file of dialogues is expected")]
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// The file is not UTF-8.
    #[error("`{path}`, line {line}, column {column}: not UTF-8; save the file as UTF-8")]
    Utf8 {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
    },
    /// The file is not JSON.
    #[error(
        "`{path}`, line {line}, column {column}: not JSON ({message}); a JSON array or one JSON value per line is expected"
    )]
    Json {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What the parser said.
        message: String,
    },
    /// The file is JSON but of no known format.
    #[error(
        "`{path}` is no dialogue: its first record {found}; expected are messages with `role` and `content`, \
         or a record with `messages` (chat), `conversation` (LoCoMo), `dialog_history` (EvoEmo), \
         `haystack_sessions` (LongMemEval) or `dialogue` (ESConv)"
    )]
    NoDialogue {
        /// The file.
        path: PathBuf,
        /// What is there instead.
        found: String,
    },
    /// A record is not of the format.
    #[error(
        "`{path}`, record {record} (from 0), `{key}`: {reason}, as format {format} needs; correct the record or name another format"
    )]
    Record {
        /// The file.
        path: PathBuf,
        /// Position of the record in the file, from 0.
        record: usize,
        /// Where in the record.
        key: String,
        /// What is wrong.
        reason: String,
        /// The format.
        format: Format,
    },
    /// There is nothing to remember.
    #[error(
        "`{path}` holds no turn that says something ({records} records of format {format}); check that it is the right file and format"
    )]
    NoTurns {
        /// The file.
        path: PathBuf,
        /// Records in it.
        records: usize,
        /// The format.
        format: Format,
    },
}
