//! What servers say when they do not reply, and the error it is.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;

use super::{key::ApiKey, pause::pause};
use crate::{error::ModelError, model::ChatRequest};

/// Longest piece of a server's message that goes into an error, in characters.
const N_MESSAGE_CHARS: usize = 300;
/// Longest piece of a server's message that is looked at for that, so that a huge one takes no time.
const N_READ_CHARS: usize = 2000;
/// Shortest run of a prompt's characters that counts as quoting it.
const N_QUOTED_CHARS: usize = 16;

/// An answer other than a reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Failure {
    /// HTTP status, or what the body says it would be.
    pub(super) status: u16,
    /// The server's own words; empty if it gave none that can be read.
    pub(super) message: String,
    /// Its machine-readable code, its type and the field it is about, joined.
    pub(super) labels: String,
    /// How long it asks to wait.
    pub(super) retry_after: Option<Duration>,
    /// Whether it came after a part of the reply, so that asking again would show that part twice.
    pub(super) is_late: bool,
    /// Tokens that fit and that were asked for, where the body has them as numbers.
    pub(super) counts: (Option<u64>, Option<u64>),
}

impl Failure {
    /// Reads an answer of this status. A body that is not JSON, such as a gateway's page, is not quoted.
    pub(super) fn read(status: u16, headers: &HeaderMap, body: &[u8]) -> Self {
        let body: Value = serde_json::from_slice(body).unwrap_or_default();
        Self { status, retry_after: pause(headers), ..Self::parse(&body) }
    }

    /// Reads an error that came in place of a reply: `error` is an object or a text.
    pub(super) fn within(error: &Value) -> Self {
        let failure = Self::parse(&serde_json::json!({"error": error}));
        let code = error["code"].as_u64().or_else(|| error["code"].as_str()?.parse().ok());
        let status = match code.and_then(|code| u16::try_from(code).ok()) {
            Some(status @ 400..600) => status,
            _ if failure.is_about(&["rate_limit"]) => 429,
            _ if failure.is_about(&["context_length", "invalid_request"]) => 400,
            _ => 500,
        };
        Self { status, ..failure }
    }

    /// The forms of OpenAI, vLLM and llama.cpp (`error` object), Ollama (`error` text), older vLLM (the object itself) and
    /// servers on FastAPI (`detail`, a text or a list with `msg`).
    fn parse(body: &Value) -> Self {
        let error = if body["error"].is_object() { &body["error"] } else { body };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let details = body["detail"].as_array().map(|details| {
            let messages: Vec<_> = details.iter().filter_map(|detail| detail["msg"].as_str()).collect();
            messages.join("; ")
        });
        let message =
            text(&error["message"]).or_else(|| text(&body["error"])).or_else(|| text(&body["detail"]));
        let labels: Vec<_> =
            ["code", "type", "error_type", "param"].iter().filter_map(|name| error[name].as_str()).collect();
        Self {
            message: message.or(details).unwrap_or_default(),
            labels: labels.join(" "),
            counts: (error["n_ctx"].as_u64(), error["n_prompt_tokens"].as_u64()),
            ..Self::default()
        }
    }

    /// Whether the server's words contain any of `words` (in lower case).
    pub(super) fn is_about(&self, words: &[&str]) -> bool {
        let said = format!("{} {}", self.message, self.labels).to_lowercase();
        words.iter().any(|word| said.contains(word))
    }

    /// The error this is; neither the request nor the key is quoted in it.
    pub(super) fn into_error(self, request: Option<&ChatRequest>, key: Option<&ApiKey>) -> ModelError {
        if self.is_too_long() {
            let (limit, requested) = numbers(&self.message);
            return ModelError::ContextTooLong {
                limit: self.counts.0.or(limit),
                requested: self.counts.1.or(requested),
            };
        }
        let message = self.shown(request, key);
        match self.status {
            429 if self.is_about(&["insufficient_quota", "exceeded your current quota", "billing"]) => {
                ModelError::Permanent { message }
            }
            429 => ModelError::RateLimited { retry_after: self.retry_after },
            // A server under load that names a time is one that limits.
            503 | 529 if self.retry_after.is_some() => {
                ModelError::RateLimited { retry_after: self.retry_after }
            }
            501 | 505 => ModelError::Permanent { message },
            408 | 409 | 425 | 500..600 => ModelError::Transient { message },
            _ => ModelError::Permanent { message },
        }
    }

