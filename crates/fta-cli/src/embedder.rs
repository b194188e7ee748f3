//! The embedding model: found, fetched, verified and loaded when it is first needed.

use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result};
use fta_mem::index::{
    EmbedError, Embedder, Embeddings, HashEmbedder,
    candle::{BertEmbedder, Precision},
    remote::{RemoteConfig, RemoteEmbedder},
    weights::{ALL_MINILM_L6_V2, ModelFiles, Progress, Source, WeightsResolver},
};
use indicatif::ProgressBar;

use crate::{args::EmbedderKind, printer::Printer, settings::Settings};

/// Values per vector of all-MiniLM-L6-v2.
const MINILM_DIM: usize = 384;

/// The embedder of the settings, loaded at its first use: looking at a memory or deleting from it needs no model.
pub(crate) struct LazyEmbedder {
    kind: EmbedderKind,
    model_id: String,
    dim: usize,
    server: Option<RemoteConfig>,
    resolver: WeightsResolver,
    printer: Printer,
    model: OnceLock<Result<Box<dyn Embedder>, String>>,
}

impl LazyEmbedder {
    /// An embedder that is not loaded yet.
    pub(crate) fn new(settings: &Settings, printer: Printer) -> Arc<Self> {
        let resolver = WeightsResolver {
            directory: settings.model_dir.clone(),
            hub: !settings.offline,
            package: !settings.offline,
            ..WeightsResolver::default()
        };
        let kind = settings.embedder;
        let minilm = |precision: Precision| {
            (format!("{}{}", ALL_MINILM_L6_V2.model_id(), precision.id_suffix()), MINILM_DIM)
        };
        let (model_id, dim) = match (kind, &settings.embedding_server) {
            (EmbedderKind::MiniLm, _) => minilm(Precision::Auto),
            (EmbedderKind::MiniLmInt8, _) => minilm(Precision::Int8),
            (EmbedderKind::Server, Some(server)) => {
                let dim = server.dimensions.unwrap_or_default();
                (RemoteEmbedder::id_of(&server.model, dim), dim)
            }
            (EmbedderKind::Hash | EmbedderKind::Server, _) => {
                let embedder = HashEmbedder::default();
                (embedder.model_id().to_owned(), embedder.dim())
            }
        };
        let server = settings.embedding_server.clone();
        Arc::new(Self { kind, model_id, dim, server, resolver, printer, model: OnceLock::new() })
    }

    /// Finds the model's files, fetching and verifying what is missing.
    ///
    /// # Errors
    /// No source has them.
    pub(crate) fn files(&self) -> Result<ModelFiles> {
        let mut view = ProgressView { printer: self.printer, bar: None };
        let files = self.resolver.resolve(&ALL_MINILM_L6_V2, &mut |progress| view.show(progress));
        view.finish();
        files.context("the embedding model is not available")
    }

    /// Loads the model now, so that a failure is told before any work is done.
    ///
    /// # Errors
    /// The files cannot be had or cannot be loaded.
    pub(crate) fn load(&self) -> Result<()> {
        if self.model.get().is_none() {
            let model = self.open()?;
            // Another thread may have been faster; its model is the same.
            let _ = self.model.set(Ok(model));
        }
        Ok(())
    }

    fn open(&self) -> Result<Box<dyn Embedder>> {
        let minilm = |precision: Precision| -> Result<Box<dyn Embedder>> {
            let model = BertEmbedder::from_files_with(&self.files()?, precision);
            Ok(Box::new(model.context("the embedding model cannot be loaded")?))
        };
        match (self.kind, &self.server) {
            (EmbedderKind::MiniLm, _) => minilm(Precision::Auto),
            (EmbedderKind::MiniLmInt8, _) => minilm(Precision::Int8),
            (EmbedderKind::Server, Some(server)) => Ok(Box::new(RemoteEmbedder::connect(server.clone())?)),
            (EmbedderKind::Hash | EmbedderKind::Server, _) => Ok(Box::new(HashEmbedder::default())),
        }
    }

    fn model(&self) -> Result<&dyn Embedder, EmbedError> {
        let loaded = self.model.get_or_init(|| self.open().map_err(|error| format!("{error:#}")));
        match loaded {
            Ok(model) => Ok(&**model),
            Err(message) => Err(EmbedError::Model { model: self.model_id.clone(), message: message.clone() }),
        }
    }
}

impl Embedder for LazyEmbedder {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        self.model()?.embed(texts)
    }
}

/// Where the files came from, for people.
pub(crate) fn source_words(source: Source) -> &'static str {
    match source {
        Source::Directory => "the given directory",
        Source::Cache => "the cache",
        Source::Hub => "the Hugging Face hub",
        Source::Package => "a Python package",
    }
}

/// What a person sees of a download.
struct ProgressView {
    printer: Printer,
    bar: Option<(String, ProgressBar)>,
}

impl ProgressView {
    fn show(&mut self, progress: Progress<'_>) {
        match progress {
            Progress::Connecting { url } => {
                self.printer.remark(&format!("asking {url} for the embedding model"));
            }
            Progress::Downloading { file, done, total } => {
                if self.bar.as_ref().is_none_or(|(name, _)| name != file) {
                    self.finish();
                    let template = "  {msg} {bar:40} {bytes}/{total_bytes} {eta}";
                    let bar = self.printer.bar(total, template).with_message(file.to_owned());
                    self.bar = Some((file.to_owned(), bar));
                }
                if let Some((_, bar)) = &self.bar {
                    bar.set_position(done);
                }
            }
            Progress::FetchingPackage { name, version } => {
                self.finish();
                self.printer.remark(&format!("fetching the package {name} {version} with pip (84 MB)"));
            }
            Progress::SourceFailed { source, reason } => {
                self.finish();
                self.printer.remark(&format!("{} does not help: {reason}", source_words(source)));
            }
            // Hashing takes a moment only; kinds of progress that are not known yet are not worth a line.
            _ => {}
        }
    }

    fn finish(&mut self) {
        if let Some((_, bar)) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
