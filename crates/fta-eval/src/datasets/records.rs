//! A JSON array, JSON lines or a single JSON object as a stream of records, one in memory at a time.

use std::{fmt, path::Path};

use serde::de::{Deserializer as _, Error as _, SeqAccess, Visitor};
use serde_json::Value;

use super::LoadError;

/// The bytes as text, without a byte order mark.
pub(super) fn text<'a>(path: &Path, bytes: &'a [u8]) -> Result<&'a str, LoadError> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = &bytes[..error.valid_up_to()];
        let line = std::str::from_utf8(good).map_or(0, |good| good.matches('\n').count()) + 1;
        let column = good.iter().rev().take_while(|&&b| b != b'\n').count() + 1;
        LoadError::Utf8 { path: path.to_owned(), line, column }
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(LoadError::Empty { path: path.to_owned() });
    }
    Ok(text)
}

/// Calls `take` with each record and its position; returns at the first error.
pub(super) fn each(
    path: &Path,
    text: &str,
    mut take: impl FnMut(usize, Value) -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    if !text.trim_start().starts_with('[') {
        for (position, value) in serde_json::Deserializer::from_str(text).into_iter::<Value>().enumerate() {
            take(position, value.map_err(|error| not_json(path, &error))?)?;
        }
        return Ok(());
    }
    let mut failure = None;
    let mut stream = serde_json::Deserializer::from_str(text);
    let elements = Elements { take: &mut take, failure: &mut failure };
    let parsed = stream.deserialize_seq(elements).and_then(|()| stream.end());
    match (failure, parsed) {
        (Some(failure), _) => Err(failure),
        (None, parsed) => parsed.map_err(|error| not_json(path, &error)),
    }
}

/// The first record; an error if there is none.
pub(super) fn first(path: &Path, text: &str) -> Result<Value, LoadError> {
    let mut found = None;
    // The record ends the reading by an error, so that a large file is not parsed twice.
    let outcome = each(path, text, |_, value| {
        found = Some(value);
        Err(LoadError::Empty { path: path.to_owned() })
    });
    match (found, outcome) {
        (Some(value), _) => Ok(value),
        (None, Err(error)) => Err(error),
        (None, Ok(())) => {
            Err(LoadError::NoDialogue { path: path.to_owned(), found: "is not there".to_owned() })
        }
    }
}

/// What kind of JSON value it is, for messages.
pub(super) fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn not_json(path: &Path, error: &serde_json::Error) -> LoadError {
    let full = error.to_string();
    let message = full.rsplit_once(" at line ").map_or(full.as_str(), |(message, _)| message).to_owned();
    LoadError::Json { path: path.to_owned(), line: error.line(), column: error.column(), message }
}

struct Elements<'a, F> {
    take: &'a mut F,
    failure: &'a mut Option<LoadError>,
}

impl<'de, F: FnMut(usize, Value) -> Result<(), LoadError>> Visitor<'de> for Elements<'_, F> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of records")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut records: A) -> Result<(), A::Error> {
        let mut position = 0;
        while let Some(value) = records.next_element::<Value>()? {
            if let Err(failure) = (self.take)(position, value) {
                *self.failure = Some(failure);
                return Err(A::Error::custom("stopped"));
            }
            position += 1;
        }
        Ok(())
    }
}
