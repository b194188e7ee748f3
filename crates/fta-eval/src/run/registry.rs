//! What runs can use, by name: systems, metrics, data sets. One line adds one of somebody else.

use std::{collections::BTreeMap, error::Error as StdError, path::Path, sync::Arc};

use crate::{
    datasets::{self, Case, Format},
    metrics::{Metric, Scorer},
    systems::{
        ChunkSettings, ChunkSystem, FtaSettings, FtaSystem, MemorySystem, Parts, Ranking, SystemError,
        settings::read,
    },
};

/// Opens an empty system for one conversation.
type Open = dyn Fn(&toml::Table, &Parts) -> Result<Box<dyn MemorySystem>, SystemError> + Send + Sync;

/// A data set: how its files are read.
pub trait DataSet: Send + Sync {
    /// Its name on the command line.
    fn name(&self) -> &str;

    /// Whether the bytes look like it; the first data set that says so reads them.
    fn detects(&self, path: &Path, bytes: &[u8]) -> bool;

    /// Reads conversations and questions; also returns what was odd, a line for each.
    ///
    /// # Errors
    /// Why the bytes cannot be used: what, where, what to do.
    fn load(&self, path: &Path, bytes: &[u8]) -> Result<(Vec<Case>, Vec<String>), LoadFailure>;
}

/// Why a data set cannot be read.
pub type LoadFailure = Box<dyn StdError + Send + Sync>;

/// What runs can use.
#[derive(Clone, Default)]
pub struct Registry {
    systems: BTreeMap<String, (String, Arc<Open>)>,
    scorers: BTreeMap<String, Arc<dyn Scorer>>,
    data_sets: Vec<Arc<dyn DataSet>>,
}

impl Registry {
    /// Nothing at all.
    pub fn empty() -> Self {
        Self::default()
    }

    /// What comes with the program.
    pub fn builtin() -> Self {
        let mut registry =
            Self::empty().with_system("fta", "this memory, every preset and ablation", |settings, parts| {
                let settings: FtaSettings = read("fta", settings)?;
                Ok(Box::new(FtaSystem::new(settings, parts)?))
            });
        for (name, about, ranking) in [
            ("bm25", "BM25 over turns, pairs or sessions", Ranking::Bm25),
            ("dense", "one vector per turn, pair or session", Ranking::Dense),
            ("hybrid", "reciprocal rank fusion of both", Ranking::Hybrid),
            ("trial", "several vectors per turn, word scores, neighbours", Ranking::Trial),
            ("full-context", "the whole history, newest kept", Ranking::Newest),
            ("question-only", "no memory at all", Ranking::Nothing),
        ] {
            registry = registry.with_system(name, about, move |settings, parts| {
                let mut settings: ChunkSettings = read(name, settings)?;
                if ranking == Ranking::Newest {
                    (settings.k, settings.sessions) = (usize::MAX, usize::MAX);
                }
                Ok(Box::new(ChunkSystem::new(ranking, settings, parts)?))
            });
        }
        registry = registry.with_system("last-sessions", "the newest sessions", |settings, parts| {
            let settings = ChunkSettings { k: usize::MAX, ..read("last-sessions", settings)? };
            Ok(Box::new(ChunkSystem::new(Ranking::Newest, settings, parts)?))
        });
        Format::ALL.into_iter().fold(registry, Registry::with_data_set)
    }

    /// Adds a system: `open` makes an empty one for a conversation from the settings of an arm.
    pub fn with_system(
        mut self,
        name: &str,
        about: &str,
        open: impl Fn(&toml::Table, &Parts) -> Result<Box<dyn MemorySystem>, SystemError> + Send + Sync + 'static,
    ) -> Self {
        self.systems.insert(name.to_owned(), (about.to_owned(), Arc::new(open)));
        self
    }

    /// Adds a metric under its own name; it goes before a built-in one of that name.
    pub fn with_metric(mut self, scorer: impl Scorer + 'static) -> Self {
        self.scorers.insert(scorer.name(), Arc::new(scorer));
        self
    }

    /// Adds a data set; it is asked before those that are there.
    pub fn with_data_set(mut self, data_set: impl DataSet + 'static) -> Self {
        self.data_sets.insert(0, Arc::new(data_set));
        self
    }

    /// Names of the systems and what they are.
    pub fn systems(&self) -> impl Iterator<Item = (&str, &str)> {
        self.systems.iter().map(|(name, (about, _))| (name.as_str(), about.as_str()))
    }

    /// Names of the data sets.
    pub fn data_sets(&self) -> impl Iterator<Item = &str> {
        self.data_sets.iter().map(|data_set| data_set.name())
    }

    /// Opens an empty system.
    ///
    /// # Errors
    /// [`SystemError::Settings`] for an unknown system or settings that cannot be used.
    pub fn open(
        &self,
        system: &str,
        settings: &toml::Table,
        parts: &Parts,
    ) -> Result<Box<dyn MemorySystem>, SystemError> {
        let Some((_, open)) = self.systems.get(system) else {
            let known: Vec<String> = self.systems.keys().map(|name| format!("`{name}`")).collect();
            let message = format!("there is no such system; known are {}", known.join(", "));
            return Err(SystemError::Settings { system: system.to_owned(), message });
        };
        open(settings, parts)
    }

    /// A metric by name.
    ///
    /// # Errors
    /// [`crate::metrics::MetricError`] if there is none, naming those that there are.
    pub fn metric(&self, name: &str) -> Result<Arc<dyn Scorer>, crate::metrics::MetricError> {
        match self.scorers.get(name) {
            Some(scorer) => Ok(scorer.clone()),
            None => Ok(Arc::new(name.parse::<Metric>()?)),
        }
    }

    /// The data set that reads a file: the one of this name, or the first that recognises the bytes.
    ///
    /// # Errors
    /// [`LoadFailure`] saying which names there are, or what was looked for.
    pub fn data_set(
        &self,
        name: Option<&str>,
        path: &Path,
        bytes: &[u8],
    ) -> Result<Arc<dyn DataSet>, LoadFailure> {
        let found = match name {
            Some(name) => self.data_sets.iter().find(|data_set| data_set.name() == name),
            None => self.data_sets.iter().find(|data_set| data_set.detects(path, bytes)),
        };
        if let Some(found) = found {
            return Ok(found.clone());
        }
        let known: Vec<String> = self.data_sets().map(|name| format!("`{name}`")).collect();
        match name {
            Some(name) => Err(format!("`{name}` is no data set; known are {}", known.join(", ")).into()),
            // Says what is wrong with the file better than a list of names does.
            None => Err(Format::detect(path, bytes).map_or_else(Into::into, |format| {
                format!("`{}` looks like `{format}`, which cannot be read here", path.display()).into()
            })),
        }
    }
}

impl DataSet for Format {
    fn name(&self) -> &str {
        Format::name(*self)
    }

    fn detects(&self, path: &Path, bytes: &[u8]) -> bool {
        Self::detect(path, bytes).is_ok_and(|format| format == *self)
    }

    fn load(&self, path: &Path, bytes: &[u8]) -> Result<(Vec<Case>, Vec<String>), LoadFailure> {
        let loaded = datasets::parse(path, bytes, Some(*self))?;
        let odd = loaded.report.anomalies.iter();
        let odd = odd.map(|(kind, anomaly)| format!("{}: {}", kind.describe(), anomaly.count));
        Ok((loaded.cases, odd.collect()))
    }
}
