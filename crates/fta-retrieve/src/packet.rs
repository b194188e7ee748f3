//! The structured packet (Eq. 11): four sections that are kept apart.

use fta_segment::{SessionId, Turn, TurnSpan};
use fta_units::{ProfileEntry, Relation, SupportEntry, Unit, UnitId};
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::{cue::CueScore, query::Query};

/// Why a unit was retrieved.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct UnitScore {
    /// `R(q', m)`: what the units are ranked by.
    pub total: f32,
    /// Embedding similarity `s_emb` (blended over views where the preset says so), in `[-1, 1]`.
    pub embedding: f32,
    /// Lexical part, in `[0, 1]`; 0 where the preset has none.
    pub lexical: f32,
    /// Cues.
    pub cues: CueScore,
}

/// A primary unit: direct evidence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PrimaryUnit {
    /// The unit.
    pub unit: Unit,
    /// Why it is here.
    pub score: UnitScore,
    /// Position in the ranking, from 0 (the packet itself is in time order).
    pub rank: usize,
}

/// A linked neighbour: relation-aware support.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LinkedUnit {
    /// The unit.
    pub unit: Unit,
    /// The primary unit that brought it.
    pub of: UnitId,
    /// How the newer of the two relates to the older one.
    pub relation: Relation,
    /// Whether `unit` is the newer of the two.
    pub newer: bool,
}

/// Source turns that were said in one go, for grounding. No turn occurs in two spans.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SourceSpan {
    /// The session.
    pub session: SessionId,
    /// When the session began.
    pub started_at: Option<DateTime>,
    /// Which turns.
    pub span: TurnSpan,
    /// The turns, verbatim.
    pub turns: Vec<Turn>,
}

/// Longitudinal memory that touches the question: background.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Background {
    /// From `U`.
    pub profile: Vec<ProfileEntry>,
    /// From `H`.
    pub support: Vec<SupportEntry>,
}

/// How a packet is written out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PacketStyle {
    /// The paper's layout: claims of primary and linked units, then the source dialogue, then background.
    Full,
    /// Source turns stand for the units that quote them, so that nothing is said twice.
    #[default]
    Compact,
}

/// What an answerer gets.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Packet {
    /// The query.
    pub query: Query,
    /// Primary units in time order.
    pub primary: Vec<PrimaryUnit>,
    /// Linked neighbours in time order; none of them is primary.
    pub linked: Vec<LinkedUnit>,
    /// Source spans in time order.
    pub spans: Vec<SourceSpan>,
    /// Auxiliary longitudinal memory.
    pub background: Background,
    /// How [`Packet::render`] writes it out.
    pub style: PacketStyle,
}

impl Packet {
    /// Primary units by rank, best first.
    pub fn ranked(&self) -> Vec<&PrimaryUnit> {
        let mut units: Vec<&PrimaryUnit> = self.primary.iter().collect();
        units.sort_by_key(|u| u.rank);
        units
    }

    /// A turn of the packet's source spans.
    pub fn turn(&self, session: &SessionId, index: u32) -> Option<&Turn> {
        self.spans
            .iter()
            .filter(|s| &s.session == session)
            .find_map(|s| s.turns.iter().find(|t| t.index == index))
    }
}
