//! Dialogue files as cases: conversations that may feed a memory, and questions about them.
//!
//! A [`Conversation`] holds what the speakers said, saw and when; annotations of a data set never get into it. Odd
//! places in the data are repaired or left out and counted in the [`LoadReport`]; a file that is no dialogue is a
//! [`LoadError`]. Scores are made elsewhere.

mod chat;
mod date;
mod error;
mod esconv;
mod esconv_questions;
mod evidence;
mod evoemo;
mod format;
mod loading;
mod locomo;
mod longmemeval;
mod records;
mod report;

use std::path::Path;

use fta_segment::{Conversation, SessionId};
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

pub use chat::SESSION_GAP_HOURS;
pub use error::LoadError;
pub use format::Format;
pub use report::{Anomaly, AnomalyKind, LoadReport};

use loading::Loading;

/// One conversation and the questions about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// What may feed a memory.
    pub conversation: Conversation,
    /// What may only be asked and scored.
    pub questions: Vec<CaseQuestion>,
}

/// One question of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseQuestion {
    /// Its id, unique in its case.
    pub id: String,
    /// Number of its category, where the data set has numbers.
    pub category: Option<u8>,
    /// Name of its category; empty where there is none.
    pub category_name: String,
    /// The question, verbatim.
    pub text: String,
    /// The gold answer, verbatim; numbers as text; empty where there is none.
    pub gold: String,
    /// Whether the conversation holds an answer.
    pub answerable: bool,
    /// Evidence as the file gives it.
    pub evidence_raw: Vec<String>,
    /// Evidence that names turns of the conversation, each once, in the file's order.
    pub evidence: Vec<EvidenceRef>,
    /// When it is asked; `None` is after the whole history.
    pub asked_at: Option<DateTime>,
}

impl CaseQuestion {
    /// Category as shown: `1 multi-hop`, or the name alone.
    pub fn category_label(&self) -> String {
        match (self.category, self.category_name.as_str()) {
            (Some(number), "") => number.to_string(),
            (Some(number), name) => format!("{number} {name}"),
            (None, "") => "none".to_owned(),
            (None, name) => name.to_owned(),
        }
    }
}

/// A turn that supports an answer.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EvidenceRef {
    /// Its session.
    pub session: SessionId,
    /// Its [`fta_segment::Turn::source_id`].
    pub turn: String,
}

/// Cases of one file and what was odd about them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loaded {
    /// Cases in the file's order.
    pub cases: Vec<Case>,
    /// What was loaded.
    pub report: LoadReport,
}

/// Reads a dialogue file; without `format` the format is found by looking at it.
///
/// # Errors
/// [`LoadError`] if the file cannot be read, is no JSON, no dialogue, or holds no turn.
pub fn load(path: &Path, format: Option<Format>) -> Result<Loaded, LoadError> {
    let bytes = std::fs::read(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
    parse(path, &bytes, format)
}

/// Reads dialogue bytes; `path` names them in messages, and its stem is the id of a chat.
///
/// [`Format::EsConvQuestions`] names a file of dialogues, which is looked up beside `path` and read too.
///
/// # Errors
/// As [`load`], but for reading; for that format also if the dialogues cannot be read, are not those of its checksum, or
/// lack a dialogue or turn that a question names.
pub fn parse(path: &Path, bytes: &[u8], format: Option<Format>) -> Result<Loaded, LoadError> {
    let text = records::text(path, bytes)?;
    let (format, detected) = match format {
        Some(format) => (format, false),
        None => (Format::detect(path, bytes)?, true),
    };
    let mut loading = Loading::new(path, format, detected);
    match format {
        Format::LocomoJson => records::each(path, text, |i, v| locomo::record(loading.at(i), &v))?,
        Format::EvoEmo => records::each(path, text, |i, v| evoemo::record(loading.at(i), &v))?,
        Format::LongMemEval => records::each(path, text, |i, v| longmemeval::record(loading.at(i), &v))?,
        Format::EsConv => records::each(path, text, |i, v| esconv::record(loading.at(i), &v))?,
        Format::EsConvQuestions => {
            records::each(path, text, |i, v| esconv_questions::record(loading.at(i), &v))?;
        }
        Format::Chat => {
            let mut chat = chat::Chat::default();
            records::each(path, text, |i, v| chat.record(loading.at(i), &v))?;
            chat.finish(&mut loading);
        }
    }
    loading.finish()
}

#[cfg(test)]
mod tests;