    fn is_too_long(&self) -> bool {
        let is_bad_request = matches!(self.status, 400 | 413 | 422 | 429 | 500);
        let subjects = [
            "context length",
            "context size",
            "context window",
            "model length",
            "context_length",
            "exceed_context",
            "prompt is too long",
            "prompt too long",
            "input token count",
            "`inputs` tokens",
            "request too large",
        ];
        let verdicts = [
            "exceed",
            "longer than",
            "greater than",
            "maximum",
            "too long",
            "too large",
            "reduce the length",
            "overflow",
            "must be <=",
            "only",
        ];
        is_bad_request && self.is_about(&subjects) && self.is_about(&verdicts)
    }

    fn shown(&self, request: Option<&ChatRequest>, key: Option<&ApiKey>) -> String {
        let status = self.status;
        let message: String = self.message.chars().take(N_READ_CHARS).collect();
        let words = message.split_whitespace().collect::<Vec<_>>().join(" ");
        if words.is_empty() {
            return format!("server answered `{status}` without a message that can be read");
        }
        if request.is_some_and(|request| quotes(&words, request)) {
            return format!("server answered `{status}` with a message that quotes the request");
        }
        let words = key.map_or(words.clone(), |key| key.redact(&words));
        let mut shown: String = words.chars().take(N_MESSAGE_CHARS).collect();
        if shown.len() < words.len() {
            shown.push('…');
        }
        format!("server answered `{status}`: {}", shown.trim_end_matches('.'))
    }
}

/// Whether a text holds a run of a message's words; white space counts as one space.
fn quotes(text: &str, request: &ChatRequest) -> bool {
    let chars: Vec<char> = text.chars().collect();
    request.messages.iter().any(|message| {
        let content = message.content.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_short = content.chars().count() < N_QUOTED_CHARS;
        // A single short word of a prompt may be in any text.
        (is_short && content.contains(' ') && text.contains(&content))
            || chars
                .windows(N_QUOTED_CHARS)
                .any(|window| content.contains(&window.iter().collect::<String>()))
    })
}

/// Tokens that fit and tokens that were asked for, from a message that may say either.
fn numbers(message: &str) -> (Option<u64>, Option<u64>) {
    let message = message.to_lowercase();
    let limit = [
        "maximum context length is",
        "maximum context length of",
        "maximum model length of",
        "context length of only",
        "context length of",
        "context length (",
        "context size (",
        "maximum number of tokens allowed (",
        "limit ",
        "must be <= ",
        "tokens > ",
    ];
    let requested = [
        "you requested a total of",
        "you requested",
        "requested ",
        "resulted in",
        "prompt (length",
        "input length (",
        "prompt is too long:",
        "input token count (",
        "the input (",
        "request (",
        "first ",
    ];
    let find = |starts: &[&str]| starts.iter().find_map(|start| number_after(&message, start));
    (find(&limit), find(&requested))
}

