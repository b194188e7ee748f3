//! What a build costs: calls and tokens of each step, counted with a real tokenizer and the [`StandIn`] for a model.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use fta_mem::{
    Memory, MemoryConfig,
    index::Embedder,
    llm::{ChatReply, ChatRequest, LanguageModel, Message, ModelError, Usage},
    profile::{Construction, ModelKind, OpenModel, Profile},
    units::Namespace,
};
use serde::Serialize;

use super::{
    BenchError, Selection, Step, Watch,
    table::{Table, decimals},
};
use crate::{datasets::Case, systems::StandIn};

/// Calls, prompt and reply tokens of all 272 sessions (5,882 turns) of LoCoMo as the paper reports them.
const PAPER: (u64, u64) = (2_061, 3_390_000);
/// Turns of the ten conversations of LoCoMo.
const LOCOMO_TURNS: f64 = 5_882.0;

/// Counts the tokens of something.
pub type Count<T> = dyn Fn(&T) -> Result<u64, ModelError> + Send + Sync;

/// Counts tokens: those of the prompt that messages become, and those of a text.
pub struct Counter {
    /// Tokens of a prompt, chat template included.
    pub prompt: Box<Count<[Message]>>,
    /// Tokens of a reply.
    pub text: Box<Count<str>>,
    /// Whose tokenizer it is.
    pub name: String,
}

/// The stand-in, with usage as the tokenizer counts it.
struct Counted {
    counter: Arc<Counter>,
    /// Tokens of what every call of a step has in common, by step.
    instructions: Mutex<BTreeMap<String, u64>>,
}

#[async_trait]
impl LanguageModel for Counted {
    fn model_id(&self) -> &str {
        StandIn.model_id()
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        let step = request.step.clone();
        let messages = request.messages.clone();
        let reply = StandIn.complete(request).await?;
        let usage = Usage {
            prompt_tokens: (self.counter.prompt)(&messages)?,
            completion_tokens: (self.counter.text)(&reply.text)?,
        };
        if let Ok(mut instructions) = self.instructions.lock()
            && !instructions.contains_key(&step)
        {
            let data = messages.last().map_or("", |m| &m.content);
            let tokens = usage.prompt_tokens.saturating_sub((self.counter.text)(data)?);
            instructions.insert(step, tokens);
        }
        Ok(ChatReply { usage, ..reply })
    }
}

/// What one step took in one way of building.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepCost {
    /// How the memory was built.
    pub construction: Construction,
    /// The step.
    pub step: String,
    /// Calls.
    pub calls: u64,
    /// Tokens of prompts.
    pub prompt_tokens: u64,
    /// Of these, the instructions, which are the same in every call of the step and can be kept by the server.
    pub instruction_tokens: u64,
    /// Tokens of replies.
    pub completion_tokens: u64,
}

/// The cost of a data set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CostReport {
    /// Conversations, sessions and turns.
    pub size: [usize; 3],
    /// Units of each way of building.
    pub units: Vec<(Construction, usize)>,
    /// Whose tokens these are.
    pub tokenizer: String,
    /// Steps of each way.
    pub steps: Vec<StepCost>,
}

