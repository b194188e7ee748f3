//! Dialogue files: the one place that knows the data set readers of `fta-eval`.

use std::path::Path;

use anyhow::Result;
use fta_eval::datasets;

pub(crate) use datasets::{Format, Loaded};

/// Reads a dialogue file; without `format` the format is found by looking.
///
/// # Errors
/// The file cannot be read or is no dialogue.
pub(crate) fn load(path: &Path, format: Option<Format>) -> Result<Loaded> {
    Ok(datasets::load(path, format)?)
}

/// Reads a dialogue that is built in.
///
/// # Errors
/// It is no dialogue.
pub(crate) fn parse(name: &str, text: &str, format: Format) -> Result<Loaded> {
    Ok(datasets::parse(Path::new(name), text.as_bytes(), Some(format))?)
}
