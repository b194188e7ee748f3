//! Longitudinal memory (Eq. 7): user semantic memory `U` and support-experience memory `H`.

mod rules;

use std::collections::BTreeSet;

use async_trait::async_trait;
use fta_segment::SessionId;
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

pub use self::rules::RuleUpdater;
use crate::unit::{Link, Unit, UnitId};

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

/// Brings longitudinal memory up to date after a session.
///
/// # Contract
/// - Every entry rests on units, which it names; nothing is added that no unit says.
/// - A second call with the same session changes nothing.
/// - The result depends on the input alone.
#[async_trait]
pub trait LongitudinalUpdater: Send + Sync {
    /// Name and version, kept as provenance.
    fn id(&self) -> &str;

    /// `U` and `H` after `session`: `units` are the session's, by rising id, `links` those from them to older units.
    ///
    /// # Errors
    /// [`LongitudinalError`] when the updater cannot answer.
    async fn update(
        &self,
        current: &Longitudinal,
        session: &SessionId,
        units: &[Unit],
        links: &[Link],
    ) -> Result<Longitudinal, LongitudinalError>;

    /// `U` and `H` after the units `deleted` are gone; no text of theirs is left in it.
    ///
    /// `remaining`: the units that share an entry with a deleted one, as they are after the deletion; more do no harm.
    /// `links`: those from and to them, without the deleted ones. Unless an updater does better, entries that rest on a
    /// deleted unit go.
    ///
    /// # Errors
    /// [`LongitudinalError`] when the updater cannot answer.
    async fn rederive(
        &self,
        current: &Longitudinal,
        deleted: &[UnitId],
        remaining: &[Unit],
        links: &[Link],
    ) -> Result<Longitudinal, LongitudinalError> {
        let _ = (remaining, links);
        Ok(remove_units(current, deleted))
    }
}

/// An updater that could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LongitudinalError {
    /// The model behind the updater gave no usable reply.
    #[error("longitudinal memory `{updater}` got no usable reply")]
    Model {
        /// Its id.
        updater: String,
        /// What the model said, by remedy.
        source: fta_llm::ModelError,
    },
    /// The updater gave up.
    #[error("longitudinal memory `{updater}` failed: {message}")]
    Failed {
        /// Its id.
        updater: String,
        /// Why.
        message: String,
    },
}

/// `current` without every entry that rests on one of the deleted units, even if it rests on others too: its text may
/// hold words of a deleted one. [`LongitudinalUpdater::rederive`] can make such entries again from the units that remain.
pub fn remove_units(current: &Longitudinal, deleted: &[UnitId]) -> Longitudinal {
    let deleted: BTreeSet<UnitId> = deleted.iter().copied().collect();
    let lasts = |units: &[UnitId]| !units.iter().any(|u| deleted.contains(u));
    Longitudinal {
        profile: current.profile.iter().filter(|e| lasts(&e.units)).cloned().collect(),
        support: current.support.iter().filter(|e| lasts(&e.units)).cloned().collect(),
    }
}
