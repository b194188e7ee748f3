use proptest::prelude::*;

use super::*;
use crate::{
    detect::{BoundaryCue, FallbackDetector},
    dialogue::TurnSpan,
    testing::{LyingDetector, ScriptedDetector, assert_tiles, session_of},
};

fn session(n: usize) -> Session {
    session_of(&(0..n).map(|i| format!("turn {i}")).collect::<Vec<_>>())
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

async fn push_all(bws: &dyn Segmenter, session: &Session) -> Vec<Fragment> {
    let mut running = bws.incremental(session.id.clone(), session.started_at);
    let mut fragments = Vec::new();
    for turn in &session.turns {
        fragments.extend(running.push(turn.clone()).await.unwrap());
    }
    fragments.extend(running.finish().await.unwrap());
    assert!(running.finish().await.unwrap().is_empty());
    fragments
}

fn spans(fragments: &[Fragment]) -> Vec<(u32, u32)> {
    fragments.iter().map(|f| (f.span.start, f.span.end)).collect()
}

/// Runs BWS over `n` turns with cuts at `cuts`; compares the fragments and the windows asked about.
fn check(config: (usize, usize), n: usize, cuts: &[u32], expect: &[(u32, u32)], windows: &[(u32, u32)]) {
    let detector = Arc::new(ScriptedDetector::cutting_at(cuts.iter().copied()));
    let config = BwsConfig { window: config.0, min_step: config.1 };
    let bws = Bws::new(config, detector.clone()).unwrap();
    let fragments = block_on(bws.segment(&session(n))).unwrap();
    assert_eq!(spans(&fragments), expect);
    assert_eq!(detector.windows().iter().map(|w| (w.start, w.end)).collect::<Vec<_>>(), windows);
    assert_tiles(n, &fragments);
}

#[test]
fn next_window_starts_at_the_provisional_span() {
    check((10, 1), 16, &[3, 7, 12], &[(0, 3), (3, 7), (7, 12), (12, 16)], &[(0, 10), (7, 16)]);
}

#[test]
fn a_session_shorter_than_the_window_is_one_call() {
    check((20, 10), 7, &[4], &[(0, 4), (4, 7)], &[(0, 7)]);
    check((20, 10), 1, &[], &[(0, 1)], &[(0, 1)]);
    check((20, 10), 0, &[], &[], &[]);
}

#[test]
fn a_session_as_long_as_the_window_is_one_call() {
    check((10, 1), 10, &[4], &[(0, 4), (4, 10)], &[(0, 10)]);
}

#[test]
fn one_span_for_the_window_keeps_its_start_and_its_turns() {
    check((4, 2), 8, &[], &[(0, 8)], &[(0, 4), (2, 6), (4, 8)]);
    check((4, 1), 6, &[], &[(0, 6)], &[(0, 4), (1, 5), (2, 6)]);
    check((4, 4), 9, &[7], &[(0, 7), (7, 9)], &[(0, 4), (4, 8), (8, 9)]);
}

#[test]
fn a_provisional_span_that_starts_too_early_is_stepped_into() {
    // The span 2.. starts before the minimum step of 5; the next window starts at 5 and its first span is joined.
    check((10, 5), 14, &[2, 11], &[(0, 2), (2, 11), (11, 14)], &[(0, 10), (5, 14)]);
}

#[test]
fn fragments_have_the_cue_of_the_window_that_ended_them() {
    let detector = ScriptedDetector::new([(3, BoundaryCue::EmotionalShift), (12, BoundaryCue::TimeGap)]);
    let bws = Bws::new(BwsConfig { window: 10, min_step: 5 }, Arc::new(detector)).unwrap();
    let cues: Vec<_> = block_on(bws.segment(&session(16))).unwrap().iter().map(|f| f.cue).collect();
    assert_eq!(cues, [BoundaryCue::EmotionalShift, BoundaryCue::TimeGap, BoundaryCue::SessionEnd]);
}

#[test]
fn settings_are_checked() {
    let new = |window, min_step| Bws::new(BwsConfig { window, min_step }, Arc::new(LyingDetector::new(0)));
    assert!(matches!(new(1, 1), Err(SegmentError::WindowTooSmall { received: 1 })));
    assert!(matches!(new(5, 0), Err(SegmentError::StepOutOfRange { received: 0, window: 5 })));
    assert!(matches!(new(5, 6), Err(SegmentError::StepOutOfRange { received: 6, window: 5 })));
    assert!(new(2, 2).is_ok());
    assert!(BwsConfig::default().validate().is_ok() && BwsConfig::paper().validate().is_ok());
    assert_eq!(new(5, 2).unwrap().id(), "bws-w5-s2+lying");
}

#[test]
fn misnumbered_turns_are_an_error() {
    let mut broken = session(5);
    broken.turns[3].index = 9;
    let bws = Bws::new(BwsConfig::default(), Arc::new(LyingDetector::new(0))).unwrap();
    assert!(matches!(block_on(bws.segment(&broken)), Err(SegmentError::Dialogue(_))));
    block_on(async {
        let mut running = bws.incremental("s".into(), None);
        running.push(broken.turns[0].clone()).await.unwrap();
        assert!(matches!(running.push(broken.turns[3].clone()).await, Err(SegmentError::Dialogue(_))));
        running.push(broken.turns[1].clone()).await.unwrap();
        assert_tiles(2, &running.finish().await.unwrap());
        assert!(matches!(running.push(broken.turns[2].clone()).await, Err(SegmentError::Finished { .. })));
    });
}

#[test]
fn a_detector_error_is_passed_on_with_its_window() {
    let detector = ScriptedDetector::cutting_at([3, 7, 12]).failing_at([1]);
    let bws = Bws::new(BwsConfig { window: 10, min_step: 1 }, Arc::new(detector)).unwrap();
    match block_on(bws.segment(&session(16))) {
        Err(SegmentError::Detect { span, .. }) => assert_eq!(span, TurnSpan::new(7, 16)),
        other => panic!("expected a detector error, got {other:?}"),
    }
}

#[test]
fn a_failing_detector_loses_nothing_of_a_running_session() {
    let session = session(40);
    let config = BwsConfig { window: 8, min_step: 2 };
    let cuts = [3, 7, 12, 13, 20, 30, 31];
    let reliable = Bws::new(config, Arc::new(ScriptedDetector::cutting_at(cuts))).unwrap();
    let expect = block_on(reliable.segment(&session)).unwrap();
    let flaky = ScriptedDetector::cutting_at(cuts).failing_at([0, 1, 4, 5, 6, 9, 12, 13]);
    let flaky = Bws::new(config, Arc::new(flaky)).unwrap();
    let (mut fragments, mut failures) = (Vec::new(), 0);
    block_on(async {
        let mut running = flaky.incremental("s".into(), None);
        for turn in &session.turns {
            match running.push(turn.clone()).await {
                Ok(new) => fragments.extend(new),
                Err(_) => failures += 1,
            }
        }
        loop {
            match running.finish().await {
                Ok(new) => break fragments.extend(new),
                Err(_) => failures += 1,
            }
        }
    });
    assert!(failures >= 6, "the detector failed `{failures}` times");
    assert_eq!(fragments, expect);
}

#[test]
fn fallback_answers_where_the_primary_fails() {
    let primary = Arc::new(ScriptedDetector::cutting_at([3, 7, 12]).failing_at([0]));
    let fallback = Arc::new(ScriptedDetector::cutting_at([5]));
    let both = FallbackDetector::new(primary.clone(), fallback.clone());
    assert_eq!(both.id(), "scripted|scripted");
    let bws = Bws::new(BwsConfig { window: 10, min_step: 1 }, Arc::new(both)).unwrap();
    let fragments = block_on(bws.segment(&session(14))).unwrap();
    assert_eq!(spans(&fragments), [(0, 5), (5, 7), (7, 12), (12, 14)]);
    assert_eq!((primary.windows().len(), fallback.windows().len()), (2, 1));
    let failing = || Arc::new(ScriptedDetector::default().failing_at([0]));
    let bws = Bws::new(BwsConfig::default(), Arc::new(FallbackDetector::new(failing(), failing()))).unwrap();
    assert!(block_on(bws.segment(&session(3))).is_err());
}

#[test]
fn running_sessions_give_fragments_early() {
    let session = session(20);
    let detector = Arc::new(ScriptedDetector::cutting_at([3, 7, 12]));
    let bws = Bws::new(BwsConfig { window: 10, min_step: 1 }, detector).unwrap();
    block_on(async {
        let mut running = bws.incremental("s".into(), None);
        for turn in &session.turns[..9] {
            assert!(running.push(turn.clone()).await.unwrap().is_empty());
        }
        let early = running.push(session.turns[9].clone()).await.unwrap();
        assert_eq!(spans(&early), [(0, 3), (3, 7)]);
    });
}

#[test]
fn ports_are_dyn_compatible_and_shareable() {
    fn held<T: Send + Sync + ?Sized>(_: &T) {}
    let detector: Arc<dyn BoundaryDetector> =
        Arc::new(Box::new(LyingDetector::new(1)) as Box<dyn BoundaryDetector>);
    held(&detector);
    let segmenter: Arc<dyn Segmenter> = Arc::new(Bws::new(BwsConfig::default(), detector).unwrap());
    held(&segmenter);
    let forwarded: Box<dyn Segmenter> = Box::new(segmenter.clone());
    assert_eq!(forwarded.id(), segmenter.id());
    // A running session may move to another thread and outlive the segmenter.
    let running: Box<dyn IncrementalSegmenter> = forwarded.incremental("s".into(), None);
    drop((forwarded, segmenter));
    std::thread::spawn(move || drop(running)).join().unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn tiles_whatever_the_detector_says(seed: u64, n in 0usize..130, window in 2usize..25, step in 1usize..25) {
        let config = BwsConfig { window, min_step: step.min(window) };
        let session = session(n);
        let detector = Arc::new(LyingDetector::new(seed));
        let bws = Bws::new(config, detector.clone()).unwrap();
        let fragments = block_on(bws.segment(&session)).unwrap();
        assert_tiles(n, &fragments);
        let calls = detector.calls();
        prop_assert!(calls <= config.max_calls(n), "{calls} calls, at most {}", config.max_calls(n));
        prop_assert!(config.max_calls(n) <= n.div_ceil(config.min_step) + 1);
        prop_assert_eq!(block_on(push_all(&bws, &session)), fragments);
        prop_assert_eq!(detector.calls(), 2 * calls);
    }

    #[test]
    fn all_cuts_are_found_when_the_detector_is_right(
        cuts in proptest::collection::btree_set(1u32..90, 0..20),
        window in 2usize..25,
    ) {
        // With step 1 no true boundary is ever stepped over.
        let detector = Arc::new(ScriptedDetector::cutting_at(cuts.iter().copied()));
        let bws = Bws::new(BwsConfig { window, min_step: 1 }, detector).unwrap();
        let fragments = block_on(bws.segment(&session(90))).unwrap();
        let starts: Vec<u32> = fragments.iter().skip(1).map(|f| f.span.start).collect();
        prop_assert_eq!(starts, cuts.into_iter().collect::<Vec<_>>());
    }
}
