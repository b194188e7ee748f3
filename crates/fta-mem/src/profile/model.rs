//! The model of a profile, with its decorators.

use std::{
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    time::Instant,
};

use fta_llm::{DiskCache, LanguageModel, UsageMeter};

use super::{ModelKind, Profile};

/// A model that is ready, and what stands around it.
#[derive(Clone)]
pub struct OpenModel {
    /// For building memories: every reply is on disk before it is used, if there is a journal.
    pub construction: Arc<dyn LanguageModel>,
    /// For questions: nothing is kept.
    pub query: Arc<dyn LanguageModel>,
    /// Accounts of every call of both.
    pub meter: Arc<UsageMeter<Arc<dyn LanguageModel>>>,
    /// The replies of builds that are going on or were interrupted.
    pub journal: Option<Arc<DiskCache<Arc<dyn LanguageModel>>>>,
}

impl OpenModel {
    /// Stands accounts and, in `journal`, a [`DiskCache`] before a model.
    ///
    /// # Errors
    /// [`ProfileError::Journal`] if the directory cannot be made.
    pub fn new(model: Arc<dyn LanguageModel>, journal: Option<&Path>) -> Result<Self, ProfileError> {
        let began = Instant::now();
        let meter = Arc::new(UsageMeter::new(model, move || began.elapsed()));
        let query: Arc<dyn LanguageModel> = meter.clone();
        let journal = journal
            .map(|path| {
                let cache = DiskCache::open(query.clone(), path);
                cache.map(Arc::new).map_err(|source| ProfileError::Journal { path: path.to_owned(), source })
            })
            .transpose()?;
        let construction =
            journal.clone().map_or_else(|| query.clone(), |journal| journal as Arc<dyn LanguageModel>);
        Ok(Self { construction, query, meter, journal })
    }
}

impl Profile {
    /// Makes the model that the profile asks for; `None` for [`ModelKind::Offline`]. Nothing is asked of it yet.
    ///
    /// `key`: the key, if the caller has one; else it comes from what the profile names, `environment` giving the value of
    /// a variable (this crate reads no environment). `journal`: directory for the replies of builds, for resuming them.
    ///
    /// # Errors
    /// [`ProfileError`] naming the setting that is missing or wrong, or the feature that the program was built without.
    pub fn open_model(
        &self,
        key: Option<&str>,
        environment: &dyn Fn(&str) -> Option<String>,
        journal: Option<&Path>,
    ) -> Result<Option<OpenModel>, ProfileError> {
        let model: Arc<dyn LanguageModel> = match self.profile {
            ModelKind::Offline => return Ok(None),
            ModelKind::Llm => self.server(key, environment)?,
            ModelKind::Local => self.local()?,
        };
        OpenModel::new(model, journal).map(Some)
    }

    /// How many calls may be made at the same time.
    pub fn concurrency(&self) -> NonZeroUsize {
        let n = if self.profile == ModelKind::Llm { self.llm.concurrency } else { 1 };
        NonZeroUsize::new(n).unwrap_or(NonZeroUsize::MIN)
    }

