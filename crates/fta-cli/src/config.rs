//! The settings file `fta.toml`: where it is found and what it holds.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use fta_mem::{
    MemoryConfig,
    index::{
        IndexSpec,
        remote::{ApiKey, RemoteConfig},
    },
    profile::{AnswerForm, Construction, LocalConfig, ModelKind, Profile, ServerConfig, StepsConfig},
    retrieve::RetrievalConfig,
};
use serde::{Deserialize, Serialize};
use toml::{Table, Value};

use crate::args::{EmbedderKind, Global, ModelOptions, Preset};

/// Name of the file.
const FILE: &str = "fta.toml";

/// What the file may hold. Everything is optional; flags and environment go before it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct FileConfig {
    /// Directory that holds the memory.
    pub(crate) data: Option<PathBuf>,
    /// Whose memory.
    pub(crate) user: Option<String>,
    /// Whether the network is off limits.
    pub(crate) offline: bool,
    /// What embeds texts.
    pub(crate) embedder: EmbedderKind,
    /// The server of embeddings.
    pub(crate) embeddings: EmbeddingServer,
    /// Which vector index, such as `exact-int8`; `auto` unless told.
    pub(crate) index: Option<String>,
    /// Named settings of retrieval.
    pub(crate) preset: Option<Preset>,
    /// Settings of retrieval that differ from the preset.
    pub(crate) retrieval: Table,
    /// Settings of linking that differ from what goes with the profile.
    pub(crate) linking: Table,
    /// Where replies come from.
    pub(crate) profile: ModelKind,
    /// How a memory is built with a model.
    pub(crate) construction: Construction,
    /// How answers of a model are phrased.
    pub(crate) answers: AnswerForm,
    /// Directory with prompts that go before the built-in ones.
    pub(crate) prompts: Option<PathBuf>,
    /// The server.
    pub(crate) llm: ServerConfig,
    /// The model in a file.
    pub(crate) local: LocalConfig,
    /// Who does each step.
    pub(crate) steps: StepsConfig,
}

/// A server of embeddings; its key is taken from FTA_EMBEDDINGS_KEY.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct EmbeddingServer {
    /// Address up to and without `/embeddings`.
    pub(crate) base_url: String,
    /// Name of the model.
    pub(crate) model: String,
    /// Values per vector.
    pub(crate) dimensions: usize,
    /// Environment variable that holds the key, if it is another one.
    pub(crate) key_env: Option<String>,
}

impl EmbeddingServer {
    /// What to connect with.
    ///
    /// # Errors
    /// Address, model or dimensions are missing, or the key that is named is not there.
    pub(crate) fn remote(&self) -> Result<RemoteConfig> {
        if self.base_url.is_empty() || self.model.is_empty() || self.dimensions == 0 {
            bail!(
                "embedder `server` needs `base_url`, `model` and `dimensions` in section `[embeddings]` of the settings"
            );
        }
        let key = match &self.key_env {
            Some(name) => {
                Some(std::env::var(name).with_context(|| format!("environment variable `{name}`"))?)
            }
            None => std::env::var("FTA_EMBEDDINGS_KEY").ok(),
        };
        Ok(RemoteConfig {
            key: key.filter(|key| !key.is_empty()).map(ApiKey::new),
            dimensions: Some(self.dimensions),
            ..RemoteConfig::new(self.base_url.as_str(), self.model.as_str())
        })
    }
}

impl FileConfig {
    /// Reads the named file, else `fta.toml` here, else the one in the user's configuration directory, else nothing.
    ///
    /// # Errors
    /// The named file is not there; or what is there is no settings file, with line and what is wrong.
    pub(crate) fn find(named: Option<&Path>) -> Result<(Option<PathBuf>, Self)> {
        let usual = directories::ProjectDirs::from("", "", "fta-mem").map(|d| d.config_dir().join(FILE));
        let path = match named {
            Some(path) => Some(path.to_owned()),
            None => [Some(PathBuf::from(FILE)), usual].into_iter().flatten().find(|path| path.is_file()),
        };
        match path {
            Some(path) => {
                let config = Self::read(&path)?;
                Ok((Some(path), config))
            }
            None => Ok((None, Self::default())),
        }
    }

    fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("settings `{}` cannot be read", path.display()))?;
        Self::parse(&text).with_context(|| format!("settings `{}`", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        Ok(toml::from_str(text)?)
    }

    /// The part that is about models.
    pub(crate) fn profile(&self) -> Profile {
        Profile {
            profile: self.profile,
            construction: self.construction,
            llm: self.llm.clone(),
            local: self.local.clone(),
            steps: self.steps,
            prompts: self.prompts.clone(),
            answers: self.answers,
        }
    }

    /// Changes what flags and environment say.
    ///
    /// # Errors
    /// A list of steps that cannot be read.
    pub(crate) fn change(&mut self, global: &Global, model: &ModelOptions) -> Result<()> {
        fn set<T: Clone>(setting: &mut T, given: Option<&T>) {
            if let Some(given) = given {
                setting.clone_from(given);
            }
        }
        self.data = global.data.clone().or(self.data.take());
        self.user = global.user.clone().or(self.user.take());
        self.preset = global.preset.or(self.preset);
        self.offline |= global.offline;
        set(&mut self.embedder, global.embedder.as_ref());
        self.index = global.index.clone().or(self.index.take());
        set(&mut self.profile, model.profile.map(Into::into).as_ref());
        set(&mut self.construction, model.construction.map(Into::into).as_ref());
        set(&mut self.llm.base_url, model.llm_url.as_ref());
        set(&mut self.llm.model, model.llm_model.as_ref());
        set(&mut self.local.model, model.local_model.as_ref());
        if let Some(steps) = &model.steps {
            self.steps = change_steps(self.steps, steps)?;
        }
        Ok(())
    }

    /// As the text of a settings file that reads the same.
    ///
    /// # Errors
    /// It cannot be written as TOML.
    pub(crate) fn text(&self) -> Result<String> {
        toml::to_string_pretty(self).context("settings cannot be written")
    }

    /// The vector index.
    ///
    /// # Errors
    /// The text names none.
    pub(crate) fn index(&self) -> Result<IndexSpec> {
        let spec = self.index.as_deref().map(str::parse).transpose().context("setting `index`")?;
        Ok(spec.unwrap_or_default())
    }

    /// Settings of the memory: the preset, changed by what the file says of retrieval.
    ///
    /// # Errors
    /// An unknown setting, or a value of the wrong kind.
    pub(crate) fn memory(&self) -> Result<MemoryConfig> {
        let preset = match self.preset.unwrap_or_default() {
            Preset::Offline => RetrievalConfig::offline(),
            Preset::EsMemeval => RetrievalConfig::es_memeval(),
            Preset::Locomo => RetrievalConfig::locomo(),
        };
        let mut table = Table::try_from(preset).context("settings of retrieval cannot be written")?;
        overlay(&mut table, self.retrieval.clone());
        let retrieval = table.try_into().context("`[retrieval]` of the settings")?;
        let mut table = Table::try_from(self.profile().linking()).context("linking cannot be written")?;
        overlay(&mut table, self.linking.clone());
        let linking = table.try_into().context("`[linking]` of the settings")?;
        Ok(MemoryConfig { retrieval, linking })
    }
}

/// Puts what `over` says over `table`, table by table.
fn overlay(table: &mut Table, over: Table) {
    for (key, value) in over {
        match (table.get_mut(&key), value) {
            (Some(Value::Table(inner)), Value::Table(over)) => overlay(inner, over),
            (_, value) => {
                table.insert(key, value);
            }
        }
    }
}

/// Changes who does some steps: `answer=model,units=offline`.
///
/// # Errors
/// No list of `step=by`, or an unknown step or word.
pub(crate) fn change_steps(steps: StepsConfig, changes: &str) -> Result<StepsConfig> {
    let mut table = Table::try_from(steps).context("steps cannot be written")?;
    for change in changes.split(',').map(str::trim).filter(|c| !c.is_empty()) {
        let Some((step, by)) = change.split_once('=') else {
            bail!("`{change}` does not say who does a step: `answer=model` or `answer=offline` is expected");
        };
        table.insert(step.trim().to_owned(), Value::String(by.trim().to_owned()));
    }
    StepsConfig::deserialize(table).with_context(|| format!("steps `{changes}`"))
}

#[cfg(test)]
mod tests {
    use fta_mem::profile::StepBy;

    use super::*;

    #[test]
    fn a_file_says_what_differs() {
        let text = r#"
            preset = "locomo"
            embedder = "hash"
            index = "exact-int8 threads=2"
            profile = "llm"
            construction = "paper"
            [llm]
            base_url = "http://localhost:11434/v1"
            model = "m"
            [steps]
            boundaries = "offline"
            [retrieval]
            k = 7
            cues = { time = 2.0 }
        "#;
        let config = FileConfig::parse(text).unwrap();
        assert_eq!(config.profile().llm.model, "m");
        assert_eq!(config.embedder, EmbedderKind::Hash);
        assert_eq!(config.index().unwrap().to_string(), "exact-int8 threads=2");
        assert_eq!(config.steps.boundaries, Some(StepBy::Offline));
        let retrieval = config.memory().unwrap().retrieval;
        let mut expect = RetrievalConfig { k: 7, ..RetrievalConfig::locomo() };
        expect.cues.time = 2.0;
        assert_eq!(retrieval, expect);
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |text: &str| {
            let config = FileConfig::parse(text);
            format!("{:#}", config.and_then(|c| c.memory()).unwrap_err())
        };
        assert!(wrong("profil = 'llm'").contains("unknown field `profil`"));
        assert!(wrong("profile = 'remote'").contains("`remote`"));
        assert!(wrong("embedder = 'word2vec'").contains("`word2vec`"));
        let index = FileConfig::parse("index = 'flat'").unwrap().index();
        assert!(
            format!("{:#}", index.unwrap_err()).contains("setting `index`: `flat` names no vector index")
        );
        assert!(wrong("[retrieval]\nlamda = 1.0").contains("lamda"));
        assert!(wrong("[llm]\nkey = 'secret'").contains("unknown field `key`"));
    }

    #[test]
    fn steps_are_changed_one_by_one() {
        let steps = change_steps(StepsConfig::default(), "answer=model, units=offline").unwrap();
        assert_eq!((steps.answer, steps.units), (Some(StepBy::Model), Some(StepBy::Offline)));
        assert_eq!(steps.rewrite, None);
        assert!(change_steps(steps, "answer").unwrap_err().to_string().contains("`answer`"));
        assert!(change_steps(steps, "answr=model").is_err());
        assert!(change_steps(steps, "answer=me").is_err());
    }

    #[test]
    fn what_is_written_reads_the_same() {
        let mut config = FileConfig { preset: Some(Preset::Locomo), ..FileConfig::default() };
        config.retrieval.insert("k".to_owned(), Value::Integer(7));
        config.steps.answer = Some(StepBy::Model);
        assert_eq!(FileConfig::parse(&config.text().unwrap()).unwrap(), config);
    }
}
