//! Bodies of requests and replies.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    config::{HttpConfig, SchemaSupport},
    dialect::{Manner, is_strict},
    failure::Failure,
};
use crate::{
    error::ModelError,
    model::{ChatReply, ChatRequest, FinishReason, Message, Role, Usage},
};

/// The body of a request to `/chat/completions`.
pub(super) fn body(config: &HttpConfig, request: &ChatRequest, manner: Manner, is_streamed: bool) -> Value {
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    set("model", json!(config.model));
    set("messages", json!(messages(request, manner)));
    set("temperature", json!(request.temperature));
    if let Some(seed) = request.seed {
        set("seed", json!(seed));
    }
    if let Some(limit) = request.max_tokens {
        set(if manner.completion_tokens { "max_completion_tokens" } else { "max_tokens" }, json!(limit));
    }
    if let Some(format) = response_format(request, manner) {
        set("response_format", format);
    }
    set("stream", json!(is_streamed));
    if is_streamed && manner.stream_options {
        set("stream_options", json!({"include_usage": true}));
    }
    body.extend(config.extra.clone());
    body.retain(|_, value| !value.is_null());
    Value::Object(body)
}

fn response_format(request: &ChatRequest, manner: Manner) -> Option<Value> {
    let schema = request.schema.as_ref()?;
    match manner.schema {
        SchemaSupport::Auto | SchemaSupport::JsonSchema => Some(json!({
            "type": "json_schema",
            "json_schema": {"name": schema_name(schema), "schema": schema, "strict": is_strict(schema)},
        })),
        SchemaSupport::JsonObject => Some(json!({"type": "json_object"})),
        SchemaSupport::None => None,
    }
}

/// The schema's title in the letters that names may have.
fn schema_name(schema: &Value) -> String {
    let title = schema["title"].as_str().unwrap_or_default();
    let name: String =
        title.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')).take(64).collect();
    if name.is_empty() { "reply".to_owned() } else { name }
}

/// The messages, with the schema in them if the server is not told of it otherwise.
///
/// The schema goes to the instructions: they are the same from call to call, so that a server's prefix cache keeps
/// it, and no data stands before it. A second system message would be refused by many chat templates.
fn messages(request: &ChatRequest, manner: Manner) -> Vec<Message> {
    let mut messages = request.messages.clone();
    let Some(schema) = &request.schema else { return messages };
    if matches!(manner.schema, SchemaSupport::Auto | SchemaSupport::JsonSchema) {
        return messages;
    }
    let order =
        format!("Reply with one JSON value that follows this JSON Schema, and with nothing else:\n{schema}");
    let is_system = |message: &Message| message.role == Role::System;
    let place = messages.iter().position(is_system).or(messages.len().checked_sub(1));
    match place.map(|place| &mut messages[place]) {
        Some(message) => message.content = format!("{}\n\n{order}", message.content),
        None => messages.push(Message::user(order)),
    }
    messages
}

/// A reply, or a chunk of one: what we read of it. Fields that are missing or null are all the same.
#[derive(Debug, Deserialize)]
pub(super) struct Completion {
    choices: Option<Vec<Choice>>,
    /// Read leniently: a reply is worth more than its count.
    usage: Option<Value>,
    error: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct Choice {
    /// Of a whole reply.
    message: Option<Said>,
    /// Of a chunk.
    delta: Option<Said>,
    finish_reason: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Said {
    content: Option<Content>,
    refusal: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
struct Part {
    text: Option<String>,
}

impl Content {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(|part| part.text).collect(),
        }
    }
}

/// A reply put together from a body or from chunks.
#[derive(Debug, Default)]
pub(super) struct Assembly {
    text: String,
    refusal: String,
    finish: Option<String>,
    usage: Usage,
    has_choice: bool,
}

impl Assembly {
    /// Takes a whole reply or the next chunk and gives the text that is new.
    ///
    /// # Errors
    /// The failure that servers send in place of a reply under a status of success.
    pub(super) fn push(&mut self, part: Completion) -> Result<String, Failure> {
        if let Some(error) = part.error.filter(|error| !error.is_null()) {
            return Err(Failure { is_late: !self.text.is_empty(), ..Failure::within(&error) });
        }
        if let Some(counts) = part.usage.filter(Value::is_object) {
            let count = |name: &str| counts[name].as_u64().unwrap_or_default();
            self.usage = Usage {
                prompt_tokens: count("prompt_tokens"),
                completion_tokens: count("completion_tokens"),
            };
        }
        // One reply is asked for; more would be the server's mistake.
        let Some(choice) = part.choices.into_iter().flatten().next() else { return Ok(String::new()) };
        self.has_choice = true;
        if choice.finish_reason.is_some() {
            self.finish = choice.finish_reason;
        }
        let Some(said) = choice.message.or(choice.delta) else { return Ok(String::new()) };
        self.refusal.push_str(said.refusal.as_deref().unwrap_or_default());
        let text = said.content.map(Content::into_text).unwrap_or_default();
        self.text.push_str(&text);
        Ok(text)
    }

