//! ESConv questions: questions about dialogues of an ESConv file, which they name by path, checksum, id and turn.
//!
//! No dialogue is in the file. Conversations are those that [`super::esconv`] makes of the dialogues, one case for each
//! that is asked about; of the questions nothing gets into them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use fta_segment::Session;
use serde_json::{Map, Value};

use super::{
    AnomalyKind, CaseQuestion, EvidenceRef, Format, LoadError, esconv,
    loading::{Loading, clean_id, id_text},
    locomo::raw_evidence,
    records,
};
use crate::digest::sha256;

/// LoCoMo categories, by which [`crate::metrics::locomo_official_f1`] scores, by the name of a question's category.
type Categories = BTreeMap<String, u8>;

/// Dialogues that are asked about, by id.
struct Dialogues {
    path: PathBuf,
    sessions: BTreeMap<String, Session>,
}

pub(super) fn record(loading: &mut Loading<'_>, value: &Value) -> Result<(), LoadError> {
    let record = loading.object(value, "record")?;
    let categories = categories(loading, record)?;
    let items = loading.list(loading.field(record, "questions", "")?, "questions")?;
    let (mut order, mut ids) = (Vec::new(), BTreeSet::new());
    for (position, item) in items.iter().enumerate() {
        let place = format!("questions[{position}]");
        let id = clean_id(loading.text(loading.object(item, &place)?, "dialogue", &place)?);
        if ids.insert(id.clone()) {
            order.push(id);
        }
    }
    let dialogues = dialogues(loading, record, &ids)?;
    let mut questions: BTreeMap<String, Vec<CaseQuestion>> = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for (position, item) in items.iter().enumerate() {
        let place = format!("questions[{position}]");
        let item = loading.object(item, &place)?;
        let dialogue = clean_id(loading.text(item, "dialogue", &place)?);
        let Some(id) = id_text(item.get("id")) else {
            return Err(loading.error(format!("{place}.id"), "is missing"));
        };
        if !taken.insert(id.clone()) {
            return Err(loading.error(format!("{place}.id"), format!("`{id}` is the id of two questions")));
        }
        let Some(session) = dialogues.sessions.get(&dialogue) else {
            return Err(LoadError::NoSuchDialogue {
                path: loading.path.to_owned(),
                question: id,
                dialogue,
                dialogues: dialogues.path,
            });
        };
        questions.entry(dialogue).or_default().extend(question(loading, id, item, session, &categories)?);
    }
    let mut sessions = dialogues.sessions;
    for id in order {
        loading.push(
            &id,
            sessions.remove(&id).into_iter().collect(),
            questions.remove(&id).unwrap_or_default(),
        );
    }
    Ok(())
}

fn categories(loading: &Loading<'_>, record: &Map<String, Value>) -> Result<Categories, LoadError> {
    let Some(value) = record.get("categories") else { return Ok(Categories::new()) };
    let numbers = loading.object(value, "categories")?.iter().map(|(name, number)| {
        let number = number.as_u64().and_then(|n| u8::try_from(n).ok()).filter(|n| (1..=5).contains(n));
        let number = number.ok_or_else(|| {
            loading.error(format!("categories.{name}"), "should be the number of a LoCoMo category, 1 to 5")
        })?;
        Ok((name.clone(), number))
    });
    numbers.collect()
}

