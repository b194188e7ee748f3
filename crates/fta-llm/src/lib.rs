//! Port to language models: messages in, a reply out, errors sorted by what to do about them.
//!
//! This crate knows nothing of dialogues, units or embeddings. [`UsageMeter`] counts what a pipeline asks for;
//! [`ScriptedModel`] stands in for a model in tests; [`prompt`] loads and renders prompts, and [`structured`] turns replies
//! into values. None of these reads a clock or the network.

pub mod call;
pub mod error;
pub mod meter;
pub mod model;
pub mod prompt;
pub mod scripted;
pub mod structured;

pub use call::CallConfig;
pub use error::ModelError;
pub use meter::{StepUsage, UsageMeter};
pub use model::{ChatReply, ChatRequest, FinishReason, LanguageModel, Message, Role, Usage};
pub use prompt::{Prompt, PromptError, PromptSource};
pub use scripted::ScriptedModel;
pub use structured::{Items, Structured, ask};

pub use schemars;
