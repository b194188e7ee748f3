//! What all loaders share: reading typed fields, numbering, ordering, counting.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use fta_segment::{Role, Session, SessionId, Turn};
use jiff::civil::DateTime;
use serde_json::{Map, Value};

use super::{AnomalyKind, Case, CaseQuestion, Format, LoadError, LoadReport, Loaded, records};

/// Longest id that a memory takes as its name, in bytes.
const LONGEST_ID: usize = 200;

/// A load in progress.
pub(super) struct Loading<'a> {
    pub(super) path: &'a Path,
    pub(super) report: LoadReport,
    record: usize,
    records: usize,
    cases: Vec<Case>,
    case_ids: BTreeSet<String>,
}

impl<'a> Loading<'a> {
    pub(super) fn new(path: &'a Path, format: Format, detected: bool) -> Self {
        let report = LoadReport::new(path.to_owned(), format, detected);
        Self { path, report, record: 0, records: 0, cases: Vec::new(), case_ids: BTreeSet::new() }
    }

    /// Goes to a record.
    pub(super) fn at(&mut self, record: usize) -> &mut Self {
        self.record = record;
        self.records = record + 1;
        self
    }

    /// Position of the current record.
    pub(super) fn position(&self) -> usize {
        self.record
    }

    pub(super) fn note(&mut self, kind: AnomalyKind, place: impl FnOnce() -> String) {
        self.report.note(kind, place);
    }

    pub(super) fn error(&self, key: impl Into<String>, reason: impl Into<String>) -> LoadError {
        LoadError::Record {
            path: self.path.to_owned(),
            record: self.record,
            key: key.into(),
            reason: reason.into(),
            format: self.report.format,
        }
    }

