//! Runs that cannot go on.

use fta_mem::index::{EmbedError, cached, candle, weights};

/// A run that cannot go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A conversation is not in the file.
    #[error("there is no conversation `{id}`; the file has {known}")]
    NoConversation {
        /// What was asked for.
        id: String,
        /// What is there.
        known: String,
    },
    /// Nothing is left to measure.
    #[error("no question of the file can be used here: {wanted}")]
    NoQuestions {
        /// What is needed.
        wanted: &'static str,
    },
    /// The model's files cannot be had.
    #[error("embedding model could not be found")]
    Weights(#[source] Box<weights::WeightsError>),
    /// The model cannot be loaded.
    #[error("embedding model could not be loaded")]
    Model(#[source] Box<candle::LoadError>),
    /// The cache of vectors cannot be used.
    #[error("cache of vectors cannot be used")]
    Cache(#[source] Box<cached::CacheError>),
    /// A reference arm could not embed.
    #[error("texts could not be embedded")]
    Embed(#[from] EmbedError),
    /// The memory failed.
    #[error("memory of `{conversation}` failed")]
    Memory {
        /// The conversation.
        conversation: String,
        /// The cause.
        source: Box<fta_mem::Error>,
    },
    /// The steps of a profile cannot be made.
    #[error("steps by model cannot be made")]
    Profile(#[from] fta_mem::profile::ProfileError),
    /// A conversation's id is no name for a memory.
    #[error("`{conversation}` cannot name a memory")]
    Name {
        /// The id.
        conversation: String,
        /// The cause.
        source: Box<fta_mem::units::StoreError>,
    },
    /// A made memory failed.
    #[error("made memory failed")]
    Growth(#[from] fta_mem::Error),
    /// The operating system refused.
    #[error("operating system refused")]
    Io(#[from] std::io::Error),
}
