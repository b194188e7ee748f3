//! The HTTP back end against a server that behaves like the real ones.

mod decorators;
mod errors;
mod replies;
mod secrets;
mod server;
mod streams;

use std::time::Duration;

use fta_llm::{
    ChatReply, ChatRequest, LanguageModel, Message, ModelError,
    http::{ApiKey, HttpConfig, OpenAiModel, SchemaSupport},
};
use serde_json::json;

use self::server::{Answer, Server};

const KEY: &str = "sk-sesame-0123456789abcdef";

fn request() -> ChatRequest {
    let messages =
        vec![Message::system("Answer in one word."), Message::user("What is colder, ice or steam?")];
    ChatRequest { max_tokens: Some(20), seed: Some(7), ..ChatRequest::new("answer", messages) }
}

fn request_with_schema() -> ChatRequest {
    let schema = json!({"title": "Word", "type": "object", "properties": {"word": {"type": "string"}},
        "required": ["word"], "additionalProperties": false});
    ChatRequest { schema: Some(schema), ..request() }
}

/// Time limits that no test but those of time limits comes near.
fn config(server: &Server) -> HttpConfig {
    HttpConfig {
        key: Some(ApiKey::new(KEY).unwrap()),
        read_timeout: Duration::from_mins(1),
        total_timeout: Duration::from_mins(1),
        ..HttpConfig::new(&server.base_url, "m")
    }
}

fn model(server: &Server) -> OpenAiModel {
    OpenAiModel::new(config(server)).unwrap()
}

/// Asks a server that has this one answer.
async fn ask(answer: Answer) -> Result<ChatReply, ModelError> {
    let server = Server::scripted([answer]).await;
    model(&server).complete(request()).await
}

/// Asks for a stream and gives what was shown, too.
async fn ask_streaming(answer: Answer) -> (Result<ChatReply, ModelError>, Vec<String>) {
    let server = Server::scripted([answer]).await;
    let mut shown = Vec::new();
    let mut show = |text: &str| shown.push(text.to_owned());
    let outcome = model(&server).complete_streaming(request(), &mut show).await;
    (outcome, shown)
}

#[track_caller]
fn assert_transient(outcome: &Result<ChatReply, ModelError>) {
    assert!(matches!(outcome, Err(ModelError::Transient { .. })), "{outcome:?}");
}
