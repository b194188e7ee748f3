//! A [`UnitExtractor`] that asks a language model (Eq. 3-5).

mod build;
#[cfg(test)]
mod tests;
mod wire;

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use fta_llm::{CallConfig, LanguageModel, Prompt, PromptError, PromptSource, structured};
use fta_segment::{Fragment, Turn, TurnSpan, llm::turn_rows};

use self::{
    build::Scene,
    wire::{Data, Reply},
};
use crate::{
    extract::{ExtractError, Extraction, ExtractionInput, UnitExtractor},
    offline::{
        RuleExtractor, TurnKind,
        fuse::{content_stems, fuse},
        turn_kind,
    },
    text::same_name,
    unit::{CandidateUnit, Provenance},
};

/// Name and version of what stands around the prompt.
const EXTRACTOR: &str = "llm/1";
/// Step of the pipeline in the accounts.
const STEP: &str = "extract";
const PROMPT: &str = include_str!("../../../prompts/extract.md");
/// Share of the carried claim's words that a completing claim says again, from which on it says both.
const SAYS_BOTH: f32 = 0.6;

/// Whether a candidate that the reply says completes a carried unit is fused with it (Eq. 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FusionCheck {
    /// The reply is believed.
    ByReply,
    /// The two must be compatible as well: a participant in common, if both name any, and event times that meet, if both have
    /// one. It needs no call. A candidate that is not stands for itself, and the carried unit is carried on.
    #[default]
    ByRules,
}

/// Settings of [`LlmExtractor`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LlmExtractorConfig {
    /// How the model is asked.
    pub call: CallConfig,
    /// Most turns of neighbouring fragments in one call; 0 is one fragment a call.
    pub max_group_turns: usize,
    /// Whether turns that say something and lie in no unit's evidence get units by rules (provenance `rules/1`). A question
    /// right before a unit of its answer is taken into that unit's evidence instead.
    pub cover: bool,
    /// Whether fusions are checked.
    pub fusion: FusionCheck,
}

impl Default for LlmExtractorConfig {
    fn default() -> Self {
        Self { call: CallConfig::default(), max_group_turns: 24, cover: true, fusion: FusionCheck::ByRules }
    }
}

impl LlmExtractorConfig {
    /// The paper's: temperature 0.7, one fragment a call, units from the model alone.
    pub fn paper() -> Self {
        let call = CallConfig { temperature: 0.7, ..CallConfig::default() };
        Self { call, max_group_turns: 0, cover: false, fusion: FusionCheck::ByRules }
    }
}

/// Asks a model for the units of fragments, and reads times, names and quotes off the evidence.
///
/// One call per input. Of a reply, units without a claim or on turns that were not shown are left out, and evidence is cut
/// to one fragment. Event times are resolved by [`crate::time`], not by the model.
/// # Source
/// Eq. 3-5; spec section 3. Differs: several fragments in one call, and rules for turns that the model left out.
pub struct LlmExtractor {
    model: Arc<dyn LanguageModel>,
    prompt: Prompt,
    config: LlmExtractorConfig,
    rules: RuleExtractor,
    id: String,
}

