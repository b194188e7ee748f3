//! Errors of finding a model's file.

use std::path::PathBuf;

/// Why the file of a model cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WeightsError {
    /// The user's file is not there.
    #[error("`{path}` is missing")]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The user's file is another than the pinned one.
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
    #[error(
        "model `{model}` cannot be had: (1) file: none was given; (2) cache `{cache}`: {cache_said}; \
         (3) pip: {package_said}",
        cache = cache.display()
    )]
    Unavailable {
        /// Name of the model.
        model: String,
        /// The model's folder in the cache.
        cache: PathBuf,
        /// What the cache lacks.
        cache_said: String,
        /// What pip said.
        package_said: String,
    },
}
