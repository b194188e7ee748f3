//! What the facade's calls take and give back.

use fta_retrieve::{Answer, Packet};
use fta_segment::{SessionId, Turn};
use fta_units::{Completion, FallbackMark, Relation, SituationType, Unit, UnitId, UnitStatus};
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

/// What an ingest did with one session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IngestOutcome {
    /// The session is new.
    Added,
    /// The session was there with other content; its units were made anew.
    Replaced,
    /// The session was there with the same content; nothing changed.
    Unchanged,
}

/// What an ingest of one session made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IngestReport {
    /// The session.
    pub session: SessionId,
    /// What was done.
    pub outcome: IngestOutcome,
    /// Turns of the session.
    pub turns: usize,
    /// Fragments it was cut into.
    pub fragments: usize,
    /// Units made of it.
    pub units: usize,
    /// Links from its units to older ones.
    pub links: usize,
    /// Turns that say something.
    pub content_turns: usize,
    /// Of these, turns that lie in the evidence of some unit.
    pub covered_turns: usize,
    /// Steps that failed for good and were done by a fallback; [`UserMemory::retry`](crate::UserMemory::retry) does them
    /// again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallbacks: Vec<FallbackMark>,
    /// What went wrong and was repaired or bypassed, for people to read.
    pub notes: Vec<String>,
}

/// How a retrieval differs from the configured one.
#[derive(Debug, Clone, Default)]
pub struct RetrieveOptions {
    /// At most so many primary units, instead of the configured `K`.
    pub k: Option<usize>,
    /// At most so many tokens (characters / 4) of rendered packet, instead of the configured budget.
    pub token_budget: Option<usize>,
    /// When the question is asked; the newest session's time where absent, never today.
    pub asked_at: Option<DateTime>,
}

/// An answer and the packet it was made from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The answer.
    pub answer: Answer,
    /// The packet.
    pub packet: Packet,
    /// Steps that failed and were done by a fallback, for people to read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Which units to list. All conditions must hold.
#[derive(Debug, Clone, Default)]
pub struct ListFilter {
    /// Of this session.
    pub session: Option<SessionId>,
    /// About this person (participant or mentioned; case-insensitive).
    pub person: Option<String>,
    /// Of this situation type.
    pub situation: Option<SituationType>,
    /// Of this status.
    pub status: Option<UnitStatus>,
    /// With this emotion.
    pub emotion: Option<String>,
    /// Whose event time (else the day it was said) ends on or after this day.
    pub from: Option<Date>,
    /// Whose event time (else the day it was said) begins on or before this day.
    pub until: Option<Date>,
    /// Leave out units that were superseded.
    pub current_only: bool,
    /// At most so many.
    pub limit: Option<usize>,
}

/// A linked unit, seen from another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Neighbour {
    /// The other unit.
    pub unit: Unit,
    /// How the newer of the two relates to the older one.
    pub relation: Relation,
    /// Whether `unit` is the newer of the two.
    pub newer: bool,
    /// Embedding similarity, in `[-1, 1]`.
    pub similarity: f32,
}

/// A unit with everything that a person wants to see beside it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct UnitView {
    /// The unit.
    pub unit: Unit,
    /// When its session began.
    pub session_started_at: Option<DateTime>,
    /// The turns of its evidence, verbatim.
    pub turns: Vec<Turn>,
    /// Linked units, oldest first.
    pub neighbours: Vec<Neighbour>,
}

/// What a person corrects in a unit; `None` leaves a field as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Correction {
    /// New claim.
    pub claim: Option<String>,
    /// New event time, as an expression that is resolved against the day the unit was said ("last Friday", "May 2023").
    pub event_time: Option<String>,
    /// New situation type.
    pub situation: Option<SituationType>,
    /// New status.
    pub status: Option<UnitStatus>,
    /// New completion.
    pub completion: Option<Completion>,
    /// New emotions.
    pub emotions: Option<Vec<String>>,
    /// When the correction was made; needed, since the library reads no clock.
    pub at: Option<DateTime>,
}

/// What a deletion removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Deleted {
    /// Sessions.
    pub sessions: usize,
    /// Units.
    pub units: usize,
    /// Links.
    pub links: usize,
    /// Vectors.
    pub vectors: usize,
}

/// Figures of one memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryStats {
    /// Sessions.
    pub sessions: usize,
    /// Turns.
    pub turns: usize,
    /// Fragments.
    pub fragments: usize,
    /// Units.
    pub units: usize,
    /// Units by situation type, by name.
    pub situations: Vec<(SituationType, usize)>,
    /// Units by status.
    pub statuses: Vec<(UnitStatus, usize)>,
    /// Units whose event time is resolved to days.
    pub units_with_event_time: usize,
    /// Units that were superseded.
    pub superseded: usize,
    /// Links by relation.
    pub links: Vec<(Relation, usize)>,
    /// Entries of the user semantic memory `U`.
    pub profile_entries: usize,
    /// Entries of the support memory `H`.
    pub support_entries: usize,
    /// Vectors.
    pub vectors: usize,
    /// Turns that say something.
    pub content_turns: usize,
    /// Of these, turns that lie in the evidence of some unit.
    pub covered_turns: usize,
    /// Sessions of which a fallback did a part, because a step failed.
    pub sessions_to_retry: usize,
    /// First and last session start.
    pub first_session: Option<DateTime>,
    /// See `first_session`.
    pub last_session: Option<DateTime>,
    /// Id of the embedding model.
    pub embedder: String,
}

/// The id of a unit as people type it: `u12` or `12`.
///
/// # Errors
/// [`crate::Error::UnitId`] for anything else.
pub fn parse_unit_id(text: &str) -> Result<UnitId, crate::Error> {
    text.strip_prefix('u')
        .unwrap_or(text)
        .parse()
        .ok()
        .filter(|&n| n > 0)
        .map(UnitId)
        .ok_or_else(|| crate::Error::UnitId { text: text.to_owned() })
}
