//! Back end for servers with OpenAI's chat completions over HTTP: OpenAI, vLLM, Ollama, llama.cpp, LM Studio.
//!
//! [`OpenAiModel`] asks `POST {base_url}/chat/completions` once per call and does no more: retries, limits and caches
//! are decorators ([`Retry`](crate::Retry), [`Limit`](crate::Limit), [`DiskCache`](crate::DiskCache)).
//! It needs a tokio runtime with timers and input/output at work.
//!
//! # Structured replies
//! A schema goes out as `response_format`, held to strictly where its form allows. A server that refuses it is asked
//! again without, at once, in a form it understands ([`SchemaSupport`]); this is learnt once for the life of the model
//! and costs no error. A server may ignore the schema, so the reply stays untrusted text. The same way the model learns
//! that a server wants `max_completion_tokens` or no `stream_options`.
//!
//! # What becomes of answers
//!
//! | the server | the caller gets |
//! |---|---|
//! | replies | the reply; `length` is [`FinishReason::Length`], tokens it does not count are 0 |
//! | replies with a `refusal`, or stops for `content_filter` | the text, with [`FinishReason::ContentFilter`] |
//! | cannot be reached, is too slow, breaks off, answers 408, 409, 425 or 5xx | [`ModelError::Transient`] |
//! | answers 429, or 503 or 529 with a time to wait | [`ModelError::RateLimited`] |
//! | answers that the prompt is too long | [`ModelError::ContextTooLong`], with numbers if it gives any |
//! | answers 200 with something else than a reply | [`ModelError::InvalidOutput`] |
//! | answers 429 for want of money, any other 3xx or 4xx, 501, 505 | [`ModelError::Permanent`] |
//!
//! No error quotes the key or the request: of a server's message only its words are passed on, and those not if they
//! repeat the request.
//!
//! [`FinishReason::Length`]: crate::FinishReason::Length
//! [`FinishReason::ContentFilter`]: crate::FinishReason::ContentFilter

mod config;
mod dialect;
mod failure;
mod key;
mod pause;
mod sse;
mod tls;
mod wire;

use std::{error::Error, fmt};

use async_trait::async_trait;
use reqwest::{Client, Response, StatusCode, Url, header};
use serde_json::Value;

pub use self::{
    config::{ConfigError, HttpConfig, SchemaSupport},
    key::ApiKey,
};
use self::{
    dialect::Dialect,
    failure::Failure,
    sse::Events,
    wire::{Assembly, Completion},
};
use crate::{
    error::ModelError,
    model::{ChatReply, ChatRequest, LanguageModel},
};

/// Longest body that is read, in bytes: a reply is far shorter.
const N_BODY_BYTES: usize = 16 << 20;

/// Takes new text as it comes.
type OnText<'a> = &'a mut (dyn for<'t> FnMut(&'t str) + Send);

/// A model on a server that speaks OpenAI's chat completions.
pub struct OpenAiModel {
    config: HttpConfig,
    client: Client,
    completions: Url,
    list: Url,
    dialect: Dialect,
}

/// Why a call gave no reply.
enum Trouble {
    /// The server said so, and may answer if it is asked differently.
    Refused(Failure),
    /// Anything else.
    Failed(ModelError),
}

impl From<ModelError> for Trouble {
    fn from(error: ModelError) -> Self {
        Self::Failed(error)
    }
}

impl OpenAiModel {
    /// Checks the settings and makes ready; the server is not asked yet.
    ///
    /// # Errors
    /// [`ConfigError`] if a setting cannot be used.
    pub fn new(config: HttpConfig) -> Result<Self, ConfigError> {
        config.validate()?;
        let completions = config.endpoint(&["chat", "completions"])?;
        let list = config.endpoint(&["models"])?;
        let client = tls::client(&config, completions.scheme() == "https")?;
        let dialect = Dialect::new(config.schema);
        Ok(Self { config, client, completions, list, dialect })
    }

