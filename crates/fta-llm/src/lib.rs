//! Port to language models: messages in, a reply out, errors sorted by what to do about them.
//!
//! This crate knows nothing of dialogues, units or embeddings. [`UsageMeter`] counts what a pipeline asks for;
//! [`ScriptedModel`] stands in for a model in tests. Neither reads a clock or the network.

#[cfg(feature = "candle")]
pub mod candle;
pub mod error;
pub mod meter;
pub mod model;
pub mod scripted;
#[cfg(feature = "weights")]
pub mod weights;

pub use error::ModelError;
pub use meter::{StepUsage, UsageMeter};
pub use model::{ChatReply, ChatRequest, FinishReason, LanguageModel, Message, Role, Usage};
pub use scripted::ScriptedModel;
