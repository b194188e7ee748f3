//! ESConv: one undated session per dialogue, no questions. The full release's `dialog` with `speaker` is read too.

use fta_segment::Session;
use serde_json::{Map, Value};

use super::{
    LoadError,
    evoemo::index,
    loading::{FoundTurn, Loading, TurnList, clean_id, id_text, role_or_peer},
};

pub(super) fn record(loading: &mut Loading<'_>, value: &Value) -> Result<(), LoadError> {
    let record = loading.object(value, "record")?;
    let session = session(loading, record)?;
    let id = session.id.0.clone();
    loading.push(&id, vec![session], Vec::new());
    Ok(())
}

/// Id of a dialogue.
pub(super) fn dialogue_id(loading: &Loading<'_>, record: &Map<String, Value>) -> String {
    let id = id_text(record.get("id")).map(|id| clean_id(&id)).filter(|id| !id.is_empty());
    id.unwrap_or_else(|| format!("dialogue-{}", loading.position() + 1))
}

/// A dialogue as a session of the same id; turns are called `<dialogue>:<idx>`.
pub(super) fn session(loading: &mut Loading<'_>, record: &Map<String, Value>) -> Result<Session, LoadError> {
    let id = dialogue_id(loading, record);
    let key = if record.contains_key("dialogue") { "dialogue" } else { "dialog" };
    let mut list = TurnList::new(&id);
    for (position, turn) in loading.list(loading.field(record, key, "")?, key)?.iter().enumerate() {
        let place = format!("{key}[{position}]");
        let turn = loading.object(turn, &place)?;
        let role_key = if turn.contains_key("role") { "role" } else { "speaker" };
        let role = loading.text(turn, role_key, &place)?;
        let source_id = index(loading, turn, &place).map(|idx| format!("{id}:{idx}"));
        let found = FoundTurn {
            position,
            source_id: source_id.as_deref(),
            speaker: role,
            role: role_or_peer(loading, role, &place),
            at: None,
            text: loading.text(turn, "content", &place)?,
            caption: None,
        };
        list.push(loading, &found);
    }
    Ok(list.into_session(None))
}
