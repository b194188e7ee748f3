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
         `haystack_sessions` (LongMemEval), `dialogue` (ESConv) or `dialogues` and `questions` (ESConv questions)"
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
    /// The dialogues that questions are about cannot be read.
    #[error("`{path}` asks about dialogues in `{dialogues}`, which cannot be read; {remedy}")]
    Dialogues {
        /// The file of questions.
        path: PathBuf,
        /// The file of dialogues.
        dialogues: PathBuf,
        /// Where to get them.
        remedy: String,
        /// The cause.
        source: std::io::Error,
    },
    /// The dialogues are not the ones that questions are about.
    #[error(
        "`{dialogues}` is not the file that `{path}` asks about: its SHA-256 is `{received}` and should be `{expected}`; {remedy}"
    )]
    DialoguesDiffer {
        /// The file of questions.
        path: PathBuf,
        /// The file of dialogues.
        dialogues: PathBuf,
        /// SHA-256 that the questions give.
        expected: String,
        /// SHA-256 of the file.
        received: String,
        /// Where to get the right one.
        remedy: String,
    },
    /// A question is about a dialogue that is not there.
    #[error("`{path}`, question `{question}`: there is no dialogue `{dialogue}` in `{dialogues}`")]
    NoSuchDialogue {
        /// The file of questions.
        path: PathBuf,
        /// Id of the question.
        question: String,
        /// Id of the dialogue.
        dialogue: String,
        /// The file of dialogues.
        dialogues: PathBuf,
    },
    /// A question's evidence is a turn that is not there or says nothing.
    #[error(
        "`{path}`, question `{question}`: dialogue `{dialogue}` has no turn `{turn}` that says something; evidence names \
         turns by `idx`"
    )]
    NoSuchTurn {
        /// The file of questions.
        path: PathBuf,
        /// Id of the question.
        question: String,
        /// Id of the dialogue.
        dialogue: String,
        /// `idx` of the turn.
        turn: String,
    },
}
