//! A model that says what it is told to: for tests of what is built on the port.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;

use crate::{
    error::ModelError,
    model::{ChatReply, ChatRequest, LanguageModel},
};

type Outcome = Result<ChatReply, ModelError>;
type Predicate = Box<dyn Fn(&ChatRequest) -> bool + Send + Sync>;

/// Replies from a script, and keeps the requests.
///
/// A request is answered by the first rule ([`reply_when`](Self::reply_when)) that fits it, as often as it comes; else by
/// the next reply for its step ([`reply`](Self::reply)), each given once, in order. A request without either is a
/// [`ModelError::Permanent`]: a test that asks for more than it foresaw fails.
#[derive(Default)]
pub struct ScriptedModel {
    id: String,
    rules: Vec<(Predicate, Outcome)>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    replies: BTreeMap<String, VecDeque<Outcome>>,
    requests: Vec<ChatRequest>,
}

impl ScriptedModel {
    /// A model of this id without replies.
    pub fn new(id: impl Into<String>) -> Self {
        Self { id: id.into(), ..Self::default() }
    }

    /// Adds a reply for a step.
    pub fn reply(self, step: &str, reply: impl Into<ChatReply>) -> Self {
        self.outcome(step, Ok(reply.into()))
    }

    /// Adds an error for a step.
    pub fn fail(self, step: &str, error: ModelError) -> Self {
        self.outcome(step, Err(error))
    }

    /// Adds a rule: all requests that `fits` are answered with `reply`.
    pub fn reply_when(
        mut self,
        fits: impl Fn(&ChatRequest) -> bool + Send + Sync + 'static,
        reply: impl Into<ChatReply>,
    ) -> Self {
        self.rules.push((Box::new(fits), Ok(reply.into())));
        self
    }

    /// The requests so far, in order, those without a reply too.
    pub fn requests(&self) -> Vec<ChatRequest> {
        self.state().requests.clone()
    }

    /// How many replies and errors nobody asked for yet; rules do not count.
    pub fn n_unused(&self) -> usize {
        self.state().replies.values().map(VecDeque::len).sum()
    }

    fn outcome(self, step: &str, outcome: Outcome) -> Self {
        self.state().replies.entry(step.to_owned()).or_default().push_back(outcome);
        self
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl LanguageModel for ScriptedModel {
    fn model_id(&self) -> &str {
        &self.id
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        let rule = self.rules.iter().find(|(fits, _)| fits(&request)).map(|(_, outcome)| outcome.clone());
        let mut state = self.state();
        let step = request.step.clone();
        state.requests.push(request);
        rule.or_else(|| state.replies.get_mut(&step).and_then(VecDeque::pop_front)).unwrap_or_else(|| {
            Err(ModelError::Permanent { message: format!("no scripted reply is left for step `{step}`") })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Message;

    fn request(step: &str, text: &str) -> ChatRequest {
        ChatRequest::new(step, vec![Message::user(text)])
    }

    #[tokio::test]
    async fn replies_come_by_step_in_order_and_once() {
        let model = ScriptedModel::new("m").reply("a", "1").reply("b", "2").reply("a", "3");
        assert_eq!(model.complete(request("a", "")).await.unwrap().text, "1");
        assert_eq!(model.complete(request("a", "")).await.unwrap().text, "3");
        assert_eq!(model.n_unused(), 1);
        let missed = model.complete(request("a", "")).await.unwrap_err();
        assert_eq!(missed.to_string(), "model cannot be used: no scripted reply is left for step `a`");
        assert!(model.complete(request("c", "")).await.is_err());
        assert_eq!(model.complete(request("b", "")).await.unwrap().text, "2");
        assert_eq!(model.n_unused(), 0);
        let steps: Vec<_> = model.requests().into_iter().map(|r| r.step).collect();
        assert_eq!(steps, ["a", "a", "a", "c", "b"]);
    }

    #[tokio::test]
    async fn rules_go_first_and_last() {
        let fits = |r: &ChatRequest| r.messages[0].content.contains("weather");
        let model = ScriptedModel::new("m").reply("a", "queued").reply_when(fits, "rain");
        for _ in 0..2 {
            assert_eq!(model.complete(request("a", "the weather?")).await.unwrap().text, "rain");
        }
        assert_eq!(model.complete(request("a", "else")).await.unwrap().text, "queued");
    }

    #[tokio::test]
    async fn errors_can_be_scripted() {
        let error = ModelError::RateLimited { retry_after: Some(std::time::Duration::from_secs(2)) };
        let model = ScriptedModel::new("m").fail("a", error.clone()).reply("a", "then");
        assert_eq!(model.complete(request("a", "")).await, Err(error.clone()));
        assert!(error.is_retryable());
        assert_eq!(model.complete(request("a", "")).await.unwrap().text, "then");
    }
}
