//! One question to the model of a judge.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use fta_mem::llm::{CallConfig, FinishReason, LanguageModel, Prompt, structured};
use serde::Serialize;

use crate::metrics::{Need, Observation, ScoreError};

/// Asks a model for verdicts and counts the replies without one.
pub(super) struct Asker {
    /// Name of the judge and of its step in the accounts.
    name: &'static str,
    model: Arc<dyn LanguageModel>,
    call: CallConfig,
    unreadable: AtomicU64,
}

/// What is put into a prompt.
#[derive(Serialize)]
struct Data<'a> {
    question: &'a str,
    gold: &'a str,
    answer: &'a str,
}

impl Asker {
    pub(super) fn new(name: &'static str, model: Arc<dyn LanguageModel>, call: CallConfig) -> Self {
        Self { name, model, call, unreadable: AtomicU64::new(0) }
    }

    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    pub(super) fn id(&self, prompts: &[&Prompt]) -> String {
        let prompts: Vec<&str> = prompts.iter().map(|prompt| prompt.id()).collect();
        format!("{} {}", prompts.join(" "), self.model.model_id())
    }

    pub(super) fn unreadable(&self) -> u64 {
        self.unreadable.load(Ordering::Relaxed)
    }

    /// The verdict that `read` finds in the reply; `None` without gold text, or if there is none in it.
    pub(super) async fn ask(
        &self,
        prompt: &Prompt,
        observation: &Observation<'_>,
        read: fn(&str) -> Option<f64>,
    ) -> Result<Option<f64>, ScoreError> {
        let question = observation.question;
        if question.gold.trim().is_empty() {
            return Ok(None);
        }
        let (scorer, id) = (self.name.to_owned(), question.id.clone());
        let Some(answer) = observation.answer else {
            return Err(ScoreError::Missing { scorer, need: Need::Answer, question: id });
        };
        let failed = |source: Box<dyn Error + Send + Sync>| ScoreError::Failed {
            scorer: scorer.clone(),
            question: id.clone(),
            source,
        };
        let data = Data { question: &question.text, gold: &question.gold, answer };
        let messages = prompt.render(&data).map_err(|error| failed(error.into()))?;
        let request = self.call.request(self.name, messages);
        let reply = self.model.complete(request).await.map_err(|error| failed(error.into()))?;
        let verdict = match reply.finish {
            FinishReason::ContentFilter => None,
            _ => read(structured::plain_text(&reply.text)),
        };
        if verdict.is_none() {
            self.unreadable.fetch_add(1, Ordering::Relaxed);
        }
        Ok(verdict)
    }
}
