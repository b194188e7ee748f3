//! The [`LanguageModel`] port and its wire-free types.

use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::ModelError;

/// Who a message is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Instructions.
    System,
    /// The one who asks.
    User,
    /// The model.
    Assistant,
}

/// One message of a chat.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Message {
    /// Who it is from.
    pub role: Role,
    /// Its text.
    pub content: String,
}

impl Message {
    /// Instructions for the model.
    pub fn system(content: impl Into<String>) -> Self {
        Self { role: Role::System, content: content.into() }
    }

    /// A message to the model.
    pub fn user(content: impl Into<String>) -> Self {
        Self { role: Role::User, content: content.into() }
    }

    /// A message of the model, such as a worked example's answer.
    pub fn assistant(content: impl Into<String>) -> Self {
        Self { role: Role::Assistant, content: content.into() }
    }
}

/// What is asked of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChatRequest {
    /// The messages, in order; the last is the one to reply to.
    pub messages: Vec<Message>,
    /// Sampling temperature, 0 (greedy) or more.
    pub temperature: f64,
    /// Seed of the sampling, for models that take one.
    pub seed: Option<u64>,
    /// Most tokens of the reply; `None` is the model's own limit.
    pub max_tokens: Option<u32>,
    /// JSON schema that the reply should follow, for models that can be held to one; the reply stays untrusted.
    pub schema: Option<Value>,
    /// Step of the pipeline that asks (`extract`, `rewrite`), for the accounts.
    pub step: String,
}

impl ChatRequest {
    /// A request of `step` at temperature 0, without seed, limit or schema.
    pub fn new(step: impl Into<String>, messages: Vec<Message>) -> Self {
        Self { messages, temperature: 0.0, seed: None, max_tokens: None, schema: None, step: step.into() }
    }
}

/// Why the model stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FinishReason {
    /// It was done.
    Stop,
    /// The limit of tokens was reached: the reply is cut off.
    Length,
    /// A filter held the reply back.
    ContentFilter,
    /// Something else, or not said.
    #[default]
    Other,
}

/// Tokens that a reply took, as the model counts them; 0 where it does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens of the request.
    pub prompt_tokens: u64,
    /// Tokens of the reply.
    pub completion_tokens: u64,
}

/// A model's reply: untrusted text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChatReply {
    /// What it says.
    pub text: String,
    /// Why it stopped.
    pub finish: FinishReason,
    /// What it took.
    pub usage: Usage,
}

impl From<&str> for ChatReply {
    /// A whole reply that took no tokens.
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), finish: FinishReason::Stop, usage: Usage::default() }
    }
}

/// A model that replies to a chat.
///
/// # Contract
/// - One request, one reply. The implementer does not retry: that is a decorator's work.
/// - A reply cut off by a limit is a reply with [`FinishReason::Length`], not an error.
/// - Requests are independent, and may be made at the same time. A future may be dropped at any point.
/// - No request, reply or key is written to a log.
///
/// A boxed future (by `async_trait`) keeps the port dyn-compatible: it is held as `Arc<dyn LanguageModel>`.
#[async_trait]
pub trait LanguageModel: Send + Sync {
    /// Name and revision of the model, kept as provenance.
    fn model_id(&self) -> &str;

    /// Replies to a chat.
    ///
    /// # Errors
    /// [`ModelError`], by remedy.
    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError>;

    /// Replies to a chat and hands the text on as it comes, in whole characters; the pieces together are the
    /// reply's text. A model that cannot do so hands it on in one piece.
    ///
    /// # Errors
    /// [`ModelError`], by remedy; text may have been handed on before.
    async fn complete_streaming(
        &self,
        request: ChatRequest,
        on_text: &mut (dyn for<'text> FnMut(&'text str) + Send),
    ) -> Result<ChatReply, ModelError> {
        let reply = self.complete(request).await?;
        on_text(&reply.text);
        Ok(reply)
    }
}

macro_rules! forward {
    ($($t:ty),*) => {$(
        #[async_trait]
        impl<M: LanguageModel + ?Sized> LanguageModel for $t {
            fn model_id(&self) -> &str {
                (**self).model_id()
            }
            async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
                (**self).complete(request).await
            }
            async fn complete_streaming(
                &self,
                request: ChatRequest,
                on_text: &mut (dyn for<'text> FnMut(&'text str) + Send),
            ) -> Result<ChatReply, ModelError> {
                (**self).complete_streaming(request, on_text).await
            }
        }
    )*};
}
forward!(&M, Box<M>, Arc<M>);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted::ScriptedModel;

    fn held<T: Send + Sync + ?Sized>(_: &T) {}

    #[tokio::test]
    async fn the_port_is_dyn_compatible_and_forwarded() {
        let model: Arc<dyn LanguageModel> =
            Arc::new(ScriptedModel::new("m").reply("s", "one").reply("s", "two"));
        held(&model);
        let boxed: Box<dyn LanguageModel> = Box::new(model.clone());
        let borrowed = &boxed;
        assert_eq!(LanguageModel::model_id(&borrowed), "m");
        let request = ChatRequest::new("s", vec![Message::user("q")]);
        assert_eq!(LanguageModel::complete(&borrowed, request.clone()).await.unwrap().text, "one");
        let task = tokio::spawn(async move { model.complete(request).await });
        assert_eq!(task.await.unwrap().unwrap().text, "two");
    }

    #[test]
    fn requests_survive_json() {
        let mut request = ChatRequest::new("s", vec![Message::system("a"), Message::assistant("b")]);
        request.schema = Some(serde_json::json!({"type": "object"}));
        request.seed = Some(7);
        let json = serde_json::to_string(&request).unwrap();
        assert!(json.contains(r#""role":"system""#));
        assert_eq!(serde_json::from_str::<ChatRequest>(&json).unwrap(), request);
    }
}
