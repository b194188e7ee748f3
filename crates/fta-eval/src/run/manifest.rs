//! What a run was made with.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Experiment, sha256};

/// Version of the files of a run.
pub const FORMAT: u32 = 1;

/// What a run was made with.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the files.
    pub format: u32,
    /// What decides what the records are; a run goes on only if it is the same.
    pub settings: RunSettings,
    /// The program.
    pub program: Program,
    /// The machine.
    pub machine: Machine,
    /// What was odd about the data, a line for each kind.
    pub odd: Vec<String>,
    /// When the run was begun, in UTC.
    pub begun_at: String,
}

/// What decides what the records of a run are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSettings {
    /// Name of the experiment.
    pub name: String,
    /// The experiment.
    pub experiment: Experiment,
    /// Name of the data set.
    pub data_set: String,
    /// Name of the data file.
    pub data_file: String,
    /// SHA-256 of the data file, in hexadecimal.
    pub data_sha256: String,
    /// Conversations by id; empty for all.
    pub conversations: Vec<String>,
    /// At most so many conversations.
    pub limit: Option<usize>,
    /// At most so many questions of each conversation.
    pub questions: Option<usize>,
    /// Seed of all draws.
    pub seed: u64,
    /// Draws of the bootstrap.
    pub rounds: u32,
    /// Id of the embedding model.
    pub embedder: String,
    /// Id of the language model, if there is one.
    pub model: Option<String>,
    /// The profile, if there is one; without keys.
    pub profile: Option<Value>,
    /// Id of the judge, if there is one.
    pub judge: Option<String>,
    /// Directory of the BERT or RoBERTa of BERTScore and its layer, if there is one.
    pub bert_score: Option<String>,
}

/// The program that made a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Its version.
    pub version: String,
    /// Revision of its sources, with `+` if they were changed since; empty where it is not known.
    pub revision: String,
    /// SHA-256 of the executable.
    pub sha256: String,
}

/// The machine that made a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Operating system and architecture.
    pub system: String,
    /// Name of the processor; empty where it is not known.
    pub processor: String,
    /// Threads that run at the same time.
    pub threads: usize,
}

impl RunSettings {
    /// Eight hexadecimal digits that differ where settings do.
    ///
    /// # Panics
    /// Never: settings are JSON.
    pub fn digest(&self) -> String {
        let text = serde_json::to_vec(self).expect("settings are JSON");
        sha256(&text)[..8].to_owned()
    }

    /// What differs from `other`: `seed: 1 there, 2 here`, at most five places.
    pub(super) fn differences(&self, other: &Self) -> String {
        let here = serde_json::to_value(self).expect("settings are JSON");
        let there = serde_json::to_value(other).expect("settings are JSON");
        let mut found = Vec::new();
        differences("", &there, &here, &mut found);
        let more = found.len().saturating_sub(5);
        found.truncate(5);
        if more > 0 {
            found.push(format!("and {more} more"));
        }
        found.join("; ")
    }
}

fn differences(place: &str, there: &Value, here: &Value, found: &mut Vec<String>) {
    let inner = |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    match (there, here) {
        (Value::Object(a), Value::Object(b)) => {
            let mut keys: Vec<&String> = a.keys().chain(b.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let null = &Value::Null;
                differences(&inner(key), a.get(key).unwrap_or(null), b.get(key).unwrap_or(null), found);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (i, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&inner(&i.to_string()), a, b, found);
            }
        }
        _ if there != here => {
            let show = |value: &Value| match value {
                Value::Array(items) => format!("{} items", items.len()),
                Value::Null => "none".to_owned(),
                value => value.to_string(),
            };
            found.push(format!("`{place}`: {} there, {} here", show(there), show(here)));
        }
        _ => {}
    }
}
