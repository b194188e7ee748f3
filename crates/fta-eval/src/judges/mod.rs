//! Judges: scores of answers by a language model that reads question, gold answer and answer.
//!
//! Each is a [`Scorer`] that asks once per question, at temperature 0 unless told otherwise. Prompts are files
//! (`crates/fta-eval/prompts`) that a [`PromptSource`] can replace; what the data set or the judged system wrote goes into
//! them as quoted JSON. A reply that holds no verdict is no score and is counted; a model that fails is an error. Scores
//! without a model are in [`metrics`](crate::metrics).

mod ask;
mod verdict;

use std::sync::Arc;

use async_trait::async_trait;
use fta_mem::llm::{CallConfig, LanguageModel, Prompt, PromptError, PromptSource};

use self::{
    ask::Asker,
    verdict::{first_score, right_or_wrong, yes_or_no},
};
use crate::{
    datasets::CaseQuestion,
    metrics::{Cleaning, Need, Observation, ScoreError, Scorer, clean_answer},
};

/// What judges read.
const NEEDS: [Need; 2] = [Need::Answer, Need::Gold];

/// Grades answers 0 (wrong), 1 (in part) or 2 (right); `judge_es_memeval`, scores in `[0, 2]`.
///
/// The answer is cleaned as for the other scores of ES-MemEval ([`clean_answer`]). The first digit from 0 to 2 of the
/// reply is the score. Questions without an answer are judged against their gold text, as the others; a question without
/// gold text has no score.
///
/// # Source
/// ES-MemEval's judge (data notes, section 7), in our own words.
pub struct EsMemEvalJudge {
    asker: Asker,
    prompt: Prompt,
}

impl EsMemEvalJudge {
    /// A judge that asks `model` with the prompt `judge_es_memeval`.
    ///
    /// # Errors
    /// [`PromptError`] if a file of prompts cannot be used.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        prompts: &PromptSource,
        call: CallConfig,
    ) -> Result<Self, PromptError> {
        let prompt = prompts.load("judge_es_memeval", include_str!("../../prompts/judge_es_memeval.md"))?;
        Ok(Self { asker: Asker::new("judge_es_memeval", model, call), prompt })
    }

    /// Prompt and model, kept as provenance.
    pub fn id(&self) -> String {
        self.asker.id(&[&self.prompt])
    }

    /// Replies so far that held no verdict.
    pub fn unreadable(&self) -> u64 {
        self.asker.unreadable()
    }
}

#[async_trait]
impl Scorer for EsMemEvalJudge {
    fn name(&self) -> String {
        self.asker.name().to_owned()
    }

    fn needs(&self) -> &[Need] {
        &NEEDS
    }

    async fn score(&self, observation: &Observation<'_>) -> Result<Option<f64>, ScoreError> {
        let answer = observation.answer.map(|answer| clean_answer(answer, Cleaning::Prefix));
        let cleaned = Observation { answer: answer.as_deref(), ..*observation };
        self.asker.ask(&self.prompt, &cleaned, first_score).await
    }
}

/// Tells right answers (1) from others (0) as LoCoMo results by judge do; `judge_locomo`.
///
/// Only answerable questions are judged. Generous: an answer is right if it says what the gold answer says, in whatever
/// words and length.
///
/// # Source
/// The judges of LoCoMo results (data notes, section 3) in intent; the prompt is ours, so scores by other prompts are not
/// comparable.
pub struct LocomoJudge {
    asker: Asker,
    prompt: Prompt,
}

impl LocomoJudge {
    /// A judge that asks `model` with the prompt `judge_locomo`.
    ///
    /// # Errors
    /// [`PromptError`] if a file of prompts cannot be used.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        prompts: &PromptSource,
        call: CallConfig,
    ) -> Result<Self, PromptError> {
        let prompt = prompts.load("judge_locomo", include_str!("../../prompts/judge_locomo.md"))?;
        Ok(Self { asker: Asker::new("judge_locomo", model, call), prompt })
    }

    /// Prompt and model, kept as provenance.
    pub fn id(&self) -> String {
        self.asker.id(&[&self.prompt])
    }

    /// Replies so far that held no verdict.
    pub fn unreadable(&self) -> u64 {
        self.asker.unreadable()
    }
}

#[async_trait]
impl Scorer for LocomoJudge {
    fn name(&self) -> String {
        self.asker.name().to_owned()
    }

