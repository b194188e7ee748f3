//! LongMemEval: the haystack's sessions feed the memory; each record is a case with one question.
//!
//! Session ids of the source mark the evidence (`answer_...`), so sessions are called `session_<n>` by their place in
//! the haystack; `evidence_raw` keeps the source's ids.

use std::collections::BTreeMap;

use fta_segment::{Session, SessionId};
use serde_json::{Map, Value};

use super::{
    AnomalyKind, CaseQuestion, EvidenceRef, LoadError, date,
    loading::{FoundTurn, Loading, TurnList, id_text, role_or_peer},
};

/// What the haystack holds.
#[derive(Default)]
struct Haystack {
    sessions: Vec<Session>,
    /// Turns with `has_answer`.
    labelled: Vec<EvidenceRef>,
    /// Sessions by the source's id.
    by_source_id: BTreeMap<String, SessionId>,
}

pub(super) fn record(loading: &mut Loading<'_>, value: &Value) -> Result<(), LoadError> {
    let record = loading.object(value, "record")?;
    let id =
        id_text(record.get("question_id")).unwrap_or_else(|| format!("record-{}", loading.position() + 1));
    let haystack = haystack(loading, &id, record)?;
    let questions = question(loading, &id, record, &haystack).into_iter().collect();
    loading.push(&id, haystack.sessions, questions);
    Ok(())
}

fn haystack(
    loading: &mut Loading<'_>,
    case: &str,
    record: &Map<String, Value>,
) -> Result<Haystack, LoadError> {
    let lists = loading.list(loading.field(record, "haystack_sessions", "")?, "haystack_sessions")?;
    let dates = record.get("haystack_dates").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let ids = record.get("haystack_session_ids").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    if dates.len() != lists.len() || ids.len() != lists.len() {
        loading.note(AnomalyKind::ListsDiffer, || {
            format!("{case} {} sessions, {} dates, {} ids", lists.len(), dates.len(), ids.len())
        });
    }
    let mut haystack = Haystack::default();
    for (position, turns) in lists.iter().enumerate() {
        let place = format!("haystack_sessions[{position}]");
        let id = format!("session_{}", position + 1);
        let started_at = loading.date(
            dates.get(position),
            |value| date::longmemeval(value.as_str()?),
            AnomalyKind::SessionWithoutDate,
            || format!("{case} {id}"),
        );
        if let Some(source) = id_text(ids.get(position)) {
            haystack.by_source_id.entry(source).or_insert_with(|| SessionId(id.clone()));
        }
        let mut list = TurnList::new(&id);
        for (position, turn) in loading.list(turns, &place)?.iter().enumerate() {
            let place = format!("{place}[{position}]");
            let turn = loading.object(turn, &place)?;
            let speaker = loading.text(turn, "role", &place)?;
            let found = FoundTurn {
                position,
                source_id: None,
                speaker,
                role: role_or_peer(loading, speaker, &place),
                at: None,
                text: loading.text(turn, "content", &place)?,
                caption: None,
            };
            let source_id = list.push(loading, &found);
            if let (Some(turn), Some(true)) = (source_id, turn.get("has_answer").and_then(Value::as_bool)) {
                haystack.labelled.push(EvidenceRef { session: SessionId(id.clone()), turn });
            }
        }
        haystack.sessions.push(list.into_session(started_at));
    }
    Ok(haystack)
}

fn question(
    loading: &mut Loading<'_>,
    id: &str,
    record: &Map<String, Value>,
    haystack: &Haystack,
) -> Option<CaseQuestion> {
    let Some(text) = record.get("question").and_then(Value::as_str).filter(|t| !t.trim().is_empty()) else {
        loading.note(AnomalyKind::QuestionWithoutText, || id.to_owned());
        return None;
    };
    let asked_at = loading.date(
        record.get("question_date"),
        |value| date::longmemeval(value.as_str()?),
        AnomalyKind::QuestionDateMissing,
        || id.to_owned(),
    );
    let category_name = record.get("question_type").and_then(Value::as_str).unwrap_or_default().to_owned();
    if category_name.is_empty() {
        loading.note(AnomalyKind::CategoryUnknown, || id.to_owned());
    }
    let evidence_raw = super::locomo::raw_evidence(loading, record.get("answer_session_ids"), id);
    for source in &evidence_raw {
        match haystack.by_source_id.get(source) {
            None => loading.note(AnomalyKind::EvidenceNoSession, || format!("{id} {source}")),
            Some(session) => {
                let session = haystack.sessions.iter().find(|s| &s.id == session);
                let started_at = session.and_then(|s| s.started_at);
                if let (Some(asked), Some(started)) = (asked_at, started_at)
                    && started > asked
                {
                    loading.note(AnomalyKind::EvidenceAfterQuestion, || format!("{id} {source}"));
                }
            }
        }
    }
    Some(CaseQuestion {
        id: id.to_owned(),
        category: None,
        category_name,
        text: text.to_owned(),
        gold: loading.answer(record.get("answer"), id),
        answerable: !id.ends_with("_abs"),
        evidence_raw,
        evidence: haystack.labelled.clone(),
        asked_at,
    })
}
