//! Answers of the memory against the gold answers, and refusals.

use std::{collections::BTreeMap, sync::Arc, time::Instant};

use fta_mem::{RetrieveOptions, index::Embedder};
use serde::Serialize;

use super::{
    BenchError, Preset, Selection, Step, Watch,
    memory::{failed, ingest},
    table::{Table, decimals, mean, percentile},
};
use crate::{datasets::Case, metrics::set_f1_simple};

/// One question answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnswerResult {
    /// The conversation.
    pub conversation: String,
    /// The question's id.
    pub question: String,
    /// Its category as shown.
    pub category: String,
    /// Whether the conversation holds an answer.
    pub answerable: bool,
    /// Its text.
    pub text: String,
    /// The gold answer.
    pub gold: String,
    /// The memory's answer.
    pub answer: String,
    /// Whether the memory abstained.
    pub abstained: bool,
    /// How sure it was, in `[0, 1]`.
    pub confidence: f32,
    /// Gold turns by source id.
    pub gold_turns: Vec<String>,
    /// Turns that the answer was taken from, by source id.
    pub answer_turns: Vec<String>,
    /// `set_f1_simple` of answer and gold; `None` where there is no answer.
    pub set_f1_simple: Option<f64>,
    /// Time from question to answer.
    pub milliseconds: f64,
}

/// Asks every question.
///
/// # Errors
/// [`BenchError`] if a conversation is not there, there is no question, or the memory fails.
pub async fn run(
    cases: &[Case],
    embedder: &Arc<dyn Embedder>,
    selection: &Selection,
    preset: Preset,
    watch: Watch<'_>,
) -> Result<Vec<AnswerResult>, BenchError> {
    let cases = selection.cases(cases)?;
    let questions: Vec<_> = cases.iter().map(|c| selection.questions(c, |_| true)).collect();
    let total = questions.iter().map(Vec::len).sum();
    if total == 0 {
        return Err(BenchError::NoQuestions { wanted: "a data set with questions is needed" });
    }
    let mut results = Vec::with_capacity(total);
    for (case, questions) in cases.iter().zip(&questions).filter(|(_, q)| !q.is_empty()) {
        watch(Step { conversation: &case.conversation.id, doing: "ingest", done: results.len(), total });
        let memory = ingest(case, embedder, preset).await?.memory;
        for question in questions {
            let options = RetrieveOptions { asked_at: question.asked_at, ..RetrieveOptions::default() };
            let start = Instant::now();
            let answer = memory.ask(&question.text, &options).await.map_err(failed(case))?.answer;
            results.push(AnswerResult {
                conversation: case.conversation.id.clone(),
                question: question.id.clone(),
                category: question.category_label(),
                answerable: question.answerable,
                text: question.text.clone(),
                gold: question.gold.clone(),
                set_f1_simple: question.answerable.then(|| set_f1_simple(&answer.text, &question.gold)),
                answer: answer.text,
                abstained: answer.abstained,
                confidence: answer.confidence,
                gold_turns: question.evidence.iter().map(|e| e.turn.clone()).collect(),
                answer_turns: answer.evidence.iter().map(|t| t.source_id.clone()).collect(),
                milliseconds: start.elapsed().as_secs_f64() * 1000.0,
            });
            watch(Step { conversation: &case.conversation.id, doing: "ask", done: results.len(), total });
        }
    }
    Ok(results)
}

/// The table, as Markdown: F1 and false refusals where there is an answer, refusals where there is none.
///
/// `on evidence` is the share of answered questions with evidence whose answer was taken from a gold turn.
pub fn render(results: &[AnswerResult]) -> String {
    let mut table =
        Table::new(&["category", "n", "set_f1_simple", "refused", "on evidence", "ms p50", "p95"]);
    let mut by_category: BTreeMap<&str, Vec<&AnswerResult>> = BTreeMap::new();
    for result in results {
        by_category.entry(&result.category).or_default().push(result);
    }
    let answerable = results.iter().filter(|r| r.answerable).collect();
    let unanswerable: Vec<&AnswerResult> = results.iter().filter(|r| !r.answerable).collect();
    let sums = [("pooled answerable", answerable), ("pooled unanswerable", unanswerable)];
    for (category, part) in by_category.into_iter().chain(sums) {
        let of = |test: bool| f64::from(u8::from(test));
        let answered = part.iter().filter(|r| r.answerable && !r.abstained && !r.gold_turns.is_empty());
        let times: Vec<f64> = part.iter().map(|r| r.milliseconds).collect();
        table.row(vec![
            category.to_owned(),
            part.len().to_string(),
            decimals(mean(part.iter().filter_map(|r| r.set_f1_simple)), 3),
            decimals(mean(part.iter().map(|r| of(r.abstained))), 3),
            decimals(mean(answered.map(|r| of(r.answer_turns.iter().any(|t| r.gold_turns.contains(t))))), 3),
            decimals(percentile(&times, 0.5), 1),
            decimals(percentile(&times, 0.95), 1),
        ]);
    }
    table.render()
}
