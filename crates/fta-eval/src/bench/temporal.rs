//! Event times: is the gold date of a "when" question the resolved event time of a retrieved unit?
//!
//! A question counts as a "when" question if its category is temporal and its text has the word "when". The gold
//! string is parsed against the day on which the first evidence turn was said; questions whose gold names no day,
//! month or year are reported, and count as missed in the share over all.

use std::sync::Arc;

use fta_mem::{
    RetrieveOptions,
    index::Embedder,
    units::{
        DateInterval, Unit,
        time::{TimeContext, find_times},
    },
};
use serde::Serialize;

use super::{
    BenchError, Selection, Step, Watch,
    memory::{failed, ingest},
    table::{Table, decimals, mean},
};
use crate::datasets::{Case, CaseQuestion};

/// Units at which hits are read.
pub const UNITS: [usize; 2] = [10, 25];

/// One "when" question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TemporalResult {
    /// The conversation.
    pub conversation: String,
    /// The question's id.
    pub question: String,
    /// Its text.
    pub text: String,
    /// The gold answer.
    pub gold: String,
    /// Gold turns by source id.
    pub gold_turns: Vec<String>,
    /// The gold date as days, if it could be parsed.
    pub gold_days: Option<DateInterval>,
    /// Event times of the retrieved units, best unit first.
    pub events: Vec<Option<DateInterval>>,
    /// Whether the gold date is or lies in the event time of one of the first [`UNITS`] units.
    pub hit: [bool; 2],
    /// Whether it is the event time, day for day.
    pub exact: [bool; 2],
    /// As `hit`, or the gold date is or holds the day on which one of these units was said.
    pub hit_or_said: [bool; 2],
}

/// Whether a question is a "when" question.
pub fn asks_when(question: &CaseQuestion) -> bool {
    let word = |w: &str| w.eq_ignore_ascii_case("when");
    question.category_name.contains("temporal")
        && question.text.split(|c: char| !c.is_alphanumeric()).any(word)
}

/// The days that a gold string names, when it was said of something told on `context.said_on`.
///
/// Of several time expressions the longest counts, the first of equally long ones.
pub fn gold_days(gold: &str, context: &TimeContext) -> Option<DateInterval> {
    let mut best: Option<(usize, DateInterval)> = None;
    for mention in find_times(gold, context) {
        let Some(interval) = mention.time.interval else { continue };
        if best.is_none_or(|(length, _)| mention.range.len() > length) {
            best = Some((mention.range.len(), interval));
        }
    }
    best.map(|(_, interval)| interval)
}

/// Measures event times on the "when" questions.
///
/// # Errors
/// [`BenchError`] if a conversation is not there, no question can be used, or the memory fails.
pub async fn run(
    cases: &[Case],
    embedder: &Arc<dyn Embedder>,
    selection: &Selection,
    watch: Watch<'_>,
) -> Result<Vec<TemporalResult>, BenchError> {
    let cases = selection.cases(cases)?;
    let questions: Vec<Vec<&CaseQuestion>> =
        cases.iter().map(|c| selection.questions(c, asks_when)).collect();
    let total = questions.iter().map(Vec::len).sum();
    if total == 0 {
        return Err(BenchError::NoQuestions { wanted: "temporal questions with the word `when` are needed" });
    }
    let mut results = Vec::with_capacity(total);
    for (case, questions) in cases.iter().zip(&questions).filter(|(_, q)| !q.is_empty()) {
        watch(Step { conversation: &case.conversation.id, doing: "ingest", done: results.len(), total });
        let memory = ingest(case, embedder).await?.memory;
        for question in questions {
            let options =
                RetrieveOptions { k: Some(UNITS[1]), token_budget: None, asked_at: question.asked_at };
            let packet = memory.retrieve(&question.text, &options).await.map_err(failed(case))?;
            let units: Vec<&Unit> = packet.ranked().into_iter().map(|p| &p.unit).collect();
            results.push(judge(case, question, &units));
            watch(Step { conversation: &case.conversation.id, doing: "ask", done: results.len(), total });
        }
    }
    Ok(results)
}

