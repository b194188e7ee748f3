//! Experiments as files: which systems run with which settings, what is measured, and what is made of it.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use fta_mem::profile::Construction;
use serde::{Deserialize, Serialize};

/// An experiment, as its file says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// What it is called in reports.
    pub title: String,
    /// Tables and figures of the paper that it answers to.
    #[serde(default)]
    pub paper: Vec<String>,
    /// What it asks, in a sentence or two.
    pub asks: String,
    /// Metrics by name; the first is the main one.
    pub metrics: Vec<String>,
    /// Token budgets at which a context is asked for, for `evidence_recall@1000t` and its like.
    #[serde(default)]
    pub tokens: Vec<usize>,
    /// Items that are retrieved for the metrics of rank; those that the answer was made from if absent.
    #[serde(default)]
    pub items: Option<usize>,
    /// Whether questions are answered, or only retrieved for.
    #[serde(default = "yes")]
    pub answers: bool,
    /// Whether only answerable questions with evidence turns are asked.
    #[serde(default)]
    pub with_evidence_only: bool,
    /// What is compared, in the order of the tables.
    pub arms: Vec<Arm>,
    /// What is made of the scores besides their means.
    #[serde(default)]
    pub analyses: Vec<Analysis>,
    /// What the paper reports, to stand beside.
    #[serde(default)]
    pub reported: Vec<Reported>,
}

/// A system with its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Arm {
    /// Its name in files and tables: letters, digits, `.`, `_`, `-`, `+`.
    pub name: String,
    /// The system, by the name that it is registered under.
    pub system: String,
    /// Settings of the system.
    #[serde(default)]
    pub settings: toml::Table,
    /// Who does the steps that a model can do.
    #[serde(default)]
    pub model: ArmModel,
    /// How a memory is built by a model, instead of as the profile says.
    #[serde(default)]
    pub construction: Option<Construction>,
    /// Where it stands on the horizontal axis of a sweep.
    #[serde(default)]
    pub x: Option<f64>,
}

/// Who does the steps that a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArmModel {
    /// Whom the run's profile names; rules if the run has none.
    #[default]
    Profile,
    /// Rules, whatever the run's profile is.
    Rules,
    /// A stand-in by rules that is asked like a model: its answers mean nothing, its calls and tokens do.
    StandIn,
}

/// What is made of the scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Analysis {
    /// What each arm gains over another: paired cluster bootstrap and permutation test (Table 10).
    Gain {
        /// The other arm.
        baseline: String,
        /// Metrics; the main one if empty.
        #[serde(default)]
        metrics: Vec<String>,
    },
    /// Metrics over the arms' `x` (Figure 2).
    Sweep {
        /// Name of the horizontal axis.
        x: String,
        /// Metrics.
        metrics: Vec<String>,
    },
    /// The average rank of each arm over metrics (Avg.R).
    Ranks {
        /// Metrics.
        metrics: Vec<String>,
    },
    /// What each arm costs: items, calls, tokens, time (Tables 5 and 6).
    Cost,
    /// Whether the gain of an arm goes with how dense a conversation is (Tables 1, 4 and 9).
    Density {
        /// The arm.
        arm: String,
        /// The arm that it gains over.
        baseline: String,
        /// Metrics.
        metrics: Vec<String>,
    },
    /// A sheet of units for two people to judge (Table 11).
    Audit {
        /// Preset of the memory whose units are drawn.
        #[serde(default)]
        settings: toml::Table,
        /// Units drawn over all conversations.
        sample: usize,
    },
}

/// A row of the paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reported {
    /// Table or figure.
    pub table: String,
    /// What the row is.
    pub label: String,
    /// The data set that it is about; it is shown with no other.
    pub data_set: String,
    /// The metric that comes nearest.
    pub metric: String,
    /// Values by category as shown here, and `pooled` for the answerable questions; on the scale of the metric.
    pub values: BTreeMap<String, f64>,
}

/// An experiment that cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// There is none of this name, and no such file.
    #[error("`{name}` is neither an experiment nor a file; experiments are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// Names of the built-in ones.
        known: String,
    },
    /// The file cannot be read.
    #[error("experiment `{path}` cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The file is no experiment.
    #[error("experiment `{name}`: {message}")]
    Format {
        /// Its name.
        name: String,
        /// Where and what.
        message: String,
    },
    /// The experiment contradicts itself.
    #[error("experiment `{name}`: {message}")]
    Illegal {
        /// Its name.
        name: String,
        /// What is wrong.
        message: String,
    },
}

/// An experiment and its name.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedExperiment {
    /// Name of the file, without folder and `.toml`.
    pub name: String,
    /// The experiment.
    pub experiment: Experiment,
}

macro_rules! built_in {
    ($($name:literal),* $(,)?) => {
        /// Names and texts of the experiments that come with the program, in the order of the paper.
        pub const EXPERIMENTS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../experiments/", $name, ".toml")))),*];
    };
}

built_in!(
    "main",
    "retrieval",
    "ideas",
    "answer-tokens",
    "granularity",
    "windows",
    "k-sweep",
    "ablations",
    "density",
    "bootstrap",
    "audit",
);

impl NamedExperiment {
    /// Finds an experiment: a name of [`EXPERIMENTS`], or the path of a file.
    ///
    /// # Errors
    /// [`ExperimentError`] if there is none, or it cannot be used.
    pub fn find(name: &str) -> Result<Self, ExperimentError> {
        if let Some((name, text)) = EXPERIMENTS.iter().find(|(known, _)| *known == name) {
            return Self::parse(name, text);
        }
        let path = Path::new(name);
        if !path.is_file() {
            let known = EXPERIMENTS.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>();
            return Err(ExperimentError::Unknown { name: name.to_owned(), known: known.join(", ") });
        }
        let text = std::fs::read_to_string(path)
            .map_err(|source| ExperimentError::Read { path: path.to_owned(), source })?;
        let stem = path.file_stem().map_or_else(|| name.into(), |stem| stem.to_string_lossy());
        Self::parse(&stem, &text)
    }