    fn needs(&self) -> &[Need] {
        &NEEDS
    }

    async fn score(&self, observation: &Observation<'_>) -> Result<Option<f64>, ScoreError> {
        if !observation.question.answerable {
            return Ok(None);
        }
        self.asker.ask(&self.prompt, observation, right_or_wrong).await
    }
}

/// How an answer to a question of LongMemEval is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LongMemEvalKind {
    /// The answer must hold all of the gold answer.
    Default,
    /// The same, with counts of days, weeks and months right to one.
    Temporal,
    /// The newest state of things must be given; older ones may be.
    KnowledgeUpdate,
    /// The gold answer is a rubric, of which not every point need be met.
    Preference,
    /// It must be recognised that there is no answer; the gold answer explains why.
    Abstention,
}

impl LongMemEvalKind {
    /// All kinds.
    pub const ALL: [Self; 5] =
        [Self::Default, Self::Temporal, Self::KnowledgeUpdate, Self::Preference, Self::Abstention];

    /// The kind of a question: abstention if it has no answer, else by its type.
    pub fn of(question: &CaseQuestion) -> Self {
        if !question.answerable {
            return Self::Abstention;
        }
        match question.category_name.as_str() {
            "temporal-reasoning" => Self::Temporal,
            "knowledge-update" => Self::KnowledgeUpdate,
            "single-session-preference" => Self::Preference,
            _ => Self::Default,
        }
    }

    /// Name and text of its prompt.
    fn prompt(self) -> (&'static str, &'static str) {
        match self {
            Self::Default => ("judge_longmemeval", include_str!("../../prompts/judge_longmemeval.md")),
            Self::Temporal => {
                ("judge_longmemeval_temporal", include_str!("../../prompts/judge_longmemeval_temporal.md"))
            }
            Self::KnowledgeUpdate => {
                ("judge_longmemeval_update", include_str!("../../prompts/judge_longmemeval_update.md"))
            }
            Self::Preference => (
                "judge_longmemeval_preference",
                include_str!("../../prompts/judge_longmemeval_preference.md"),
            ),
            Self::Abstention => (
                "judge_longmemeval_abstention",
                include_str!("../../prompts/judge_longmemeval_abstention.md"),
            ),
        }
    }
}

/// Tells right answers (1) from others (0) by five prompts ([`LongMemEvalKind`]); `judge_longmemeval`.
///
/// "yes" anywhere in the reply is right. Differs: a reply with neither "yes" nor "no" is no score here and wrong in the
/// original. A question without gold text has no score.
///
/// # Source
/// LongMemEval's judge (data notes, section 9), in our own words.
pub struct LongMemEvalJudge {
    asker: Asker,
    /// In the order of [`LongMemEvalKind::ALL`].
    prompts: Vec<Prompt>,
}

impl LongMemEvalJudge {
    /// A judge that asks `model` with the prompts `judge_longmemeval`, and `judge_longmemeval_` with `temporal`, `update`,
    /// `preference` and `abstention`.
    ///
    /// # Errors
    /// [`PromptError`] if a file of prompts cannot be used.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        prompts: &PromptSource,
        call: CallConfig,
    ) -> Result<Self, PromptError> {
        let load = |kind: LongMemEvalKind| {
            let (name, builtin) = kind.prompt();
            prompts.load(name, builtin)
        };
        let prompts = LongMemEvalKind::ALL.into_iter().map(load).collect::<Result<_, _>>()?;
        Ok(Self { asker: Asker::new("judge_longmemeval", model, call), prompts })
    }

    /// Prompts and model, kept as provenance.
    pub fn id(&self) -> String {
        self.asker.id(&self.prompts.iter().collect::<Vec<_>>())
    }

    /// Replies so far that held no verdict.
    pub fn unreadable(&self) -> u64 {
        self.asker.unreadable()
    }
}

#[async_trait]
impl Scorer for LongMemEvalJudge {
    fn name(&self) -> String {
        self.asker.name().to_owned()
    }

    fn needs(&self) -> &[Need] {
        &NEEDS
    }

    async fn score(&self, observation: &Observation<'_>) -> Result<Option<f64>, ScoreError> {
        let prompt = &self.prompts[LongMemEvalKind::of(observation.question) as usize];
        self.asker.ask(prompt, observation, yes_or_no).await
    }
}

#[cfg(test)]
mod tests;
