//! What the extraction prompt shows, and the reply that it asks for.

use fta_llm::{Items, schemars::JsonSchema};
use fta_segment::llm::TurnRow;
use serde::{Deserialize, Serialize};

use crate::unit::{SituationType, TimeOrientation, UnitStatus};

/// The values of the prompt.
#[derive(Debug, Serialize)]
pub(super) struct Data<'a> {
    /// Number and claim of each carried unit, numbers from 1.
    pub(super) carried: Vec<(usize, &'a str)>,
    /// The turns of each fragment.
    pub(super) parts: Vec<Vec<TurnRow>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
pub(super) struct Reply {
    #[schemars(length(max = 40))]
    pub(super) units: Items<WireUnit>,
}

/// A unit, in the order in which a model writes it: what is claimed comes before where it stands, or small models count
/// through the turns.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
pub(super) struct WireUnit {
    pub(super) completes: Option<u32>,
    pub(super) content: Content,
    pub(super) content_type: ContentType,
    #[schemars(length(max = 80))]
    pub(super) event_time: String,
    pub(super) time_orientation: Orientation,
    pub(super) evidence_turn_span: [u32; 2],
    pub(super) status: Status,
    #[schemars(length(max = 120))]
    pub(super) summary: String,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
pub(super) struct Content {
    #[schemars(length(max = 600))]
    pub(super) text: String,
    #[schemars(length(max = 6), inner(length(max = 60)))]
    pub(super) participants: Items<String>,
    #[schemars(length(max = 80))]
    pub(super) emotion_or_state: String,
    #[schemars(length(max = 160))]
    pub(super) intention_or_plan: String,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[serde(rename_all = "snake_case")]
pub(super) enum ContentType {
    Event,
    CurrentState,
    RelationshipEvent,
    BeliefCandidate,
    HomeworkOrPlan,
    SupportInteraction,
    RiskSignal,
    GeneralFact,
    Unknown,
}

impl From<ContentType> for SituationType {
    fn from(content_type: ContentType) -> Self {
        match content_type {
            ContentType::Event => Self::Event,
            ContentType::CurrentState => Self::CurrentState,
            ContentType::RelationshipEvent => Self::RelationshipEvent,
            ContentType::BeliefCandidate => Self::BeliefCandidate,
            ContentType::HomeworkOrPlan => Self::HomeworkOrPlan,
            ContentType::SupportInteraction => Self::SupportInteraction,
            ContentType::RiskSignal => Self::RiskSignal,
            ContentType::GeneralFact | ContentType::Unknown => Self::GeneralFact,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[serde(rename_all = "snake_case")]
pub(super) enum Orientation {
    Past,
    Present,
    Future,
    Mixed,
    Unknown,
}

impl From<Orientation> for TimeOrientation {
    fn from(orientation: Orientation) -> Self {
        match orientation {
            Orientation::Past => Self::Past,
            Orientation::Present => Self::Present,
            Orientation::Future => Self::Future,
            Orientation::Mixed => Self::Mixed,
            Orientation::Unknown => Self::Unknown,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[serde(rename_all = "snake_case")]
pub(super) enum Status {
    Complete,
    Partial,
    Pending,
    Unknown,
}

impl From<Status> for UnitStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Complete => Self::Complete,
            Status::Partial => Self::Partial,
            Status::Pending => Self::Pending,
            Status::Unknown => Self::Unknown,
        }
    }
}
