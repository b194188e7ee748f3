//! A [`LongitudinalUpdater`] that asks a language model (Eq. 7).

mod apply;
#[cfg(test)]
mod tests;
mod wire;

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use fta_llm::{
    CallConfig, LanguageModel, Prompt, PromptError, PromptSource, schemars::JsonSchema, structured,
};
use fta_segment::SessionId;
use serde::de::DeserializeOwned;

use self::{
    apply::Asked,
    wire::{Both, Data, ProfileOnly, SupportOnly},
};
use super::cut;
use crate::{
    longitudinal::{Longitudinal, LongitudinalError, LongitudinalUpdater},
    offline::fuse::content_stems,
    unit::{Link, Relation, SituationType, Unit, UnitId},
};

/// Name and version of what stands around the prompts.
const UPDATER: &str = "llm/1";
const BOTH: (&str, &str) = ("longitudinal", include_str!("../../../prompts/longitudinal.md"));
const USER: (&str, &str) = ("longitudinal_user", include_str!("../../../prompts/longitudinal_user.md"));
const SUPPORT: (&str, &str) =
    ("longitudinal_support", include_str!("../../../prompts/longitudinal_support.md"));

/// Settings of [`LlmUpdater`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LlmUpdaterConfig {
    /// How the model is asked.
    pub call: CallConfig,
    /// Whether `U` and `H` are asked for apart, in two calls.
    pub separate: bool,
    /// Most entries of `U`, and of `H`, that are shown, those that share most words with the session first; 0 shows all.
    pub max_entries: usize,
    /// Most characters of a claim that are shown; 0 shows all.
    pub max_claim_chars: usize,
}

impl Default for LlmUpdaterConfig {
    fn default() -> Self {
        Self { call: CallConfig::default(), separate: false, max_entries: 30, max_claim_chars: 300 }
    }
}

impl LlmUpdaterConfig {
    /// The paper's: temperature 0.7, two calls, everything shown.
    pub fn paper() -> Self {
        let call = CallConfig { temperature: 0.7, ..CallConfig::default() };
        Self { call, separate: true, max_entries: 0, max_claim_chars: 0 }
    }
}

/// Asks a model for the changes to `U` and `H` after a session.
///
/// A change counts only if it names units of the session, and entries that were shown, and if the units speak of the person
/// and share words with it. An entry is replaced only if the units are linked to what it rests on or speak of the same, and
/// removed only if they are linked to it as an update, contradiction or follow-up, so that a dialogue cannot order entries
/// away. What is there already is not added again.
/// # Source
/// Eq. 7. Differs: one call for both memories unless set otherwise, and changes in place of whole memories.
pub struct LlmUpdater {
    model: Arc<dyn LanguageModel>,
    prompts: Prompts,
    config: LlmUpdaterConfig,
    id: String,
}

enum Prompts {
    Both(Prompt),
    Separate { user: Prompt, support: Prompt },
}

