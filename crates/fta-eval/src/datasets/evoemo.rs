//! EvoEmo (ES-MemEval): `dialog_history` and the seeker's name feed the memory, `questions` are asked.

use std::collections::{BTreeMap, BTreeSet};

use fta_segment::{Role, Session, SessionId};
use serde_json::{Map, Value};

use super::{
    AnomalyKind, CaseQuestion, EvidenceRef, LoadError, date,
    loading::{FoundTurn, Loading, TurnList, id_text, role_or_peer, shorten, unique},
    locomo::raw_evidence,
};

/// Turns by session id and `idx` in the source.
type Turns = BTreeMap<(String, String), EvidenceRef>;

/// What questions refer to.
struct History {
    sessions: Vec<Session>,
    turns: Turns,
    events: BTreeSet<String>,
}

pub(super) fn record(loading: &mut Loading<'_>, value: &Value) -> Result<(), LoadError> {
    let user = loading.object(value, "record")?;
    let id = id_text(user.get("id")).unwrap_or_default();
    let name = user.get("basic_info").and_then(|info| info.get("name")).and_then(Value::as_str);
    let name = name.map(str::trim).filter(|n| !n.is_empty()).unwrap_or("seeker");
    let mut history = History { sessions: Vec::new(), turns: Turns::new(), events: event_ids(user) };
    let dialogs = loading.list(loading.field(user, "dialog_history", "")?, "dialog_history")?;
    for (position, dialog) in dialogs.iter().enumerate() {
        session(loading, name, dialog, position, &mut history)?;
    }
    let mut questions = Vec::new();
    let groups = match user.get("questions") {
        None | Some(Value::Null) => &[],
        Some(groups) => loading.list(groups, "questions")?,
    };
    for (position, group) in groups.iter().enumerate() {
        let group = loading.object(group, &format!("questions[{position}]"))?;
        question_group(loading, &id, group, &history, &mut questions)?;
    }
    loading.push(&id, history.sessions, questions);
    Ok(())
}

fn event_ids(user: &Map<String, Value>) -> BTreeSet<String> {
    let events = user.get("event_experience").and_then(Value::as_array);
    events.into_iter().flatten().filter_map(|event| id_text(event.get("id"))).collect()
}

fn session(
    loading: &mut Loading<'_>,
    seeker: &str,
    value: &Value,
    position: usize,
    history: &mut History,
) -> Result<(), LoadError> {
    let place = format!("dialog_history[{position}]");
    let dialog = loading.object(value, &place)?;
    let wanted = id_text(dialog.get("id")).unwrap_or_else(|| format!("session_{}", position + 1));
    let id = unique(&wanted, |id| history.sessions.iter().any(|s| s.id.0 == id));
    if id != wanted {
        loading.note(AnomalyKind::SessionIdTwice, || id.clone());
    }
    for key in ["emotion", "topic"] {
        if dialog.get(key).is_some_and(Value::is_array) {
            loading.note(AnomalyKind::ListAnnotation, || format!("{id} {key}"));
        }
    }
    let started_at =
        loading
            .date(dialog.get("timestamp"), date::timestamp, AnomalyKind::SessionWithoutDate, || id.clone());
    let mut list = TurnList::new(&id);
    let place = format!("{place}.dialogue");
    for (position, turn) in
        loading.list(loading.field(dialog, "dialogue", &place)?, &place)?.iter().enumerate()
    {
        let place = format!("{place}[{position}]");
        let turn = loading.object(turn, &place)?;
        let role_word = loading.text(turn, "role", &place)?;
        let role = role_or_peer(loading, role_word, &place);
        let idx = index(loading, turn, &place);
        let source_id = idx.as_ref().map(|idx| format!("{id}:{idx}"));
        let found = FoundTurn {
            position,
            source_id: source_id.as_deref(),
            speaker: if role == Role::Seeker { seeker } else { role_word },
            role,
            at: None,
            text: loading.text(turn, "content", &place)?,
            caption: None,
        };
        if let Some(turn) = list.push(loading, &found) {
            let key = (wanted.clone(), idx.unwrap_or_else(|| (position + 1).to_string()));
            let reference = EvidenceRef { session: SessionId(id.clone()), turn };
            history.turns.entry(key).or_insert(reference);
        }
    }
    history.sessions.push(list.into_session(started_at));
    Ok(())
}

/// `idx` as digits; a text is counted.
pub(super) fn index(loading: &mut Loading<'_>, map: &Map<String, Value>, place: &str) -> Option<String> {
    let value = map.get("idx");
    if value.is_some_and(Value::is_string) {
        loading.note(AnomalyKind::IndexIsText, || place.to_owned());
    }
    id_text(value)
}

fn question_group(
    loading: &mut Loading<'_>,
    case: &str,
    group: &Map<String, Value>,
    history: &History,
    questions: &mut Vec<CaseQuestion>,
) -> Result<(), LoadError> {
    let name = id_text(group.get("id")).unwrap_or_else(|| "timeline".to_owned());
    if name != "timeline" && !history.sessions.iter().any(|s| s.id.0 == name) {
        loading.note(AnomalyKind::GroupWithoutSession, || format!("{case} {name}"));
    }
    let place = format!("questions `{name}`");
    let items = loading.list(loading.field(group, "questions", &place)?, &place)?;
    for (position, item) in items.iter().enumerate() {
        let item = loading.object(item, &format!("{place}[{position}]"))?;
        let idx = index(loading, item, &format!("{case} {name}[{position}]"));
        let idx = idx.unwrap_or_else(|| (position + 1).to_string());
        let id = unique(&format!("{case}:{name}:{idx}"), |id| questions.iter().any(|q| q.id == id));
        let Some(text) = item.get("question").and_then(Value::as_str).filter(|t| !t.trim().is_empty()) else {
            loading.note(AnomalyKind::QuestionWithoutText, || id);
            continue;
        };
        let capability = item.get("capability").and_then(Value::as_str).unwrap_or_default();
        let category_name = capability.trim().to_lowercase();
        if category_name.is_empty() {
            loading.note(AnomalyKind::CategoryUnknown, || id.clone());
        }
        let evidence_raw = raw_evidence(loading, item.get("evidence"), &id);
        questions.push(CaseQuestion {
            category: None,
            answerable: category_name != "abstention",
            category_name,
            text: text.to_owned(),
            gold: loading.answer(item.get("answer"), &id),
            evidence: resolve(loading, &id, &evidence_raw, history),
            evidence_raw,
            asked_at: None,
            id,
        });
    }
    Ok(())
}

fn resolve(loading: &mut Loading<'_>, question: &str, raw: &[String], history: &History) -> Vec<EvidenceRef> {
    let mut evidence: Vec<EvidenceRef> = Vec::new();
    for text in raw {
        let place = || format!("{question} {}", shorten(text));
        let Some((session, idx)) = text.trim().split_once(':') else {
            let is_event = history.events.contains(text.trim());
            loading.note(
                if is_event { AnomalyKind::EvidenceIsEvent } else { AnomalyKind::EvidenceBroken },
                place,
            );
            continue;
        };
        match history.turns.get(&(session.trim().to_owned(), idx.trim().to_owned())) {
            None => loading.note(AnomalyKind::EvidenceNoTurn, place),
            Some(turn) if evidence.contains(turn) => loading.note(AnomalyKind::EvidenceTwice, place),
            Some(turn) => evidence.push(turn.clone()),
        }
    }
    evidence
}
