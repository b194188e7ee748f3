//! What was loaded and what was odd about it.

use std::{
    collections::BTreeMap,
    fmt::{self, Display, Formatter},
    path::PathBuf,
};

use serde::{Deserialize, Serialize};

use super::Format;

/// Examples kept of each kind of anomaly.
const EXAMPLES: usize = 5;

/// Something in the data that a loader repaired, left out or merely noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AnomalyKind {
    /// A date is given for a session that is not there; ignored.
    DateWithoutSession,
    /// A session has no date; it is loaded undated.
    SessionWithoutDate,
    /// A date cannot be read or does not exist; what it dates is loaded undated.
    DateUnreadable,
    /// A session has no turns; left out.
    SessionWithoutTurns,
    /// Sessions do not stand in time order; sorted by time.
    SessionsOutOfOrder,
    /// A session id occurs twice in a case; the later session got a suffix.
    SessionIdTwice,
    /// A case id occurs twice; the later case got a suffix.
    CaseIdTwice,
    /// A record has no id; it was numbered.
    CaseWithoutId,
    /// A case has no session at all; kept, its questions have no history.
    NoHistory,
    /// A turn says nothing; left out.
    TurnWithoutText,
    /// A turn has no id of its own or one that is taken; it was numbered.
    TurnIdRepaired,
    /// A turn's speaker is none of the speakers of the conversation; kept.
    UnknownSpeaker,
    /// A role is not known; the turn is kept as a peer's.
    UnknownRole,
    /// Part of a message that is no text (a picture, a sound); left out.
    ContentPartSkipped,
    /// A question has no text; left out.
    QuestionWithoutText,
    /// The same question occurs twice in a case; kept.
    QuestionTwice,
    /// A question's category is missing or of no known kind; kept without.
    CategoryUnknown,
    /// A question has no date although the format has one.
    QuestionDateMissing,
    /// An answer is a number; taken as text.
    AnswerIsNumber,
    /// An answer is missing; the gold text is empty.
    AnswerMissing,
    /// A question without answer (category 5) has one; ignored.
    AnswerOfUnanswerable,
    /// A question or answer begins or ends with white space; kept.
    OuterSpace,
    /// A question or answer holds zero-width spaces; kept.
    ZeroWidthSpace,
    /// The evidence list is not there.
    EvidenceMissing,
    /// The evidence list is empty.
    EvidenceEmpty,
    /// One evidence string holds several ids; all taken.
    EvidenceSeveralIds,
    /// An evidence id is misspelt but clear; repaired.
    EvidenceRepaired,
    /// An evidence string holds no id; dropped.
    EvidenceBroken,
    /// An evidence id is of no turn; dropped.
    EvidenceNoTurn,
    /// An evidence id is listed twice; taken once.
    EvidenceTwice,
    /// An evidence id is of an event of the timeline, not of a turn; dropped.
    EvidenceIsEvent,
    /// An evidence session is not in the history; dropped.
    EvidenceNoSession,
    /// An evidence session lies after the question's date; kept.
    EvidenceAfterQuestion,
    /// A topic or emotion is a list; it is an annotation and not used.
    ListAnnotation,
    /// An index is a string; taken as a number.
    IndexIsText,
    /// A question group is named after a session that is not there; kept.
    GroupWithoutSession,
    /// A dialogue that is asked about occurs twice; the first counts.
    DialogueIdTwice,
    /// Lists that belong together differ in length; the shorter one counts.
    ListsDiffer,
}

impl AnomalyKind {
    /// What it means, for people.
    pub fn describe(self) -> &'static str {
        match self {
            Self::DateWithoutSession => "date of a session that is not there, ignored",
            Self::SessionWithoutDate => "session without a date, loaded undated",
            Self::DateUnreadable => "date that cannot be read or does not exist, left undated",
            Self::SessionWithoutTurns => "session without turns, left out",
            Self::SessionsOutOfOrder => "sessions not in time order, sorted",
            Self::SessionIdTwice => "session id used twice, renamed",
            Self::CaseIdTwice => "case id used twice, renamed",
            Self::CaseWithoutId => "record without an id, numbered",
            Self::NoHistory => "case without any session",
            Self::TurnWithoutText => "turn without text, left out",
            Self::TurnIdRepaired => "turn id missing or used twice, numbered",
            Self::UnknownSpeaker => "speaker who is none of the conversation's speakers",
            Self::UnknownRole => "unknown role, taken as a peer",
            Self::ContentPartSkipped => "message part that is no text, left out",
            Self::QuestionWithoutText => "question without text, left out",
            Self::QuestionTwice => "question asked twice",
            Self::CategoryUnknown => "question without a known category",
            Self::QuestionDateMissing => "question without a date",
            Self::AnswerIsNumber => "answer that is a number, taken as text",
            Self::AnswerMissing => "question without an answer",
            Self::AnswerOfUnanswerable => "answer to a question that has none, ignored",
            Self::OuterSpace => "white space around a question or answer",
            Self::ZeroWidthSpace => "zero-width space in a question or answer",
            Self::EvidenceMissing => "question without an evidence list",
            Self::EvidenceEmpty => "question with an empty evidence list",
            Self::EvidenceSeveralIds => "several evidence ids in one string, all taken",
            Self::EvidenceRepaired => "misspelt evidence id, repaired",
            Self::EvidenceBroken => "evidence that names no turn, dropped",
            Self::EvidenceNoTurn => "evidence id of no turn, dropped",
            Self::EvidenceTwice => "evidence id listed twice, taken once",
            Self::EvidenceIsEvent => "evidence that names an event, dropped",
            Self::EvidenceNoSession => "evidence session that is not in the history, dropped",
            Self::EvidenceAfterQuestion => "evidence session after the question's date",
            Self::ListAnnotation => "topic or emotion that is a list, not used",
            Self::IndexIsText => "index that is a text, taken as a number",
            Self::GroupWithoutSession => "question group named after no session",
            Self::DialogueIdTwice => "dialogue id used twice, the first taken",
            Self::ListsDiffer => "lists of different length, the rest ignored",
        }
    }
}

