//! LoCoMo: `conversation` feeds the memory, `qa` is asked; nothing else is read.

use std::collections::{BTreeMap, BTreeSet};

use fta_segment::{Role, Session};
use serde_json::{Map, Value};

use super::{
    AnomalyKind, CaseQuestion, EvidenceRef, LoadError, date,
    evidence::{self, TurnNumber},
    loading::{FoundTurn, Loading, TurnList, id_text, shorten},
};

/// Turns by number.
type Turns = BTreeMap<TurnNumber, EvidenceRef>;

/// Names of the categories by number, as in the data set's own code.
fn category_name(number: u8) -> &'static str {
    match number {
        1 => "multi-hop",
        2 => "temporal",
        3 => "open-domain",
        4 => "single-hop",
        5 => "adversarial",
        _ => "",
    }
}

pub(super) fn record(loading: &mut Loading<'_>, value: &Value) -> Result<(), LoadError> {
    let sample = loading.object(value, "record")?;
    let id = id_text(sample.get("sample_id")).unwrap_or_default();
    let conversation = loading.object(loading.field(sample, "conversation", "")?, "conversation")?;
    let (sessions, turns) = sessions(loading, &id, conversation)?;
    let questions = match sample.get("qa") {
        None | Some(Value::Null) => Vec::new(),
        Some(qa) => {
            let items = loading.list(qa, "qa")?;
            questions(loading, &id, items, &turns)?
        }
    };
    loading.push(&id, sessions, questions);
    Ok(())
}

fn sessions(
    loading: &mut Loading<'_>,
    case: &str,
    conversation: &Map<String, Value>,
) -> Result<(Vec<Session>, Turns), LoadError> {
    let speakers: BTreeSet<&str> =
        ["speaker_a", "speaker_b"].iter().filter_map(|key| conversation.get(*key)?.as_str()).collect();
    let mut numbered = BTreeMap::new();
    for key in conversation.keys() {
        if let Some(number) = session_number(key) {
            numbered.insert(number, key.as_str());
        } else if let Some(number) = key.strip_suffix("_date_time").and_then(session_number)
            && !conversation.contains_key(&format!("session_{number}"))
        {
            loading.note(AnomalyKind::DateWithoutSession, || format!("{case} {key}"));
        }
    }
    let (mut sessions, mut turns) = (Vec::new(), Turns::new());
    for (number, key) in numbered {
        let started_at = loading.date(
            conversation.get(&format!("{key}_date_time")),
            |value| date::locomo(value.as_str()?),
            AnomalyKind::SessionWithoutDate,
            || format!("{case} {key}"),
        );
        let place = format!("conversation.{key}");
        let mut list = TurnList::new(key);
        for (position, turn) in loading.list(&conversation[key], &place)?.iter().enumerate() {
            let place = format!("{place}[{position}]");
            let turn = loading.object(turn, &place)?;
            let speaker = loading.text(turn, "speaker", &place)?;
            if !speakers.is_empty() && !speakers.contains(speaker) {
                loading.note(AnomalyKind::UnknownSpeaker, || format!("{case} {place}: {}", shorten(speaker)));
            }
            let dia_id = turn.get("dia_id").and_then(Value::as_str);
            let found = FoundTurn {
                position,
                source_id: dia_id,
                speaker,
                role: Role::Peer,
                at: None,
                text: loading.text(turn, "text", &place)?,
                caption: turn.get("blip_caption").and_then(Value::as_str),
            };
            if let Some(source_id) = list.push(loading, &found) {
                let by_position = (number, position as u32 + 1);
                let id = dia_id.and_then(evidence::turn_number).unwrap_or(by_position);
                turns.entry(id).or_insert(EvidenceRef { session: key.into(), turn: source_id });
            }
        }
        sessions.push(list.into_session(started_at));
    }
    Ok((sessions, turns))
}

/// The number of `session_<n>`, written without leading zeros.
fn session_number(key: &str) -> Option<u32> {
    let digits = key.strip_prefix("session_")?;
    let number: u32 = digits.parse().ok()?;
    (number.to_string() == digits).then_some(number)
}

fn questions(
    loading: &mut Loading<'_>,
    case: &str,
    items: &[Value],
    turns: &Turns,
) -> Result<Vec<CaseQuestion>, LoadError> {
    let mut questions = Vec::with_capacity(items.len());
    for (position, item) in items.iter().enumerate() {
        let item = loading.object(item, &format!("qa[{position}]"))?;
        let id = format!("{case}_qa{position}");
        let Some(text) = item.get("question").and_then(Value::as_str).filter(|t| !t.trim().is_empty()) else {
            loading.note(AnomalyKind::QuestionWithoutText, || id);
            continue;
        };
        let category = item.get("category").and_then(Value::as_u64).and_then(|n| u8::try_from(n).ok());
        if !category.is_some_and(|n| (1..=5).contains(&n)) {
            loading.note(AnomalyKind::CategoryUnknown, || id.clone());
        }
        let answerable = category != Some(5);
        let gold = if answerable {
            loading.answer(item.get("answer"), &id)
        } else {
            if item.contains_key("answer") {
                loading.note(AnomalyKind::AnswerOfUnanswerable, || id.clone());
            }
            String::new()
        };
        let evidence_raw = raw_evidence(loading, item.get("evidence"), &id);
        questions.push(CaseQuestion {
            category,
            category_name: category.map_or("", category_name).to_owned(),
            text: text.to_owned(),
            gold,
            answerable,
            evidence: resolve(loading, &id, &evidence_raw, turns),
            evidence_raw,
            asked_at: None,
            id,
        });
    }
    Ok(questions)
}

/// Evidence as a list of strings; a missing or empty list is counted.
pub(super) fn raw_evidence(loading: &mut Loading<'_>, value: Option<&Value>, question: &str) -> Vec<String> {
    let raw: Vec<String> = match value {
        None | Some(Value::Null) => {
            loading.note(AnomalyKind::EvidenceMissing, || question.to_owned());
            return Vec::new();
        }
        Some(Value::Array(items)) => {
            items.iter().map(|i| i.as_str().map_or_else(|| i.to_string(), str::to_owned)).collect()
        }
        Some(Value::String(text)) => vec![text.clone()],
        Some(other) => vec![other.to_string()],
    };
    if raw.is_empty() {
        loading.note(AnomalyKind::EvidenceEmpty, || question.to_owned());
    }
    raw
}

fn resolve(loading: &mut Loading<'_>, question: &str, raw: &[String], turns: &Turns) -> Vec<EvidenceRef> {
    let mut evidence: Vec<EvidenceRef> = Vec::new();
    for text in raw {
        let place = || format!("{question} {}", shorten(text));
        let found = evidence::read(text);
        match found.ids.len() {
            0 => loading.note(AnomalyKind::EvidenceBroken, place),
            1 => {}
            _ => loading.note(AnomalyKind::EvidenceSeveralIds, place),
        }
        if !found.ids.is_empty() && !found.clean {
            loading.note(AnomalyKind::EvidenceRepaired, place);
        }
        for id in found.ids {
            match turns.get(&id) {
                None => loading.note(AnomalyKind::EvidenceNoTurn, place),
                Some(turn) if evidence.contains(turn) => loading.note(AnomalyKind::EvidenceTwice, place),
                Some(turn) => evidence.push(turn.clone()),
            }
        }
    }
    evidence
}
