use jiff::civil::date;
use proptest::prelude::*;

use super::*;
use crate::{
    bws::{Bws, BwsConfig},
    dialogue::{Role, Session},
    fragment::Fragment,
    segmenter::Segmenter,
    testing::{assert_tiles, session_of},
};

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn detector() -> CohesionDetector {
    CohesionDetector::new(CohesionConfig::default()).unwrap()
}

fn fragments(session: &Session) -> Vec<Fragment> {
    let bws = Bws::new(BwsConfig::default(), Arc::new(detector())).unwrap();
    let fragments = block_on(bws.segment(session)).unwrap();
    assert_tiles(session.turns.len(), &fragments);
    fragments
}

const GARDEN_THEN_EXAM: [&str; 10] = [
    "The tomatoes in my garden are finally red",
    "My garden tomatoes are green, I planted the seeds too late",
    "Plant the seeds in March and keep the garden soil warm",
    "Warm soil, and water for the tomatoes every evening",
    "Yes, and a garden fence against the deer",
    "By the way, my chemistry exam is on Friday",
    "The exam on organic chemistry with the professor you dislike",
    "That professor, so I study chemistry every night for the exam",
    "Study with the old exam papers, the professor repeats them",
    "The papers are in the library, I study there",
];

#[test]
fn cuts_where_the_subject_changes() {
    let found = fragments(&session_of(&GARDEN_THEN_EXAM));
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], Fragment { span: TurnSpan::new(0, 5), cue: BoundaryCue::DiscourseMarker });
    let mut plain = GARDEN_THEN_EXAM;
    plain[5] = "My chemistry exam is on Friday";
    let found = fragments(&session_of(&plain));
    assert_eq!(found[0], Fragment { span: TurnSpan::new(0, 5), cue: BoundaryCue::TopicChange });
}

#[test]
fn a_gap_in_time_is_a_boundary() {
    let mut session = session_of(&["ok"; 8]);
    for (i, turn) in session.turns.iter_mut().enumerate() {
        let hour = if i < 4 { 9 } else { 15 };
        turn.at = Some(date(2024, 3, 1).at(hour, i as i8, 0, 0));
    }
    let found = fragments(&session);
    assert_eq!(found[0], Fragment { span: TurnSpan::new(0, 4), cue: BoundaryCue::TimeGap });
    assert_eq!(found.len(), 2);
}

#[test]
fn a_change_of_feeling_is_a_boundary() {
    let found = fragments(&session_of(&[
        "So sad and lonely here",
        "Hurt and afraid of the worst",
        "Worried, scared, tired",
        "Miserable and upset",
        "Happy and proud of it",
        "So excited and grateful",
        "Joy and relief, wonderful",
        "Thrilled and lucky",
    ]));
    assert_eq!(found[0], Fragment { span: TurnSpan::new(0, 4), cue: BoundaryCue::EmotionalShift });
}

#[test]
fn nothing_happens_in_a_window_of_the_same() {
    assert_eq!(fragments(&session_of(&["we sail the boat"; 7])).len(), 1);
}

#[test]
fn works_in_any_language_and_without_one() {
    for text in
        ["", "🙂🙂", "今日は雨が降っています。明日は？", "¿Qué tal?", "مرحبا؟", "\u{0}\u{301}", "....", "?"]
    {
        for n in [1, 2, 3, 7, 45] {
            fragments(&session_of(&vec![text; n]));
        }
    }
}

#[test]
fn settings_are_checked() {
    let check = |change: fn(&mut CohesionConfig), expect: &str| {
        let mut config = CohesionConfig::default();
        change(&mut config);
        match CohesionDetector::new(config) {
            Err(SegmentError::Setting { setting, .. }) => assert_eq!(setting, expect),
            _ => panic!("`{expect}` was not refused"),
        }
    };
    check(|c| c.block = 0, "block");
    check(|c| c.min_turns = 0, "min_turns");
    check(|c| c.long_turns = 1, "long_turns");
    check(|c| c.sensitivity = f64::NAN, "sensitivity");
    check(|c| c.time_gap_minutes = 0.0, "time_gap_minutes");
    check(|c| c.embedding_share = 1.5, "embedding_share");
    check(|c| c.marker_weight = -1.0, "marker_weight");
}

