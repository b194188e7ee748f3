use fta_llm::ScriptedModel;

use super::*;
use crate::dialogue::{Role, Session, SessionId, Turn};

fn session(texts: &[&str]) -> Session {
    let turn = |(index, text): (usize, &&str)| Turn {
        index: index as u32,
        source_id: format!("s:{index}"),
        speaker: if index % 2 == 0 { "Iris" } else { "Paul" }.to_owned(),
        role: Role::Peer,
        at: None,
        text: (*text).to_owned(),
        caption: None,
    };
    Session {
        id: SessionId::from("s"),
        started_at: None,
        turns: texts.iter().enumerate().map(turn).collect(),
    }
}

fn detector(model: Arc<ScriptedModel>) -> LlmDetector {
    LlmDetector::new(model, &PromptSource::builtin(), LlmDetectorConfig::default()).unwrap()
}

/// What the detector makes of a reply for turns 2..8.
async fn check(reply: &str, expect: &[(u32, u32, BoundaryCue)]) {
    let model = Arc::new(ScriptedModel::new("m").reply(STEP, reply));
    let session = session(&["a", "b", "c", "d", "e", "f", "g", "h"]);
    let window = Window::of(&session, TurnSpan::new(2, 8));
    let found = detector(model).detect(window).await.unwrap();
    let found: Vec<_> = found.iter().map(|s| (s.span.start, s.span.end, s.cue)).collect();
    assert_eq!(found, expect, "{reply}");
}

#[tokio::test]
async fn starts_become_spans_that_end_with_the_next_ones_cue() {
    use BoundaryCue::{EmotionalShift, TopicChange, Unknown};
    check(r#"{"starts":[]}"#, &[(2, 8, Unknown)]).await;
    check(
        r#"{"starts":[{"turn":6,"cue":"emotional shift"},{"turn":4,"cue":"topic_change"}]}"#,
        &[(2, 4, TopicChange), (4, 6, EmotionalShift), (6, 8, Unknown)],
    )
    .await;
    check(
        r#"{"starts":[{"turn":2,"cue":"time_gap"},{"turn":"5","cue":"mood"},{"turn":5,"cue":"time_gap"},{"turn":99,"cue":"x"}]}"#,
        &[(2, 5, Unknown), (5, 8, Unknown)],
    )
    .await;
    check(r#"[{"turn":3,"cue":"topic_change"}]"#, &[(2, 3, TopicChange), (3, 8, Unknown)]).await;
}

#[tokio::test]
async fn a_reply_about_other_turns_goes_back_and_then_fails() {
    let session = session(&["a", "b", "c"]);
    let bad = r#"{"starts":[{"turn":70,"cue":"topic_change"}]}"#;
    let model = Arc::new(ScriptedModel::new("m").reply(STEP, bad).reply(STEP, bad));
    let error = detector(model.clone()).detect(Window::of(&session, TurnSpan::new(0, 3))).await.unwrap_err();
    assert!(matches!(error, DetectError::Model { .. }), "{error:?}");
    assert!(model.requests()[1].messages.last().unwrap().content.contains("turns 0 to 2"));
}

#[tokio::test]
async fn one_turn_needs_no_call() {
    let session = session(&["a"]);
    let model = Arc::new(ScriptedModel::new("m"));
    let found = detector(model.clone()).detect(Window::of(&session, TurnSpan::new(0, 1))).await.unwrap();
    assert_eq!((found.len(), model.requests().len()), (1, 0));
}

#[tokio::test]
async fn the_request_is_as_recorded() {
    let session = session(&["Hi <there>!", "I \"moved\" out.\nAt last."]);
    let model = Arc::new(ScriptedModel::new("m").reply(STEP, "{\"starts\":[]}"));
    let detector = detector(model.clone());
    assert_eq!(detector.id(), "llm/1 boundaries/1 m");
    detector.detect(Window::of(&session, TurnSpan::new(0, 2))).await.unwrap();
    insta::assert_json_snapshot!("boundaries", model.requests());
}

mod properties {
    use proptest::prelude::*;

    use super::*;
    use crate::{Bws, BwsConfig, Segmenter};

    fn any_reply() -> impl Strategy<Value = String> {
        let start = (0u32..40, "[a-z_]{0,9}|topic_change")
            .prop_map(|(turn, cue)| format!(r#"{{"turn":{turn},"cue":"{cue}"}}"#));
        let valid = prop::collection::vec(start, 0..6)
            .prop_map(|starts| format!(r#"{{"starts":[{}]}}"#, starts.join(",")));
        let cut = (valid.clone(), any::<prop::sample::Index>())
            .prop_map(|(text, at)| text[..at.index(text.len() + 1)].to_owned());
        prop_oneof![3 => valid, 2 => cut, 1 => "\\PC{0,40}"]
    }

    proptest! {
        #[test]
        fn no_reply_loses_a_turn(replies in prop::collection::vec(any_reply(), 1..8), n_turns in 1usize..40) {
            let session = session(&vec!["a"; n_turns]);
            let model = replies.iter().cycle().take(200);
            let model = model.fold(ScriptedModel::new("m"), |model, reply| model.reply(STEP, reply.as_str()));
            let bws = Bws::new(BwsConfig::default(), Arc::new(detector(Arc::new(model)))).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            // A reply that cannot be used is a typed error, for which the caller has its fallback.
            if let Ok(fragments) = runtime.block_on(bws.segment(&session)) {
                let mut next = 0;
                for fragment in fragments {
                    prop_assert_eq!(fragment.span.start, next);
                    next = fragment.span.end;
                }
                prop_assert_eq!(next as usize, n_turns);
            }
        }
    }
}
