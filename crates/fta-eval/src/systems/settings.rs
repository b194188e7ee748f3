//! Settings of the built-in systems, as experiments write them.

use std::str::FromStr;

use fta_mem::{LinkingConfig, MemoryConfig, retrieve::RetrievalConfig};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{Granularity, SystemError};

/// Settings of retrieval by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preset {
    /// The default of the facade.
    #[default]
    Offline,
    /// The paper's setting on LoCoMo.
    Locomo,
    /// The paper's setting on ES-MemEval.
    EsMemeval,
}

impl Preset {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Locomo => "locomo",
            Self::EsMemeval => "es_memeval",
        }
    }

    /// The settings.
    pub fn config(self) -> MemoryConfig {
        MemoryConfig { retrieval: self.retrieval(), ..MemoryConfig::default() }
    }

    fn retrieval(self) -> RetrievalConfig {
        match self {
            Self::Offline => RetrievalConfig::offline(),
            Self::Locomo => RetrievalConfig::locomo(),
            Self::EsMemeval => RetrievalConfig::es_memeval(),
        }
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Offline, Self::Locomo, Self::EsMemeval]
            .into_iter()
            .find(|p| p.name() == text)
            .ok_or_else(|| format!("`{text}` is no preset: `offline`, `locomo` or `es_memeval` is expected"))
    }
}

/// How sessions are cut into fragments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Segmentation {
    /// Boundary-preserving windows (Eq. 2, Alg. 1).
    #[default]
    Bws,
    /// The same windows at a fixed stride, without a provisional span (Table 7).
    Fixed,
    /// The whole session as one fragment (Table 6).
    Session,
    /// Pairs of turns (Table 6).
    Pairs,
}

/// What an ablation leaves out (Figure 3, Table 8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Without {
    /// The time anchor `x^T` of units and the time cue. Source dialogue keeps its dates.
    Time,
    /// All dates: the time anchor, and the dates of the sessions themselves.
    Dates,
    /// The affect anchor `x^A` and the affect cue.
    Affect,
    /// Links, and so linked neighbours.
    Links,
    /// Query rewriting: the question itself is `q'`.
    Rewrite,
    /// The cue score: `lambda` = 1.
    Cues,
    /// The packet's structure: linked units stand among the primary ones, without rank or score, and background is left
    /// out.
    Packet,
    /// The longitudinal memories `U` and `H`.
    Auxiliary,
}

/// Settings of the system `fta`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FtaSettings {
    /// What `retrieval` starts from.
    pub preset: Preset,
    /// Settings of retrieval that differ from the preset's.
    pub retrieval: toml::Table,
    /// Settings of linking that differ from the default, or from what goes with the profile.
    pub linking: toml::Table,
    /// How sessions are cut; by the profile's model where that detects boundaries and this is `bws`.
    pub segmentation: Segmentation,
    /// Turns of a window; `None` for the default.
    pub window: Option<usize>,
    /// Least step of a window, or its stride where that is fixed; `None` for half a window.
    pub step: Option<usize>,
    /// What is left out.
    pub without: Vec<Without>,
}

impl FtaSettings {
    /// Whether something is left out.
    pub fn is_without(&self, part: Without) -> bool {
        self.without.contains(&part)
    }

    /// The memory's settings; `linking` is what goes with the model.
    ///
    /// # Errors
    /// [`SystemError::Settings`] for a setting that does not exist or has a wrong value.
    pub fn config(&self, linking: &LinkingConfig) -> Result<MemoryConfig, SystemError> {
        let mut retrieval: RetrievalConfig =
            overlay("fta", "retrieval", &self.preset.retrieval(), &self.retrieval)?;
        if self.is_without(Without::Time) || self.is_without(Without::Dates) {
            retrieval.cues.time = 0.0;
            retrieval.boosts.time = 0.0;
        }
        if self.is_without(Without::Affect) {
            retrieval.cues.affect = 0.0;
        }
        if self.is_without(Without::Links) {
            retrieval.linked_per_unit = 0;
        }
        if self.is_without(Without::Cues) {
            retrieval.lambda = 1.0;
            retrieval.boosts.time = 0.0;
            retrieval.boosts.situation = 0.0;
        }
        if self.is_without(Without::Auxiliary) {
            retrieval.background = 0;
        }
        let linking = overlay("fta", "linking", linking, &self.linking)?;
        Ok(MemoryConfig { retrieval, linking })
    }
}

