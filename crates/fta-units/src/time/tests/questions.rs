//! Share of "When" questions of the LoCoMo development file that a resolved expression of the evidence answers.
//!
//! The data is not part of the repository; without it the test has nothing to check.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::fmt::strtime;
use serde_json::Value;

use crate::time::{DateInterval, TimeContext, find_times};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/locomo/locomo-dev6.json");

#[test]
fn evidence_expressions_answer_when_questions() {
    let Ok(json) = std::fs::read_to_string(DATA) else { return };
    let samples: Value = serde_json::from_str(&json).expect("the development file is JSON");
    let (mut n_questions, mut n_answered) = (0, 0);
    for sample in samples.as_array().expect("an array of samples") {
        let turns = dated_turns(&sample["conversation"]);
        for question in sample["qa"].as_array().expect("an array of questions") {
            let is_when = question["question"].as_str().is_some_and(|text| text.starts_with("When"));
            if question["category"] == 2 && is_when {
                n_questions += 1;
                n_answered += usize::from(is_answered(question, &turns) == Some(true));
            }
        }
    }
    assert!(n_questions > 100);
    assert!(n_answered * 100 >= n_questions * 75, "{n_answered} of {n_questions}");
}

/// Session date and text of each turn by its id.
fn dated_turns(conversation: &Value) -> BTreeMap<&str, (Date, &str)> {
    let mut turns = BTreeMap::new();
    for (key, value) in conversation.as_object().expect("a conversation is an object") {
        let (Some(session), Some(said_at)) =
            (value.as_array(), conversation[format!("{key}_date_time")].as_str())
        else {
            continue;
        };
        let said_on = said_at.split(" on ").nth(1).expect("a time of day and a date");
        let said_on =
            strtime::parse("%d %B, %Y", said_on).and_then(|parsed| parsed.to_date()).expect("a date");
        for turn in session {
            let (id, text) = (turn["dia_id"].as_str(), turn["text"].as_str());
            turns.insert(id.expect("turns have ids"), (said_on, text.expect("turns have a text")));
        }
    }
    turns
}

/// Whether an expression of the evidence names the days of the answer, or lies in them, or they in it.
fn is_answered(question: &Value, turns: &BTreeMap<&str, (Date, &str)>) -> Option<bool> {
    let evidence: Vec<_> =
        question["evidence"].as_array()?.iter().filter_map(|id| turns.get(id.as_str()?)).collect();
    let answer = question["answer"].as_str().map_or_else(|| question["answer"].to_string(), str::to_owned);
    let gold = intervals(&answer, evidence.first()?.0).next()?;
    Some(evidence.iter().any(|(said_on, text)| {
        intervals(text, *said_on).any(|found| found.covers(gold) || gold.covers(found))
    }))
}

fn intervals(text: &str, said_on: Date) -> impl Iterator<Item = DateInterval> {
    find_times(text, &TimeContext::on(said_on)).into_iter().filter_map(|mention| mention.time.interval)
}
