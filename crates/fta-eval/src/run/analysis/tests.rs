//! Findings of a made-up run whose numbers are known.

use std::{collections::BTreeMap, sync::Arc};

use super::*;
use crate::{
    metrics::Scorer,
    report::Block,
    run::{
        CaseRecord, FORMAT, Machine, Manifest, NamedExperiment, Program, QuestionRecord, Registry,
        RunSettings, Timing, sha256,
    },
};

const EXPERIMENT: &str = r#"
title = "Made up"
asks = "Are sums right?"
metrics = ["set_f1_simple", "refusal", "false_refusal"]

[[arms]]
name = "line-1"
system = "fta"
x = 1

[[arms]]
name = "line-2"
system = "bm25"
x = 2

[[analyses]]
kind = "gain"
baseline = "line-1"

[[analyses]]
kind = "sweep"
x = "K"
metrics = ["set_f1_simple"]

[[analyses]]
kind = "ranks"
metrics = ["set_f1_simple", "false_refusal"]

[[analyses]]
kind = "cost"

[[analyses]]
kind = "density"
arm = "line-2"
baseline = "line-1"
metrics = ["set_f1_simple"]

[[reported]]
table = "Table 3"
label = "this data set's"
data_set = "locomo"
metric = "set_f1_simple"
values = { "1 multi-hop" = 0.3, pooled = 0.4 }

[[reported]]
table = "Table 3"
label = "another's"
data_set = "evoemo"
metric = "set_f1_simple"
values = { pooled = 0.5 }
"#;

/// Three conversations: scores of `line-1` are 0, 0.5, 1 and those of `line-2` are 0.25 more, up to 1.
fn made_up() -> FinishedRun {
    let experiment = NamedExperiment::parse("made-up", EXPERIMENT).unwrap().experiment;
    let (mut questions, mut cases, mut timings) = (Vec::new(), Vec::new(), Vec::new());
    for (arm, more) in [("line-1", 0.0), ("line-2", 0.25)] {
        for conversation in ["a", "b", "c"] {
            cases.push(CaseRecord {
                arm: arm.to_owned(),
                conversation: conversation.to_owned(),
                sessions: 1,
                turns: 10,
                items: 5,
                covered: Some((8, 6)),
                calls: BTreeMap::new(),
            });
            for (number, score) in [0.0, 0.5, 1.0].into_iter().enumerate() {
                questions.push(question((arm, conversation), number, Some(f64::min(score + more, 1.0))));
            }
            questions.push(question((arm, conversation), 3, None));
            timings.push(Timing {
                arm: arm.to_owned(),
                conversation: conversation.to_owned(),
                question: None,
                context_milliseconds: 2_000.0,
                answer_milliseconds: None,
            });
        }
    }
    let settings = RunSettings {
        name: "made-up".to_owned(),
        experiment,
        data_set: "locomo".to_owned(),
        data_file: "made-up.json".to_owned(),
        data_sha256: sha256(b""),
        conversations: Vec::new(),
        limit: None,
        questions: None,
        seed: 0,
        rounds: 200,
        embedder: "none".to_owned(),
        model: None,
        profile: None,
        judge: None,
        bert_score: None,
    };
    let manifest = Manifest {
        format: FORMAT,
        settings,
        program: Program { version: String::new(), revision: String::new(), sha256: String::new() },
        machine: Machine { system: String::new(), processor: String::new(), threads: 1 },
        odd: Vec::new(),
        begun_at: String::new(),
    };
    FinishedRun { manifest, questions, cases, timings }
}

/// A question with this score, or an unanswerable one that was refused.
fn question((arm, conversation): (&str, &str), number: usize, score: Option<f64>) -> QuestionRecord {
    let scores = match score {
        Some(score) => [("set_f1_simple", score), ("false_refusal", 0.0)].as_slice().to_vec(),
        None => vec![("refusal", 1.0)],
    };
    QuestionRecord {
        arm: arm.to_owned(),
        conversation: conversation.to_owned(),
        question: number.to_string(),
        category: if score.is_some() { "1 multi-hop" } else { "5 adversarial" }.to_owned(),
        answerable: score.is_some(),
        text: "Who?".to_owned(),
        gold: "Ada".to_owned(),
        evidence: Vec::new(),
        answer: Some("Ben".to_owned()),
        abstained: Some(score.is_none()),
        context: Vec::new(),
        context_tokens: 40,
        within: Vec::new(),
        calls: BTreeMap::new(),
        scores: scores.into_iter().map(|(name, score)| (name.to_owned(), score)).collect(),
    }
}

fn scorers(run: &FinishedRun) -> Vec<Arc<dyn Scorer>> {
    let metrics = &run.manifest.settings.experiment.metrics;
    metrics.iter().map(|name| Registry::builtin().metric(name).unwrap()).collect()
}

fn close(a: Option<f64>, b: f64) -> bool {
    a.is_some_and(|a| (a - b).abs() < 1e-9)
}

#[test]
fn means_are_over_the_right_questions() {
    let run = made_up();
    let summary = RunSummary::new(&run, &scorers(&run), None).unwrap();
    let arm = summary.arm("line-2").unwrap();
    let f1 = arm.headline("set_f1_simple");
    assert!(close(f1.mean, 2.0 / 3.0) && f1.n == 9, "{f1:?}");
    // All conversations are alike, so the interval is a point.
    let (low, high) = f1.interval.unwrap();
    assert!((high - low).abs() < 1e-9);
    assert!(close(arm.headline("refusal").mean, 1.0) && arm.headline("refusal").n == 3);
    assert!(arm.metric("set_f1_simple").unwrap().audited.is_none());
    assert_eq!((arm.cost.items, arm.cost.turns), (15, 30));
    assert!(close(arm.cost.coverage, 0.75) && close(arm.cost.ingest_seconds, 2.0));
}

#[test]
fn the_report_says_what_the_records_say() {
    let run = made_up();
    let summary = RunSummary::new(&run, &scorers(&run), None).unwrap();
    let report = Findings { run: &run, summary: &summary, densities: &[] }.report().unwrap();
    let text = report.markdown();
    // (0.25 + 0.25 + 0) / 3 over the questions of each conversation; 2 of 8 arrangements are as large.
    assert!(text.contains("0.1667 [0.1667, 0.1667]") && text.contains("0.2500"), "{text}");
    assert!(text.contains("no p can be below 0.250"), "{text}");
    assert!(text.contains("this data set's") && !text.contains("another's"), "{text}");
    assert!(text.contains("needs at least three conversations"), "{text}");
    let lines = report.sections.iter().flat_map(|section| &section.blocks).find_map(|block| match block {
        Block::Plot(plot) if plot.x == "K" => Some(plot),
        _ => None,
    });
    let series = &lines.unwrap().series;
    assert_eq!((series.len(), series[0].name.as_str(), series[0].points.len()), (1, "line", 2));
    // The worst questions of the first arm, beside those of an arm of another system.
    let cards = report.sections.last().unwrap().blocks.iter().find_map(|block| match block {
        Block::Questions(cards) => Some(cards),
        _ => None,
    });
    let cards = cards.unwrap();
    assert_eq!(cards.len(), 3, "one question of each conversation scored below a half");
    assert!(cards.iter().all(|card| card.records.len() == 2 && card.records[0].arm == "line-1"));
}
