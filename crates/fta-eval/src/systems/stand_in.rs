//! A stand-in for a model: valid replies to every step, made by rules from what the prompt shows.
//!
//! It says nothing clever, but replies have the size and the number of items that a model's would have, so that calls and
//! tokens of a build can be counted, and builds can be tested, without a model.

use async_trait::async_trait;
use fta_mem::llm::{ChatReply, ChatRequest, FinishReason, LanguageModel, Message, ModelError, Usage};
use serde_json::{Value, json};

/// Characters of a turn that go into a claim.
const CLAIM_CHARS: usize = 90;

/// Replies by rules; the same request always gets the same reply. Counts characters / 4 as tokens.
#[derive(Debug, Clone, Copy, Default)]
pub struct StandIn;

#[async_trait]
impl LanguageModel for StandIn {
    fn model_id(&self) -> &'static str {
        "stand-in/1"
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        let text = reply(&request.messages, request.schema.as_ref());
        let prompt: usize = request.messages.iter().map(|m| m.content.chars().count()).sum();
        let usage = Usage {
            prompt_tokens: prompt.div_ceil(4) as u64,
            completion_tokens: text.chars().count().div_ceil(4) as u64,
        };
        Ok(ChatReply { text, finish: FinishReason::Stop, usage })
    }
}

/// The reply to a prompt; which step it is of is told by the fields that the schema asks for.
pub fn reply(messages: &[Message], schema: Option<&Value>) -> String {
    let asked = messages.last().map_or("", |m| m.content.as_str());
    let has = |field: &str| schema.is_some_and(|s| s["properties"].get(field).is_some());
    let value = if has("starts") {
        boundaries(asked)
    } else if has("links") {
        relations(asked)
    } else if has("profile") || has("support") {
        longitudinal(asked, has("profile"), has("support"))
    } else if has("query") {
        rewrite(asked)
    } else if has("answerable") {
        answer(asked)
    } else if has("units") {
        units(asked)
    } else {
        return "yes".to_owned();
    };
    value.to_string()
}

/// Lines that are JSON arrays.
fn rows(text: &str) -> Vec<Vec<Value>> {
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// The rows below a heading, down to the next one.
fn section<'t>(text: &'t str, heading: &str) -> Option<&'t str> {
    let start = text.find(&format!("{heading}\n"))? + heading.len() + 1;
    let rest = &text[start..];
    let end = rest.match_indices('\n').map(|(at, _)| at).find(|at| {
        let line = &rest[at + 1..];
        !line.starts_with('[') && !line.starts_with("---")
    });
    Some(&rest[..end.unwrap_or(rest.len())])
}

/// A new situation every six turns.
fn boundaries(asked: &str) -> Value {
    let starts: Vec<Value> = rows(asked)
        .iter()
        .skip(6)
        .step_by(6)
        .map(|row| json!({"turn": row[0], "cue": "topic_change"}))
        .collect();
    json!({"starts": starts})
}

/// Three units for four turns, about as many as the paper reports (4,299 for 5,882).
fn units(asked: &str) -> Value {
    let turns = section(asked, "Turns:").unwrap_or(asked);
    let mut units = Vec::new();
    for part in turns.split("---") {
        let rows: Vec<Vec<Value>> = rows(part).into_iter().filter(|row| row.len() >= 3).collect();
        let mut at = 0;
        for size in [1, 2, 1].into_iter().cycle() {
            let Some(first) = rows.get(at) else { break };
            let last = rows.get(at + size - 1).unwrap_or(first);
            let (speaker, text) = (first[1].as_str().unwrap_or(""), last[2].as_str().unwrap_or(""));
            let claim: String = format!("{speaker}: {text}").chars().take(CLAIM_CHARS).collect();
            let summary: String = claim.chars().take(30).collect();
            units.push(json!({
                "completes": null,
                "evidence_turn_span": [first[0], last[0]],
                "content_type": "event",
                "content": {
                    "text": claim,
                    "participants": [speaker],
                    "emotion_or_state": "unknown",
                    "intention_or_plan": "unknown"
                },
                "event_time": "unknown",
                "time_orientation": "past",
                "status": "complete",
                "summary": summary
            }));
            at += size;
        }
    }
    json!({"units": units})
}

/// Every third new unit has a link, to the first unit that it is compared with.
fn relations(asked: &str) -> Value {
    let newer = section(asked, "New units:").unwrap_or("");
    let links: Vec<Value> = rows(newer)
        .iter()
        .step_by(3)
        .filter_map(|row| {
            let old = row.last()?.as_array()?.first()?;
            Some(json!({"new": row[0], "old": old, "relation": "same_situation"}))
        })
        .collect();
    json!({"links": links})
}

/// One entry of each list, of the session's first unit.
fn longitudinal(asked: &str, profile: bool, support: bool) -> Value {
    let units = rows(section(asked, "Units:").unwrap_or(""));
    let first = units.first().map(|row| (row[0].clone(), row[2].as_str().unwrap_or("").to_owned()));
    let mut reply = serde_json::Map::new();
    let person = first.as_ref().and_then(|(_, claim)| claim.split_once(':')).map_or("", |(name, _)| name);
    if profile {
        let entry = first.iter().map(|(number, claim)| {
            json!({"op": "add", "entry": null, "person": person, "topic": "other", "text": claim, "units": [number]})
        });
        reply.insert("profile".to_owned(), entry.collect());
    }
    if support {
        let entry = first.iter().map(|(number, claim)| {
            json!({"op": "add", "entry": null, "seeker": person, "attempt": claim, "outcome": "unknown", "units": [number]})
        });
        reply.insert("support".to_owned(), entry.collect());
    }
    Value::Object(reply)
}

/// The question as it is.
fn rewrite(asked: &str) -> Value {
    let input: Value = serde_json::from_str(asked.trim()).unwrap_or_default();
    let none: [&str; 0] = [];
    json!({
        "query": input["question"], "entities": none, "times": none, "situations": none, "emotions": none,
        "answer": "unknown"
    })
}

/// The claim of the first primary unit, else the first source turn that a unit rests on.
fn answer(asked: &str) -> Value {
    let primary = rows(section(asked, "Primary evidence:").unwrap_or(""));
    let source = rows(section(asked, "Source turns:").unwrap_or(""));
    let of_source = source.iter().find(|row| row.len() >= 3 && row[0] != "");
    match primary.first().or(of_source) {
        Some(row) => json!({"units": [row[0]], "answerable": true, "answer": row[2]}),
        None => json!({"units": [], "answerable": false, "answer": "Not mentioned in the conversation"}),
    }
}