impl LlmExtractor {
    /// An extractor that asks `model` with the prompt `extract`.
    ///
    /// # Errors
    /// [`PromptError`] if a file of prompts cannot be used.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        prompts: &PromptSource,
        config: LlmExtractorConfig,
    ) -> Result<Self, PromptError> {
        let prompt = prompts.load(STEP, PROMPT)?;
        let id = format!("{EXTRACTOR} {} {}", prompt.id(), model.model_id());
        Ok(Self { model, prompt, config, rules: RuleExtractor::default(), id })
    }

    async fn ask(&self, input: &ExtractionInput<'_>, parts: &[Fragment]) -> Result<Reply, ExtractError> {
        let data = Data {
            carried: input.carried.iter().enumerate().map(|(i, c)| (i + 1, c.fact.claim.as_str())).collect(),
            parts: parts.iter().map(|part| turn_rows(input.session.span(part.span), 0)).collect(),
        };
        let messages = self.prompt.render(&data).map_err(|error| ExtractError::Failed {
            extractor: EXTRACTOR.to_owned(),
            message: error.to_string(),
        })?;
        let n_turns = parts.iter().map(|part| part.span.len()).sum();
        let mut request = self.config.call.request(STEP, messages);
        request.schema =
            Some(structured::with_max_items(structured::schema_of::<Reply>(), "units", most_units(n_turns)));
        let reply = structured::ask(&*self.model, request, &|reply: &Reply| check(reply, parts))
            .await
            .map_err(|source| ExtractError::Model { extractor: EXTRACTOR.to_owned(), source })?;
        Ok(reply.value)
    }

    /// Whether a candidate may be fused with the carried unit that it is said to complete.
    fn may_fuse(&self, carried: &CandidateUnit, candidate: &CandidateUnit) -> bool {
        carried.evidence.session == candidate.evidence.session
            && (self.config.fusion == FusionCheck::ByReply || compatible(carried, candidate))
    }

    /// The units of a reply, each with the carried ones that it is fused with.
    fn units(
        &self,
        input: &ExtractionInput<'_>,
        scene: &Scene<'_>,
        reply: &Reply,
    ) -> Vec<(CandidateUnit, Vec<usize>)> {
        let mut free = vec![true; input.carried.len()];
        let mut claims: BTreeSet<String> = BTreeSet::new();
        let mut units = Vec::new();
        for wire in &*reply.units {
            let Some(unit) = scene.unit(wire) else { continue };
            // Small models repeat themselves.
            if !claims.insert(unit.fact.claim.to_lowercase()) {
                continue;
            }
            let completes = wire.completes.and_then(|number| (number as usize).checked_sub(1));
            let carried = completes
                .and_then(|index| Some((index, input.carried.get(index)?)))
                .filter(|(index, carried)| free[*index] && self.may_fuse(carried, &unit));
            match carried {
                Some((index, carried)) => {
                    free[index] = false;
                    units.push((fused(carried, unit), vec![index]));
                }
                None => units.push((unit, Vec::new())),
            }
        }
        units
    }

    /// Adds units by rules for turns that say something and lie in no unit's evidence.
    fn cover(
        &self,
        input: &ExtractionInput<'_>,
        scene: &Scene<'_>,
        units: &mut Vec<(CandidateUnit, Vec<usize>)>,
    ) {
        for part in scene.parts {
            let open = |index: u32| {
                let turn = input.session.turns.get(index as usize);
                turn.is_some_and(|t| turn_kind(t, &scene.speakers) != TurnKind::Filler)
                    && !units.iter().any(|(unit, _)| unit.evidence.turns.contains(index))
            };
            let open: Vec<u32> = part.span.range().filter(|index| open(*index)).collect();
            for run in open.chunk_by(|a, b| a + 1 == *b) {
                let span = TurnSpan::new(run[0], run[run.len() - 1] + 1);
                let waiting: Vec<usize> = (0..input.carried.len())
                    .filter(|i| !units.iter().any(|(_, fused)| fused.contains(i)))
                    .collect();
                let carried: Vec<CandidateUnit> = waiting.iter().map(|i| input.carried[*i].clone()).collect();
                let fragment = Fragment { span, cue: part.cue };
                let extraction = self.rules.extract_now(ExtractionInput {
                    session: input.session,
                    fragment,
                    parts: &[fragment],
                    carried: &carried,
                });
                for (index, unit) in extraction.units.into_iter().enumerate() {
                    let fused = extraction.fused.iter().filter(|(_, new)| *new == index);
                    units.push((unit, fused.map(|(old, _)| waiting[*old]).collect()));
                }
            }
        }
    }
}

/// Most units that a reply about so many turns is held to: small models repeat themselves until something stops them. Few
/// steps, so that servers and decoders meet few schemas.
fn most_units(n_turns: usize) -> usize {
    [4, 8, 12, 16, 24, 32].into_iter().find(|most| *most >= n_turns).unwrap_or(40)
}

/// Lets the evidence of an answer begin with the question that nothing else rests on: the exchange is one.
fn take_questions_in(scene: &Scene<'_>, units: &mut [(CandidateUnit, Vec<usize>)]) {
    for part in scene.parts {
        for index in part.span.range().rev() {
            let turns = scene.session.span(TurnSpan::new(index, index.saturating_add(2).min(part.span.end)));
            let [question, answer] = turns else { continue };
            let asks = turn_kind(question, &scene.speakers) == TurnKind::Question
                && question.speaker != answer.speaker;
            if !asks || units.iter().any(|(unit, _)| unit.evidence.turns.contains(index)) {
                continue;
            }
            for (unit, _) in units.iter_mut().filter(|(u, _)| u.evidence.turns.start == index + 1) {
                unit.evidence.turns.start = index;
            }
        }
    }
}

