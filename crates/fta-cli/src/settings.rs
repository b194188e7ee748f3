//! Settings of one run: flags and environment, made ready for use.

use std::{
    io::{IsTerminal as _, stderr, stdout},
    path::PathBuf,
};

use anyhow::{Context as _, Result};
use fta_mem::{
    MemoryConfig,
    index::{IndexSpec, remote::RemoteConfig},
    profile::Profile,
    units::Namespace,
};

use crate::{
    args::{Color, EmbedderKind, Global, ModelOptions},
    config::FileConfig,
    paint::Paint,
};

/// Width of tables where there is no terminal to ask.
const WIDTH_WITHOUT_TERMINAL: usize = 140;

/// Settings of one run.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    /// The data directory.
    pub(crate) data: PathBuf,
    /// The user, if one was named.
    pub(crate) user: Option<Namespace>,
    /// Whether data is printed as JSON.
    pub(crate) json: bool,
    /// Folder of the model, if one was named.
    pub(crate) model_dir: Option<PathBuf>,
    /// Whether the network is off limits.
    pub(crate) offline: bool,
    /// Whether progress and remarks are left out.
    pub(crate) quiet: bool,
    /// What embeds texts.
    pub(crate) embedder: EmbedderKind,
    /// The server of embeddings, if it is what embeds.
    pub(crate) embedding_server: Option<RemoteConfig>,
    /// The vector index.
    pub(crate) index: IndexSpec,
    /// Settings of the memory.
    pub(crate) config: MemoryConfig,
    /// Which model does which step.
    pub(crate) profile: Profile,
    /// The settings file that was read.
    pub(crate) file: Option<PathBuf>,
    /// What the file holds.
    pub(crate) file_config: FileConfig,
    /// Colours of standard output.
    pub(crate) paint: Paint,
    /// Colours of standard error.
    pub(crate) paint_err: Paint,
    /// Columns of the output.
    pub(crate) width: usize,
}

impl Settings {
    /// Makes settings of flags and environment, then of the settings file, then of defaults.
    ///
    /// # Errors
    /// No legal user name; no data directory given where the system has none; a settings file that cannot be used.
    pub(crate) fn of(global: &Global, model: &ModelOptions) -> Result<Self> {
        let (file, mut file_config) = FileConfig::find(model.config.as_deref())?;
        file_config.change(global, model)?;
        let data = match &file_config.data {
            Some(data) => data.clone(),
            None => directories::ProjectDirs::from("", "", "fta-mem")
                .map(|directories| directories.data_dir().to_owned())
                .context("the system names no home directory; say where the memory is with `--data DIR`")?,
        };
        let embedding_server = (file_config.embedder == EmbedderKind::Server)
            .then(|| file_config.embeddings.remote())
            .transpose()?;
        let user = file_config.user.as_ref().map(|name| Namespace::new(name.as_str())).transpose()?;
        Ok(Self {
            data,
            user,
            json: global.json,
            model_dir: global.model_dir.clone(),
            offline: file_config.offline,
            quiet: global.quiet,
            embedder: file_config.embedder,
            embedding_server,
            index: file_config.index()?,
            config: file_config.memory()?,
            profile: file_config.profile(),
            file,
            file_config,
            paint: paint(global.color, stdout().is_terminal()),
            paint_err: paint(global.color, stderr().is_terminal()),
            width: width(),
        })
    }
}

/// Whether to use colours on a stream.
pub(crate) fn paint(color: Color, is_terminal: bool) -> Paint {
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Paint::new(match color {
        Color::Auto => is_terminal && !forbidden,
        Color::Always => true,
        Color::Never => false,
    })
}

fn width() -> usize {
    match terminal_size::terminal_size_of(stdout()) {
        Some((width, _)) => usize::from(width.0).clamp(60, 200),
        None => WIDTH_WITHOUT_TERMINAL,
    }
}
