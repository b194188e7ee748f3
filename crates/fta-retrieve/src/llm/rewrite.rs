//! A [`QueryRewriter`] that asks a language model.

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use fta_llm::{
    CallConfig, Items, LanguageModel, Prompt, PromptError, PromptSource, schemars::JsonSchema, structured,
};
use fta_units::SituationType;
use serde::{Deserialize, Serialize};

use crate::{
    emotion::emotion_of,
    query::{AnswerType, Query, QueryRewriter, Question, RewriteError},
    rewrite::{RuleRewriter, times_of},
    words,
};

/// Name and version of what stands around the prompt.
const REWRITER: &str = "llm/1";
/// Step of the pipeline in the accounts.
const STEP: &str = "rewrite";
const PROMPT: &str = include_str!("../../prompts/rewrite.md");

/// Settings of [`LlmRewriter`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LlmRewriterConfig {
    /// How the model is asked.
    pub call: CallConfig,
}

/// Asks a model for the query and keeps to what the question says.
///
/// The result is that of [`RuleRewriter`] with what the reply says better. A reply's query that adds names, numbers or more
/// than a few words, or loses half of them, is not taken; entities, times and emotions count only if they occur in the
/// question. Time expressions are resolved by `fta_units::time`.
pub struct LlmRewriter {
    model: Arc<dyn LanguageModel>,
    prompt: Prompt,
    config: LlmRewriterConfig,
    id: String,
}

impl LlmRewriter {
    /// A rewriter that asks `model` with the prompt `rewrite`.
    ///
    /// # Errors
    /// [`PromptError`] if a file of prompts cannot be used.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        prompts: &PromptSource,
        config: LlmRewriterConfig,
    ) -> Result<Self, PromptError> {
        let prompt = prompts.load(STEP, PROMPT)?;
        let id = format!("{REWRITER} {} {}", prompt.id(), model.model_id());
        Ok(Self { model, prompt, config, id })
    }
}

#[derive(Serialize)]
struct Data<'a> {
    input: Input<'a>,
}