    pub(super) fn object<'v>(
        &self,
        value: &'v Value,
        key: &str,
    ) -> Result<&'v Map<String, Value>, LoadError> {
        value
            .as_object()
            .ok_or_else(|| self.error(key, format!("is {} and should be an object", records::kind(value))))
    }

    pub(super) fn list<'v>(&self, value: &'v Value, key: &str) -> Result<&'v [Value], LoadError> {
        match value {
            Value::Array(items) => Ok(items),
            _ => Err(self.error(key, format!("is {} and should be a list", records::kind(value)))),
        }
    }

    /// Field `key` of `map`; `place` is where the map stands.
    pub(super) fn field<'v>(
        &self,
        map: &'v Map<String, Value>,
        key: &str,
        place: &str,
    ) -> Result<&'v Value, LoadError> {
        map.get(key).ok_or_else(|| self.error(join(place, key), "is missing"))
    }

    /// Text field `key` of `map`.
    pub(super) fn text<'v>(
        &self,
        map: &'v Map<String, Value>,
        key: &str,
        place: &str,
    ) -> Result<&'v str, LoadError> {
        let value = self.field(map, key, place)?;
        value.as_str().ok_or_else(|| {
            self.error(join(place, key), format!("is {} and should be a text", records::kind(value)))
        })
    }

    /// A date field: `None` and counted if it is missing, null or unreadable.
    pub(super) fn date(
        &mut self,
        value: Option<&Value>,
        parse: impl Fn(&Value) -> Option<DateTime>,
        missing: AnomalyKind,
        place: impl Fn() -> String,
    ) -> Option<DateTime> {
        let Some(value) = value.filter(|v| !v.is_null()) else {
            self.note(missing, place);
            return None;
        };
        let date = parse(value);
        if date.is_none() {
            self.note(AnomalyKind::DateUnreadable, || {
                format!("{}: {}", place(), shorten(&value.to_string()))
            });
        }
        date
    }

    /// An answer as text.
    pub(super) fn answer(&mut self, value: Option<&Value>, question: &str) -> String {
        match value {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => {
                self.note(AnomalyKind::AnswerIsNumber, || question.to_owned());
                number.to_string()
            }
            Some(Value::Bool(truth)) => truth.to_string(),
            _ => {
                self.note(AnomalyKind::AnswerMissing, || question.to_owned());
                String::new()
            }
        }
    }

    /// Adds a case: ids made unique, empty sessions dropped, sessions in time order, all of it counted.
    pub(super) fn push(&mut self, id: &str, mut sessions: Vec<Session>, questions: Vec<CaseQuestion>) {
        let id = self.unique_case_id(id);
        sessions.retain(|session| {
            let keep = !session.turns.is_empty();
            if !keep {
                self.report.note(AnomalyKind::SessionWithoutTurns, || format!("{id} {}", session.id));
            }
            keep
        });
        if sessions.is_empty() {
            self.note(AnomalyKind::NoHistory, || id.clone());
        }
        if sort_by_time(&mut sessions) {
            self.note(AnomalyKind::SessionsOutOfOrder, || id.clone());
        }
        self.note_odd_texts(&questions);
        let report = &mut self.report;
        report.cases += 1;
        report.sessions += sessions.len();
        report.undated_sessions += sessions.iter().filter(|s| s.started_at.is_none()).count();
        for turn in sessions.iter().flat_map(|s| &s.turns) {
            report.turns += 1;
            report.captions += usize::from(turn.caption.is_some());
        }
        for question in &questions {
            report.questions += 1;
            report.questions_with_evidence += usize::from(!question.evidence.is_empty());
            *report.questions_by_category.entry(question.category_label()).or_default() += 1;
        }
        self.cases.push(Case { conversation: fta_segment::Conversation { id, sessions }, questions });
    }

    /// The cases, if there is anything to remember.
    pub(super) fn finish(self) -> Result<Loaded, LoadError> {
        if self.report.turns == 0 {
            return Err(LoadError::NoTurns {
                path: self.path.to_owned(),
                records: self.records,
                format: self.report.format,
            });
        }
        Ok(Loaded { cases: self.cases, report: self.report })
    }

    fn unique_case_id(&mut self, id: &str) -> String {
        let clean = clean_id(id);
        let clean = if clean.is_empty() {
            let number = format!("record-{}", self.record + 1);
            self.report.note(AnomalyKind::CaseWithoutId, || number.clone());
            number
        } else {
            clean
        };
        let unique = unique(&clean, |id| self.case_ids.contains(id));
        if unique != clean {
            self.report.note(AnomalyKind::CaseIdTwice, || unique.clone());
        }
        self.case_ids.insert(unique.clone());
        unique
    }

    fn note_odd_texts(&mut self, questions: &[CaseQuestion]) {
        let mut seen = BTreeMap::new();
        for question in questions {
            if let Some(first) = seen.insert(question.text.trim(), &question.id) {
                self.note(AnomalyKind::QuestionTwice, || format!("{first} and {}", question.id));
            }
            let texts = [&question.text, &question.gold];
            if texts.iter().any(|t| t.trim().len() != t.len()) {
                self.note(AnomalyKind::OuterSpace, || question.id.clone());
            }
            if texts.iter().any(|t| t.contains('\u{200b}')) {
                self.note(AnomalyKind::ZeroWidthSpace, || question.id.clone());
            }
        }
    }
}

/// Numbers the turns of a session, gives ids to those that have none, drops those that say nothing.
pub(super) struct TurnList<'s> {
    session: &'s str,
    turns: Vec<Turn>,
    ids: BTreeSet<String>,
}

/// A turn as a loader found it.
pub(super) struct FoundTurn<'t> {
    /// Position in the source's list, from 0.
    pub(super) position: usize,
    pub(super) source_id: Option<&'t str>,
    pub(super) speaker: &'t str,
    pub(super) role: Role,
    pub(super) at: Option<DateTime>,
    pub(super) text: &'t str,
    pub(super) caption: Option<&'t str>,
}

impl<'s> TurnList<'s> {
    pub(super) fn new(session: &'s str) -> Self {
        Self { session, turns: Vec::new(), ids: BTreeSet::new() }
    }

