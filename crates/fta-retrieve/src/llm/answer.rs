//! An [`Answerer`] that asks a language model (Eq. 12).

use std::{collections::BTreeSet, sync::Arc};

use async_trait::async_trait;
use fta_llm::{
    CallConfig, FinishReason, Items, LanguageModel, ModelError, Prompt, PromptError, PromptSource,
    schemars::JsonSchema, structured,
};
use fta_units::{
    DateInterval, EventTime, Unit, UnitId,
    time::{TimeContext, find_times},
};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::packet::Data;
use crate::{
    answer::{Answer, AnswerError, Answerer, NOT_MENTIONED, TurnRef},
    packet::Packet,
    query::AnswerType,
    words,
};

/// Name and version of what stands around the prompt.
const ANSWERER: &str = "llm/1";
/// Step of the pipeline in the accounts.
const STEP: &str = "answer";

/// Confidence of an answer that names its units, of one whose units were found by its words, and of one without.
const CITED: f32 = 0.9;
const FOUND: f32 = 0.6;
const UNGROUNDED: f32 = 0.3;

/// How answers are worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnswerStyle {
    /// A few words, dates as "7 May 2023".
    #[default]
    Short,
    /// One or two sentences about a person who seeks support.
    Supportive,
    /// Friendly sentences to the person who asks.
    Chat,
}

impl AnswerStyle {
    /// Name and text of its prompt.
    fn prompt(self) -> (&'static str, &'static str) {
        match self {
            Self::Short => ("answer_short", include_str!("../../prompts/answer_short.md")),
            Self::Supportive => ("answer_supportive", include_str!("../../prompts/answer_supportive.md")),
            Self::Chat => ("answer_chat", include_str!("../../prompts/answer_chat.md")),
        }
    }
}

/// Settings of [`LlmAnswerer`].
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LlmAnswererConfig {
    /// How the model is asked; the paper's temperature of answers is 0.
    pub call: CallConfig,
    /// How answers are worded.
    pub style: AnswerStyle,
    /// Asks for the bare answer, for models that answer worse in JSON; units are then found by the answer's words.
    pub plain: bool,
}

/// Asks a model for the answer, with the packet's four sections kept apart.
///
/// Units that the reply cites count if the packet holds them; evidence is the turns that they quote. A packet without
/// anything in it is answered with [`NOT_MENTIONED`] and no call. Confidence says how well the answer is grounded: 0.9 with
/// cited units, 0.6 with units found by its words, 0.3 without.
/// # Source
/// Eq. 11-12; spec section 7.
pub struct LlmAnswerer {
    model: Arc<dyn LanguageModel>,
    prompt: Prompt,
    config: LlmAnswererConfig,
    id: String,
}

impl LlmAnswerer {
    /// An answerer that asks `model` with the prompt of the style: `answer_short`, `answer_supportive` or `answer_chat`.
    ///
    /// # Errors
    /// [`PromptError`] if a file of prompts cannot be used.
    pub fn new(
        model: Arc<dyn LanguageModel>,
        prompts: &PromptSource,
        config: LlmAnswererConfig,
    ) -> Result<Self, PromptError> {
        let (name, builtin) = config.style.prompt();
        let prompt = prompts.load(name, builtin)?;
        let id = format!("{ANSWERER} {} {}", prompt.id(), model.model_id());
        Ok(Self { model, prompt, config, id })
    }

    /// The reply to a request without JSON.
    async fn ask_plain(&self, request: fta_llm::ChatRequest) -> Result<Reply, ModelError> {
        let reply = self.model.complete(request).await?;
        let text = structured::plain_text(&reply.text);
        if text.is_empty() || reply.finish == FinishReason::ContentFilter {
            let message = "it holds no answer".to_owned();
            return Err(ModelError::InvalidOutput { message, reply: reply.text });
        }
        Ok(Reply { units: Items::default(), answerable: true, answer: text.to_owned() })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
struct Reply {
    #[schemars(length(max = 1500))]
    answer: String,
    answerable: bool,
    #[schemars(length(max = 8), inner(length(max = 12)))]
    units: Items<String>,
}

fn check(reply: &Reply) -> Result<(), String> {
    if reply.answerable && reply.answer.trim().is_empty() {
        return Err("`answer` is empty".to_owned());
    }
    Ok(())
}

/// The words of the answer, or `None` if they say that there is none.
fn answer_text(reply: &Reply, style: AnswerStyle) -> Option<String> {
    let mut text = reply.answer.split_whitespace().collect::<Vec<_>>().join(" ");
    if style == AnswerStyle::Short {
        let bare = text.strip_prefix("Answer:").unwrap_or(&text).trim();
        let bare = bare.strip_prefix('"').and_then(|t| t.strip_suffix('"')).unwrap_or(bare);
        let ends_sentence = bare.ends_with('.') && !bare.ends_with("..");
        // "at 9 a.m." and "J. R." keep their point.
        let abbreviated =
            bare.rsplit(' ').next().is_some_and(|last| last.matches('.').count() > 1 || last.len() < 4);
        let bare = if ends_sentence && !abbreviated { &bare[..bare.len() - 1] } else { bare };
        let day = bare.parse::<Date>().map(|day| DateInterval::day(day).describe());
        text = day.unwrap_or_else(|_| bare.to_owned());
    }
    let lower = text.to_lowercase();
    let lower = lower.trim_end_matches('.');
    let none = ["not mentioned", "unknown", "no information available", "not stated", "not specified", "n/a"];
    let abstains = !reply.answerable
        || lower.is_empty()
        || lower.starts_with(&NOT_MENTIONED.to_lowercase())
        || none.contains(&lower);
    (!abstains).then_some(text)
}

fn abstention() -> Answer {
    Answer { text: NOT_MENTIONED.to_owned(), abstained: true, ..Answer::default() }
}

/// All units of a packet, primary ones first, by rank.
fn units_of(packet: &Packet) -> Vec<&Unit> {
    packet.ranked().into_iter().map(|p| &p.unit).chain(packet.linked.iter().map(|l| &l.unit)).collect()
}

/// The units of the packet that a reply cites, in its order, each once.
fn cited<'p>(reply: &Reply, units: &[&'p Unit]) -> Vec<&'p Unit> {
    let mut found: Vec<&Unit> = Vec::new();
    // "u3 u4" and "[u3]" cite as well as "u3".
    let names = reply.units.iter().flat_map(|u| u.split(|c: char| !c.is_alphanumeric()));
    for number in names.filter_map(|n| n.trim_start_matches(['u', 'U']).parse::<u64>().ok()) {
        let unit = units.iter().find(|u| u.id == UnitId(number));
        if let Some(unit) = unit.filter(|u| !found.iter().any(|f| f.id == u.id)) {
            found.push(unit);
        }
    }
    found
}