#[derive(Serialize)]
struct Input<'a> {
    question: &'a str,
    asked_on: Option<String>,
    speakers: &'a [String],
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
struct Reply {
    #[schemars(length(max = 300))]
    query: String,
    #[schemars(length(max = 8), inner(length(max = 80)))]
    entities: Items<String>,
    #[schemars(length(max = 4), inner(length(max = 60)))]
    times: Items<String>,
    #[schemars(length(max = 3))]
    situations: Items<Situation>,
    #[schemars(length(max = 4), inner(length(max = 40)))]
    emotions: Items<String>,
    answer: Wanted,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[serde(rename_all = "snake_case")]
enum Situation {
    Event,
    CurrentState,
    RelationshipEvent,
    BeliefCandidate,
    HomeworkOrPlan,
    SupportInteraction,
    RiskSignal,
    GeneralFact,
}

impl From<Situation> for SituationType {
    fn from(situation: Situation) -> Self {
        match situation {
            Situation::Event => Self::Event,
            Situation::CurrentState => Self::CurrentState,
            Situation::RelationshipEvent => Self::RelationshipEvent,
            Situation::BeliefCandidate => Self::BeliefCandidate,
            Situation::HomeworkOrPlan => Self::HomeworkOrPlan,
            Situation::SupportInteraction => Self::SupportInteraction,
            Situation::RiskSignal => Self::RiskSignal,
            Situation::GeneralFact => Self::GeneralFact,
        }
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[serde(rename_all = "snake_case")]
enum Wanted {
    When,
    HowLong,
    Who,
    Where,
    HowMany,
    YesNo,
    List,
    Why,
    Feeling,
    What,
    Unknown,
}

impl Wanted {
    /// The type, or `None` where the reply says nothing in particular.
    fn answer_type(self) -> Option<AnswerType> {
        Some(match self {
            Self::When => AnswerType::When,
            Self::HowLong => AnswerType::HowLong,
            Self::Who => AnswerType::Who,
            Self::Where => AnswerType::Where,
            Self::HowMany => AnswerType::HowMany,
            Self::YesNo => AnswerType::YesNo,
            Self::List => AnswerType::List,
            Self::Why => AnswerType::Why,
            Self::Feeling => AnswerType::Feeling,
            Self::What | Self::Unknown => return None,
        })
    }
}

/// The rules' query with what the reply says better.
fn merge(query: &mut Query, reply: &Reply, question: &Question<'_>) {
    let lower = query.question.to_lowercase();
    let occurs = |words: &str| !words.trim().is_empty() && lower.contains(&words.trim().to_lowercase());
    if is_faithful(&reply.query, query, question) {
        query.text = reply.query.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    // A name has a capital letter or a digit where it stands in the question.
    let is_name = |words: &str| {
        let at = lower.find(&words.to_lowercase());
        let there = at.and_then(|at| query.question.get(at..at + words.len()));
        there.is_some_and(|there| there.contains(|c: char| c.is_uppercase() || c.is_ascii_digit()))
    };
    let named: Vec<&str> =
        reply.entities.iter().map(|e| e.trim()).filter(|e| occurs(e) && is_name(e)).collect();
    for entity in named {
        let is_speaker = question.speakers.iter().any(|s| s.eq_ignore_ascii_case(entity));
        if !is_speaker && !query.entities.iter().any(|known| known.eq_ignore_ascii_case(entity)) {
            query.entities.push(entity.to_owned());
        }
    }
    for words in reply.times.iter().filter(|t| occurs(t)) {
        for time in times_of(words.trim(), question) {
            let text = time.text.to_lowercase();
            let known = query.times.iter().any(|t| {
                let known = t.text.to_lowercase();
                known.contains(&text) || text.contains(&known)
            });
            if !known {
                query.times.push(time);
            }
        }
    }
    if !reply.situations.is_empty() {
        query.situations.clear();
        for situation in reply.situations.iter().map(|s| SituationType::from(*s)) {
            if !query.situations.contains(&situation) {
                query.situations.push(situation);
            }
        }
    }
    for word in reply.emotions.iter().filter(|e| occurs(e)) {
        if let Some(emotion) = emotion_of(word).filter(|e| !query.emotions.contains(e)) {
            query.emotions.push(emotion);
        }
    }
    query.answer = reply.answer.answer_type().unwrap_or(query.answer);
    keep_names(query);
}

/// Whether a rewritten query adds nothing of weight and keeps most of what is asked.
fn is_faithful(text: &str, query: &Query, question: &Question<'_>) -> bool {
    let stems = |text: &str| words::content_stems(text).into_iter().collect::<BTreeSet<String>>();
    let (asked, kept, wanted) = (stems(&query.question), stems(text), stems(&query.text));
    let said: BTreeSet<String> = words::tokens(&query.question)
        .iter()
        .flat_map(|t| [words::lower(t.text), words::lower(words::strip_possessive(t.text))])
        .collect();
    let invents = words::tokens(text).iter().enumerate().any(|(at, token)| {
        let weighty = at > 0 && token.capitalised() || token.text.contains(|c: char| c.is_ascii_digit());
        let known = |word: &str| said.contains(&words::lower(word));
        weighty && !known(token.text) && !known(words::strip_possessive(token.text))
    });
    let opens_with_stranger = words::tokens(text).first().is_some_and(|first| {
        let name = words::lower(words::strip_possessive(first.text));
        !said.contains(&name) && question.speakers.iter().any(|s| words::lower(s) == name)
    });
    let added = kept.difference(&asked).count();
    let lost = wanted.difference(&kept).count();
    !kept.is_empty()
        && !invents
        && !opens_with_stranger
        && added <= (kept.len() / 4).max(1)
        && lost * 2 <= wanted.len()
}

/// Puts speakers and entities that the text lost at its end.
fn keep_names(query: &mut Query) {
    for name in query.speakers.iter().chain(&query.entities) {
        let first = name.split_whitespace().next().unwrap_or(name).to_lowercase();
        if !query.text.to_lowercase().contains(&first) {
            query.text.push(' ');
            query.text.push_str(name);
        }
    }
}

#[async_trait]
impl QueryRewriter for LlmRewriter {
    fn id(&self) -> &str {
        &self.id
    }

    async fn rewrite(&self, question: Question<'_>) -> Result<Query, RewriteError> {
        let mut query = RuleRewriter.rewrite_now(question)?;
        let input = Input {
            question: &query.question,
            asked_on: question.asked_at.map(|at| at.date().to_string()),
            speakers: question.speakers,
        };
        let messages = self.prompt.render(&Data { input }).map_err(|error| RewriteError::Failed {
            rewriter: self.id.clone(),
            message: error.to_string(),
        })?;
        let request = self.config.call.request(STEP, messages);
        let reply = structured::ask::<Reply>(&*self.model, request, &structured::accept)
            .await
            .map_err(|source| RewriteError::Model { rewriter: self.id.clone(), source })?;
        merge(&mut query, &reply.value, &question);
        Ok(query)
    }
}
