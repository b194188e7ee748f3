//! Settings of the HTTP back end.

use std::{fmt, io, path::PathBuf, time::Duration};

use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::key::ApiKey;

/// What of JSON schemas the server understands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SchemaSupport {
    /// Find out: begin with [`JsonSchema`](Self::JsonSchema) and step down when the server refuses it.
    #[default]
    Auto,
    /// `response_format` of type `json_schema`: the reply is held to the schema.
    JsonSchema,
    /// `response_format` of type `json_object`: the reply is JSON, the schema is part of the prompt.
    JsonObject,
    /// Nothing: the schema is part of the prompt.
    None,
}

/// Settings of [`OpenAiModel`](super::OpenAiModel); plain values, checked when the model is made.
#[derive(Clone, PartialEq)]
pub struct HttpConfig {
    /// Address up to and without `/chat/completions`, such as `http://localhost:11434/v1`.
    pub base_url: String,
    /// Name of the model on the server, kept as provenance.
    pub model: String,
    /// Key, sent as `Authorization: Bearer …`.
    pub key: Option<ApiKey>,
    /// Longest time to connect; default 10 s.
    pub connect_timeout: Duration,
    /// Longest time without a byte from the server; default 5 min. Without streaming nothing comes before the whole
    /// reply is written, so a slow model needs long.
    pub read_timeout: Duration,
    /// Longest time of a whole call; default 15 min.
    pub total_timeout: Duration,
    /// What of JSON schemas the server understands; default [`SchemaSupport::Auto`].
    pub schema: SchemaSupport,
    /// Whether [`complete`](crate::LanguageModel::complete) streams too, so that a stalled server is noticed
    /// sooner; default off. [`complete_streaming`](crate::LanguageModel::complete_streaming) always does.
    pub stream: bool,
    /// More fields of the request's body, such as `top_p`; they replace ours, and `null` leaves a field out. Default none.
    pub extra: Map<String, Value>,
    /// Address of an HTTP proxy; default none. This crate does not look into the environment for one.
    pub proxy: Option<String>,
}

impl HttpConfig {
    /// Settings for a model on a server, the rest at its default.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            key: None,
            connect_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_mins(5),
            total_timeout: Duration::from_mins(15),
            schema: SchemaSupport::Auto,
            stream: false,
            extra: Map::new(),
            proxy: None,
        }
    }

    /// Checks the settings and gives the address of `path` (such as `["chat", "completions"]`) on the server.
    pub(super) fn endpoint(&self, path: &[&str]) -> Result<Url, ConfigError> {
        let problem = |problem| ConfigError::BaseUrl { problem };
        let mut url = Url::parse(self.base_url.trim())
            .map_err(|_| problem("it is not an address like `https://host/v1`"))?;
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(problem("it begins neither with `http://` nor with `https://`"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(problem("it has a user or password in it; use a key"));
        }
        url.set_fragment(None);
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        Ok(url)
    }

    /// Checks all that is not an address.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.model.trim().is_empty() {
            return Err(ConfigError::Model);
        }
        let timeouts = [
            ("connect_timeout", self.connect_timeout),
            ("read_timeout", self.read_timeout),
            ("total_timeout", self.total_timeout),
        ];
        if let Some((name, _)) = timeouts.iter().find(|(_, timeout)| timeout.is_zero()) {
            return Err(ConfigError::Timeout { name });
        }
        let taken = ["messages", "model", "response_format", "stream", "stream_options"];
        match taken.iter().find(|field| self.extra.contains_key(**field)) {
            Some(field) => Err(ConfigError::Extra { field }),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for HttpConfig {
    /// Leaves out what may hold a secret: the key, values of further fields, the proxy's and any address's parameters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConfig")
            .field("base_url", &self.endpoint(&[]).ok().as_ref().map(shown))
            .field("model", &self.model)
            .field("key", &self.key)
            .field("connect_timeout", &self.connect_timeout)
            .field("read_timeout", &self.read_timeout)
            .field("total_timeout", &self.total_timeout)
            .field("schema", &self.schema)
            .field("stream", &self.stream)
            .field("extra", &self.extra.keys().collect::<Vec<_>>())
            .field("proxy", &self.proxy.as_ref().map(|_| "***"))
            .finish()
    }
}

/// An address for messages: without user, password and parameters.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    // Both fail only for addresses without a host, which have neither.
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.to_string()
}

/// Why settings cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The address is none.
    #[error("base address of the model server cannot be used: {problem}")]
    BaseUrl {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No model is named.
    #[error("name of the model is empty")]
    Model,
    /// A time limit is zero.
    #[error("time limit `{name}` is zero")]
    Timeout {
        /// The setting.
        name: &'static str,
    },
    /// A field of the request's body that is not the caller's to set.
    #[error("field `{field}` of the request cannot be set")]
    Extra {
        /// The field.
        field: &'static str,
    },
    /// The key cannot be used.
    #[error("key to the model server cannot be used: {problem}")]
    Key {
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The file of the key cannot be read.
    #[error("key file `{}` cannot be read: {kind}", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        kind: io::ErrorKind,
    },
    /// The proxy's address is none.
    #[error("address of the proxy cannot be used")]
    Proxy,
    /// The connection cannot be set up at all.
    #[error("http client cannot be set up: {message}")]
    Client {
        /// What is wrong.
        message: String,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(base_url: &str) -> Result<String, ConfigError> {
        HttpConfig::new(base_url, "m").endpoint(&["chat", "completions"]).map(String::from)
    }

    #[test]
    fn addresses_are_joined_and_checked() {
        assert_eq!(address("http://localhost:1/v1").unwrap(), "http://localhost:1/v1/chat/completions");
        assert_eq!(address(" http://localhost:1/v1/ ").unwrap(), "http://localhost:1/v1/chat/completions");
        assert_eq!(address("https://host").unwrap(), "https://host/chat/completions");
        assert_eq!(address("https://host/a?version=2").unwrap(), "https://host/a/chat/completions?version=2");
        for bad in ["", "localhost:8000", "ftp://host/v1", "http://user:pass@host/v1", "http://", "/v1"] {
            assert!(matches!(address(bad), Err(ConfigError::BaseUrl { .. })), "{bad}");
        }
    }

    #[test]
    fn settings_are_checked() {
        let good = HttpConfig::new("http://localhost", "m");
        assert_eq!(good.validate(), Ok(()));
        assert_eq!(HttpConfig::new("http://localhost", " ").validate(), Err(ConfigError::Model));
        let without_time = HttpConfig { read_timeout: Duration::ZERO, ..good.clone() };
        assert_eq!(without_time.validate(), Err(ConfigError::Timeout { name: "read_timeout" }));
        let mut overriding = good.clone();
        overriding.extra.insert("messages".to_owned(), Value::Null);
        assert_eq!(overriding.validate(), Err(ConfigError::Extra { field: "messages" }));
        overriding.extra = Map::from_iter([("top_p".to_owned(), Value::from(0.5))]);
        assert_eq!(overriding.validate(), Ok(()));
    }

    #[test]
    fn debug_shows_no_secret() {
        let mut config = HttpConfig::new("https://host/v1?token=sesame", "m");
        config.key = Some(ApiKey::new("sesame").unwrap());
        config.proxy = Some("http://user:sesame@proxy".to_owned());
        config.extra.insert("metadata".to_owned(), Value::from("sesame"));
        let shown = format!("{config:?}");
        assert!(!shown.contains("sesame"), "{shown}");
        assert!(shown.contains("https://host/v1"), "{shown}");
    }
}