/// The unit that shares most words with the answer, in its claim and the turns that it quotes; the first of equals.
fn by_words<'p>(answer: &str, packet: &Packet, units: &[&'p Unit]) -> Option<&'p Unit> {
    let wanted: BTreeSet<String> = words::content_stems(answer).into_iter().collect();
    let shared = |unit: &Unit| {
        let mut text = unit.fact.claim.clone();
        if let Some(event) = &unit.time.event {
            text.push(' ');
            text.push_str(&event.describe());
        }
        for quote in &unit.evidence.quotes {
            let turn = packet.turn(&unit.evidence.session, quote.turn);
            let quoted = turn.and_then(|t| t.text.get(quote.start as usize..quote.end as usize));
            text.push(' ');
            text.push_str(quoted.unwrap_or_default());
        }
        let said: BTreeSet<String> = words::content_stems(&text).into_iter().collect();
        wanted.intersection(&said).count()
    };
    let best = units.iter().rev().max_by_key(|unit| shared(unit))?;
    (shared(best) > 0).then_some(best)
}

/// The turns that units quote, each once, as far as the packet holds them.
fn evidence_of(units: &[&Unit], packet: &Packet) -> Vec<TurnRef> {
    let mut turns: Vec<TurnRef> = Vec::new();
    for unit in units {
        for quote in &unit.evidence.quotes {
            let Some(turn) = packet.turn(&unit.evidence.session, quote.turn) else { continue };
            let reference = TurnRef {
                session: unit.evidence.session.clone(),
                turn: turn.index,
                source_id: turn.source_id.clone(),
            };
            if !turns.contains(&reference) {
                turns.push(reference);
            }
        }
    }
    turns
}

/// The time that an answer to "when" is.
fn time_of(answer: &str, packet: &Packet, units: &[&Unit]) -> Option<EventTime> {
    if packet.query.answer != AnswerType::When {
        return None;
    }
    let said_on = units.first().and_then(|u| u.time.said_at).or(packet.query.asked_at)?;
    let times = find_times(answer, &TimeContext::on(said_on.date()));
    times.into_iter().map(|m| m.time).find(|t| t.interval.is_some())
}

#[async_trait]
impl Answerer for LlmAnswerer {
    fn id(&self) -> &str {
        &self.id
    }

    async fn answer(&self, packet: &Packet) -> Result<Answer, AnswerError> {
        let background = &packet.background;
        let has_background = !background.profile.is_empty() || !background.support.is_empty();
        let units = units_of(packet);
        if units.is_empty() && packet.spans.is_empty() && !has_background {
            return Ok(abstention());
        }
        let messages = self
            .prompt
            .render(&Data::new(packet, self.config.plain))
            .map_err(|error| AnswerError::Failed { answerer: self.id.clone(), message: error.to_string() })?;
        let request = self.config.call.request(STEP, messages);
        let reply = if self.config.plain {
            self.ask_plain(request).await
        } else {
            structured::ask(&*self.model, request, &check).await.map(|reply| reply.value)
        };
        let reply = reply.map_err(|source| AnswerError::Model { answerer: self.id.clone(), source })?;
        let Some(text) = answer_text(&reply, self.config.style) else { return Ok(abstention()) };
        let mut support = cited(&reply, &units);
        let mut confidence = CITED;
        if support.is_empty() {
            support.extend(by_words(&text, packet, &units));
            confidence = if support.is_empty() { UNGROUNDED } else { FOUND };
        }
        Ok(Answer {
            time: time_of(&text, packet, &support),
            units: support.iter().map(|unit| unit.id).collect(),
            evidence: evidence_of(&support, packet),
            text,
            abstained: false,
            confidence,
        })
    }
}