/// How often an anomaly occurs, and where first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Anomaly {
    /// How often.
    pub count: usize,
    /// The first few places.
    pub examples: Vec<String>,
}

/// What was loaded from one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadReport {
    /// The file.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// Whether the format was found by looking at the file.
    pub detected: bool,
    /// Cases: conversations with their questions.
    pub cases: usize,
    /// Sessions of all cases.
    pub sessions: usize,
    /// Of these, sessions without a date.
    pub undated_sessions: usize,
    /// Turns of all sessions.
    pub turns: usize,
    /// Turns with a picture's caption.
    pub captions: usize,
    /// Questions of all cases.
    pub questions: usize,
    /// Of these, questions whose evidence names at least one turn of the history.
    pub questions_with_evidence: usize,
    /// Questions by category: `1 multi-hop`, or the name alone where categories have no numbers.
    pub questions_by_category: BTreeMap<String, usize>,
    /// What was odd.
    pub anomalies: BTreeMap<AnomalyKind, Anomaly>,
}

impl LoadReport {
    pub(super) fn new(path: PathBuf, format: Format, detected: bool) -> Self {
        Self {
            path,
            format,
            detected,
            cases: 0,
            sessions: 0,
            undated_sessions: 0,
            turns: 0,
            captions: 0,
            questions: 0,
            questions_with_evidence: 0,
            questions_by_category: BTreeMap::new(),
            anomalies: BTreeMap::new(),
        }
    }

    /// Counts an anomaly at a place.
    pub(super) fn note(&mut self, kind: AnomalyKind, place: impl FnOnce() -> String) {
        let anomaly = self.anomalies.entry(kind).or_default();
        anomaly.count += 1;
        if anomaly.examples.len() < EXAMPLES {
            anomaly.examples.push(place());
        }
    }

    /// Adds the anomalies of a file that belongs to this one.
    pub(super) fn absorb(&mut self, other: Self) {
        for (kind, anomaly) in other.anomalies {
            let mine = self.anomalies.entry(kind).or_default();
            mine.count += anomaly.count;
            mine.examples.extend(anomaly.examples);
            mine.examples.truncate(EXAMPLES);
        }
    }

    /// How often an anomaly occurred.
    pub fn count(&self, kind: AnomalyKind) -> usize {
        self.anomalies.get(&kind).map_or(0, |a| a.count)
    }
}

impl Display for LoadReport {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let how = if self.detected { "detected" } else { "as told" };
        writeln!(f, "{}: {} ({how})", self.path.display(), self.format)?;
        write!(f, "  {} cases, {} sessions", self.cases, self.sessions)?;
        if self.undated_sessions > 0 {
            write!(f, " ({} undated)", self.undated_sessions)?;
        }
        write!(f, ", {} turns", self.turns)?;
        if self.captions > 0 {
            write!(f, " ({} with a caption)", self.captions)?;
        }
        if self.questions > 0 {
            write!(f, "\n  {} questions, {} with evidence:", self.questions, self.questions_with_evidence)?;
            for (position, (category, n)) in self.questions_by_category.iter().enumerate() {
                write!(f, "{} {category} {n}", if position == 0 { "" } else { "," })?;
            }
        }
        for (kind, anomaly) in &self.anomalies {
            write!(f, "\n  {:>5} x {} ({}", anomaly.count, kind.describe(), anomaly.examples.join("; "))?;
            f.write_str(if anomaly.count > anomaly.examples.len() { "; ...)" } else { ")" })?;
        }
        Ok(())
    }
}
