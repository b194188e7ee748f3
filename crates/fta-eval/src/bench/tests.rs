//! Runs on a small invented conversation with an embedder that needs no model.

use std::path::Path;

use fta_mem::index::testing::HashEmbedder;

use super::*;
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
async fn temporal_finds_the_resolved_day() {
    let results = temporal::run(&cases(), &hash_embedder(), &Selection::default(), &quiet).await.unwrap();
    assert_eq!(results.len(), 1);
    assert_eq!((results[0].hit, results[0].exact), ([true; 2], [true; 2]), "{results:?}");
    assert!(temporal::render(&results).contains("top 25"));
}

#[tokio::test]
async fn coverage_counts_all() {
    let selection = Selection::default();
    let coverage = coverage::run(&cases(), &hash_embedder(), &selection, &quiet).await.unwrap();
    assert_eq!((coverage[0].sessions, coverage[0].turns), (2, 5));
    assert_eq!(coverage[0].covered_turns, coverage[0].content_turns);
    assert!(coverage[0].embedded_texts > 0);
}

#[tokio::test]
async fn what_is_not_there_is_an_error() {
    let other = Selection { conversations: vec!["other".to_owned()], limit: None };
    let error = temporal::run(&cases(), &hash_embedder(), &other, &quiet).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no conversation `other`; the file has `tiny`");
    let mut none = cases();
    none[0].questions.clear();
    let error = temporal::run(&none, &hash_embedder(), &Selection::default(), &quiet).await.unwrap_err();
    assert!(matches!(error, BenchError::NoQuestions { .. }));
}
