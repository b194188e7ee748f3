//! Makes a value fit a schema where its intent is clear, and says what was done.

use serde_json::{Map, Number, Value};

use super::{
    items::DROPS_BAD_ITEMS,
    tolerant::{find_values, number},
};

/// Words for "there is none", as models write them where a value may be missing.
const NOTHING: [&str; 6] = ["", "null", "none", "n/a", "nil", "-"];

/// What is wrong with a value, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Problem {
    path: String,
    reason: &'static str,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "the reply {}", self.reason),
            path => write!(f, "`{path}` {}", self.reason),
        }
    }
}

/// Fits values to schemas; the notes name places and reasons and hold nothing of the reply.
#[derive(Debug, Default)]
pub(super) struct Coercion {
    pub(super) notes: Vec<String>,
    path: Vec<String>,
}

impl Coercion {
    /// The value as the schema wants it, or what is wrong with it.
    pub(super) fn fit(&mut self, value: Value, schema: &Value) -> Result<Value, Problem> {
        if let Some(choices) = schema.get("anyOf").and_then(Value::as_array) {
            return self.fit_nullable(value, choices);
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return self.fit_enum(value, values);
        }
        match schema.get("type") {
            Some(Value::String(kind)) => self.fit_kind(value, kind, schema),
            Some(Value::Array(kinds)) => {
                let kind = kinds.iter().filter_map(Value::as_str).find(|k| *k != "null").unwrap_or("null");
                if is_nothing(&value) {
                    return Ok(Value::Null);
                }
                Ok(self.or_null(|this| this.fit_kind(value, kind, schema)))
            }
            _ => Ok(value),
        }
    }

    /// Notes what was done at the present place.
    fn note(&mut self, what: &str) {
        let path = self.path.concat();
        let place = if path.is_empty() { "the reply".to_owned() } else { format!("`{path}`") };
        self.notes.push(format!("{place} {what}"));
    }

    fn problem<T>(&self, reason: &'static str) -> Result<T, Problem> {
        Err(Problem { path: self.path.concat(), reason })
    }

    fn at<T>(&mut self, step: String, f: impl FnOnce(&mut Self) -> T) -> T {
        self.path.push(step);
        let result = f(self);
        self.path.pop();
        result
    }

    fn or_null(&mut self, f: impl FnOnce(&mut Self) -> Result<Value, Problem>) -> Value {
        f(self).unwrap_or_else(|problem| {
            self.notes.push(format!("{problem}, taken as null"));
            Value::Null
        })
    }

    fn fit_nullable(&mut self, value: Value, choices: &[Value]) -> Result<Value, Problem> {
        let is_null = |schema: &&Value| schema.get("type").and_then(Value::as_str) == Some("null");
        let nullable = choices.iter().any(|c| is_null(&c));
        if nullable && is_nothing(&value) {
            return Ok(Value::Null);
        }
        let Some(choice) = choices.iter().find(|c| !is_null(c)) else { return Ok(Value::Null) };
        if nullable { Ok(self.or_null(|this| this.fit(value, choice))) } else { self.fit(value, choice) }
    }

    fn fit_enum(&mut self, value: Value, values: &[Value]) -> Result<Value, Problem> {
        if values.contains(&value) {
            return Ok(value);
        }
        let text = match &value {
            Value::String(text) => text.as_str(),
            Value::Array(several) => several.first().and_then(Value::as_str).unwrap_or_default(),
            _ => "",
        };
        let wanted = plain(text);
        if let Some(known) = values.iter().find(|v| v.as_str().is_some_and(|v| plain(v) == wanted)) {
            return Ok(known.clone());
        }
        match values.iter().find(|v| matches!(v.as_str(), Some("unknown" | "other"))) {
            Some(default) => {
                if !wanted.is_empty() {
                    self.note("is none of its values, taken as unknown");
                }
                Ok(default.clone())
            }
            None => self.problem("is none of its values"),
        }
    }

    fn fit_kind(&mut self, value: Value, kind: &str, schema: &Value) -> Result<Value, Problem> {
        match kind {
            "string" => self.fit_string(value, schema),
            "integer" => self.fit_integer(&value, schema),
            "number" => match value {
                Value::Number(_) => Ok(value),
                Value::String(text) => match number(&text) {
                    Some(number) => Ok(Value::Number(number)),
                    None => self.problem("is no number"),
                },
                _ => self.problem("is no number"),
            },
            "boolean" => self.fit_boolean(&value),
            "array" => self.fit_array(value, schema),
            "object" => self.fit_object(value, schema),
            "null" => Ok(Value::Null),
            _ => Ok(value),
        }
    }

