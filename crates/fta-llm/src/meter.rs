//! Accounts of calls, tokens and time per step of the pipeline.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    error::ModelError,
    model::{ChatReply, ChatRequest, LanguageModel},
};

/// What one step took.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct StepUsage {
    /// Requests that were answered, with a reply or an error.
    pub calls: u64,
    /// Those of them that were answered with an error.
    pub errors: u64,
    /// Tokens of the requests that got a reply.
    pub prompt_tokens: u64,
    /// Tokens of the replies.
    pub completion_tokens: u64,
    /// Time waited, summed over calls; calls at the same time each count in full.
    pub seconds: f64,
}

impl StepUsage {
    /// Adds another step's.
    fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.errors += other.errors;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.seconds += other.seconds;
    }
}

/// Time since some fixed moment; never goes back.
type Clock = dyn Fn() -> Duration + Send + Sync;

/// Passes requests on to a model and counts them by [`ChatRequest::step`]; a dropped call is not counted.
pub struct UsageMeter<M> {
    model: M,
    clock: Arc<Clock>,
    steps: Mutex<BTreeMap<String, StepUsage>>,
}

impl<M: LanguageModel> UsageMeter<M> {
    /// Counts what `model` is asked. `clock`: time since some fixed moment, since this crate reads no clock.
    pub fn new(model: M, clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { model, clock: Arc::new(clock), steps: Mutex::default() }
    }

    /// The accounts so far, by step.
    pub fn by_step(&self) -> BTreeMap<String, StepUsage> {
        self.steps().clone()
    }

    /// All steps together.
    pub fn total(&self) -> StepUsage {
        let mut total = StepUsage::default();
        for usage in self.steps().values() {
            total.add(usage);
        }
        total
    }

    /// Begins anew and gives the accounts so far.
    pub fn take(&self) -> BTreeMap<String, StepUsage> {
        std::mem::take(&mut *self.steps())
    }

    fn count(&self, step: String, began: Duration, outcome: &Result<ChatReply, ModelError>) {
        let seconds = (self.clock)().saturating_sub(began).as_secs_f64();
        let usage = outcome.as_ref().map(|reply| reply.usage).unwrap_or_default();
        self.steps().entry(step).or_default().add(&StepUsage {
            calls: 1,
            errors: u64::from(outcome.is_err()),
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            seconds,
        });
    }

    fn steps(&self) -> MutexGuard<'_, BTreeMap<String, StepUsage>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for UsageMeter<M> {
    fn model_id(&self) -> &str {
        self.model.model_id()
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        let step = request.step.clone();
        let began = (self.clock)();
        let outcome = self.model.complete(request).await;
        self.count(step, began, &outcome);
        outcome
    }

    async fn complete_streaming(
        &self,
        request: ChatRequest,
        on_text: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatReply, ModelError> {
        let step = request.step.clone();
        let began = (self.clock)();
        let outcome = self.model.complete_streaming(request, on_text).await;
        self.count(step, began, &outcome);
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::{
        model::{FinishReason, Usage},
        scripted::ScriptedModel,
    };

    fn reply(prompt_tokens: u64, completion_tokens: u64) -> ChatReply {
        let usage = Usage { prompt_tokens, completion_tokens };
        ChatReply { text: String::new(), finish: FinishReason::Stop, usage }
    }

    #[tokio::test]
    async fn calls_tokens_errors_and_time_are_counted_by_step() {
        let failure = ModelError::Transient { message: "down".to_owned() };
        let model = ScriptedModel::new("m")
            .reply("extract", reply(100, 20))
            .fail("extract", failure)
            .reply("extract", reply(50, 5))
            .reply("answer", reply(7, 3));
        // A clock that goes on by one second each time it is read.
        let ticks = AtomicU64::new(0);
        let clock = move || Duration::from_secs(ticks.fetch_add(1, Ordering::Relaxed));
        let meter = UsageMeter::new(Arc::new(model) as Arc<dyn LanguageModel>, clock);
        assert_eq!(meter.model_id(), "m");
        for step in ["extract", "extract", "extract", "answer"] {
            let outcome = meter.complete(ChatRequest::new(step, Vec::new())).await;
            assert!(outcome.is_ok() || step == "extract");
        }
        let extract =
            StepUsage { calls: 3, errors: 1, prompt_tokens: 150, completion_tokens: 25, seconds: 3.0 };
        let answer = StepUsage { calls: 1, errors: 0, prompt_tokens: 7, completion_tokens: 3, seconds: 1.0 };
        let by_step = meter.by_step();
        assert_eq!(by_step["extract"], extract);
        assert_eq!(by_step["answer"], answer);
        assert_eq!(meter.total().prompt_tokens, 157);
        assert_eq!(meter.take().len(), 2);
        assert_eq!(meter.total(), StepUsage::default());
    }
}