    /// What is known of the server's schemas; [`SchemaSupport::Auto`] while it is not.
    pub fn schema_support(&self) -> SchemaSupport {
        self.dialect.schema()
    }

    /// Names of the models on the server, in its order (`GET {base_url}/models`).
    ///
    /// # Errors
    /// As for a call; [`ModelError::InvalidOutput`] if the answer is no list.
    pub async fn models(&self) -> Result<Vec<String>, ModelError> {
        let listed = async {
            let response = self.send(self.client.get(self.list.clone())).await?;
            let body = self.body(response).await?;
            let list = serde_json::from_slice(&body).ok();
            let names = list.as_ref().and_then(wire::model_names);
            names.ok_or_else(|| Trouble::Failed(self.unusable("server's answer is no list of models", &body)))
        };
        listed.await.map_err(|trouble| self.error(trouble, None))
    }

    /// Asks, and asks again in another manner as long as the server refuses the manner.
    async fn ask(
        &self,
        request: &ChatRequest,
        is_streamed: bool,
        on_text: OnText<'_>,
    ) -> Result<ChatReply, ModelError> {
        let mut manner = self.dialect.manner();
        loop {
            let body = wire::body(&self.config, request, manner, is_streamed);
            match self.ask_once(&body, on_text).await {
                Ok(reply) => {
                    self.dialect.remember(manner, request);
                    return Ok(reply);
                }
                Err(Trouble::Refused(failure)) => match manner.concede(&failure, request) {
                    Some(other) => manner = other,
                    None => return Err(self.error(Trouble::Refused(failure), Some(request))),
                },
                Err(trouble) => return Err(self.error(trouble, Some(request))),
            }
        }
    }

    async fn ask_once(&self, body: &Value, on_text: OnText<'_>) -> Result<ChatReply, Trouble> {
        let post = self
            .client
            .post(self.completions.clone())
            .header(header::CONTENT_TYPE, "application/json")
            .body(body.to_string());
        let response = self.send(post).await?;
        let kind = response.headers().get(header::CONTENT_TYPE);
        let is_stream = kind.is_some_and(|kind| kind.as_bytes().starts_with(b"text/event-stream"));
        if is_stream {
            return self.read_stream(response, on_text).await;
        }
        let reply = self.read_whole(response).await?;
        on_text(&reply.text);
        Ok(reply)
    }

    /// Sends a request; an answer other than success is read as a failure.
    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response, Trouble> {
        let response = request.send().await.map_err(|error| self.broken(&error))?;
        let status = response.status();
        if status == StatusCode::OK {
            return Ok(response);
        }
        if status.is_redirection() || status.is_success() {
            let message =
                format!("server answered `{}` where a reply belongs; is the address right?", status.as_u16());
            return Err(Trouble::Failed(ModelError::Permanent { message }));
        }
        let headers = response.headers().clone();
        // The status says enough if the body cannot be read.
        let body = self.body(response).await.unwrap_or_default();
        Err(Trouble::Refused(Failure::read(status.as_u16(), &headers, &body)))
    }

    async fn read_whole(&self, response: Response) -> Result<ChatReply, Trouble> {
        let body = self.body(response).await?;
        let whole: Completion = serde_json::from_slice(&body).map_err(|error| {
            self.unusable(&format!("server's answer is not a reply: {}", place(&error)), &body)
        })?;
        let mut assembly = Assembly::default();
        assembly.push(whole).map_err(Trouble::Refused)?;
        Ok(assembly.into_reply(|| self.quoted(&body))?)
    }

