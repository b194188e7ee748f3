//! Whatever a model replies to the detector and the extractor, no turn of a session is lost.
#![no_main]

use std::sync::Arc;

use fta_llm::{PromptSource, ScriptedModel};
use fta_segment::{
    Bws, BwsConfig, LlmDetector, LlmDetectorConfig, Role, Segmenter, Session, SessionId, Turn,
};
use fta_units::{
    LlmExtractor, LlmExtractorConfig, PipelineSettings, UnitPipeline,
    offline::{TurnKind, turn_kind},
};
use libfuzzer_sys::fuzz_target;

const TALK: [&str; 6] = [
    "So how did the exam go?",
    "I passed with 82 last Friday!",
    "Great.",
    "I'm moving to Bern in June.",
    "Do you have a flat there?",
    "Yes, with two rooms.",
];

fn session() -> Session {
    let turn = |(index, text): (u32, &&str)| Turn {
        index,
        source_id: index.to_string(),
        speaker: ["Iris", "Paul"][index as usize % 2].to_owned(),
        role: Role::Peer,
        at: None,
        text: (*text).to_owned(),
        caption: None,
    };
    Session {
        id: SessionId::from("s"),
        started_at: Some(jiff::civil::date(2024, 5, 8).at(10, 0, 0, 0)),
        turns: (0..).zip(&TALK).map(turn).collect(),
    }
}

async fn run(boundaries: &str, extracted: &str) {
    let session = session();
    let (starts, units) = (boundaries.to_owned(), extracted.to_owned());
    let model = Arc::new(
        ScriptedModel::new("m")
            .reply_when(|r| r.step == "boundaries", starts.as_str())
            .reply_when(|r| r.step == "extract", units.as_str()),
    );
    let prompts = PromptSource::builtin();
    let detector = LlmDetector::new(model.clone(), &prompts, LlmDetectorConfig::default()).expect("built in");
    let bws = Bws::new(BwsConfig::default(), Arc::new(detector)).expect("the defaults are valid");
    // A reply that cannot be used is a typed error.
    let Ok(fragments) = bws.segment(&session).await else { return };
    let mut next = 0;
    for fragment in &fragments {
        assert_eq!(fragment.span.start, next);
        next = fragment.span.end;
    }
    assert_eq!(next, session.turns.len() as u32);
    let extractor = LlmExtractor::new(model, &prompts, LlmExtractorConfig::default()).expect("built in");
    let mut pipeline = UnitPipeline::new(Arc::new(extractor), PipelineSettings::default());
    let mut units = Vec::new();
    for fragment in fragments {
        let Ok(done) = pipeline.step(&session, fragment).await else { return };
        units.extend(done);
    }
    units.extend(pipeline.finish());
    for turn in &session.turns {
        let says = turn_kind(turn, &session.speakers()) != TurnKind::Filler;
        assert!(!says || units.iter().any(|u| u.evidence.turns.contains(turn.index)));
    }
}

fuzz_target!(|replies: (&str, &str)| {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(run(replies.0, replies.1));
});