/// Refuses a reply all of whose units rest on turns that were not shown.
fn check(reply: &Reply, parts: &[Fragment]) -> Result<(), String> {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Ok(()) };
    let shown = TurnSpan::new(first.span.start, last.span.end);
    let is_shown = |[a, b]: [u32; 2]| shown.overlaps(TurnSpan::new(a.min(b), a.max(b).saturating_add(1)));
    if reply.units.is_empty() || reply.units.iter().any(|unit| is_shown(unit.evidence_turn_span)) {
        return Ok(());
    }
    let last = shown.end.saturating_sub(1);
    Err(format!("no `evidence_turn_span` lies among the turns {} to {last}", shown.start))
}

/// Whether two units can be parts of one situation: someone in common, and times that meet.
fn compatible(carried: &CandidateUnit, candidate: &CandidateUnit) -> bool {
    let (older, newer) = (&carried.fact.participants, &candidate.fact.participants);
    let strangers = !older.is_empty()
        && !newer.is_empty()
        && !older.iter().any(|a| newer.iter().any(|b| same_name(a, b)));
    let interval = |unit: &CandidateUnit| unit.time.event.as_ref().and_then(|event| event.interval);
    let apart = match (interval(carried), interval(candidate)) {
        (Some(a), Some(b)) => !a.overlaps(b),
        _ => false,
    };
    !strangers && !apart
}

/// Both in one. The claim is the candidate's if it says both already.
fn fused(carried: &CandidateUnit, candidate: CandidateUnit) -> CandidateUnit {
    let (claim, summary) = (candidate.fact.claim.clone(), candidate.fact.summary.clone());
    let older = content_stems(&carried.fact.claim, &carried.fact.participants);
    let newer = content_stems(&claim, &candidate.fact.participants);
    let again = older.intersection(&newer).count();
    let mut unit = fuse(carried, candidate);
    if again as f32 >= SAYS_BOTH * older.len() as f32 {
        unit.fact.claim = claim;
        unit.fact.summary = summary;
    }
    unit
}

#[async_trait]
impl UnitExtractor for LlmExtractor {
    fn id(&self) -> &str {
        &self.id
    }

    fn max_group_turns(&self) -> usize {
        self.config.max_group_turns
    }

    async fn extract(&self, input: ExtractionInput<'_>) -> Result<Extraction, ExtractError> {
        let n_turns = input.session.turns.len() as u32;
        let clipped = |f: &Fragment| Fragment {
            span: TurnSpan::new(f.span.start.min(n_turns), f.span.end.min(n_turns)),
            cue: f.cue,
        };
        let given = if input.parts.is_empty() { std::slice::from_ref(&input.fragment) } else { input.parts };
        let parts: Vec<Fragment> = given.iter().map(clipped).filter(|f| !f.span.is_empty()).collect();
        if parts.is_empty() {
            return Ok(Extraction::default());
        }
        let provenance = Provenance {
            extractor: EXTRACTOR.to_owned(),
            prompt: Some(self.prompt.id().to_owned()),
            model: Some(self.model.model_id().to_owned()),
            corrected_at: None,
        };
        let scene = Scene::new(input.session, &parts, provenance);
        // Nothing but greetings and the like needs no call; the paper asks about every fragment.
        let is_filler = |t: &Turn| turn_kind(t, &scene.speakers) == TurnKind::Filler;
        let shown = || parts.iter().flat_map(|part| input.session.span(part.span));
        if self.config.cover && input.carried.is_empty() && shown().all(is_filler) {
            return Ok(Extraction::default());
        }
        let reply = self.ask(&input, &parts).await?;
        let mut units = self.units(&input, &scene, &reply);
        if self.config.cover {
            take_questions_in(&scene, &mut units);
            self.cover(&input, &scene, &mut units);
        }
        units.sort_by_key(|(u, _)| {
            (u.evidence.turns.start, u.evidence.quotes.first().map(|q| (q.turn, q.start)))
        });
        let mut fused: Vec<(usize, usize)> = units
            .iter()
            .enumerate()
            .flat_map(|(at, (_, carried))| carried.iter().map(move |&c| (c, at)))
            .collect();
        fused.sort_unstable();
        Ok(Extraction { units: units.into_iter().map(|(unit, _)| unit).collect(), fused })
    }
}
