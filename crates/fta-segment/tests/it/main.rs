//! Segmentation of real dialogues, as a user of the crate calls it.
//!
//! The dialogues are not part of the repository; without the data folder next to it these tests have nothing to do.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "tests fail by panics and report what they measure"
)]

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use fta_segment::{
    BoundaryCue, BoundaryDetector, Bws, BwsConfig, CohesionConfig, CohesionDetector, FixedWindow,
    FixedWindowConfig, Fragment, Role, Segmenter, Session, SessionId, Turn, TurnPairs, WholeSession,
};
use serde_json::Value;

fn data(file: &str) -> Option<String> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(file);
    path.exists().then(|| std::fs::read_to_string(path).unwrap())
}

fn turn(index: usize, speaker: &str, role: Role, text: &Value) -> Turn {
    Turn {
        index: index as u32,
        source_id: index.to_string(),
        speaker: speaker.to_owned(),
        role,
        at: None,
        text: text.as_str().unwrap().to_owned(),
        caption: None,
    }
}

fn esconv() -> Vec<Session> {
    let Some(lines) = data("esconv/esconv_v0_test.jsonl") else {
        return Vec::new();
    };
    let session = |line: &str| {
        let dialogue: Value = serde_json::from_str(line).unwrap();
        let turns = dialogue["dialogue"].as_array().unwrap().iter().enumerate().map(|(i, t)| {
            let speaker = t["role"].as_str().unwrap();
            let role = if speaker == "seeker" { Role::Seeker } else { Role::Supporter };
            turn(i, speaker, role, &t["content"])
        });
        let id = SessionId(dialogue["id"].as_str().unwrap().to_owned());
        Session { id, started_at: None, turns: turns.collect() }
    };
    lines.lines().map(session).collect()
}

fn locomo() -> Vec<Session> {
    let Some(text) = data("locomo/locomo-dev6.json") else {
        return Vec::new();
    };
    let samples: Vec<Value> = serde_json::from_str(&text).unwrap();
    let mut sessions = Vec::new();
    for sample in samples {
        for number in 1.. {
            let Some(said) = sample["conversation"][format!("session_{number}")].as_array() else {
                break;
            };
            let turns = said.iter().enumerate().map(|(i, t)| {
                let mut turn = turn(i, t["speaker"].as_str().unwrap(), Role::Peer, &t["text"]);
                turn.caption = t["blip_caption"].as_str().map(str::to_owned);
                turn
            });
            let id = SessionId(format!("{}-{number}", sample["sample_id"].as_str().unwrap()));
            sessions.push(Session { id, started_at: None, turns: turns.collect() });
        }
    }
    sessions
}

fn check_tiling(session: &Session, fragments: &[Fragment]) {
    let mut next = 0;
    for fragment in fragments {
        assert_eq!(fragment.span.start, next, "session {}", session.id);
        assert!(!fragment.span.is_empty(), "session {}", session.id);
        next = fragment.span.end;
    }
    assert_eq!(next as usize, session.turns.len(), "session {}", session.id);
    assert_eq!(fragments.last().map(|f| f.cue), Some(BoundaryCue::SessionEnd));
}

/// Cuts all sessions, checks each, and prints and returns the mean length of a fragment in turns.
async fn check(name: &str, segmenter: &dyn Segmenter, sessions: &[Session]) -> f64 {
    let mut lengths: BTreeMap<usize, usize> = BTreeMap::new();
    let mut cues: BTreeMap<String, usize> = BTreeMap::new();
    for session in sessions {
        let fragments = segmenter.segment(session).await.unwrap();
        check_tiling(session, &fragments);
        let mut running = segmenter.incremental(session.id.clone(), session.started_at);
        let mut pushed = Vec::new();
        for turn in &session.turns {
            pushed.extend(running.push(turn.clone()).await.unwrap());
        }
        pushed.extend(running.finish().await.unwrap());
        assert_eq!(pushed, fragments, "session {}", session.id);
        for fragment in fragments {
            *lengths.entry(fragment.span.len()).or_default() += 1;
            *cues.entry(format!("{:?}", fragment.cue)).or_default() += 1;
        }
    }
    let turns: usize = lengths.iter().map(|(len, n)| len * n).sum();
    let mean = turns as f64 / lengths.values().sum::<usize>().max(1) as f64;
    println!("{name}, {}: mean {mean:.2} turns, lengths {lengths:?}, cues {cues:?}", segmenter.id());
    mean
}

fn segmenters() -> Vec<Box<dyn Segmenter>> {
    let detector: Arc<dyn BoundaryDetector> =
        Arc::new(CohesionDetector::new(CohesionConfig::default()).unwrap());
    vec![
        Box::new(Bws::new(BwsConfig::default(), detector.clone()).unwrap()),
        Box::new(Bws::new(BwsConfig::paper(), detector.clone()).unwrap()),
        Box::new(FixedWindow::new(FixedWindowConfig::default(), detector).unwrap()),
        Box::new(WholeSession),
        Box::new(TurnPairs),
    ]
}

async fn check_all(name: &str, sessions: &[Session]) {
    if sessions.is_empty() {
        return;
    }
    for (i, segmenter) in segmenters().iter().enumerate() {
        let mean = check(name, segmenter, sessions).await;
        if i < 2 {
            assert!((4.0..=8.0).contains(&mean), "fragments of {mean} turns are too short or too long");
        }
    }
}

#[tokio::test]
async fn real_support_dialogues_are_tiled() {
    check_all("ESConv", &esconv()).await;
}

#[tokio::test]
async fn real_long_term_dialogues_are_tiled() {
    check_all("LoCoMo", &locomo()).await;
}
