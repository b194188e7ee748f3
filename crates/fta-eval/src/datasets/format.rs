//! Formats, and how to tell them apart.

use std::{fmt, path::Path, str::FromStr};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{LoadError, records};

/// Format of a dialogue file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// LoCoMo: records with `conversation` and `qa`.
    #[serde(rename = "locomo")]
    LocomoJson,
    /// EvoEmo (ES-MemEval): records with `dialog_history` and `questions`.
    #[serde(rename = "evoemo")]
    EvoEmo,
    /// LongMemEval: records with `haystack_sessions` and a `question`.
    #[serde(rename = "longmemeval")]
    LongMemEval,
    /// ESConv: records with `dialogue`.
    #[serde(rename = "esconv")]
    EsConv,
    /// ESConv questions: a record with `questions` and the path of their `dialogues`.
    #[serde(rename = "esconv-questions")]
    EsConvQuestions,
    /// Messages with `role` and `content`, or records with `messages`.
    Chat,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 6] =
        [Self::LocomoJson, Self::EvoEmo, Self::LongMemEval, Self::EsConv, Self::EsConvQuestions, Self::Chat];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::LocomoJson => "locomo",
            Self::EvoEmo => "evoemo",
            Self::LongMemEval => "longmemeval",
            Self::EsConv => "esconv",
            Self::EsConvQuestions => "esconv-questions",
            Self::Chat => "chat",
        }
    }

    /// Finds the format by the keys of the first record; `path` names the bytes in messages.
    ///
    /// # Errors
    /// [`LoadError`] if the bytes are empty, no UTF-8, no JSON, or of no known format.
    pub fn detect(path: &Path, bytes: &[u8]) -> Result<Self, LoadError> {
        let first = records::first(path, records::text(path, bytes)?)?;
        let Value::Object(keys) = &first else {
            return Err(LoadError::NoDialogue {
                path: path.to_owned(),
                found: format!("is {}", records::kind(&first)),
            });
        };
        let has = |key: &str| keys.contains_key(key);
        if keys.get("conversation").is_some_and(Value::is_object) {
            Ok(Self::LocomoJson)
        } else if has("dialog_history") {
            Ok(Self::EvoEmo)
        } else if has("haystack_sessions") {
            Ok(Self::LongMemEval)
        } else if has("dialogue") || has("dialog") {
            Ok(Self::EsConv)
        } else if has("dialogues") && has("questions") {
            Ok(Self::EsConvQuestions)
        } else if has("messages") || (has("role") && has("content")) {
            Ok(Self::Chat)
        } else {
            let mut names: Vec<String> = keys.keys().take(8).map(|k| format!("`{}`", shorten(k))).collect();
            if keys.len() > names.len() {
                names.push("...".to_owned());
            }
            let found =
                if names.is_empty() { "is empty".to_owned() } else { format!("has {}", names.join(", ")) };
            Err(LoadError::NoDialogue { path: path.to_owned(), found })
        }
    }
}

fn shorten(key: &str) -> String {
    key.chars().take(40).collect()
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|f| f.name().eq_ignore_ascii_case(text)).ok_or_else(|| {
            format!(
                "`{text}` is no format: one of {} is expected",
                Self::ALL.map(|f| format!("`{f}`")).join(", ")
            )
        })
    }
}