    /// Reads an experiment.
    ///
    /// # Errors
    /// [`ExperimentError`] if it cannot be used.
    pub fn parse(name: &str, text: &str) -> Result<Self, ExperimentError> {
        let experiment: Experiment = toml::from_str(text).map_err(|error| ExperimentError::Format {
            name: name.to_owned(),
            message: error.to_string().trim_end().to_owned(),
        })?;
        let named = Self { name: name.to_owned(), experiment };
        named.check()?;
        Ok(named)
    }

    fn check(&self) -> Result<(), ExperimentError> {
        let illegal = |message: String| Err(ExperimentError::Illegal { name: self.name.clone(), message });
        let Experiment { arms, metrics, analyses, .. } = &self.experiment;
        if metrics.is_empty() {
            return illegal("it has no metrics: name at least one in `metrics`".to_owned());
        }
        let mut names = BTreeSet::new();
        for arm in arms {
            let legal = |c: char| c.is_ascii_alphanumeric() || ".-_+".contains(c);
            if arm.name.is_empty() || arm.name.starts_with('.') || !arm.name.chars().all(legal) {
                return illegal(format!(
                    "arm `{}`: a name consists of letters, digits, `.`, `_`, `-` and `+`, and is a file's name",
                    arm.name
                ));
            }
            if !names.insert(arm.name.as_str()) {
                return illegal(format!("two arms are called `{}`", arm.name));
            }
        }
        for analysis in analyses {
            for arm in analysis.arms() {
                if !names.contains(arm) {
                    return illegal(format!("an analysis names arm `{arm}`, which there is none of"));
                }
            }
            if let Some(metric) = analysis.metrics().iter().find(|m| !metrics.contains(m)) {
                return illegal(format!("an analysis needs metric `{metric}`, which is not in `metrics`"));
            }
            if matches!(analysis, Analysis::Sweep { .. }) && arms.iter().all(|arm| arm.x.is_none()) {
                return illegal("a sweep needs arms with an `x`".to_owned());
            }
        }
        Ok(())
    }
}

impl Experiment {
    /// The metric that arms are ordered and compared by.
    pub fn main_metric(&self) -> &str {
        &self.metrics[0]
    }
}

impl Experiment {
    /// Leaves out the analyses that need an arm which is not there any more.
    pub fn keep_analyses_of_arms(&mut self) {
        let arms: BTreeSet<&str> = self.arms.iter().map(|arm| arm.name.as_str()).collect();
        self.analyses.retain(|analysis| analysis.arms().iter().all(|arm| arms.contains(arm)));
    }
}

impl Analysis {
    fn arms(&self) -> Vec<&str> {
        match self {
            Self::Gain { baseline, .. } => vec![baseline],
            Self::Density { arm, baseline, .. } => vec![arm, baseline],
            Self::Sweep { .. } | Self::Ranks { .. } | Self::Cost | Self::Audit { .. } => Vec::new(),
        }
    }

    fn metrics(&self) -> &[String] {
        match self {
            Self::Gain { metrics, .. }
            | Self::Sweep { metrics, .. }
            | Self::Ranks { metrics }
            | Self::Density { metrics, .. } => metrics,
            Self::Cost | Self::Audit { .. } => &[],
        }
    }
}

fn yes() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(text: &str) -> String {
        NamedExperiment::parse("mine", text).unwrap_err().to_string()
    }

    #[test]
    fn built_in_experiments_can_be_read() {
        for (name, _) in EXPERIMENTS {
            let found = NamedExperiment::find(name).unwrap();
            assert!(!found.experiment.asks.is_empty(), "{name}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        let head = "title = \"T\"\nasks = \"?\"\nmetrics = [\"bleu1\"]\n";
        let arm = "[[arms]]\nname = \"a\"\nsystem = \"fta\"\n";
        assert!(wrong("title = 3").contains("experiment `mine`"));
        assert!(wrong(&format!("{head}metric = 1\n{arm}")).contains("unknown field `metric`"));
        assert!(wrong(&format!("{head}{arm}{arm}")).contains("two arms are called `a`"));
        assert!(wrong(&format!("{head}{}", arm.replace("\"a\"", "\"a/b\""))).contains("arm `a/b`"));
        assert!(wrong("title = \"T\"\nasks = \"?\"\nmetrics = []\narms = []").contains("no metrics"));
        let gain = "[[analyses]]\nkind = \"gain\"\nbaseline = \"b\"\n";
        assert!(wrong(&format!("{head}{arm}{gain}")).contains("names arm `b`"));
        let sweep = "[[analyses]]\nkind = \"sweep\"\nx = \"K\"\nmetrics = [\"bleu1\"]\n";
        assert!(wrong(&format!("{head}{arm}{sweep}")).contains("a sweep needs"));
        let ranks = "[[analyses]]\nkind = \"ranks\"\nmetrics = [\"rouge1\"]\n";
        assert!(wrong(&format!("{head}{arm}{ranks}")).contains("metric `rouge1`"));
        let unknown = NamedExperiment::find("no-such").unwrap_err().to_string();
        assert!(unknown.contains("`main`") && unknown.contains("neither"), "{unknown}");
    }
}
