//! How to say things to a server, learnt from what it refuses.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use serde_json::Value;

use super::{config::SchemaSupport, failure::Failure};
use crate::model::ChatRequest;

/// What was learnt of a server, for the life of the model.
#[derive(Debug)]
pub(super) struct Dialect {
    /// Whether the level of schemas may change.
    is_auto: bool,
    /// [`SchemaSupport`] as a number: how many steps down.
    schema: AtomicU8,
    completion_tokens: AtomicBool,
    stream_options: AtomicBool,
    /// Whether a request with a schema was answered.
    is_proven: AtomicBool,
}

/// How one request is put.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Manner {
    is_auto: bool,
    /// Never [`SchemaSupport::Auto`].
    pub(super) schema: SchemaSupport,
    /// Whether the limit of tokens goes by its newer name, `max_completion_tokens`.
    pub(super) completion_tokens: bool,
    /// Whether a stream is asked for its usage.
    pub(super) stream_options: bool,
    /// Whether the server refused this schema rather than schemas: nothing to remember.
    is_once: bool,
}

impl Dialect {
    pub(super) fn new(schema: SchemaSupport) -> Self {
        Self {
            is_auto: schema == SchemaSupport::Auto,
            schema: AtomicU8::new(steps_down(schema)),
            completion_tokens: AtomicBool::new(false),
            stream_options: AtomicBool::new(true),
            is_proven: AtomicBool::new(false),
        }
    }

    /// How to put the next request.
    pub(super) fn manner(&self) -> Manner {
        let schema = match self.schema.load(Ordering::Relaxed) {
            0 => SchemaSupport::JsonSchema,
            1 => SchemaSupport::JsonObject,
            _ => SchemaSupport::None,
        };
        Manner {
            is_auto: self.is_auto,
            schema,
            completion_tokens: self.completion_tokens.load(Ordering::Relaxed),
            stream_options: self.stream_options.load(Ordering::Relaxed),
            is_once: false,
        }
    }

    /// Keeps the manner of an answered request. Calls at the same time may each learn; they can only agree.
    pub(super) fn remember(&self, manner: Manner, request: &ChatRequest) {
        if manner.completion_tokens {
            self.completion_tokens.store(true, Ordering::Relaxed);
        }
        if !manner.stream_options {
            self.stream_options.store(false, Ordering::Relaxed);
        }
        if request.schema.is_some() && !manner.is_once {
            self.schema.fetch_max(steps_down(manner.schema), Ordering::Relaxed);
            self.is_proven.store(true, Ordering::Relaxed);
        }
    }

    /// What is known of the server's schemas: [`SchemaSupport::Auto`] before a request with one was answered.
    pub(super) fn schema(&self) -> SchemaSupport {
        if self.is_auto && !self.is_proven.load(Ordering::Relaxed) {
            SchemaSupport::Auto
        } else {
            self.manner().schema
        }
    }
}

fn steps_down(schema: SchemaSupport) -> u8 {
    match schema {
        SchemaSupport::Auto | SchemaSupport::JsonSchema => 0,
        SchemaSupport::JsonObject => 1,
        SchemaSupport::None => 2,
    }
}

impl Manner {
    /// Another way to put a refused request, if the refusal is about how it was put. Each step gives something up, so
    /// there are few.
    pub(super) fn concede(self, failure: &Failure, request: &ChatRequest) -> Option<Self> {
        if failure.is_late || !matches!(failure.status, 400 | 422 | 500 | 501) {
            return None;
        }
        if self.stream_options && failure.is_about(&["stream_options", "include_usage"]) {
            return Some(Self { stream_options: false, ..self });
        }
        if !self.completion_tokens
            && request.max_tokens.is_some()
            && failure.is_about(&["max_completion_tokens"])
            && failure.is_about(&["unsupported", "not supported"])
        {
            return Some(Self { completion_tokens: true, ..self });
        }
        let about_schemas =
            ["response_format", "response format", "json_schema", "json schema", "json_object", "grammar"];
        if self.is_auto && request.schema.is_some() && failure.is_about(&about_schemas) {
            let schema = match self.schema {
                SchemaSupport::JsonSchema | SchemaSupport::Auto => SchemaSupport::JsonObject,
                SchemaSupport::JsonObject => SchemaSupport::None,
                SchemaSupport::None => return None,
            };
            let this_one = ["invalid schema", "invalid json schema", "schema conversion", "parse grammar"];
            return Some(Self { schema, is_once: self.is_once || failure.is_about(&this_one), ..self });
        }
        None
    }
}

