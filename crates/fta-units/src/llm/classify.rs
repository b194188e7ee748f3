//! A [`RelationClassifier`] that asks a language model (Eq. 6).

use std::{collections::BTreeMap, sync::Arc};

use async_trait::async_trait;
use fta_llm::{
    CallConfig, Items, LanguageModel, Prompt, PromptError, PromptSource, schemars::JsonSchema, structured,
};
use serde::{Deserialize, Serialize};

use super::cut;
use crate::{
    link::{Comparison, LinkError, Neighbour, RelationClassifier},
    unit::{Relation, Unit, UnitId},
};

/// Name and version of what stands around the prompt.
const CLASSIFIER: &str = "llm/1";
/// Step of the pipeline in the accounts.
const STEP: &str = "relations";
const PROMPT: &str = include_str!("../../prompts/relations.md");

/// Settings of [`LlmClassifier`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LlmClassifierConfig {
    /// How the model is asked.
    pub call: CallConfig,
    /// Most new units in one call; the paper's 1 lets each see what the links of those before it changed.
    pub batch_size: usize,
    /// Most characters of a claim that are shown; 0 shows all.
    pub max_claim_chars: usize,
}

impl Default for LlmClassifierConfig {
    fn default() -> Self {
        Self { call: CallConfig::default(), batch_size: 12, max_claim_chars: 300 }
    }
}

impl LlmClassifierConfig {
    /// The paper's: temperature 0.7, one new unit a call, whole claims.
    pub fn paper() -> Self {
        let call = CallConfig { temperature: 0.7, ..CallConfig::default() };
        Self { call, batch_size: 1, max_claim_chars: 0 }
    }
}

/// Asks a model how new units relate to their nearest older ones: one call for all neighbours of a batch of units.
///
/// An older unit that several new ones are compared with is shown once. A pair that the reply leaves out has no link; one
/// that was not asked for is ignored; of several labels for a pair the first counts.
/// # Source
/// Eq. 6. Differs: the paper's calls compare one pair, or one unit, at a time.
pub struct LlmClassifier {
    model: Arc<dyn LanguageModel>,
    prompt: Prompt,
    config: LlmClassifierConfig,
    id: String,
}

impl LlmClassifier {
    /// A classifier that asks `model` with the prompt `relations`.
    ///
    /// # Errors
    /// [`PromptError`] if a file of prompts cannot be used.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        prompts: &PromptSource,
        config: LlmClassifierConfig,
    ) -> Result<Self, PromptError> {
        let prompt = prompts.load(STEP, PROMPT)?;
        let id = format!("{CLASSIFIER} {} {}", prompt.id(), model.model_id());
        Ok(Self { model, prompt, config, id })
    }

    /// One call for these comparisons.
    async fn ask(&self, comparisons: &[Comparison<'_>]) -> Result<Vec<Vec<Option<Relation>>>, LinkError> {
        let older: BTreeMap<UnitId, &Unit> =
            comparisons.iter().flat_map(|c| c.neighbours).map(|n| (n.unit.id, n.unit)).collect();
        if older.is_empty() {
            return Ok(vec![Vec::new(); comparisons.len()]);
        }
        let numbers: BTreeMap<UnitId, u32> = older.keys().copied().zip(1..).collect();
        let data = Data {
            older: older.values().zip(1..).map(|(unit, number)| self.older(number, unit)).collect(),
            newer: comparisons.iter().zip(1..).map(|(c, number)| self.newer(number, c, &numbers)).collect(),
        };
        let messages = self
            .prompt
            .render(&data)
            .map_err(|error| LinkError::Failed { classifier: self.id.clone(), message: error.to_string() })?;
        let request = self.config.call.request(STEP, messages);
        let reply = structured::ask(&*self.model, request, &structured::accept::<Reply>)
            .await
            .map_err(|source| LinkError::Model { classifier: self.id.clone(), source })?;
        let mut labels: BTreeMap<(u32, u32), Option<Relation>> = BTreeMap::new();
        for link in reply.value.links {
            labels.entry((link.new, link.old)).or_insert(link.relation.into());
        }
        let label = |new: u32, old: &Neighbour<'_>| {
            numbers.get(&old.unit.id).and_then(|number| labels.get(&(new, *number)).copied().flatten())
        };
        Ok(comparisons
            .iter()
            .zip(1..)
            .map(|(c, new)| c.neighbours.iter().map(|old| label(new, old)).collect())
            .collect())
    }

    fn older(&self, number: u32, unit: &Unit) -> OlderRow {
        (number, day(unit), cut(&unit.fact.claim, self.config.max_claim_chars))
    }

    fn newer(&self, number: u32, comparison: &Comparison<'_>, numbers: &BTreeMap<UnitId, u32>) -> NewerRow {
        let unit = comparison.unit;
        let mut asked: Vec<u32> =
            comparison.neighbours.iter().filter_map(|n| numbers.get(&n.unit.id).copied()).collect();
        asked.sort_unstable();
        asked.dedup();
        (number, day(unit), cut(&unit.fact.claim, self.config.max_claim_chars), asked)
    }
}

type OlderRow = (u32, Option<String>, String);
type NewerRow = (u32, Option<String>, String, Vec<u32>);

#[derive(Serialize)]
struct Data {
    older: Vec<OlderRow>,
    newer: Vec<NewerRow>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
struct Reply {
    #[schemars(length(max = 120))]
    links: Items<WireLink>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
struct WireLink {
    new: u32,
    old: u32,
    relation: WireRelation,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[serde(rename_all = "snake_case")]
enum WireRelation {
    SameSituation,
    Update,
    Contradiction,
    FollowUp,
    Support,
    Unknown,
}

impl From<WireRelation> for Option<Relation> {
    fn from(relation: WireRelation) -> Self {
        match relation {
            WireRelation::SameSituation => Some(Relation::SameSituation),
            WireRelation::Update => Some(Relation::Update),
            WireRelation::Contradiction => Some(Relation::Contradiction),
            WireRelation::FollowUp => Some(Relation::FollowUp),
            WireRelation::Support => Some(Relation::Support),
            WireRelation::Unknown => None,
        }
    }
}

fn day(unit: &Unit) -> Option<String> {
    unit.time.said_at.map(|at| at.date().to_string())
}

#[async_trait]
impl RelationClassifier for LlmClassifier {
    fn id(&self) -> &str {
        &self.id
    }

    async fn classify(
        &self,
        unit: &Unit,
        neighbours: &[Neighbour<'_>],
    ) -> Result<Vec<Option<Relation>>, LinkError> {
        let mut labels = self.ask(&[Comparison { unit, neighbours }]).await?;
        Ok(labels.pop().unwrap_or_default())
    }

    fn batch_size(&self) -> usize {
        self.config.batch_size.max(1)
    }

    async fn classify_batch(
        &self,
        comparisons: &[Comparison<'_>],
    ) -> Result<Vec<Vec<Option<Relation>>>, LinkError> {
        let mut labels = Vec::with_capacity(comparisons.len());
        for batch in comparisons.chunks(self.batch_size()) {
            labels.extend(self.ask(batch).await?);
        }
        Ok(labels)
    }
}

#[cfg(test)]
mod tests;