    #[cfg(feature = "http")]
    fn server(
        &self,
        key: Option<&str>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Arc<dyn LanguageModel>, ProfileError> {
        use fta_llm::{Limit, Retry, RetryPolicy, http::OpenAiModel, tokio_sleep};

        let model = OpenAiModel::new(self.http_config(key, environment)?)?;
        let limited = Limit::new(model, self.concurrency());
        let policy = RetryPolicy { max_attempts: self.llm.attempts, ..RetryPolicy::default() };
        Ok(Arc::new(Retry::new(limited, policy, tokio_sleep())?))
    }

    /// Settings of the server's client, with the key.
    ///
    /// # Errors
    /// [`ProfileError::Missing`] without address or model name, or when the key that is named is not there.
    #[cfg(feature = "http")]
    pub fn http_config(
        &self,
        key: Option<&str>,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<fta_llm::http::HttpConfig, ProfileError> {
        use std::time::Duration;

        use fta_llm::http::{ApiKey, HttpConfig, SchemaSupport};

        use super::SchemaMode;

        let llm = &self.llm;
        let missing = |setting, remedy| Err(ProfileError::Missing { setting, remedy });
        if llm.base_url.trim().is_empty() {
            return missing("llm.base_url", "the address of the server, such as `http://localhost:11434/v1`");
        }
        if llm.model.trim().is_empty() {
            return missing("llm.model", "the name of a model on the server");
        }
        let key = match (key, &llm.key_env, &llm.key_file) {
            (Some(key), _, _) => Some(ApiKey::new(key)?),
            (None, Some(name), _) => match environment(name) {
                Some(key) => Some(ApiKey::new(key)?),
                None => return Err(ProfileError::NoKey { variable: name.clone() }),
            },
            (None, None, Some(path)) => Some(ApiKey::from_file(path)?),
            (None, None, None) => None,
        };
        let seconds = |setting, value: f64| {
            Duration::try_from_secs_f64(value).map_err(|_| ProfileError::Seconds { setting, value })
        };
        Ok(HttpConfig {
            key,
            connect_timeout: seconds("llm.connect_timeout", llm.connect_timeout)?,
            read_timeout: seconds("llm.read_timeout", llm.read_timeout)?,
            schema: match llm.schema {
                SchemaMode::Auto => SchemaSupport::Auto,
                SchemaMode::JsonSchema => SchemaSupport::JsonSchema,
                SchemaMode::JsonObject => SchemaSupport::JsonObject,
                SchemaMode::None => SchemaSupport::None,
            },
            extra: llm.extra.clone(),
            ..HttpConfig::new(&llm.base_url, &llm.model)
        })
    }

    #[cfg(not(feature = "http"))]
    fn server(
        &self,
        _key: Option<&str>,
        _environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Arc<dyn LanguageModel>, ProfileError> {
        Err(ProfileError::Feature { profile: "llm", feature: "http" })
    }

    /// The GGUF file of the profile: a path, or a known model that is in the cache; nothing is downloaded.
    ///
    /// # Errors
    /// [`ProfileError::Missing`] without a name, [`ProfileError::UnknownModel`], [`ProfileError::Weights`].
    #[cfg(feature = "gguf")]
    pub fn local_file(&self) -> Result<PathBuf, ProfileError> {
        use fta_llm::weights::{MODELS, ModelSpec, WeightsResolver};

        let name = self.local.model.trim();
        if name.is_empty() {
            let remedy = "a GGUF file, or the name of a model that `fta setup --model` fetched";
            return Err(ProfileError::Missing { setting: "local.model", remedy });
        }
        if Path::new(name).is_file() {
            return Ok(PathBuf::from(name));
        }
        let Some(spec) = ModelSpec::by_name(name) else {
            let known = MODELS.iter().map(|spec| spec.name).collect::<Vec<_>>().join(", ");
            return Err(ProfileError::UnknownModel { name: name.to_owned(), known });
        };
        let resolver = WeightsResolver { package: false, ..WeightsResolver::default() };
        Ok(resolver.resolve(&spec, &mut |_| {})?.path)
    }

    #[cfg(feature = "gguf")]
    fn local(&self) -> Result<Arc<dyn LanguageModel>, ProfileError> {
        use fta_llm::candle::{GgufConfig, GgufModel};

        let config = GgufConfig {
            threads: self.local.threads,
            // The units of a group of fragments are a long reply.
            max_new_tokens: 4096,
            context: self.local.context,
            ..GgufConfig::new(self.local_file()?)
        };
        Ok(Arc::new(GgufModel::load(&config)?))
    }

    #[cfg(not(feature = "gguf"))]
    fn local(&self) -> Result<Arc<dyn LanguageModel>, ProfileError> {
        Err(ProfileError::Feature { profile: "local", feature: "gguf" })
    }
}

/// A profile that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// A setting is missing.
    #[error("setting `{setting}` is missing: {remedy}")]
    Missing {
        /// Its name.
        setting: &'static str,
        /// What it should hold.
        remedy: &'static str,
    },
    /// A setting is no number of seconds.
    #[error("setting `{setting}` is `{value}`, which is no number of seconds")]
    Seconds {
        /// Its name.
        setting: &'static str,
        /// Its value.
        value: f64,
    },
    /// The variable that should hold the key is not set.
    #[error("environment variable `{variable}`, named by `llm.key_env`, is not set")]
    NoKey {
        /// Its name.
        variable: String,
    },
    /// The program cannot talk to such models.
    #[error("profile `{profile}` needs the feature `{feature}`, which this program was built without")]
    Feature {
        /// The profile.
        profile: &'static str,
        /// The feature.
        feature: &'static str,
    },
    /// The journal's directory cannot be made.
    #[error("directory `{path}` for replies of the model")]
    Journal {
        /// The directory.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Settings of the server cannot be used.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Http(#[from] fta_llm::http::ConfigError),
    /// The local model is neither a file nor known.
    #[error(
        "`{name}`, named by `local.model`, is no file, and no model of that name is known; known are {known}"
    )]
    UnknownModel {
        /// What was named.
        name: String,
        /// Names of the known models.
        known: String,
    },
    /// The local model's file is not there.
    #[cfg(feature = "gguf")]
    #[error("file of the local model cannot be had")]
    Weights(#[from] fta_llm::weights::WeightsError),
    /// The local model cannot be loaded.
    #[cfg(feature = "gguf")]
    #[error("local model cannot be loaded")]
    Gguf(#[from] fta_llm::candle::GgufError),
    /// A prompt cannot be used.
    #[error("prompts cannot be used")]
    Prompt(#[from] fta_llm::PromptError),
    /// Windows of the segmentation are out of range.
    #[error("windows of the segmentation cannot be used")]
    Segment(#[from] fta_segment::SegmentError),
    /// Settings of repeated requests cannot be used.
    #[error("requests cannot be repeated as `llm.attempts` says")]
    Retry(#[from] fta_llm::RetryPolicyError),
}