/// Whether a schema fulfils what servers ask of a `strict` one: each object names all its properties as required and
/// allows no others.
pub(super) fn is_strict(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => {
            let is_object = fields.get("type").is_some_and(names_object)
                || fields.get("properties").is_some_and(Value::is_object);
            (!is_object || is_closed(schema)) && fields.values().all(is_strict)
        }
        Value::Array(items) => items.iter().all(is_strict),
        _ => true,
    }
}

fn names_object(kind: &Value) -> bool {
    kind == "object" || kind.as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "object"))
}

fn is_closed(schema: &Value) -> bool {
    let required = schema["required"].as_array();
    let is_required = |name: &String| required.is_some_and(|names| names.iter().any(|other| other == name));
    schema["additionalProperties"] == Value::Bool(false)
        && schema["properties"].as_object().is_none_or(|properties| properties.keys().all(is_required))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn failure(status: u16, message: &str) -> Failure {
        Failure { status, message: message.to_owned(), ..Failure::default() }
    }

    fn request(schema: Option<Value>) -> ChatRequest {
        ChatRequest { schema, max_tokens: Some(5), ..ChatRequest::new("s", Vec::new()) }
    }

    #[test]
    fn schemas_step_down_and_stay_down() {
        let dialect = Dialect::new(SchemaSupport::Auto);
        assert_eq!(dialect.schema(), SchemaSupport::Auto);
        let request = request(Some(json!({"type": "object"})));
        let refusal = failure(400, "'response_format' of type json_schema is not supported");
        let object = dialect.manner().concede(&refusal, &request).unwrap();
        assert_eq!(object.schema, SchemaSupport::JsonObject);
        let prompt = object.concede(&refusal, &request).unwrap();
        assert_eq!(prompt.schema, SchemaSupport::None);
        assert_eq!(prompt.concede(&refusal, &request), None);
        dialect.remember(prompt, &request);
        assert_eq!(dialect.manner().schema, SchemaSupport::None);
        // Another call that learnt less does not lead back.
        dialect.remember(object, &request);
        assert_eq!(dialect.schema(), SchemaSupport::None);
    }

    #[test]
    fn a_refused_schema_says_nothing_of_others() {
        let dialect = Dialect::new(SchemaSupport::Auto);
        let request = request(Some(json!({"type": "object"})));
        let refusal = failure(400, "Invalid schema for response_format 'reply': bad");
        let manner = dialect.manner().concede(&refusal, &request).unwrap();
        dialect.remember(manner, &request);
        assert_eq!(dialect.manner().schema, SchemaSupport::JsonSchema);
    }

    #[test]
    fn other_refusals_are_not_conceded() {
        let manner = Dialect::new(SchemaSupport::Auto).manner();
        let with = request(Some(json!({})));
        assert_eq!(manner.concede(&failure(400, "temperature is too high"), &with), None);
        assert_eq!(manner.concede(&failure(401, "response_format"), &with), None);
        assert_eq!(manner.concede(&failure(400, "response_format"), &request(None)), None);
        let pinned = Dialect::new(SchemaSupport::JsonSchema).manner();
        assert_eq!(pinned.concede(&failure(400, "response_format"), &with), None);
    }

    #[test]
    fn names_of_fields_are_learnt() {
        let dialect = Dialect::new(SchemaSupport::Auto);
        let request = request(None);
        let refusal = failure(
            400,
            "Unsupported parameter: 'max_tokens' is not supported; use 'max_completion_tokens' instead",
        );
        let manner = dialect.manner().concede(&refusal, &request).unwrap();
        assert!(manner.completion_tokens);
        assert_eq!(manner.concede(&refusal, &request), None);
        let manner = manner.concede(&failure(422, "unknown field `stream_options`"), &request).unwrap();
        dialect.remember(manner, &request);
        assert!(dialect.manner().completion_tokens && !dialect.manner().stream_options);
    }

    #[test]
    fn strict_schemas_are_closed_at_every_level() {
        let closed = |inner: Value| json!({"type": "object", "properties": {"a": inner}, "required": ["a"], "additionalProperties": false});
        assert!(is_strict(&json!({"type": "string"})));
        assert!(is_strict(&closed(closed(json!({"type": "string"})))));
        assert!(!is_strict(&closed(json!({"type": "object", "properties": {"b": {}}}))));
        assert!(!is_strict(&json!({"type": "array", "items": {"type": ["object", "null"]}})));
        let optional =
            json!({"type": "object", "properties": {"a": {}}, "required": [], "additionalProperties": false});
        assert!(!is_strict(&optional));
    }
}
