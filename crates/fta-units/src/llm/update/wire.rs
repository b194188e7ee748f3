//! What the prompts of longitudinal memory show, and the replies that they ask for.

use fta_llm::{Items, schemars::JsonSchema};
use serde::{Deserialize, Serialize};

use crate::longitudinal::{ProfileTopic, SupportOutcome};

/// The values of the prompts. Numbers run from 1.
#[derive(Debug, Default, Serialize)]
pub(super) struct Data {
    /// Number, content type and claim of each unit.
    pub(super) units: Vec<(u32, crate::unit::SituationType, String)>,
    /// Number, person, topic and text of the entries of `U`.
    pub(super) profile: Vec<(u32, String, ProfileTopic, String)>,
    /// Number, seeker, attempt and outcome of the entries of `H`.
    pub(super) support: Vec<(u32, String, String, SupportOutcome)>,
}

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
pub(super) struct Both {
    #[schemars(length(max = 40))]
    pub(super) profile: Items<ProfileChange>,
    #[schemars(length(max = 30))]
    pub(super) support: Items<SupportChange>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
pub(super) struct ProfileOnly {
    #[schemars(length(max = 40))]
    pub(super) profile: Items<ProfileChange>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
pub(super) struct SupportOnly {
    #[schemars(length(max = 30))]
    pub(super) support: Items<SupportChange>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[serde(rename_all = "snake_case")]
pub(super) enum Op {
    Add,
    Replace,
    Remove,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
pub(super) struct ProfileChange {
    pub(super) op: Op,
    pub(super) entry: Option<u32>,
    #[schemars(length(max = 60))]
    pub(super) person: String,
    pub(super) topic: Topic,
    #[schemars(length(max = 240))]
    pub(super) text: String,
    #[schemars(length(max = 12))]
    pub(super) units: Vec<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
pub(super) struct SupportChange {
    pub(super) op: Op,
    pub(super) entry: Option<u32>,
    #[schemars(length(max = 60))]
    pub(super) seeker: String,
    #[schemars(length(max = 240))]
    pub(super) attempt: String,
    pub(super) outcome: Outcome,
    #[schemars(length(max = 12))]
    pub(super) units: Vec<u32>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[serde(rename_all = "snake_case")]
pub(super) enum Topic {
    Occupation,
    Place,
    Relationship,
    Preference,
    Health,
    Possession,
    Goal,
    Belief,
    Other,
}

impl From<Topic> for ProfileTopic {
    fn from(topic: Topic) -> Self {
        match topic {
            Topic::Occupation => Self::Occupation,
            Topic::Place => Self::Place,
            Topic::Relationship => Self::Relationship,
            Topic::Preference => Self::Preference,
            Topic::Health => Self::Health,
            Topic::Possession => Self::Possession,
            Topic::Goal => Self::Goal,
            Topic::Belief => Self::Belief,
            Topic::Other => Self::Other,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[serde(rename_all = "snake_case")]
pub(super) enum Outcome {
    Helped,
    DidNotHelp,
    Agreed,
    Unknown,
}

impl From<Outcome> for SupportOutcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Helped => Self::Helped,
            Outcome::DidNotHelp => Self::DidNotHelp,
            Outcome::Agreed => Self::Agreed,
            Outcome::Unknown => Self::Unknown,
        }
    }
}