/// Embeds a text by its first letter, or too few texts.
struct Letters {
    short: bool,
}

impl Embedder for Letters {
    fn model_id(&self) -> &'static str {
        "letters"
    }
    fn dim(&self) -> usize {
        26
    }
    fn embed(&self, texts: &[&str]) -> Result<fta_index::Embeddings, fta_index::EmbedError> {
        let n = texts.len() - usize::from(self.short);
        let mut data = vec![0.0; n * 26];
        for (i, text) in texts[..n].iter().enumerate() {
            data[i * 26 + usize::from(text.bytes().next().unwrap_or(b'a') - b'a')] = 1.0;
        }
        fta_index::Embeddings::new(26, data)
    }
}

#[test]
fn embeddings_tell_subjects_apart_that_share_no_words() {
    let texts = ["apple", "avocado", "apricot", "almond", "boat", "barge", "brig", "barque"];
    let session = session_of(&texts);
    let window = Window::of(&session, TurnSpan::new(0, 8));
    assert_eq!(block_on(detector().detect(window)).unwrap().len(), 1);
    let by_meaning = detector().with_embedder(Arc::new(Letters { short: false }));
    assert_eq!(by_meaning.id(), "cohesion-1+letters");
    let spans = block_on(by_meaning.detect(window)).unwrap();
    assert_eq!(spans.iter().map(|s| s.span).collect::<Vec<_>>(), [TurnSpan::new(0, 4), TurnSpan::new(4, 8)]);
    let broken = detector().with_embedder(Arc::new(Letters { short: true }));
    assert!(matches!(block_on(broken.detect(window)), Err(DetectError::Failed { .. })));
}

proptest! {
    #[test]
    fn questions_keep_their_answers(
        turns in proptest::collection::vec((0usize..8, 0u8..3), 1..60),
    ) {
        const TEXTS: [&str; 8] = [
            "Did the boat leak?", "By the way, the exam is near", "Yes", "I am sad", "We sail", "Great joy. Why not?",
            "", "The garden is dry",
        ];
        let mut session = session_of(&turns.iter().map(|t| TEXTS[t.0]).collect::<Vec<_>>());
        for (turn, (_, speaker)) in session.turns.iter_mut().zip(&turns) {
            turn.speaker = speaker.to_string();
            turn.role = Role::Peer;
        }
        let span = TurnSpan::new(0, turns.len() as u32);
        let spans = block_on(detector().detect(Window::of(&session, span))).unwrap();
        prop_assert_eq!(&crate::repair::repair(span, &spans), &spans);
        for (i, question) in session.turns.iter().enumerate().filter(|(_, t)| t.text.ends_with('?')) {
            let waiting = session.turns[i + 1..].iter().take(3);
            let Some(answer) = waiting.clone().find(|t| t.speaker != question.speaker) else { continue };
            let cut = spans.iter().find(|s| s.span.start > question.index && s.span.start <= answer.index);
            prop_assert!(cut.is_none(), "{:?} cuts {} from {}", cut, i, answer.index);
        }
    }

    #[test]
    fn any_text_is_tiled_alike_at_once_and_as_it_is_said(texts in proptest::collection::vec(".{0,40}", 0..50)) {
        let session = session_of(&texts);
        let bws = Bws::new(BwsConfig { window: 12, min_step: 4 }, Arc::new(detector())).unwrap();
        let at_once = block_on(bws.segment(&session)).unwrap();
        assert_tiles(texts.len(), &at_once);
        let mut running = bws.incremental("s".into(), None);
        let mut pushed = Vec::new();
        for turn in &session.turns {
            pushed.extend(block_on(running.push(turn.clone())).unwrap());
        }
        pushed.extend(block_on(running.finish()).unwrap());
        prop_assert_eq!(pushed, at_once);
    }
}