/// The number that follows `start`, if the next thing is a number; `8,192` is one.
fn number_after(message: &str, start: &str) -> Option<u64> {
    message.match_indices(start).find_map(|(place, _)| {
        let rest = message[place + start.len()..].trim_start();
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != ',').unwrap_or(rest.len());
        rest[..digits].replace(',', "").parse().ok()
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::model::Message;

    fn error(status: u16, body: &Value) -> ModelError {
        Failure::read(status, &HeaderMap::new(), body.to_string().as_bytes()).into_error(None, None)
    }

    #[test]
    fn servers_say_too_long_in_many_ways() {
        let check = |message: &str, limit: Option<u64>, requested: Option<u64>| {
            let expected = ModelError::ContextTooLong { limit, requested };
            assert_eq!(error(400, &json!({"error": {"message": message}})), expected, "{message}");
        };
        check(
            "This model's maximum context length is 8192 tokens. However, you requested 9,000 tokens (8000 in the messages, 1000 in the completion). Please reduce the length of the messages.",
            Some(8192),
            Some(9000),
        );
        check(
            "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
            Some(4096),
            Some(5000),
        );
        check(
            "the request exceeds the available context size (4096 tokens), try increasing it",
            Some(4096),
            None,
        );
        check(
            "request (5000 tokens) exceeds the available context size (4096 tokens)",
            Some(4096),
            Some(5000),
        );
        check("the input length exceeds the context length", None, None);
        check(
            "Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens",
            Some(4096),
            Some(5000),
        );
        check(
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 `inputs` tokens and 500 `max_new_tokens`",
            Some(4096),
            None,
        );
        check("prompt is too long: 210000 tokens > 200000 maximum", Some(200_000), Some(210_000));
        check(
            "The input (12 tokens) is longer than the model's context length (8 tokens).",
            Some(8),
            Some(12),
        );
    }

    #[test]
    fn counts_of_the_body_go_first() {
        let body = json!({"error": {"code": 400, "message": "the request exceeds the available context size",
            "type": "exceed_context_size_error", "n_prompt_tokens": 50, "n_ctx": 40}});
        assert_eq!(error(400, &body), ModelError::ContextTooLong { limit: Some(40), requested: Some(50) });
        let body = json!({"error": {"message": "too long", "code": "context_length_exceeded"}});
        assert_eq!(error(400, &body), ModelError::ContextTooLong { limit: None, requested: None });
    }

    #[test]
    fn messages_are_found_in_every_form() {
        let forms = [
            json!({"error": {"message": "No such model.", "code": "model_not_found"}}),
            json!({"error": "No such model."}),
            json!({"object": "error", "message": "No such model", "type": "NotFoundError", "code": 404}),
            json!({"detail": "No such model"}),
            json!({"detail": [{"loc": ["body"], "msg": "No such model", "input": "secret"}]}),
        ];
        for body in forms {
            let message = "server answered `404`: No such model".to_owned();
            assert_eq!(error(404, &body), ModelError::Permanent { message }, "{body}");
        }
    }

    #[test]
    fn statuses_are_sorted_by_remedy() {
        let body = json!({"error": {"message": "no", "type": "x"}});
        for status in [400, 401, 402, 403, 404, 410, 422, 501] {
            assert!(matches!(error(status, &body), ModelError::Permanent { .. }), "{status}");
        }
        for status in [408, 409, 425, 500, 502, 503, 504, 529] {
            assert!(matches!(error(status, &body), ModelError::Transient { .. }), "{status}");
        }
        assert_eq!(error(429, &body), ModelError::RateLimited { retry_after: None });
        let quota = json!({"error": {"message": "no", "type": "insufficient_quota"}});
        assert!(matches!(error(429, &quota), ModelError::Permanent { .. }));
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", "3".parse().unwrap());
        let busy = Failure::read(503, &headers, b"").into_error(None, None);
        assert_eq!(busy, ModelError::RateLimited { retry_after: Some(Duration::from_secs(3)) });
    }

    #[test]
    fn errors_within_replies_have_a_status_too() {
        for (value, status) in [
            (json!({"code": 502, "message": "upstream"}), 502),
            (json!({"code": "429", "message": "slow"}), 429),
            (json!({"code": "rate_limit_exceeded", "message": "slow"}), 429),
            (json!({"type": "invalid_request_error", "message": "bad"}), 400),
            (json!("failed"), 500),
        ] {
            assert_eq!(Failure::within(&value).status, status, "{value}");
        }
        assert_eq!(Failure::within(&json!("failed")).message, "failed");
    }

    #[test]
    fn prompts_are_not_quoted() {
        let content = "Where did the three of you go last summer?";
        let request = ChatRequest::new("s", vec![Message::user(content)]);
        let shown = |message: &str| {
            let failure = Failure { status: 400, message: message.to_owned(), ..Failure::default() };
            failure.into_error(Some(&request), None).to_string()
        };
        let quoting = shown("cannot parse 'the three of\nyou go last summer'");
        assert!(quoting.ends_with("with a message that quotes the request"), "{quoting}");
        assert!(shown("where is the model?").ends_with("where is the model?"));
    }

    proptest! {
        #[test]
        fn no_answer_makes_trouble(
            status in 100_u16..1000,
            message in "([a-z ]{0,9}(context length|limit |tokens > |first )?[0-9,]{0,25}\\PC{0,3}){0,5}",
            code in "\\PC{0,9}",
            kind in 0..4,
        ) {
            let error = match kind {
                0 => json!({"message": message, "code": code}),
                1 => json!({"message": [message], "code": status}),
                2 => json!([message]),
                _ => json!(message),
            };
            let request = ChatRequest::new("s", vec![Message::user(&message[..0]), Message::user(code)]);
            let key = ApiKey::new("sk").unwrap();
            for body in [json!({"error": error}), json!({"detail": error}), error] {
                let failure = Failure::read(status, &HeaderMap::new(), body.to_string().as_bytes());
                failure.into_error(Some(&request), Some(&key));
                Failure::within(&body).into_error(Some(&request), Some(&key));
            }
        }
    }

    #[test]
    fn long_messages_are_cut() {
        let failure = Failure { status: 400, message: "é".repeat(1000), ..Failure::default() };
        let message = failure.into_error(None, None).to_string();
        assert!(message.ends_with("é…") && message.chars().count() < 400, "{message}");
    }
}
