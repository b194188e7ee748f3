//! [`RemoteEmbedder`]: embedding by a server with the interface of OpenAI (`POST …/embeddings`).
//!
//! Texts leave this machine. The key is sent in the header `authorization` and appears nowhere else: not in errors, not in
//! events, not in what `Debug` shows.

mod reply;

use std::time::Duration;

use serde::Serialize;

use crate::embed::{Embedder, Embeddings};
use crate::error::EmbedError;

/// A key that does not show itself.
#[derive(Clone)]
pub struct ApiKey(String);

impl ApiKey {
    /// Wraps a key; white space around it is taken off.
    pub fn new(key: impl AsRef<str>) -> Self {
        Self(key.as_ref().trim().to_owned())
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Which server, which model, and how patient to be.
#[derive(Debug, Clone)]
pub struct RemoteConfig {
    /// Address up to and without `/embeddings`, such as `http://localhost:8080/v1`.
    pub base_url: String,
    /// Name of the model, as the server knows it.
    pub model: String,
    /// Sent as a bearer token, if there is one.
    pub key: Option<ApiKey>,
    /// Values per vector to ask for; without, the server's own, which is asked for when connecting.
    pub dimensions: Option<usize>,
    /// Texts per request.
    pub batch: usize,
    /// Texts are cut at this many bytes, since servers refuse what is beyond their window.
    pub max_text_bytes: usize,
    /// How long one request may take.
    pub timeout: Duration,
    /// How often a request is sent again after a failure that may pass.
    pub retries: u32,
    /// Wait before the first retry; it doubles each time. A longer wait that the server asks for is kept, up to
    /// [`RemoteConfig::timeout`].
    pub backoff: Duration,
}

impl RemoteConfig {
    /// A server and a model, no key, 64 texts per request, 60 seconds, three retries from half a second on.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            dimensions: None,
            batch: 64,
            max_text_bytes: 16_000,
            timeout: Duration::from_mins(1),
            retries: 3,
            backoff: Duration::from_millis(500),
        }
    }
}

/// Embeds texts by a server; blocks while it waits, so async code runs it on a blocking thread.
///
/// Vectors are checked (as many as texts, each in its place, finite, of one dimension) and scaled to norm 1. The empty
/// text, which servers refuse, is sent as a space.
#[derive(Debug)]
pub struct RemoteEmbedder {
    config: RemoteConfig,
    agent: ureq::Agent,
    model_id: String,
    dim: usize,
}

#[derive(Serialize)]
struct Request<'a> {
    model: &'a str,
    input: &'a [&'a str],
    encoding_format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

impl RemoteEmbedder {
    /// Sets the embedder up; without [`RemoteConfig::dimensions`], one word is embedded to learn the dimension.
    ///
    /// # Errors
    /// [`EmbedError::Refused`] if `batch` or `dimensions` is 0; else as [`Embedder::embed`].
    pub fn connect(config: RemoteConfig) -> Result<Self, EmbedError> {
        let agent = ureq::Agent::config_builder()
            .timeout_global(Some(config.timeout))
            .http_status_as_error(false)
            .max_redirects(0)
            .build()
            .into();
        let mut embedder = Self { config, agent, model_id: String::new(), dim: 0 };
        if embedder.config.batch == 0 || embedder.config.dimensions == Some(0) {
            return Err(embedder.refused("a batch and a vector must have at least one member"));
        }
        embedder.dim = match embedder.config.dimensions {
            Some(dim) => dim,
            None => embedder.request(&["dimension"])?.first().map_or(0, Vec::len),
        };
        embedder.model_id = Self::id_of(&embedder.config.model, embedder.dim);
        Ok(embedder)
    }

    /// The id of a server's model, which is known before it is connected to if the dimension is.
    pub fn id_of(model: &str, dim: usize) -> String {
        format!("remote/{model}/{dim}")
    }

