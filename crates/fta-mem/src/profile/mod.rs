//! Which step is done offline and which by a model, and which model: what `fta.toml` says, for every program alike.
//!
//! [`Profile`] holds settings only; [`Profile::open_model`] makes the model of them, and
//! [`MemoryBuilder::profile`](crate::MemoryBuilder::profile) the steps.

mod model;
mod steps;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use model::{OpenModel, ProfileError};

/// Where replies come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelKind {
    /// From rules: no model at all.
    #[default]
    Offline,
    /// From a server that speaks the OpenAI protocol.
    Llm,
    /// From a GGUF file, in this process.
    Local,
}

/// Who does a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepBy {
    /// The offline implementation.
    Offline,
    /// The model of the profile.
    Model,
}

/// The steps, each of which can be done offline or by the model. `None`: by the model if there is one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StepsConfig {
    /// Boundary detection (Eq. 2).
    pub boundaries: Option<StepBy>,
    /// Unit extraction (Eq. 3-5).
    pub units: Option<StepBy>,
    /// Relation classification (Eq. 6).
    pub relations: Option<StepBy>,
    /// Longitudinal memory (Eq. 7).
    pub longitudinal: Option<StepBy>,
    /// Query rewriting (section 6 of the method).
    pub rewrite: Option<StepBy>,
    /// Answering (Eq. 12).
    pub answer: Option<StepBy>,
}

/// How a memory is built with a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Construction {
    /// Few calls: windows of 40 turns, one extraction for neighbouring fragments of up to 40 turns, relations of 24 units
    /// at a time, `U` and `H` in one call, temperature 0. What the model leaves out of the dialogue is added by the rules.
    #[default]
    Lean,
    /// As in the paper: windows of 20 turns with a minimum step of 1, one extraction for each fragment, relations of one
    /// unit at a time, `U` and `H` apart, temperature 0.7.
    Paper,
}

/// A server that speaks the OpenAI protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// Address up to and without `/chat/completions`.
    pub base_url: String,
    /// Name of the model on the server.
    pub model: String,
    /// Environment variable that holds the key.
    pub key_env: Option<String>,
    /// File that holds the key.
    pub key_file: Option<PathBuf>,
    /// What of JSON schemas the server understands.
    pub schema: SchemaMode,
    /// Calls at the same time, 1 or more.
    pub concurrency: usize,
    /// Longest time to connect, in seconds.
    pub connect_timeout: f64,
    /// Longest time without a byte from the server, in seconds.
    pub read_timeout: f64,
    /// How often a request is made in all when the server is down or busy, 1 or more.
    pub attempts: u32,
    /// More fields of each request's body, such as `top_p`.
    pub extra: serde_json::Map<String, serde_json::Value>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            model: String::new(),
            key_env: None,
            key_file: None,
            schema: SchemaMode::Auto,
            concurrency: 4,
            connect_timeout: 10.0,
            read_timeout: 300.0,
            attempts: 5,
            extra: serde_json::Map::new(),
        }
    }
}

/// What of JSON schemas a server understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaMode {
    /// Find out.
    #[default]
    Auto,
    /// `response_format` of type `json_schema`.
    JsonSchema,
    /// `response_format` of type `json_object`.
    JsonObject,
    /// Nothing: the schema is part of the prompt.
    None,
}

/// A model in a GGUF file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LocalConfig {
    /// Path of a file, or the name of a small model that `fta setup --model` knows.
    pub model: String,
    /// Threads of a product, 1 or more.
    pub threads: usize,
    /// Most tokens of prompt and reply together; `None` for what the model was made for.
    pub context: Option<usize>,
}

impl Default for LocalConfig {
    fn default() -> Self {
        Self { model: String::new(), threads: 1, context: None }
    }
}

/// How answers of a model are phrased.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerForm {
    /// A few words.
    Short,
    /// One or two warm sentences, as a supporter says them.
    Supportive,
    /// As in a conversation.
    #[default]
    Chat,
}

/// Everything about models: the contents of `fta.toml` beside retrieval and linking.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Profile {
    /// Where replies come from.
    pub profile: ModelKind,
    /// How a memory is built.
    pub construction: Construction,
    /// The server, for [`ModelKind::Llm`].
    pub llm: ServerConfig,
    /// The file, for [`ModelKind::Local`].
    pub local: LocalConfig,
    /// Who does each step.
    pub steps: StepsConfig,
    /// Directory with prompts that go before the built-in ones of the same name.
    pub prompts: Option<PathBuf>,
    /// How answers are phrased.
    pub answers: AnswerForm,
}