fn judge(case: &Case, question: &CaseQuestion, units: &[&Unit]) -> TemporalResult {
    let gold_days = told_on(case, question).and_then(|day| gold_days(&question.gold, &TimeContext::on(day)));
    let event = |unit: &Unit| unit.time.event.as_ref().and_then(|e| e.interval);
    let any = |k: usize, test: &dyn Fn(&Unit, DateInterval) -> bool| {
        gold_days.is_some_and(|gold| units.iter().take(k).any(|unit| test(unit, gold)))
    };
    let hit = |unit: &Unit, gold: DateInterval| event(unit).is_some_and(|e| e.covers(gold));
    let said = |unit: &Unit, gold: DateInterval| unit.time.said_at.is_some_and(|at| gold.contains(at.date()));
    TemporalResult {
        conversation: case.conversation.id.clone(),
        question: question.id.clone(),
        text: question.text.clone(),
        gold: question.gold.clone(),
        gold_turns: question.evidence.iter().map(|e| e.turn.clone()).collect(),
        gold_days,
        events: units.iter().map(|unit| event(unit)).collect(),
        hit: UNITS.map(|k| any(k, &hit)),
        exact: UNITS.map(|k| any(k, &|unit, gold| event(unit) == Some(gold))),
        hit_or_said: UNITS.map(|k| any(k, &|unit, gold| hit(unit, gold) || said(unit, gold))),
    }
}

/// The day on which the first evidence turn was said; the last session's where there is no evidence.
fn told_on(case: &Case, question: &CaseQuestion) -> Option<jiff::civil::Date> {
    let sessions = &case.conversation.sessions;
    let evidence = question.evidence.first();
    let session = evidence.and_then(|e| sessions.iter().find(|s| s.id == e.session)).or(sessions.last())?;
    session.started_at.map(jiff::civil::DateTime::date)
}

/// The table, as Markdown.
pub fn render(results: &[TemporalResult]) -> String {
    let mut table = Table::new(&["share of \"when\" questions", "n", "all", "of those parsed"]);
    let parsed: Vec<&TemporalResult> = results.iter().filter(|r| r.gold_days.is_some()).collect();
    let share =
        |hits: &mut dyn Iterator<Item = bool>| decimals(mean(hits.map(|h| f64::from(u8::from(h)))), 3);
    let mut row = |name: String, test: &dyn Fn(&TemporalResult) -> bool| {
        let n = results.iter().filter(|r| test(r)).count();
        let all = share(&mut results.iter().map(test));
        table.row(vec![name, n.to_string(), all, share(&mut parsed.iter().map(|r| test(r)))]);
    };
    row("questions".to_owned(), &|_| true);
    row("gold date parsed".to_owned(), &|r| r.gold_days.is_some());
    for (i, k) in UNITS.into_iter().enumerate() {
        row(format!("event time holds the gold date, top {k}"), &|r| r.hit[i]);
        row(format!("event time is the gold date, top {k}"), &|r| r.exact[i]);
        row(format!("event time or day said, top {k}"), &|r| r.hit_or_said[i]);
    }
    table.render()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn question(category: &str, text: &str) -> CaseQuestion {
        CaseQuestion {
            id: "q".to_owned(),
            category: None,
            category_name: category.to_owned(),
            text: text.to_owned(),
            gold: String::new(),
            answerable: true,
            evidence_raw: Vec::new(),
            evidence: Vec::new(),
            asked_at: None,
        }
    }

    #[test]
    fn when_questions() {
        assert!(asks_when(&question("temporal", "When did it rain?")));
        assert!(asks_when(&question("temporal reasoning", "Since when has Ada sung?")));
        assert!(!asks_when(&question("temporal", "How long did it rain? Whenever?")));
        assert!(!asks_when(&question("single-hop", "When did it rain?")));
    }

    #[test]
    fn gold_dates() {
        let context = TimeContext::on(date(2021, 6, 9));
        let day = DateInterval::day(date(2021, 5, 7));
        assert_eq!(gold_days("7 May 2021", &context), Some(day));
        assert_eq!(gold_days("a blue bicycle", &context), None);
    }
}