    fn fit_string(&mut self, value: Value, schema: &Value) -> Result<Value, Problem> {
        let text = match value {
            Value::String(text) => text,
            Value::Null => String::new(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Array(parts) if parts.iter().all(|p| p.is_string() || p.is_number()) => {
                self.note("is a list, joined");
                let parts = parts.iter().map(|p| p.as_str().map_or_else(|| p.to_string(), str::to_owned));
                parts.collect::<Vec<_>>().join(", ")
            }
            Value::Array(_) | Value::Object(_) => return self.problem("is no text"),
        };
        let limit = schema.get("maxLength").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let cut = text.char_indices().nth(usize::try_from(limit).unwrap_or(usize::MAX)).map(|(at, _)| at);
        Ok(Value::String(match cut {
            Some(at) => {
                self.note("is too long, cut");
                text[..at].to_owned()
            }
            None => text,
        }))
    }

    fn fit_integer(&mut self, value: &Value, schema: &Value) -> Result<Value, Problem> {
        let given = match value {
            Value::Number(number) => Some(number.clone()),
            // "turn 3" and "#3" name the number too; "3-5" does not name one.
            Value::String(text) => number(text).or_else(|| only_number(text)),
            Value::Array(one) if one.len() == 1 => return self.fit_integer(&one[0], schema),
            _ => None,
        };
        let whole = given.and_then(|n| n.as_i64().or_else(|| whole_float(&n)));
        let Some(integer) = whole else { return self.problem("is no whole number") };
        let bound = |name: &str| schema.get(name).and_then(Value::as_i64);
        if bound("minimum").is_some_and(|least| integer < least)
            || bound("maximum").is_some_and(|most| integer > most)
            || integer > i64::from(u32::MAX)
        {
            return self.problem("is out of range");
        }
        Ok(integer.into())
    }

    fn fit_boolean(&mut self, value: &Value) -> Result<Value, Problem> {
        let known = match value {
            Value::Bool(known) => Some(*known),
            Value::Number(number) => match number.as_i64() {
                Some(1) => Some(true),
                Some(0) => Some(false),
                _ => None,
            },
            Value::String(text) => match plain(text).as_str() {
                "true" | "yes" | "y" | "1" => Some(true),
                "false" | "no" | "n" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        };
        known.map_or_else(|| self.problem("is neither true nor false"), |known| Ok(Value::Bool(known)))
    }

    fn fit_array(&mut self, value: Value, schema: &Value) -> Result<Value, Problem> {
        let bound = |name: &str| {
            let bound = schema.get(name).and_then(Value::as_u64);
            bound.map(|n| usize::try_from(n).unwrap_or(usize::MAX))
        };
        let (least, most) = (bound("minItems").unwrap_or(0), bound("maxItems").unwrap_or(usize::MAX));
        let given = match value {
            Value::Array(items) => items,
            value if is_nothing(&value) => Vec::new(),
            value => {
                self.note("is one item and no list");
                vec![value]
            }
        };
        let drops = schema.get(DROPS_BAD_ITEMS).is_some();
        let any = Value::Bool(true);
        let item_schema = schema.get("items").unwrap_or(&any);
        let mut items = Vec::new();
        for (position, item) in given.into_iter().enumerate() {
            if items.len() == most {
                self.note("has too many items, cut");
                break;
            }
            match self.at(format!("[{position}]"), |this| this.fit(item, item_schema)) {
                Ok(item) => items.push(item),
                Err(problem) if drops => self.notes.push(format!("{problem}, left out")),
                Err(problem) => return Err(problem),
            }
        }
        if items.len() < least {
            return self.problem("has too few items");
        }
        Ok(Value::Array(items))
    }

    fn fit_object(&mut self, value: Value, schema: &Value) -> Result<Value, Problem> {
        let empty = Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let mut given = match value {
            Value::Object(fields) => fields,
            // JSON within a string.
            Value::String(text) => match find_values(&text).into_iter().next().map(|f| f.value) {
                Some(Value::Object(fields)) => fields,
                _ => return self.problem("is no object"),
            },
            Value::Array(items) => match wrap(items, properties) {
                Some(fields) => fields,
                None => return self.problem("is no object"),
            },
            _ => return self.problem("is no object"),
        };
        given = rename(given, properties);
        if !properties.is_empty() && !given.keys().any(|key| properties.contains_key(key)) {
            given = match unwrap(given, properties) {
                Ok(inner) => inner,
                Err(_) => return self.problem("has none of the fields asked for"),
            };
        }
        let mut fields = Map::new();
        for (name, schema) in properties {
            let step = if self.path.is_empty() { name.clone() } else { format!(".{name}") };
            let value = given.shift_remove(name);
            let fitted = self.at(step, |this| match value {
                Some(value) if !value.is_null() => this.fit(value, schema),
                _ => this.missing(schema),
            });
            fields.insert(name.clone(), fitted?);
        }
        Ok(Value::Object(fields))
    }

    /// What stands for a value that is not there.
    fn missing(&mut self, schema: &Value) -> Result<Value, Problem> {
        if schema.get("enum").is_some() {
            return self.fit(Value::Null, schema);
        }
        let kind = schema.get("type");
        let nullable = schema.get("anyOf").is_some() || kind.is_some_and(Value::is_array);
        match kind.and_then(Value::as_str) {
            _ if nullable => self.fit(Value::Null, schema),
            Some("string") => Ok(Value::String(String::new())),
            Some("array") if schema.get("minItems").is_none() => Ok(Value::Array(Vec::new())),
            _ => self.problem("is missing"),
        }
    }
}

/// Letters and digits in lower case, for comparing names.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => NOTHING.contains(&text.trim().to_lowercase().as_str()),
        _ => false,
    }
}