    /// Whether the server said why it stopped, so that nothing of the text is missing.
    pub(super) fn is_finished(&self) -> bool {
        self.finish.is_some()
    }

    /// The reply.
    ///
    /// # Errors
    /// [`ModelError::InvalidOutput`] with `body` if there was none.
    pub(super) fn into_reply(self, body: impl FnOnce() -> String) -> Result<ChatReply, ModelError> {
        if !self.has_choice {
            return Err(ModelError::InvalidOutput {
                message: "server's answer holds no reply".to_owned(),
                reply: body(),
            });
        }
        let is_refused = !self.refusal.is_empty();
        let finish = match self.finish.as_deref() {
            _ if is_refused => FinishReason::ContentFilter,
            Some("stop") => FinishReason::Stop,
            Some("length") => FinishReason::Length,
            Some("content_filter") => FinishReason::ContentFilter,
            _ => FinishReason::Other,
        };
        let text = if self.text.is_empty() { self.refusal } else { self.text };
        Ok(ChatReply { text, finish, usage: self.usage })
    }
}

/// Names in a list of models.
pub(super) fn model_names(list: &Value) -> Option<Vec<String>> {
    let models = list["data"].as_array().or_else(|| list["models"].as_array())?;
    let name = |model: &Value| Some(model["id"].as_str().or_else(|| model["name"].as_str())?.to_owned());
    Some(models.iter().filter_map(name).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::dialect::Dialect;

    fn request() -> ChatRequest {
        let mut request =
            ChatRequest::new("s", vec![Message::system("Be brief."), Message::user("What is ice?")]);
        request.schema = Some(json!({"title": "A b", "type": "object"}));
        request.max_tokens = Some(9);
        request.seed = Some(3);
        request
    }

    fn body_at(schema: SchemaSupport) -> Value {
        body(&HttpConfig::new("http://h", "m"), &request(), Dialect::new(schema).manner(), true)
    }

    #[test]
    fn bodies_hold_what_is_asked_for() {
        let body = body_at(SchemaSupport::Auto);
        let expected = json!({
            "model": "m",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is ice?"}],
            "temperature": 0.0, "seed": 3, "max_tokens": 9,
            "response_format": {"type": "json_schema", "json_schema": {
                "name": "Ab", "strict": false, "schema": {"title": "A b", "type": "object"}}},
            "stream": true, "stream_options": {"include_usage": true},
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn schemas_go_to_the_instructions_of_servers_without() {
        for (level, format) in
            [(SchemaSupport::JsonObject, json!({"type": "json_object"})), (SchemaSupport::None, Value::Null)]
        {
            let body = body_at(level);
            assert_eq!(body["response_format"], format);
            let system = body["messages"][0]["content"].as_str().unwrap();
            assert!(system.starts_with("Be brief.\n\nReply with one JSON value"), "{system}");
            assert!(system.ends_with(r#"{"title":"A b","type":"object"}"#), "{system}");
            assert_eq!(body["messages"][1]["content"], "What is ice?");
        }
    }

    #[test]
    fn further_fields_replace_and_remove() {
        let mut config = HttpConfig::new("http://h", "m");
        config.extra = Map::from_iter([
            ("temperature".to_owned(), Value::Null),
            ("top_p".to_owned(), json!(0.5)),
            ("seed".to_owned(), json!(4)),
        ]);
        let body = body(&config, &request(), Dialect::new(SchemaSupport::None).manner(), false);
        assert_eq!((&body["top_p"], &body["seed"], &body["stream"]), (&json!(0.5), &json!(4), &json!(false)));
        assert!(body.get("temperature").is_none());
    }

    #[test]
    fn lists_of_models_come_in_two_forms() {
        assert_eq!(model_names(&json!({"data": [{"id": "a"}, {}]})).unwrap(), ["a"]);
        assert_eq!(model_names(&json!({"models": [{"name": "b"}]})).unwrap(), ["b"]);
        assert_eq!(model_names(&json!([])), None);
    }
}
