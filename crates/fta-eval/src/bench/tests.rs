//! Runs on a small invented conversation with an embedder that needs no model.

use std::{cell::RefCell, path::Path};

use fta_mem::index::testing::HashEmbedder;

use super::{arms::Arm, *};
use crate::datasets::parse;

fn cases() -> Vec<Case> {
    let turn = |speaker: &str, id: &str, text: &str| serde_json::json!({"speaker": speaker, "dia_id": id, "text": text});
    let sample = serde_json::json!([{
        "sample_id": "tiny",
        "conversation": {
            "speaker_a": "Ada", "speaker_b": "Ben",
            "session_1_date_time": "3:00 pm on 9 June, 2021",
            "session_1": [
                turn("Ada", "D1:1", "Yesterday I bought a red kayak in the harbour shop."),
                turn("Ben", "D1:2", "Lovely! My cello lessons with Mr Ortega started on 2 June 2021."),
                turn("Ada", "D1:3", "I am nervous about the exam in chemistry."),
            ],
            "session_2_date_time": "10:00 am on 1 July, 2021",
            "session_2": [
                turn("Ben", "D2:1", "Our old tortoise Hugo escaped through the garden fence."),
                turn("Ada", "D2:2", "I hope that you find him soon."),
            ],
        },
        "qa": [
            {"question": "When did Ada buy the kayak?", "answer": "8 June 2021", "category": 2, "evidence": ["D1:1"]},
            {"question": "What is the tortoise called?", "answer": "Hugo", "category": 4, "evidence": ["D2:1"]},
            {"question": "Which car does Ben drive?", "category": 5, "evidence": ["D1:2"]},
            {"question": "Would Ada like boats?", "answer": "yes", "category": 3, "evidence": []},
        ],
    }]);
    parse(Path::new("tiny.json"), sample.to_string().as_bytes(), None).unwrap().cases
}

fn hash_embedder() -> std::sync::Arc<dyn fta_mem::index::Embedder> {
    std::sync::Arc::new(HashEmbedder::default())
}

fn quiet(_: Step<'_>) {}

#[tokio::test]
async fn retrieval_measures_every_arm_on_usable_questions() {
    let run = retrieval::RetrievalRun {
        selection: Selection::default(),
        arms: Arm::ALL.to_vec(),
        preset: Preset::default(),
    };
    let steps = RefCell::new(Vec::new());
    let watch = |step: Step<'_>| steps.borrow_mut().push((step.done, step.total));
    let report = retrieval::run(&cases(), &hash_embedder(), &run, &watch).await.unwrap();
    assert_eq!(report.questions.len(), 2 * 4);
    assert_eq!(report.conversations.len(), 4);
    for question in &report.questions {
        let recalls = question.recall_at_items.iter().chain(&question.recall_at_tokens);
        assert!(recalls.copied().all(|r| r > 0.999), "the whole conversation fits: {question:?}");
        assert!(question.tokens.iter().zip(retrieval::TOKENS).all(|(used, budget)| *used <= budget));
    }
    assert_eq!(steps.into_inner(), (0..12).map(|done| (done, 12)).collect::<Vec<_>>());
    let text = report.render();
    assert!(text.contains("| ours ") && text.contains("4 single-hop") && text.contains("pooled"), "{text}");
}

#[tokio::test]
async fn a_budget_leaves_out_what_does_not_fit() {
    let mut cases = cases();
    let long = "This sentence is about nothing in particular and fills the page. ".repeat(8);
    for n in 0..40_u32 {
        let turns = &mut cases[0].conversation.sessions[0].turns;
        let index = turns.len() as u32;
        turns.push(fta_segment::Turn {
            index,
            source_id: format!("D1:{}", n + 4),
            text: format!("{long}{n}"),
            ..turns[0].clone()
        });
    }
    cases[0].questions.truncate(1);
    cases[0].questions[0]
        .evidence
        .push(crate::datasets::EvidenceRef { session: "session_1".into(), turn: "D1:40".into() });
    let run = retrieval::RetrievalRun {
        selection: Selection::default(),
        arms: vec![Arm::Bm25Turn],
        preset: Preset::default(),
    };
    let report = retrieval::run(&cases, &hash_embedder(), &run, &quiet).await.unwrap();
    let question = &report.questions[0];
    assert_eq!(question.retrieved[0], ["D1:1"]);
    assert!((question.recall_at_tokens[0] - 0.5).abs() < 1e-9, "{question:?}");
}

#[tokio::test]
async fn temporal_finds_the_resolved_day() {
    let results = temporal::run(&cases(), &hash_embedder(), &Selection::default(), &quiet).await.unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!((results[0].hit, results[0].exact), ([true; 2], [true; 2]), "{results:?}");
    assert!(temporal::render(&results).contains("top 25"));
}

#[tokio::test]
async fn answers_and_coverage_count_all() {
    let selection = Selection::default();
    let results =
        answers::run(&cases(), &hash_embedder(), &selection, Preset::Offline, &quiet).await.unwrap();
    assert_eq!(results.len(), 4);
    assert!(results.iter().all(|r| r.set_f1_simple.is_some() == r.answerable));
    assert!(answers::render(&results).contains("pooled unanswerable"));
    let coverage = coverage::run(&cases(), &hash_embedder(), &selection, &quiet).await.unwrap();
    assert_eq!((coverage[0].sessions, coverage[0].turns), (2, 5));
    assert_eq!(coverage[0].covered_turns, coverage[0].content_turns);
    assert!(coverage[0].embedded_texts > 0);
}

#[tokio::test]
async fn what_is_not_there_is_an_error() {
    let run = retrieval::RetrievalRun {
        selection: Selection { conversations: vec!["other".to_owned()], limit: None },
        arms: vec![Arm::Bm25Turn],
        preset: Preset::default(),
    };
    let error = retrieval::run(&cases(), &hash_embedder(), &run, &quiet).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no conversation `other`; the file has `tiny`");
    let mut none = cases();
    none[0].questions.clear();
    let run = retrieval::RetrievalRun { selection: Selection::default(), ..run };
    let error = retrieval::run(&none, &hash_embedder(), &run, &quiet).await.unwrap_err();
    assert!(matches!(error, BenchError::NoQuestions { .. }));
}