impl LlmUpdater {
    /// An updater that asks `model` with the prompt `longitudinal`, or `longitudinal_user` and `longitudinal_support`.
    ///
    /// # Errors
    /// [`PromptError`] if a file of prompts cannot be used.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        prompts: &PromptSource,
        config: LlmUpdaterConfig,
    ) -> Result<Self, PromptError> {
        let prompts = if config.separate {
            Prompts::Separate {
                user: prompts.load(USER.0, USER.1)?,
                support: prompts.load(SUPPORT.0, SUPPORT.1)?,
            }
        } else {
            Prompts::Both(prompts.load(BOTH.0, BOTH.1)?)
        };
        let names = match &prompts {
            Prompts::Both(both) => both.id().to_owned(),
            Prompts::Separate { user, support } => format!("{} {}", user.id(), support.id()),
        };
        let id = format!("{UPDATER} {names} {}", model.model_id());
        Ok(Self { model, prompts, config, id })
    }

    async fn ask<T: DeserializeOwned + JsonSchema>(
        &self,
        step: &str,
        prompt: &Prompt,
        data: &Data,
    ) -> Result<T, LongitudinalError> {
        let messages = prompt.render(data).map_err(|error| LongitudinalError::Failed {
            updater: self.id.clone(),
            message: error.to_string(),
        })?;
        let request = self.config.call.request(step, messages);
        let reply = structured::ask::<T>(&*self.model, request, &structured::accept)
            .await
            .map_err(|source| LongitudinalError::Model { updater: self.id.clone(), source })?;
        Ok(reply.value)
    }

    /// What is asked, and the values of the prompt.
    fn asked<'a>(
        &self,
        memory: &Longitudinal,
        session: &'a SessionId,
        units: Vec<&'a Unit>,
        links: &'a [Link],
    ) -> (Asked<'a>, Data) {
        let mut words: BTreeSet<String> = BTreeSet::new();
        for unit in &units {
            words.extend(content_stems(&unit.fact.claim, &[]));
        }
        let most = self.config.max_entries;
        let profile = nearest(most, &words, memory.profile.iter().map(|e| (e.text.as_str(), &*e.units)));
        let support = nearest(most, &words, memory.support.iter().map(|e| (e.attempt.as_str(), &*e.units)));
        let claim = |unit: &Unit| cut(&unit.fact.claim, self.config.max_claim_chars);
        let data = Data {
            units: units.iter().zip(1..).map(|(u, n)| (n, u.fact.situation, claim(u))).collect(),
            profile: profile
                .iter()
                .map(|at| &memory.profile[*at])
                .zip(1..)
                .map(|(e, n)| (n, e.person.clone(), e.topic, e.text.clone()))
                .collect(),
            support: support
                .iter()
                .map(|at| &memory.support[*at])
                .zip(1..)
                .map(|(e, n)| (n, e.seeker.clone(), e.attempt.clone(), e.outcome))
                .collect(),
        };
        (Asked { session, units, profile, support, links }, data)
    }
}

/// Positions of the entries that share most words, of equal ones the newest, in their own order; all if `most` is 0.
fn nearest<'e>(
    most: usize,
    words: &BTreeSet<String>,
    entries: impl Iterator<Item = (&'e str, &'e [UnitId])>,
) -> Vec<usize> {
    let mut ranked: Vec<(usize, Option<UnitId>, usize)> = entries
        .enumerate()
        .map(|(at, (text, units))| {
            let shared = content_stems(text, &[]).intersection(words).count();
            (shared, units.last().copied(), at)
        })
        .collect();
    if most > 0 {
        ranked.sort_by(|a, b| b.cmp(a));
        ranked.truncate(most);
    }
    let mut positions: Vec<usize> = ranked.into_iter().map(|(.., at)| at).collect();
    positions.sort_unstable();
    positions
}

/// Whether a unit may say something of support or of how it went.
fn is_about_support(unit: &Unit, links: &[Link]) -> bool {
    matches!(
        unit.fact.situation,
        SituationType::SupportInteraction | SituationType::HomeworkOrPlan | SituationType::RiskSignal
    ) || links
        .iter()
        .any(|l| l.from == unit.id && matches!(l.relation, Relation::FollowUp | Relation::Support))
}

#[async_trait]
impl LongitudinalUpdater for LlmUpdater {
    fn id(&self) -> &str {
        &self.id
    }

    async fn update(
        &self,
        current: &Longitudinal,
        session: &SessionId,
        units: &[Unit],
        links: &[Link],
    ) -> Result<Longitudinal, LongitudinalError> {
        let mut memory = current.clone();
        if units.is_empty() {
            return Ok(memory);
        }
        let all: Vec<&Unit> = units.iter().collect();
        match &self.prompts {
            Prompts::Both(prompt) => {
                let (asked, data) = self.asked(current, session, all, links);
                let reply: Both = self.ask(BOTH.0, prompt, &data).await?;
                asked.apply_profile(&mut memory, &reply.profile);
                asked.apply_support(&mut memory, &reply.support);
            }
            Prompts::Separate { user, support } => {
                let (asked, data) = self.asked(current, session, all, links);
                let reply: ProfileOnly = self.ask(USER.0, user, &data).await?;
                asked.apply_profile(&mut memory, &reply.profile);
                let related: Vec<&Unit> = units.iter().filter(|u| is_about_support(u, links)).collect();
                if !related.is_empty() {
                    let (asked, data) = self.asked(current, session, related, links);
                    let reply: SupportOnly = self.ask(SUPPORT.0, support, &data).await?;
                    asked.apply_support(&mut memory, &reply.support);
                }
            }
        }
        Ok(memory)
    }
}
