//! Plain chat: messages with `role` and `content`, or sessions with `messages`; one case per file.

use std::collections::BTreeSet;

use fta_segment::Session;
use jiff::{SignedDuration, civil::DateTime};
use serde_json::{Map, Value};

use super::{
    AnomalyKind, LoadError, date,
    loading::{FoundTurn, Loading, TurnList, clean_id, id_text, role_or_peer, shorten, unique},
    records,
};

/// A silence longer than this, in hours, begins a new session among messages that name no session.
///
/// Long enough for a lunch or a meeting within one conversation, short enough to tell one day's talk from the next.
pub const SESSION_GAP_HOURS: i64 = 6;

/// Keys that may hold a message's or a session's time.
const TIME_KEYS: [&str; 4] = ["timestamp", "created_at", "date", "time"];

/// A message as found.
struct Message {
    source_id: Option<String>,
    speaker: String,
    role: fta_segment::Role,
    at: Option<DateTime>,
    text: String,
}

/// Messages of one session.
struct Group {
    /// Id in the file; `None` for messages that name no session.
    id: Option<String>,
    started_at: Option<DateTime>,
    messages: Vec<Message>,
}

/// A chat file in reading.
#[derive(Default)]
pub(super) struct Chat {
    groups: Vec<Group>,
}

impl Chat {
    /// Takes a message or a session.
    pub(super) fn record(&mut self, loading: &mut Loading<'_>, value: &Value) -> Result<(), LoadError> {
        let record = loading.object(value, "record")?;
        let Some(messages) = record.get("messages") else {
            let message = message(loading, record, "")?;
            self.add(id_text(record.get("session_id")), message);
            return Ok(());
        };
        let started_at = time(loading, record, "session");
        let id = id_text(record.get("session_id")).or_else(|| id_text(record.get("id")));
        let mut group = Group { id, started_at, messages: Vec::new() };
        for (position, value) in loading.list(messages, "messages")?.iter().enumerate() {
            let place = format!("messages[{position}]");
            let record = loading.object(value, &place)?;
            group.messages.push(message(loading, record, &place)?);
        }
        self.groups.push(group);
        Ok(())
    }

    /// Adds a single message to the session it names, or to the running one unless the silence was too long.
    fn add(&mut self, id: Option<String>, message: Message) {
        let open = match &id {
            Some(_) => self.groups.iter_mut().find(|g| g.id == id),
            None => self.groups.last_mut().filter(|g| g.id.is_none() && !is_after_gap(g, &message)),
        };
        match open {
            Some(group) => group.messages.push(message),
            None => self.groups.push(Group { id, started_at: None, messages: vec![message] }),
        }
    }

    /// Adds the case.
    pub(super) fn finish(self, loading: &mut Loading<'_>) {
        let stem = loading.path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = Some(clean_id(&stem)).filter(|s| !s.is_empty()).unwrap_or_else(|| "chat".to_owned());
        let mut taken: BTreeSet<String> = BTreeSet::new();
        let mut sessions: Vec<Session> = Vec::with_capacity(self.groups.len());
        for (position, group) in self.groups.into_iter().enumerate() {
            // Numbered from the first on, so that a file that grows keeps the ids it had.
            let wanted = group.id.map(|id| clean_id(&id)).filter(|id| !id.is_empty());
            let wanted = wanted.unwrap_or_else(|| format!("{stem}-{}", position + 1));
            let id = unique(&wanted, |id| taken.contains(id));
            if id != wanted {
                loading.note(AnomalyKind::SessionIdTwice, || id.clone());
            }
            let started_at = group.started_at.or_else(|| group.messages.iter().find_map(|m| m.at));
            let mut list = TurnList::new(&id);
            for (position, message) in group.messages.iter().enumerate() {
                let found = FoundTurn {
                    position,
                    source_id: message.source_id.as_deref(),
                    speaker: &message.speaker,
                    role: message.role,
                    at: message.at,
                    text: &message.text,
                    caption: None,
                };
                list.push(loading, &found);
            }
            sessions.push(list.into_session(started_at));
            taken.insert(id);
        }
        for session in sessions.iter().filter(|s| s.started_at.is_none()) {
            loading.note(AnomalyKind::SessionWithoutDate, || session.id.0.clone());
        }
        loading.push(&stem, sessions, Vec::new());
    }
}

fn is_after_gap(group: &Group, message: &Message) -> bool {
    let last = group.messages.iter().rev().find_map(|m| m.at);
    match (last, message.at) {
        (Some(last), Some(at)) => at.duration_since(last) > SignedDuration::from_hours(SESSION_GAP_HOURS),
        _ => false,
    }
}

fn message(
    loading: &mut Loading<'_>,
    record: &Map<String, Value>,
    place: &str,
) -> Result<Message, LoadError> {
    let role_word = loading.text(record, "role", place)?;
    let text = content(loading, record, place)?;
    let shown =
        if place.is_empty() { format!("message {}", loading.position() + 1) } else { place.to_owned() };
    let role = role_or_peer(loading, role_word, &shown);
    let name = record.get("name").and_then(Value::as_str).map(str::trim).filter(|n| !n.is_empty());
    Ok(Message {
        source_id: id_text(record.get("id")),
        speaker: name.unwrap_or(role_word).to_owned(),
        role,
        at: time(loading, record, &shown),
        text,
    })
}

/// The text of a message: a string, a list of parts, or nothing (a call of a tool).
fn content(loading: &mut Loading<'_>, record: &Map<String, Value>, place: &str) -> Result<String, LoadError> {
    let parts = match record.get("content") {
        None | Some(Value::Null) => return Ok(String::new()),
        Some(Value::String(text)) => return Ok(text.clone()),
        Some(Value::Array(parts)) => parts,
        Some(other) => {
            let key = if place.is_empty() { "content".to_owned() } else { format!("{place}.content") };
            let reason = format!("is {} and should be a text or a list of parts", records::kind(other));
            return Err(loading.error(key, reason));
        }
    };
    let mut texts = Vec::new();
    for part in parts {
        match part.as_str().or_else(|| part.get("text").and_then(Value::as_str)) {
            Some(text) => texts.push(text),
            None => {
                let kind = part.get("type").and_then(Value::as_str).unwrap_or_else(|| records::kind(part));
                let position = loading.position();
                loading.note(AnomalyKind::ContentPartSkipped, || {
                    format!("record {position}: {}", shorten(kind))
                });
            }
        }
    }
    Ok(texts.join("\n"))
}

fn time(loading: &mut Loading<'_>, record: &Map<String, Value>, place: &str) -> Option<DateTime> {
    let value = TIME_KEYS.iter().find_map(|key| record.get(*key)).filter(|v| !v.is_null())?;
    let at = date::timestamp(value);
    if at.is_none() {
        loading.note(AnomalyKind::DateUnreadable, || format!("{place}: {}", shorten(&value.to_string())));
    }
    at
}
