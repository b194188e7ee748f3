//! Errors of language models, sorted by remedy.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Why a model gave no usable reply; the variant says what helps.
///
/// No message holds a key or the text of a dialogue; a reply that could not be used is in the value, not in the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelError {
    /// Ask again, after a while: a connection broke, a server was down.
    #[error("model is not available for now: {message}")]
    Transient {
        /// What happened.
        message: String,
    },
    /// Ask again when the server allows.
    #[error("model refuses more requests for now")]
    RateLimited {
        /// How long the server asks to wait, if it says so.
        retry_after: Option<Duration>,
    },
    /// Ask for less: prompt and reply do not fit the context.
    #[error("request is too long for the model's context")]
    ContextTooLong {
        /// Tokens that fit, if known.
        limit: Option<u64>,
        /// Tokens that were asked for, if known.
        requested: Option<u64>,
    },
    /// Ask again with another seed, repair, or go without: the reply is not in the form that was asked for.
    #[error("model's reply cannot be used: {message}")]
    InvalidOutput {
        /// What is wrong with it.
        message: String,
        /// The reply as it came.
        reply: String,
    },
    /// Do not ask again: wrong settings, no permission, an unknown model.
    #[error("model cannot be used: {message}")]
    Permanent {
        /// What is wrong.
        message: String,
    },
}

impl ModelError {
    /// Whether the very same request may succeed later.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Transient { .. } | Self::RateLimited { .. })
    }
}
