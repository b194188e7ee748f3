//! The Fact-Time-Affect unit `m = <x^F, x^T, x^A, e, o>` (Eq. 3).

use fta_segment::{SessionId, TurnSpan};
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

use crate::time::EventTime;

/// Id of a stored unit, unique within one memory, never used again after deletion. From 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UnitId(pub u64);

impl std::fmt::Display for UnitId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "u{}", self.0)
    }
}

/// `content_type` of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SituationType {
    /// Something that happened.
    Event,
    /// How things are now: a condition, job, place, feeling.
    CurrentState,
    /// Something between people.
    RelationshipEvent,
    /// What somebody believes about themselves or others.
    BeliefCandidate,
    /// A plan, task or homework.
    HomeworkOrPlan,
    /// Advice, comfort, encouragement.
    SupportInteraction,
    /// A sign of danger to somebody.
    RiskSignal,
    /// Anything else that is a fact.
    #[default]
    GeneralFact,
}

/// Whether the situation is stated, half stated or still open (`o`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnitStatus {
    /// Sufficiently stated.
    Complete,
    /// Meaningful but underspecified.
    Partial,
    /// An unfinished plan, homework or follow-up.
    Pending,
    /// Not known.
    #[default]
    Unknown,
}

/// Direction of the event time from the dialogue time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeOrientation {
    /// Before it was said.
    Past,
    /// Holds when it was said.
    Present,
    /// After it was said.
    Future,
    /// Several of these.
    Mixed,
    /// Not known.
    #[default]
    Unknown,
}

/// Whether the situation is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Completion {
    /// It is over or done.
    Completed,
    /// It goes on.
    Ongoing,
    /// It is intended.
    Planned,
    /// It was called off.
    Cancelled,
    /// Not known.
    #[default]
    Unknown,
}

/// `x^F`: what is claimed, about whom.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FactAnchor {
    /// Shortest statement, grounded in the evidence, that can answer questions. Third person, speaker named.
    pub claim: String,
    /// Kind of situation.
    pub situation: SituationType,
    /// Speakers whom the claim is about, or who take part.
    pub participants: Vec<String>,
    /// Other people that are mentioned: names and roles ("Mara", "my sister").
    pub mentioned: Vec<String>,
    /// One line for lists.
    pub summary: String,
}

/// `x^T`: when it was said and when it happened.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TimeAnchor {
    /// When it was said.
    pub said_at: Option<DateTime>,
    /// When it happened or holds: the expression that the claim depends on, resolved against `said_at`.
    pub event: Option<EventTime>,
    /// Every time expression of the evidence that resolved, `event` among them, in text order.
    pub mentions: Vec<EventTime>,
    /// Direction of the situation from `said_at`.
    pub orientation: TimeOrientation,
    /// Whether the situation is over.
    pub completion: Completion,
}

/// `x^A`: how it feels and what is intended.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct AffectAnchor {
    /// Emotions or states, strongest first, as lower-case nouns of the lexicon ("sadness", "anxiety", "gratitude").
    pub emotions: Vec<String>,
    /// Intention or plan in the claim's words.
    pub intention: Option<String>,
    /// Cues about relations between people ("conflict", "support", "separation").
    pub relation_cues: Vec<String>,
}

/// A verbatim piece of a turn: bytes `start..end` of the turn's text, on character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Quote {
    /// Turn index in the session.
    pub turn: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// `e`: where it was said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// The session.
    pub session: SessionId,
    /// The whole exchange that supports the unit, question and answer together; never empty.
    pub turns: TurnSpan,
    /// The sentences that the claim rests on, in text order. At least one, each inside `turns`.
    pub quotes: Vec<Quote>,
}

/// Who made the unit.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// Extractor and its version (`rules/1`).
    pub extractor: String,
    /// Version of the prompt, for model-made units.
    pub prompt: Option<String>,
    /// Model id, for model-made units.
    pub model: Option<String>,
    /// When a person corrected the unit.
    pub corrected_at: Option<DateTime>,
}

impl Provenance {
    /// Says that `extractor` made the unit because `wanted`, which should have made it, failed.
    pub fn fallback(&mut self, wanted: &str) {
        if !self.is_fallback() {
            self.extractor = format!("{}{FALLBACK}{wanted}", self.extractor);
        }
    }

    /// Whether a fallback made the unit.
    pub fn is_fallback(&self) -> bool {
        self.extractor.contains(FALLBACK)
    }
}

/// Stands between the extractor that made a unit and the one that should have.
const FALLBACK: &str = " instead of ";

/// From when to when the unit is taken to hold, and what replaced it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Lifecycle {
    /// First day on which it holds: start of the event time, else the day it was said.
    pub valid_from: Option<Date>,
    /// Day on which it stopped to hold; `None` while it holds.
    pub valid_until: Option<Date>,
    /// The unit that replaced it.
    pub superseded_by: Option<UnitId>,
}

/// A candidate unit: all but id, lifecycle and links (Eq. 3). Partial ones are carried on (Eq. 4).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateUnit {
    /// `x^F`.
    pub fact: FactAnchor,
    /// `x^T`.
    pub time: TimeAnchor,
    /// `x^A`.
    pub affect: AffectAnchor,
    /// `e`.
    pub evidence: Evidence,
    /// `o`.
    pub status: UnitStatus,
    /// Who made it.
    pub provenance: Provenance,
}

/// A stored unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unit {
    /// Its id.
    pub id: UnitId,
    /// `x^F`.
    pub fact: FactAnchor,
    /// `x^T`.
    pub time: TimeAnchor,
    /// `x^A`.
    pub affect: AffectAnchor,
    /// `e`.
    pub evidence: Evidence,
    /// `o`.
    pub status: UnitStatus,
    /// Who made it.
    pub provenance: Provenance,
    /// Validity and successor.
    pub lifecycle: Lifecycle,
}

/// How a new unit relates to an older one (Eq. 6). `unknown` is the absence of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The same situation, told again or further.
    SameSituation,
    /// The new unit changes what the older one says.
    Update,
    /// Both cannot be true.
    Contradiction,
    /// The new unit says what came of the older one.
    FollowUp,
    /// The new unit gives reason or comfort for the older one.
    Support,
}

/// An edge from a new unit to an older one; walkable both ways.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The newer unit.
    pub from: UnitId,
    /// The older unit.
    pub to: UnitId,
    /// How `from` relates to `to`.
    pub relation: Relation,
    /// Embedding similarity of the two, in `[-1, 1]`.
    pub similarity: f32,
}
