//! Errors of finding model files.

use std::path::PathBuf;

/// Why the files of a model cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The user's folder lacks a file.
    #[error("`{path}` is missing; the folder given for the model must hold all of its files")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The user's folder holds another file than the pinned one.
    #[error("`{path}` is not the file of this model: expected sha256 `{expected}`, found `{found}`")]
    WrongFile {
        /// The file.
        path: PathBuf,
        /// Pinned SHA-256.
        expected: String,
        /// SHA-256 of the file.
        found: String,
    },
    /// A file cannot be read or written.
    #[error("`{path}` cannot be read or written")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// There is no home folder, and no cache was given.
    #[error("the system names no folder for caches; give one")]
    NoCache,
    /// No source could help.
    #[error(transparent)]
    Unavailable(Box<Unavailable>),
}

/// What each source said when none could help.
#[derive(Debug, thiserror::Error)]
#[error(
    "model `{model}` cannot be had from any of four sources: \
     (1) folder: none was given, one with `{files}` would do; \
     (2) cache `{cache}`: {cache_said}; \
     (3) Hugging Face hub: {hub_said}; \
     (4) pip: {package_said}",
    cache = cache.display()
)]
pub struct Unavailable {
    /// Repository and revision.
    pub model: String,
    /// Names of the files that are needed.
    pub files: String,
    /// The model's folder in the cache.
    pub cache: PathBuf,
    /// What the cache lacks.
    pub cache_said: String,
    /// What the hub said.
    pub hub_said: String,
    /// What pip said.
    pub package_said: String,
}
