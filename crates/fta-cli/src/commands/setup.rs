//! `fta setup`: everything that a later run would have to fetch.

use anyhow::{Context as _, Result};
use fta_mem::index::Embedder as _;
use serde::Serialize;

use crate::{args::Setup, context::Context, embedder, exit::Exit};

#[derive(Serialize)]
struct Ready {
    model: String,
    directory: String,
    source: &'static str,
    dim: usize,
}

/// Fetches and verifies the model, loads it and embeds a text with it.
pub(crate) fn run(context: &Context, _args: &Setup) -> Result<Exit> {
    let files = context.embedder.files()?;
    context.embedder.load()?;
    let vector = context.embedder.embed(&["A sentence to see that it works."]);
    let vector = vector.context("the embedding model does not work on this machine")?;
    let ready = Ready {
        model: files.model_id.clone(),
        directory: files.directory.display().to_string(),
        source: embedder::source_words(files.source),
        dim: vector.dim(),
    };
    let text = format!("{} is ready in {}, from {}", ready.model, ready.directory, ready.source);
    context.printer.data("setup", ready, || text)?;
    Ok(Exit::Done)
}
