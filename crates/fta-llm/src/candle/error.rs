//! Errors of loading a model file.

use std::path::PathBuf;

/// Why a model file cannot be used; the message says what would help where something does.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GgufError {
    /// The file cannot be opened or read.
    #[error("`{path}` cannot be read")]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is of another format.
    #[error(
        "`{path}` is not a GGUF file; give a model in GGUF form, or convert it with llama.cpp's `convert_hf_to_gguf.py`"
    )]
    NotGguf {
        /// The file.
        path: PathBuf,
    },
    /// The file is cut off; a download may have been broken off.
    #[error("`{path}` is cut off: {what}; fetch it again")]
    Truncated {
        /// The file.
        path: PathBuf,
        /// What is missing.
        what: String,
    },
    /// The file contradicts itself.
    #[error("`{path}` is damaged: {what}; fetch it again")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The file is right, but this program cannot run such a model.
    #[error(
        "`{path}` cannot be run: {what}; use a model of the families `llama`, `qwen2`, `qwen3` or `gemma3`"
    )]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What is not supported.
        what: String,
    },
    /// The file has no tokenizer that can be used.
    #[error(
        "`{path}` has no usable tokenizer: {what}; use a file that llama.cpp's converter made with its vocabulary"
    )]
    Tokenizer {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
    /// The options do not fit the model or each other.
    #[error("option `{option}` cannot be used: {reason}")]
    Config {
        /// Name of the option.
        option: &'static str,
        /// Why.
        reason: String,
    },
}
