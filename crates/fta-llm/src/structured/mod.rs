//! Structured replies: from a type to a JSON Schema, from an untrusted reply to a checked value of the type.
//!
//! [`ask`] is all that a step needs. A reply is read tolerantly (text around the JSON, fences, thoughts, wrong quotes and
//! commas, cut-off lists), fitted to the schema where its intent is clear, checked, and sent back once if it does not do.

mod coerce;
mod items;
mod schema;
#[cfg(test)]
mod tests;
mod tolerant;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use self::{
    coerce::Coercion,
    schema::full_schema_of,
    tolerant::{find_values, without_thoughts},
};
pub use self::{
    items::Items,
    schema::{schema_of, with_max_items, without_bounds},
};
use crate::{
    error::ModelError,
    model::{ChatReply, ChatRequest, FinishReason, LanguageModel, Message},
};

/// Most characters of a bad reply that are shown to the model again.
const SHOWN_CHARS: usize = 4_000;
/// Longest reply that is read, in bytes.
const MAX_REPLY: usize = 4 << 20;

/// A value that a model gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Structured<T> {
    /// The value; it passed the check.
    pub value: T,
    /// What had to be set right in the reply, as places and reasons; nothing of the reply's text.
    pub notes: Vec<String>,
    /// Whether the first reply could not be used and this is from the second.
    pub repaired: bool,
    /// Whether the reply ends within the JSON; items that were not whole are left out.
    pub cut_off: bool,
}

/// Asks for a value of type `T`.
///
/// Sets the request's schema to that of `T`, unless it has one (a narrower one, such as [`with_max_items`] gives), reads the
/// reply tolerantly and checks it. A reply that does not do goes back once with what
/// is wrong with it. `check` says what is wrong with a value, without words of the dialogue.
///
/// # Errors
/// [`ModelError::InvalidOutput`] if the second reply does not do either, or a filter held the reply back; else the model's
/// own error.
pub async fn ask<T: DeserializeOwned + JsonSchema>(
    model: &dyn LanguageModel,
    mut request: ChatRequest,
    check: &(dyn Fn(&T) -> Result<(), String> + Sync),
) -> Result<Structured<T>, ModelError> {
    request.schema.get_or_insert_with(schema_of::<T>);
    let first = model.complete(request.clone()).await?;
    let problem = match decode_checked(&first, check) {
        Ok(structured) => return Ok(structured),
        Err(problem) => problem,
    };
    let invalid =
        |message: String, reply: ChatReply| ModelError::InvalidOutput { message, reply: reply.text };
    if first.finish == FinishReason::ContentFilter {
        return Err(invalid("a filter held it back".to_owned(), first));
    }
    request.messages.push(Message::assistant(shown(&first.text)));
    request.messages.push(Message::user(format!(
        "That reply cannot be used: {problem}. Reply again with the whole JSON object as asked for, and nothing else."
    )));
    let second = match model.complete(request).await {
        Ok(reply) => reply,
        // The longer request does not fit: what counts is that the first reply was no good.
        Err(ModelError::ContextTooLong { .. }) => return Err(invalid(problem, first)),
        Err(error) => return Err(error),
    };
    match decode_checked(&second, check) {
        Ok(structured) => Ok(Structured { repaired: true, ..structured }),
        Err(problem) => Err(invalid(problem, second)),
    }
}

/// Reads a value of type `T` out of a reply, without asking again.
///
/// # Errors
/// What is wrong with the reply, without words of it.
pub fn decode<T: DeserializeOwned + JsonSchema>(reply: &str) -> Result<Structured<T>, String> {
    let found = if reply.len() > MAX_REPLY { Vec::new() } else { find_values(reply) };
    let schema = full_schema_of::<T>();
    let mut problem = None;
    for candidate in found {
        let mut coercion = Coercion::default();
        let fitted = coercion.fit(candidate.value, &schema).map_err(|p| p.to_string());
        let value = fitted.and_then(|value| {
            // The message of a decoder may quote the reply.
            serde_json::from_value::<T>(value).map_err(|_| "the reply has a value of a wrong kind".to_owned())
        });
        match value {
            Ok(_) if candidate.emptied => {
                problem.get_or_insert("the reply is cut off before anything in it is whole".to_owned());
            }
            Ok(value) => {
                let notes = coercion.notes;
                return Ok(Structured { value, notes, repaired: false, cut_off: candidate.cut_off });
            }
            Err(reason) => {
                problem.get_or_insert(reason);
            }
        }
    }
    Err(problem.unwrap_or_else(|| "the reply holds no JSON".to_owned()))
}

fn decode_checked<T: DeserializeOwned + JsonSchema>(
    reply: &ChatReply,
    check: &(dyn Fn(&T) -> Result<(), String> + Sync),
) -> Result<Structured<T>, String> {
    let structured = decode::<T>(&reply.text)?;
    check(&structured.value)?;
    Ok(structured)
}

/// A reply as it is shown to the model again: shortened, and without characters that form special tokens.
fn shown(reply: &str) -> String {
    let cut = reply.char_indices().nth(SHOWN_CHARS).map_or(reply.len(), |(at, _)| at);
    reply[..cut].replace('<', "\\u003c").replace('>', "\\u003e")
}

/// A check that finds nothing wrong.
///
/// # Errors
/// None.
pub fn accept<T>(_: &T) -> Result<(), String> {
    Ok(())
}

/// What a reply says, without thoughts before it and fences around it; for answers in words.
pub fn plain_text(reply: &str) -> &str {
    let text = without_thoughts(reply).trim();
    let fenced = text.strip_prefix("```").and_then(|t| t.strip_suffix("```"));
    // The first line of a fence names a language.
    fenced.and_then(|t| t.split_once('\n')).map_or(text, |(_, inner)| inner).trim()
}