/// The only run of digits of a text.
fn only_number(text: &str) -> Option<Number> {
    let mut runs = text.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty());
    let run = runs.next()?;
    if runs.next().is_some() || text.contains('-') {
        return None;
    }
    run.parse::<i64>().ok().map(Number::from)
}

fn whole_float(number: &Number) -> Option<i64> {
    let float = number.as_f64()?;
    (float.fract() == 0.0 && float.abs() < 1e15).then_some(float as i64)
}

/// A bare list where an object with one list is wanted, or with several of which it can be only one.
fn wrap(items: Vec<Value>, properties: &Map<String, Value>) -> Option<Map<String, Value>> {
    let is_list = |schema: &Value| schema.get("type").and_then(Value::as_str) == Some("array");
    let mut lists = properties.iter().filter(|(_, schema)| is_list(schema));
    let (name, _) = lists.next()?;
    if lists.next().is_some() || properties.len() > 1 {
        return None;
    }
    Some(Map::from_iter([(name.clone(), Value::Array(items))]))
}

/// The fields under the schema's names, where they differ in case and signs alone.
fn rename(given: Map<String, Value>, properties: &Map<String, Value>) -> Map<String, Value> {
    let mut renamed = Map::new();
    for (key, value) in given {
        let known = properties.keys().find(|name| **name == key).or_else(|| {
            let wanted = plain(&key);
            properties.keys().find(|name| plain(name) == wanted)
        });
        let key = known.cloned().unwrap_or(key);
        renamed.entry(key).or_insert(value);
    }
    renamed
}

/// The object within an object of one field ("result", "data"), or the list that a single item should have been in.
fn unwrap(
    given: Map<String, Value>,
    properties: &Map<String, Value>,
) -> Result<Map<String, Value>, Map<String, Value>> {
    if given.len() == 1
        && let Some(Value::Object(inner)) = given.values().next()
    {
        let inner = rename(inner.clone(), properties);
        if inner.keys().any(|key| properties.contains_key(key)) {
            return Ok(inner);
        }
    }
    let mut lists = properties.iter().filter_map(|(name, schema)| {
        let item = schema.get("items")?.get("properties")?.as_object()?;
        let known = given.keys().filter(|key| item.contains_key(*key)).count();
        (known * 2 > item.len()).then_some(name)
    });
    match lists.next().cloned() {
        Some(name) => Ok(Map::from_iter([(name, Value::Array(vec![Value::Object(given)]))])),
        None => Err(given),
    }
}