    /// Adds a turn, or counts it as empty; returns its source id if it was added.
    pub(super) fn push(&mut self, loading: &mut Loading<'_>, turn: &FoundTurn<'_>) -> Option<String> {
        let caption = turn.caption.map(str::trim).filter(|c| !c.is_empty());
        let numbered = format!("{}:{}", self.session, turn.position + 1);
        if turn.text.trim().is_empty() && caption.is_none() {
            loading.note(AnomalyKind::TurnWithoutText, || numbered);
            return None;
        }
        let wanted = turn.source_id.map(str::trim).filter(|id| !id.is_empty()).unwrap_or(&numbered);
        let source_id = unique(wanted, |id| self.ids.contains(id));
        if source_id != wanted {
            loading.note(AnomalyKind::TurnIdRepaired, || format!("{wanted} as {source_id}"));
        }
        self.ids.insert(source_id.clone());
        let speaker = turn.speaker.trim();
        self.turns.push(Turn {
            index: self.turns.len() as u32,
            source_id: source_id.clone(),
            speaker: if speaker.is_empty() { "unknown".to_owned() } else { speaker.to_owned() },
            role: turn.role,
            at: turn.at,
            text: turn.text.to_owned(),
            caption: caption.map(str::to_owned),
        });
        Some(source_id)
    }

    pub(super) fn into_session(self, started_at: Option<DateTime>) -> Session {
        Session { id: SessionId(self.session.to_owned()), started_at, turns: self.turns }
    }
}

/// Role of a role word; `None` if it is not known.
pub(super) fn role(word: &str) -> Option<Role> {
    match word.trim().to_ascii_lowercase().as_str() {
        "user" | "human" | "seeker" => Some(Role::Seeker),
        "assistant" | "ai" | "model" | "bot" | "supporter" => Some(Role::Supporter),
        "system" | "tool" | "developer" | "function" => Some(Role::System),
        "peer" => Some(Role::Peer),
        _ => None,
    }
}

/// Role of a role word; an unknown one is counted and taken as a peer's.
pub(super) fn role_or_peer(loading: &mut Loading<'_>, word: &str, place: &str) -> Role {
    role(word).unwrap_or_else(|| {
        loading.note(AnomalyKind::UnknownRole, || format!("{place}: {}", shorten(word)));
        Role::Peer
    })
}

/// `id`, or `id-2`, `id-3` and so on, whichever is the first that is not taken.
pub(super) fn unique(id: &str, taken: impl Fn(&str) -> bool) -> String {
    if !taken(id) {
        return id.to_owned();
    }
    (2..=usize::MAX)
        .map(|n| format!("{id}-{n}"))
        .find(|id| !taken(id))
        .expect("fewer ids are taken than there are numbers")
}

/// An id that a memory can be named by: no control characters, not too long.
pub(super) fn clean_id(id: &str) -> String {
    let mut clean: String = id.trim().chars().filter(|c| !c.is_control()).collect();
    let mut end = clean.len().min(LONGEST_ID - 20);
    while !clean.is_char_boundary(end) {
        end -= 1;
    }
    clean.truncate(end);
    clean
}

/// An id or index that is a text or a number.
pub(super) fn id_text(value: Option<&Value>) -> Option<String> {
    match value {
        Some(Value::String(text)) => Some(text.trim().to_owned()).filter(|t| !t.is_empty()),
        Some(Value::Number(number)) => Some(number.to_string()),
        _ => None,
    }
}

/// The first characters of a text, for messages.
pub(super) fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(60).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

fn join(place: &str, key: &str) -> String {
    if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") }
}

/// Sorts sessions by time, equal times in the file's order; an undated one stays behind its predecessor.
/// Returns whether anything moved.
fn sort_by_time(sessions: &mut [Session]) -> bool {
    let mut last = None;
    let mut keys = Vec::with_capacity(sessions.len());
    for session in sessions.iter() {
        last = session.started_at.or(last);
        keys.push(last);
    }
    if keys.is_sorted() {
        return false;
    }
    let by_id: BTreeMap<SessionId, Option<DateTime>> =
        sessions.iter().map(|s| s.id.clone()).zip(keys).collect();
    sessions.sort_by_key(|session| by_id.get(&session.id).copied().flatten());
    true
}