    /// Sends a batch, again and again if need be.
    fn request(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut wait = self.config.backoff;
        for attempt in 0.. {
            let error = match self.attempt(texts) {
                Ok(rows) => return Ok(rows),
                Err(error) => error,
            };
            let pause = match &error {
                EmbedError::Unavailable { .. } => wait,
                EmbedError::RateLimited { retry_after, .. } => {
                    retry_after.unwrap_or_default().clamp(wait, self.config.timeout.max(wait))
                }
                _ => return Err(error),
            };
            if attempt >= self.config.retries {
                return Err(error);
            }
            tracing::debug!(%error, attempt, ?pause, "embedding is tried again");
            std::thread::sleep(pause);
            wait = wait.saturating_mul(2);
        }
        unreachable!("the loop ends by returning")
    }

    fn attempt(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let body = Request {
            model: &self.config.model,
            input: texts,
            encoding_format: "float",
            dimensions: self.config.dimensions,
        };
        let body = serde_json::to_string(&body).expect("texts and numbers are JSON");
        let url = format!("{}/embeddings", self.config.base_url.trim_end_matches('/'));
        let mut request = self.agent.post(&url).header("content-type", "application/json");
        if let Some(ApiKey(key)) = &self.config.key {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let response = request.send(body).map_err(|error| self.transport(&error))?;
        let status = response.status().as_u16();
        let retry_after = response
            .headers()
            .get("retry-after")
            .and_then(|value| value.to_str().ok()?.trim().parse().ok())
            .map(Duration::from_secs);
        let limit = reply::limit(texts.len());
        let body = response.into_body().into_with_config().limit(limit).read_to_vec();
        let body = body.map_err(|error| self.transport(&error))?;
        match status {
            200..300 => {
                let expected = (self.dim > 0).then_some(self.dim).or(self.config.dimensions);
                reply::read(&body, texts.len(), expected)
                    .map_err(|reason| EmbedError::Reply { model: self.config.model.clone(), reason })
            }
            429 => Err(EmbedError::RateLimited {
                model: self.config.model.clone(),
                message: self.message(status, &body),
                retry_after,
            }),
            408 | 409 | 425 | 500.. => Err(EmbedError::Unavailable {
                model: self.config.model.clone(),
                message: self.message(status, &body),
            }),
            _ => Err(self.refused(&self.message(status, &body))),
        }
    }

    /// Whether a failure below HTTP may pass.
    fn transport(&self, error: &ureq::Error) -> EmbedError {
        let model = self.config.model.clone();
        let message = self.without_key(&error.to_string());
        match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) | ureq::Error::InvalidProxyUrl => {
                EmbedError::Refused { model, message }
            }
            ureq::Error::BodyExceedsLimit(_) => {
                EmbedError::Reply { model, reason: "it is far too long".to_owned() }
            }
            _ => EmbedError::Unavailable { model, message },
        }
    }

    fn refused(&self, message: &str) -> EmbedError {
        EmbedError::Refused { model: self.config.model.clone(), message: message.to_owned() }
    }

    fn message(&self, status: u16, body: &[u8]) -> String {
        format!("status {status}: {}", self.without_key(&reply::error_message(body)))
    }

    /// Servers that refuse a key may repeat it.
    fn without_key(&self, message: &str) -> String {
        match &self.config.key {
            Some(ApiKey(key)) if !key.is_empty() => message.replace(key, "…"),
            _ => message.to_owned(),
        }
    }
}

impl Embedder for RemoteEmbedder {
    fn model_id(&self) -> &str {
        &self.model_id
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let mut data = Vec::with_capacity(texts.len() * self.dim);
        for batch in texts.chunks(self.config.batch) {
            let cut = batch.iter().map(|text| match *text {
                "" => " ",
                text => &text[..text.floor_char_boundary(self.config.max_text_bytes)],
            });
            let cut: Vec<&str> = cut.collect();
            data.extend(self.request(&cut)?.into_iter().flatten());
        }
        Embeddings::new(self.dim, data)
    }
}
