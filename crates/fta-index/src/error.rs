//! Errors of embedding and search.

use std::path::PathBuf;

/// What can go wrong when embedding.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EmbedError {
    /// Values do not form whole rows.
    #[error("`{values}` values do not form rows of `{dim}`")]
    Shape {
        /// Values per row.
        dim: usize,
        /// Number of values given.
        values: usize,
    },
    /// The tokenizer refused a text.
    #[error("tokenizer failed: {0}")]
    Tokenize(String),
    /// The model could not compute.
    #[error("model `{model}` failed: {message}")]
    Model {
        /// The model's id.
        model: String,
        /// What the back end said.
        message: String,
    },
    /// A server cannot be reached or is out of order; it may be back soon.
    #[error("model `{model}` is unavailable: {message}; try again later")]
    Unavailable {
        /// The model.
        model: String,
        /// What the server or the network said.
        message: String,
    },
    /// A server wants fewer requests.
    #[error("model `{model}` is asked too often: {message}; try again later")]
    RateLimited {
        /// The model.
        model: String,
        /// What the server said.
        message: String,
        /// How long it wants to be left alone, if it says so.
        retry_after: Option<std::time::Duration>,
    },
    /// A server refuses the request, and would again: address, key, model or dimension must be put right.
    #[error("model `{model}` refused: {message}; check address, key, model and dimensions")]
    Refused {
        /// The model.
        model: String,
        /// What the server said.
        message: String,
    },
    /// A server's reply holds no usable vectors.
    #[error("model `{model}` gave no usable reply: {reason}")]
    Reply {
        /// The model.
        model: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// What can go wrong in an index.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// Values do not form whole rows.
    #[error("`{values}` values do not form vectors of dimension `{dim}`")]
    Shape {
        /// Dimension of the index.
        dim: usize,
        /// Number of values given.
        values: usize,
    },
    /// As many ids as vectors are needed.
    #[error("`{ids}` ids for `{vectors}` vectors")]
    Count {
        /// Ids given.
        ids: usize,
        /// Vectors given.
        vectors: usize,
    },
    /// A vector or query holds NaN or an infinity.
    #[error("vector `{row}` has a value that is not finite")]
    NotFinite {
        /// Row in the batch.
        row: usize,
    },
    /// A vector is not of norm 1.
    #[error("vector `{row}` has norm `{norm}`, expected 1")]
    NotUnit {
        /// Row in the batch.
        row: usize,
        /// Its norm.
        norm: f32,
    },
    /// An id is out of range or occurs twice in a batch.
    #[error("id `{id}` is out of range or given twice")]
    Id {
        /// The id.
        id: u64,
    },
    /// A setting is out of range.
    #[error("setting `{name}` of the index is out of range")]
    Setting {
        /// Its name.
        name: &'static str,
    },
    /// The processor lacks instructions that the index was built for.
    #[error(
        "the index was built for processors of level `{needs}`, which this one is not; build it with other flags"
    )]
    Processor {
        /// What it was built for.
        needs: String,
    },
    /// faiss failed.
    #[error("faiss failed to {doing}: {reason}")]
    Faiss {
        /// What it was doing.
        doing: String,
        /// What it said.
        reason: String,
    },
    /// A text names no index.
    #[error("`{spec}` names no vector index: {reason}")]
    Spec {
        /// The text.
        spec: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A file is damaged, foreign or of another dimension or version.
    #[error("index file `{path}` cannot be used: {reason}; delete it to have it rebuilt")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The operating system refused.
    #[error("index file `{path}`")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
}