/// Builds the memories of the conversations with the stand-in, as the paper does and leanly, and counts.
///
/// # Errors
/// [`BenchError`] if a conversation is not there or the memory fails.
pub async fn run(
    cases: &[Case],
    embedder: &Arc<dyn Embedder>,
    counter: Counter,
    (selection, watch): (&Selection, Watch<'_>),
) -> Result<CostReport, BenchError> {
    let cases = selection.cases(cases)?;
    let cases: Vec<&Case> = cases.into_iter().take(selection.limit.unwrap_or(usize::MAX)).collect();
    let sessions = || cases.iter().flat_map(|c| &c.conversation.sessions);
    let counter = Arc::new(counter);
    let namespace = Namespace::new("cost")
        .map_err(|source| BenchError::Name { conversation: "cost".to_owned(), source: Box::new(source) })?;
    let mut report = CostReport {
        size: [cases.len(), sessions().count(), sessions().map(|s| s.turns.len()).sum()],
        units: Vec::new(),
        tokenizer: counter.name.clone(),
        steps: Vec::new(),
    };
    for (round, construction) in [Construction::Paper, Construction::Lean].into_iter().enumerate() {
        let model = Arc::new(Counted { counter: counter.clone(), instructions: Mutex::default() });
        let open = OpenModel::new(model.clone(), None)?;
        let profile = Profile { profile: ModelKind::Llm, construction, ..Profile::default() };
        let config = MemoryConfig { linking: profile.linking(), ..MemoryConfig::default() };
        let mut units = 0;
        for (done, case) in cases.iter().enumerate() {
            let (done, total) = (round * cases.len() + done, 2 * cases.len());
            watch(Step { conversation: &case.conversation.id, doing: "build", done, total });
            let failed = |source: fta_mem::Error| BenchError::Memory {
                conversation: case.conversation.id.clone(),
                source: Box::new(source),
            };
            let builder = Memory::builder().embedder(embedder.clone()).config(config.clone());
            let memory = builder.profile(&profile, &open)?.build().map_err(failed)?;
            let memory = memory.user(namespace.clone()).map_err(failed)?;
            for session in &case.conversation.sessions {
                memory.ingest(session).await.map_err(failed)?;
            }
            units += memory.stats().units;
        }
        report.units.push((construction, units));
        let instructions = model.instructions.lock().map(|i| i.clone()).unwrap_or_default();
        report.steps.extend(open.meter.take().into_iter().map(|(step, usage)| StepCost {
            construction,
            calls: usage.calls,
            prompt_tokens: usage.prompt_tokens,
            instruction_tokens: usage.calls * instructions.get(&step).copied().unwrap_or(0),
            completion_tokens: usage.completion_tokens,
            step,
        }));
    }
    Ok(report)
}

impl CostReport {
    /// The table, as Markdown: steps, totals, and the totals at the size of the whole of LoCoMo.
    pub fn render(&self) -> String {
        let [conversations, sessions, turns] = self.size;
        let head = format!(
            "{conversations} conversations, {sessions} sessions, {turns} turns; tokens of {}\n\n",
            self.tokenizer
        );
        let mut table =
            Table::new(&["construction", "step", "calls", "prompt", "of it instructions", "reply", "total"]);
        for (construction, units) in &self.units {
            let name = if *construction == Construction::Paper { "paper" } else { "lean" };
            let steps: Vec<&StepCost> =
                self.steps.iter().filter(|s| s.construction == *construction).collect();
            let sum = |value: fn(&StepCost) -> u64| steps.iter().map(|s| value(s)).sum::<u64>();
            for step in &steps {
                table.row(cells(
                    name,
                    &step.step,
                    [step.calls, step.prompt_tokens, step.instruction_tokens, step.completion_tokens],
                ));
            }
            let totals = [
                sum(|s| s.calls),
                sum(|s| s.prompt_tokens),
                sum(|s| s.instruction_tokens),
                sum(|s| s.completion_tokens),
            ];
            table.row(cells(name, &format!("all, {units} units"), totals));
            let scale = LOCOMO_TURNS / turns.max(1) as f64;
            let scaled = totals.map(|n| (n as f64 * scale).round() as u64);
            table.row(cells(name, "at the size of LoCoMo", scaled));
        }
        let (calls, tokens) = PAPER;
        table.row(vec![
            "paper, as reported".to_owned(),
            "LoCoMo".to_owned(),
            calls.to_string(),
            String::new(),
            String::new(),
            String::new(),
            millions(tokens),
        ]);
        head + &table.render()
    }
}

fn cells(name: &str, step: &str, [calls, prompt, instructions, reply]: [u64; 4]) -> Vec<String> {
    let tokens = [prompt, instructions, reply, prompt + reply].map(millions);
    [name.to_owned(), step.to_owned(), calls.to_string()].into_iter().chain(tokens).collect()
}

fn millions(tokens: u64) -> String {
    format!("{} M", decimals(Some(tokens as f64 / 1e6), 3))
}
