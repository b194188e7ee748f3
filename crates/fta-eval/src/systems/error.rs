//! Systems that fail.

use std::error::Error as StdError;

use fta_mem::{index::EmbedError, profile::ProfileError, retrieve};

/// A system that cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SystemError {
    /// Its settings cannot be used.
    #[error("settings of system `{system}`: {message}")]
    Settings {
        /// The system.
        system: String,
        /// What is wrong.
        message: String,
    },
    /// The memory failed.
    #[error("memory failed")]
    Memory(#[source] Box<fta_mem::Error>),
    /// The conversation's id is no name for a memory.
    #[error("conversation cannot name a memory")]
    Name(#[source] Box<fta_mem::units::StoreError>),
    /// A text could not be embedded.
    #[error("text could not be embedded")]
    Embed(#[from] EmbedError),
    /// The question could not be read.
    #[error("question could not be read")]
    Rewrite(#[from] retrieve::RewriteError),
    /// The question could not be answered.
    #[error("question could not be answered")]
    Answer(#[from] retrieve::AnswerError),
    /// The steps of a profile cannot be made.
    #[error("steps by model cannot be made")]
    Profile(#[from] ProfileError),
    /// A system of somebody else failed.
    #[error("system `{system}` failed")]
    Failed {
        /// The system.
        system: String,
        /// Why.
        source: Box<dyn StdError + Send + Sync>,
    },
}

impl From<fta_mem::Error> for SystemError {
    fn from(error: fta_mem::Error) -> Self {
        Self::Memory(Box::new(error))
    }
}
