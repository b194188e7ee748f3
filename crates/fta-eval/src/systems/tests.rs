//! Every built-in system on a small invented conversation, with an embedder that needs no model.

use std::{path::Path, sync::Arc};

use fta_mem::{ListFilter, index::testing::HashEmbedder, profile::Profile};

use super::*;
use crate::{
    datasets::{Case, parse},
    run::Registry,
};

pub(crate) fn case() -> Case {
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
            {"question": "Which animal escaped through the garden fence?", "answer": "the tortoise Hugo", "category": 4, "evidence": ["D2:1"]},
            {"question": "Which car does Ben drive?", "category": 5, "evidence": ["D1:2"]},
        ],
    }]);
    parse(Path::new("tiny.json"), sample.to_string().as_bytes(), None).unwrap().cases.remove(0)
}

fn parts(by_model: Option<ByModel>) -> Parts {
    Parts { conversation: "tiny".to_owned(), embedder: Arc::new(HashEmbedder::default()), by_model }
}

async fn filled(system: &str, settings: &str, by_model: Option<ByModel>) -> Box<dyn MemorySystem> {
    let settings = toml::from_str(settings).unwrap();
    let mut system = Registry::builtin().open(system, &settings, &parts(by_model)).unwrap();
    for session in &case().conversation.sessions {
        system.ingest(session).await.unwrap();
    }
    system.finish().await.unwrap();
    system
}

const FENCE: Asked<'_> = Asked { text: "Which animal escaped through the garden fence?", asked_at: None };

#[tokio::test]
async fn every_ranking_finds_the_turn_that_shares_words() {
    for (system, settings) in [
        ("bm25", ""),
        ("bm25", "unit = \"pair\""),
        ("dense", "unit = \"turn\""),
        ("dense", "unit = \"session\""),
        ("hybrid", "unit = \"pair\""),
        ("trial", ""),
        ("fta", ""),
        ("fta", "preset = \"locomo\""),
    ] {
        let filled = filled(system, settings, None).await;
        let context = filled.context(&FENCE, Budget { items: Some(1), tokens: None }).await.unwrap();
        assert_eq!(context.items.len(), 1, "{system} {settings}");
        let first = &context.items[0];
        assert!(first.turns.iter().any(|t| t.turn == "D2:1"), "{system} {settings}: {first:?}");
        assert!(context.turns.iter().any(|t| t.turn == "D2:1"), "{system} {settings}: {context:?}");
        let reply = filled.answer(&FENCE).await.unwrap();
        assert!(reply.text.contains("tortoise"), "{system} {settings}: {reply:?}");
        assert!(filled.kept().items > 0);
    }
}

#[tokio::test]
async fn budgets_are_kept_and_more_is_never_less() {
    for system in ["bm25", "hybrid", "full-context", "last-sessions", "fta"] {
        let filled = filled(system, "", None).await;
        let mut before = 0;
        for budget in [0, 20, 40, 60, 1000] {
            let context = filled.context(&FENCE, Budget { items: None, tokens: Some(budget) }).await.unwrap();
            assert!(context.tokens <= budget, "{system} {budget}: {context:?}");
            assert!(context.turns.len() >= before, "{system} {budget}");
            before = context.turns.len();
        }
        // Ours hands back only what units rest on.
        let all = if system == "fta" { 3 } else { 5 };
        assert!(before >= all, "{system}: everything fits, {before} turns are there");
    }
}

#[tokio::test]
async fn history_is_read_from_its_end() {
    let newest = filled("last-sessions", "sessions = 1", None).await;
    let context = newest.context(&FENCE, Budget::default()).await.unwrap();
    let turns: Vec<&str> = context.turns.iter().map(|t| t.turn.as_str()).collect();
    assert_eq!(turns, ["D2:1", "D2:2"]);
    let nothing = filled("question-only", "", None).await;
    let reply = nothing.answer(&FENCE).await.unwrap();
    assert_eq!((reply.abstained, reply.context.items.len()), (Some(true), 0));
}

#[tokio::test]
async fn what_is_left_out_is_gone() {
    let kayak = Asked { text: "When did Ada buy the kayak?", asked_at: None };
    let whole = filled("fta", "", None).await.answer(&kayak).await.unwrap();
    assert_eq!(whole.text, "8 June 2021");
    let undated = filled("fta", "without = [\"dates\"]", None).await.answer(&kayak).await.unwrap();
    assert!(!undated.text.contains("2021"), "{undated:?}");
    for part in ["time", "affect", "links", "rewrite", "cues", "packet", "auxiliary"] {
        let system = filled("fta", &format!("without = [\"{part}\"]"), None).await;
        let reply = system.answer(&FENCE).await.unwrap();
        assert!(reply.text.contains("tortoise"), "{part}: {reply:?}");
    }
    let settings = toml::from_str("without = [\"time\", \"affect\"]").unwrap();
    let settings = super::settings::read("fta", &settings).unwrap();
    let mut system = FtaSystem::new(settings, &parts(None)).unwrap();
    for session in &case().conversation.sessions {
        system.ingest(session).await.unwrap();
    }
    for unit in system.memory().list(&ListFilter::default()) {
        assert_eq!((unit.time, unit.affect), Default::default());
    }
}

#[tokio::test]
async fn every_segmentation_holds_every_turn() {
    for segmentation in ["bws", "fixed", "session", "pairs"] {
        let settings = format!("segmentation = \"{segmentation}\"\nwindow = 4");
        let (content, covered) = filled("fta", &settings, None).await.kept().covered.unwrap();
        assert_eq!(content, covered, "{segmentation}");
    }
}

#[tokio::test]
async fn a_model_does_the_steps_of_its_profile() {
    let by = ByModel { profile: Profile::default(), model: Arc::new(StandIn) };
    for system in ["fta", "bm25"] {
        let reply = filled(system, "", Some(by.clone())).await.answer(&FENCE).await.unwrap();
        assert!(!reply.text.is_empty(), "{system}");
    }
}

#[test]
fn settings_that_cannot_be_used_are_refused() {
    let open = |system: &str, settings: &str| {
        let settings = toml::from_str(settings).unwrap();
        let opened = Registry::builtin().open(system, &settings, &parts(None));
        opened.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(open("bm25", "k = 0").contains("`k` is 0"));
    assert!(open("trial", "unit = \"session\"").contains("turns only"));
    assert!(open("dense", "unit = \"word\"").contains("unknown variant `word`"));
    assert!(open("fta", "segmentation = \"bws\"\nwindow = 1").contains("settings of system `fta`"));
    assert!(open("nothing-known", "").contains("`full-context`"));
}
