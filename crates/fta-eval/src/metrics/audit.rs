//! Known errors of gold answers.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use serde::Deserialize;

use crate::datasets::{Case, CaseQuestion, EvidenceRef};

/// What is wrong with a gold answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GoldErrorKind {
    /// A fact that is not in the conversation.
    Hallucination,
    /// A wrong date or duration.
    TemporalError,
    /// A wrong speaker.
    AttributionError,
    /// More than one right answer.
    Ambiguous,
    /// Something is missing.
    Incomplete,
    /// The answer is right, its evidence is not.
    WrongCitation,
}

impl GoldErrorKind {
    /// Whether a right answer would be scored as a wrong one; not so where only the evidence is wrong.
    pub fn changes_score(self) -> bool {
        self != Self::WrongCitation
    }
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditFinding {
    /// What is wrong.
    pub kind: GoldErrorKind,
    /// The answer that the auditors give.
    pub correct_answer: String,
    /// The evidence that they give, as turns of the conversation.
    pub correct_evidence: Vec<EvidenceRef>,
}

/// Findings by conversation and question.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GoldAudit {
    findings: BTreeMap<(String, String), AuditFinding>,
    /// Findings that fit no question, or more than one, of the cases, by the audit's id.
    pub unmatched: Vec<String>,
}

/// An audit that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditReadError {
    /// The file cannot be read.
    #[error("audit file `{path}` cannot be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// The text is no list of findings.
    #[error("the audit is no list of findings with `question_id`, `question`, `category` and `error_type`")]
    Json {
        /// The cause.
        source: serde_json::Error,
    },
}

/// A finding as the file has it.
#[derive(Deserialize)]
struct Record {
    question_id: String,
    question: String,
    category: u8,
    error_type: GoldErrorKind,
    #[serde(default)]
    correct_evidence: Vec<String>,
    #[serde(default)]
    correct_answer: String,
}

impl GoldAudit {
    /// Reads the findings of a file about these cases.
    ///
    /// # Errors
    /// [`AuditReadError`] if the file cannot be read or is no list of findings.
    pub fn load(path: &Path, cases: &[Case]) -> Result<Self, AuditReadError> {
        let bytes =
            std::fs::read(path).map_err(|source| AuditReadError::Read { path: path.to_owned(), source })?;
        Self::parse(&bytes, cases)
    }

    /// Reads findings about these cases.
    ///
    /// A finding belongs to the question with the same position in its conversation (`_qa<n>` at the end of its id),
    /// text and category. The audit numbers conversations by their place in the full file; that number is not used,
    /// so a file with some of the conversations is audited as well.
    ///
    /// # Errors
    /// [`AuditReadError::Json`] if it is no list of findings.
    ///
    /// # Source
    /// The audit of LoCoMo's gold answers (data notes, section 5).
    pub fn parse(bytes: &[u8], cases: &[Case]) -> Result<Self, AuditReadError> {
        let records: Vec<Record> =
            serde_json::from_slice(bytes).map_err(|source| AuditReadError::Json { source })?;
        let mut audit = Self::default();
        for record in records {
            let mut fits = cases.iter().flat_map(|case| {
                case.questions
                    .iter()
                    .filter(|question| record.fits(question))
                    .map(move |question| (case, question))
            });
            let (Some((case, question)), None) = (fits.next(), fits.next()) else {
                audit.unmatched.push(record.question_id);
                continue;
            };
            let finding = AuditFinding {
                kind: record.error_type,
                correct_evidence: turns(case, &record.correct_evidence),
                correct_answer: record.correct_answer,
            };
            audit.findings.insert((case.conversation.id.clone(), question.id.clone()), finding);
        }
        Ok(audit)
    }

    /// The finding about a question.
    pub fn finding(&self, conversation: &str, question: &str) -> Option<&AuditFinding> {
        self.findings.get(&(conversation.to_owned(), question.to_owned()))
    }

    /// Whether the question's gold answer is wrong, so that its score says nothing.
    pub fn is_wrong(&self, conversation: &str, question: &str) -> bool {
        self.finding(conversation, question).is_some_and(|finding| finding.kind.changes_score())
    }

    /// Number of findings that belong to a question.
    pub fn len(&self) -> usize {
        self.findings.len()
    }

    /// Whether no finding belongs to a question.
    pub fn is_empty(&self) -> bool {
        self.findings.is_empty()
    }
}

impl Record {
    fn fits(&self, question: &CaseQuestion) -> bool {
        let position = |id: &str| id.rsplit_once("_qa").map(|(_, position)| position.to_owned());
        question.text == self.question
            && question.category == Some(self.category)
            && position(&question.id) == position(&self.question_id)
    }
}

/// Turns with these source ids, in the order of the conversation.
fn turns(case: &Case, ids: &[String]) -> Vec<EvidenceRef> {
    let ids: BTreeSet<&str> = ids.iter().map(String::as_str).collect();
    let sessions = case.conversation.sessions.iter();
    let turns = sessions.flat_map(|session| session.turns.iter().map(move |turn| (session, turn)));
    let cited = turns.filter(|(_, turn)| ids.contains(turn.source_id.as_str()));
    cited
        .map(|(session, turn)| EvidenceRef { session: session.id.clone(), turn: turn.source_id.clone() })
        .collect()
}
