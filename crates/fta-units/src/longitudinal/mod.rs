//! Longitudinal memory (Eq. 7): user semantic memory `U` and support-experience memory `H`.

use fta_segment::SessionId;
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use crate::unit::UnitId;

/// What a profile entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileTopic {
    /// Work, study, role.
    Occupation,
    /// Where somebody lives or comes from.
    Place,
    /// Family, partner, friends.
    Relationship,
    /// Likes, dislikes, habits.
    Preference,
    /// Body and mind.
    Health,
    /// What somebody owns, pets included.
    Possession,
    /// What somebody wants to reach.
    Goal,
    /// What somebody thinks of themselves or the world.
    Belief,
    /// Anything else that lasts.
    Other,
}

/// One stable fact about a person: an entry of `U`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileEntry {
    /// Whom it is about.
    pub person: String,
    /// What kind of fact it is.
    pub topic: ProfileTopic,
    /// The fact, third person.
    pub text: String,
    /// Units that it rests on, oldest first; never empty.
    pub units: Vec<UnitId>,
    /// When it was last said.
    pub last_said: Option<DateTime>,
}

/// How a support attempt went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SupportOutcome {
    /// It was taken up or helped.
    Helped,
    /// It was refused or did not help.
    DidNotHelp,
    /// It was agreed to try.
    Agreed,
    /// No answer is known.
    #[default]
    Unknown,
}

/// One support attempt: an entry of `H`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupportEntry {
    /// The session in which it was tried.
    pub session: SessionId,
    /// Who was supported.
    pub seeker: String,
    /// What was tried.
    pub attempt: String,
    /// How it went.
    pub outcome: SupportOutcome,
    /// Units that it rests on, oldest first; never empty.
    pub units: Vec<UnitId>,
    /// When it was said.
    pub said_at: Option<DateTime>,
}

/// `U` and `H` of one memory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Longitudinal {
    /// `U`: user semantic memory.
    pub profile: Vec<ProfileEntry>,
    /// `H`: support-experience memory.
    pub support: Vec<SupportEntry>,
}