/// Reads the dialogues of these ids, and no others, from the file that the record names.
fn dialogues(
    loading: &mut Loading<'_>,
    record: &Map<String, Value>,
    ids: &BTreeSet<String>,
) -> Result<Dialogues, LoadError> {
    let named = loading.text(record, "dialogues", "")?;
    let path = loading.path.parent().unwrap_or(Path::new("")).join(named);
    let remedy = match record.get("dialogues_source").and_then(Value::as_str) {
        Some(place) => format!("get it from: {place}"),
        None => "correct `dialogues`, a path from the folder of the questions".to_owned(),
    };
    let expected = loading.text(record, "dialogues_sha256", "")?;
    let bytes = std::fs::read(&path).map_err(|source| LoadError::Dialogues {
        path: loading.path.to_owned(),
        dialogues: path.clone(),
        remedy: remedy.clone(),
        source,
    })?;
    // Refused and not merely counted: a run is known by the checksum of the questions, which thereby holds this one.
    let received = sha256(&bytes);
    if !received.eq_ignore_ascii_case(expected) {
        return Err(LoadError::DialoguesDiffer {
            path: loading.path.to_owned(),
            dialogues: path,
            expected: expected.to_owned(),
            received,
            remedy,
        });
    }
    let mut reading = Loading::new(&path, Format::EsConv, false);
    let mut sessions = BTreeMap::new();
    records::each(&path, records::text(&path, &bytes)?, |position, value| {
        let reading = reading.at(position);
        let dialogue = reading.object(&value, "record")?;
        let id = esconv::dialogue_id(reading, dialogue);
        if !ids.contains(&id) {
            return Ok(());
        }
        if sessions.contains_key(&id) {
            reading.note(AnomalyKind::DialogueIdTwice, || id);
            return Ok(());
        }
        let session = esconv::session(reading, dialogue)?;
        sessions.insert(id, session);
        Ok(())
    })?;
    loading.report.absorb(reading.report);
    Ok(Dialogues { path, sessions })
}

/// One question; `None` and counted if it has no text.
fn question(
    loading: &mut Loading<'_>,
    id: String,
    item: &Map<String, Value>,
    session: &Session,
    categories: &Categories,
) -> Result<Option<CaseQuestion>, LoadError> {
    let Some(text) = item.get("question").and_then(Value::as_str).filter(|t| !t.trim().is_empty()) else {
        loading.note(AnomalyKind::QuestionWithoutText, || id);
        return Ok(None);
    };
    let answerable = match item.get("answerable") {
        None => true,
        Some(Value::Bool(answerable)) => *answerable,
        Some(other) => {
            let reason = format!("is {} and should be a truth value", records::kind(other));
            return Err(loading.error(format!("question `{id}`, answerable"), reason));
        }
    };
    let category_name = item.get("category").and_then(Value::as_str).unwrap_or_default().to_owned();
    let category = categories.get(&category_name).copied();
    if category.is_none() {
        loading.note(AnomalyKind::CategoryUnknown, || id.clone());
    }
    let (gold, found) = if answerable {
        (loading.answer(item.get("answer"), &id), raw_evidence(loading, item.get("evidence"), &id))
    } else {
        if item.get("answer").is_some_and(|answer| !answer.is_null()) {
            loading.note(AnomalyKind::AnswerOfUnanswerable, || id.clone());
        }
        (String::new(), Vec::new())
    };
    let evidence = evidence(loading, &id, &found, session)?;
    Ok(Some(CaseQuestion {
        category,
        category_name,
        text: text.to_owned(),
        gold,
        answerable,
        evidence_raw: found.iter().map(|turn| turn_id(session, turn)).collect(),
        evidence,
        asked_at: None,
        id,
    }))
}

fn evidence(
    loading: &mut Loading<'_>,
    question: &str,
    found: &[String],
    session: &Session,
) -> Result<Vec<EvidenceRef>, LoadError> {
    let mut evidence: Vec<EvidenceRef> = Vec::with_capacity(found.len());
    for idx in found {
        let turn = turn_id(session, idx);
        if !session.turns.iter().any(|t| t.source_id == turn) {
            return Err(LoadError::NoSuchTurn {
                path: loading.path.to_owned(),
                question: question.to_owned(),
                dialogue: session.id.0.clone(),
                turn: idx.clone(),
            });
        }
        let reference = EvidenceRef { session: session.id.clone(), turn };
        if evidence.contains(&reference) {
            loading.note(AnomalyKind::EvidenceTwice, || format!("{question} {idx}"));
        } else {
            evidence.push(reference);
        }
    }
    Ok(evidence)
}

/// Id of a turn as [`esconv::session`] makes it.
fn turn_id(session: &Session, idx: &str) -> String {
    format!("{}:{}", session.id, idx.trim())
}
