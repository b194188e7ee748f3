//! One text per request: what a cache and a replay know requests by.

use std::fmt::{self, Write};

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::model::ChatRequest;

/// The text of a request: equal for equal requests, different for others.
///
/// JSON with sorted names, whichever way a schema's properties are kept. The temperature is written by its bits, so that
/// none is lost in decimals; both zeros are one.
pub(crate) fn canonical(request: &ChatRequest) -> String {
    // Each field by name: one that is added must not be forgotten.
    let ChatRequest { messages, temperature, seed, max_tokens, schema, step } = request;
    let value = json!({
        "messages": messages,
        "temperature": (temperature + 0.0).to_bits(),
        "seed": seed,
        "max_tokens": max_tokens,
        // In a list, since a schema may be `null`.
        "schema": schema.iter().collect::<Vec<_>>(),
        "step": step,
    });
    let mut text = String::new();
    write(&value, &mut text).expect("a string takes all that is written");
    text
}

fn write(value: &Value, text: &mut String) -> fmt::Result {
    match value {
        Value::Object(fields) => {
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| name.as_str());
            text.write_char('{')?;
            for (place, (name, value)) in sorted.into_iter().enumerate() {
                write!(text, "{}{}:", if place > 0 { "," } else { "" }, Value::from(name.as_str()))?;
                write(value, text)?;
            }
            text.write_char('}')
        }
        Value::Array(items) => {
            text.write_char('[')?;
            for (place, item) in items.iter().enumerate() {
                text.write_str(if place > 0 { "," } else { "" })?;
                write(item, text)?;
            }
            text.write_char(']')
        }
        Value::Number(number) if number.is_f64() => {
            write!(text, "{}", Value::from(number.as_f64().unwrap_or_default() + 0.0))
        }
        scalar => write!(text, "{scalar}"),
    }
}

/// SHA-256 of texts in hexadecimal; lengths are part of it, so that it matters where one ends.
pub(crate) fn digest(texts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().iter().fold(String::with_capacity(64), |mut hex, byte| {
        write!(hex, "{byte:02x}").expect("a string takes all that is written");
        hex
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model::{Message, Role};

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-2_i64..3).prop_map(Value::from),
            prop_oneof![Just(0.0), Just(-0.0), Just(1.0), Just(2.5)]
                .prop_map(|number: f64| Value::from(number)),
            "[ab\"]{0,2}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 12, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                prop::collection::btree_map("[ab]{0,2}", inner, 0..3).prop_map(Value::from_iter),
            ]
        })
    }

    /// Requests from so few parts that many are equal.
    fn request() -> impl Strategy<Value = ChatRequest> {
        let role = prop_oneof![Just(Role::System), Just(Role::User), Just(Role::Assistant)];
        let message = (role, "[a\\]\"]{0,2}").prop_map(|(role, content)| Message { role, content });
        let temperature = prop_oneof![Just(0.0), Just(-0.0), Just(0.7), Just(0.1 + 0.2), Just(0.3)];
        (
            prop::collection::vec(message, 0..2),
            temperature,
            prop::option::of(0_u64..2),
            prop::option::of(0_u32..2),
            prop::option::of(value()),
            "[ab]?",
        )
            .prop_map(|(messages, temperature, seed, max_tokens, schema, step)| ChatRequest {
                messages,
                temperature,
                seed,
                max_tokens,
                schema,
                step,
            })
    }

    proptest! {
        #[test]
        fn texts_are_equal_if_and_only_if_requests_are(one in request(), other in request()) {
            prop_assert_eq!(canonical(&one) == canonical(&other), one == other);
            prop_assert_eq!(canonical(&one), canonical(&one.clone()));
        }

        #[test]
        fn one_change_changes_the_text(one in request(), schema in prop::option::of(value()), place in 0..6) {
            let mut other = one.clone();
            match place {
                0 => other.messages.push(Message::user("")),
                1 => other.temperature += 1.0,
                2 => other.seed = other.seed.map_or(Some(0), |seed| Some(seed + 1)),
                3 => other.max_tokens = other.max_tokens.map_or(Some(0), |limit| Some(limit + 1)),
                4 => other.schema = schema,
                _ => other.step.push('c'),
            }
            prop_assert_eq!(canonical(&one) == canonical(&other), one == other);
        }
    }

    #[test]
    fn digests_know_where_texts_end() {
        assert_ne!(digest(&["ab", "c"]), digest(&["a", "bc"]));
        assert_eq!(digest(&["a"]).len(), 64);
    }
}
