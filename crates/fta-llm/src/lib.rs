//! Port to language models: messages in, a reply out, errors sorted by what to do about them.
//!
//! This crate knows nothing of dialogues, units or embeddings. [`UsageMeter`] counts what a pipeline asks for;
//! [`ScriptedModel`] stands in for a model in tests; [`prompt`] loads and renders prompts, and [`structured`] turns replies
//! into values. None of these reads a clock or the network.
//!
//! Models: module `http` (feature of that name) for servers, `candle` for GGUF files, which `weights` fetches. Decorators, each a model around another: [`Retry`],
//! [`Limit`], [`DiskCache`], [`UsageMeter`], [`Recorder`] with its [`Replay`]; [`cache`] says in which order they stack.

pub mod cache;
pub mod call;
#[cfg(feature = "candle")]
pub mod candle;
mod canonical;
pub mod error;
#[cfg(feature = "http")]
pub mod http;
pub mod limit;
pub mod meter;
pub mod model;
pub mod prompt;
pub mod replay;
pub mod retry;
pub mod scripted;
pub mod structured;
#[cfg(feature = "testing")]
pub mod testing;
pub mod timer;
#[cfg(feature = "weights")]
pub mod weights;

pub use cache::{CacheStats, DiskCache};
pub use call::CallConfig;
pub use error::ModelError;
pub use limit::Limit;
pub use meter::{StepUsage, UsageMeter};
pub use model::{ChatReply, ChatRequest, FinishReason, LanguageModel, Message, Role, Usage};
pub use prompt::{Prompt, PromptError, PromptSource};
pub use replay::{Recorder, Replay, ReplayError};
pub use retry::{Retry, RetryPolicy, RetryPolicyError};
pub use scripted::ScriptedModel;
pub use structured::{Items, Structured, ask};
pub use timer::{Clock, Sleep};
#[cfg(feature = "tokio")]
pub use timer::{tokio_clock, tokio_sleep};

pub use schemars;