/// Settings of the yardsticks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ChunkSettings {
    /// What is retrieved.
    pub unit: Granularity,
    /// Items of the context that is answered from.
    pub k: usize,
    /// Most tokens (characters / 4) of it.
    pub token_budget: Option<usize>,
    /// Whether the date stands in the text that is indexed.
    pub dated: bool,
    /// The newest sessions that are kept, for `last-sessions`.
    pub sessions: usize,
}

impl Default for ChunkSettings {
    fn default() -> Self {
        Self { unit: Granularity::Turn, k: 25, token_budget: None, dated: true, sessions: 4 }
    }
}

/// Reads settings of a system.
///
/// # Errors
/// [`SystemError::Settings`] for a setting that does not exist or has a wrong value.
pub(crate) fn read<T: DeserializeOwned>(system: &str, settings: &toml::Table) -> Result<T, SystemError> {
    settings.clone().try_into().map_err(|error| wrong(system, &error))
}

/// `base` with what `changes` sets, tables within tables alike.
fn overlay<T: Serialize + DeserializeOwned>(
    system: &str,
    name: &str,
    base: &T,
    changes: &toml::Table,
) -> Result<T, SystemError> {
    let mut table = toml::Table::try_from(base).expect("settings are a table");
    merge(&mut table, changes);
    table.try_into().map_err(|error| wrong(&format!("{system}.{name}"), &error))
}

fn merge(base: &mut toml::Table, changes: &toml::Table) {
    for (key, value) in changes {
        match (base.get_mut(key), value) {
            (Some(toml::Value::Table(inner)), toml::Value::Table(changes)) => merge(inner, changes),
            _ => {
                base.insert(key.clone(), value.clone());
            }
        }
    }
}

fn wrong(system: &str, error: &toml::de::Error) -> SystemError {
    SystemError::Settings { system: system.to_owned(), message: error.message().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Result<FtaSettings, SystemError> {
        read("fta", &toml::from_str(text).unwrap())
    }

    #[test]
    fn settings_lie_over_their_preset() {
        let settings = settings("preset = \"locomo\"\nretrieval = { k = 7, cues = { time = 2.0 } }").unwrap();
        let config = settings.config(&LinkingConfig::default()).unwrap();
        let expected = RetrievalConfig::locomo();
        assert_eq!((config.retrieval.k, config.retrieval.tau), (7, expected.tau));
        assert_eq!((config.retrieval.cues.time, config.retrieval.cues.affect), (2.0, expected.cues.affect));
    }

    #[test]
    fn what_is_left_out_is_out_of_the_settings() {
        let settings = settings("without = [\"time\", \"links\", \"cues\", \"auxiliary\"]").unwrap();
        let retrieval = settings.config(&LinkingConfig::default()).unwrap().retrieval;
        assert_eq!((retrieval.cues.time, retrieval.linked_per_unit), (0.0, 0));
        assert_eq!((retrieval.lambda, retrieval.background), (1.0, 0));
    }

    #[test]
    fn unknown_settings_are_named() {
        let error = settings("k = 3").unwrap_err().to_string();
        assert!(error.contains("settings of system `fta`") && error.contains("`k`"), "{error}");
        let inner = settings("retrieval = { kk = 3 }").unwrap().config(&LinkingConfig::default());
        assert!(inner.unwrap_err().to_string().contains("`kk`"));
        let inner = settings("retrieval = { k = \"many\" }").unwrap().config(&LinkingConfig::default());
        assert!(inner.unwrap_err().to_string().contains("settings of system `fta.retrieval`"));
    }
}