    async fn read_stream(&self, mut response: Response, on_text: OnText<'_>) -> Result<ChatReply, Trouble> {
        let mut events = Events::default();
        let mut assembly = Assembly::default();
        let mut n_bytes = 0;
        let mut is_done = false;
        while !is_done {
            let piece = match response.chunk().await {
                Ok(piece) => piece,
                // All that is missing is the end mark and the count of tokens.
                Err(_) if assembly.is_finished() => break,
                Err(error) => return Err(self.broken(&error).into()),
            };
            let data = match &piece {
                Some(piece) => events.push(piece),
                None => std::mem::take(&mut events).finish().into_iter().collect(),
            };
            n_bytes += piece.as_deref().map_or(0, <[u8]>::len);
            if n_bytes > N_BODY_BYTES {
                return Err(self.unusable("server's answer is too long", &[]).into());
            }
            for data in data {
                is_done |= data == "[DONE]";
                if is_done {
                    break;
                }
                let text = self.read_event(&data, &mut assembly)?;
                if !text.is_empty() {
                    on_text(&text);
                }
            }
            if piece.is_none() {
                break;
            }
        }
        if !is_done && !assembly.is_finished() {
            return Err(ModelError::Transient { message: "server broke off its reply".to_owned() }.into());
        }
        Ok(assembly.into_reply(String::new)?)
    }

    fn read_event(&self, data: &str, assembly: &mut Assembly) -> Result<String, Trouble> {
        if data.trim().is_empty() {
            return Ok(String::new());
        }
        let chunk: Completion = serde_json::from_str(data).map_err(|error| {
            self.unusable(&format!("part of the server's reply is none: {}", place(&error)), data.as_bytes())
        })?;
        assembly.push(chunk).map_err(Trouble::Refused)
    }

    /// Reads a body to its end.
    async fn body(&self, mut response: Response) -> Result<Vec<u8>, ModelError> {
        let mut body = Vec::new();
        while let Some(piece) = response.chunk().await.map_err(|error| self.broken(&error))? {
            body.extend_from_slice(&piece);
            if body.len() > N_BODY_BYTES {
                return Err(self.unusable("server's answer is too long", &[]));
            }
        }
        Ok(body)
    }

    /// The error of a connection that did not work.
    fn broken(&self, error: &reqwest::Error) -> ModelError {
        let server = config::shown(&self.completions);
        let message = if error.is_connect() && !error.is_timeout() {
            format!("cannot connect to `{server}`: {}", root(error))
        } else if error.is_timeout() {
            format!("`{server}` did not answer in time")
        } else {
            format!("connection to `{server}` broke: {}", root(error))
        };
        // A certificate does not become good by waiting.
        if error.is_builder() || message.contains("certificate") {
            ModelError::Permanent { message }
        } else {
            ModelError::Transient { message }
        }
    }

    fn unusable(&self, message: &str, body: &[u8]) -> ModelError {
        ModelError::InvalidOutput { message: message.to_owned(), reply: self.quoted(body) }
    }

    /// A body for an error's value. A server that repeats the headers it got would repeat the key.
    fn quoted(&self, body: &[u8]) -> String {
        let text = String::from_utf8_lossy(body);
        self.config.key.as_ref().map_or_else(|| text.to_string(), |key| text.replace(key.expose(), "***"))
    }

    fn error(&self, trouble: Trouble, request: Option<&ChatRequest>) -> ModelError {
        match trouble {
            Trouble::Refused(failure) => failure.into_error(request, self.config.key.as_ref()),
            Trouble::Failed(error) => error,
        }
    }
}

/// The innermost cause, which says what happened; outer ones say that something did.
fn root(error: &reqwest::Error) -> String {
    let mut cause: &dyn Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Where JSON is broken, without a word of it.
fn place(error: &serde_json::Error) -> String {
    let what = if error.is_data() { "it has another form" } else { "it is not JSON" };
    format!("{what} (line {}, column {})", error.line(), error.column())
}

#[async_trait]
impl LanguageModel for OpenAiModel {
    fn model_id(&self) -> &str {
        &self.config.model
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        self.ask(&request, self.config.stream, &mut |_: &str| {}).await
    }

    async fn complete_streaming(
        &self,
        request: ChatRequest,
        on_text: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatReply, ModelError> {
        self.ask(&request, true, on_text).await
    }
}

impl fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel")
            .field("config", &self.config)
            .field("schema_support", &self.schema_support())
            .finish_non_exhaustive()
    }
}
