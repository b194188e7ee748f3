use proptest::prelude::*;

use super::*;
use crate::testing::{LyingDetector, ScriptedDetector, assert_tiles, session_of};

fn session(n: usize) -> Session {
    session_of(&(0..n).map(|i| format!("turn {i}")).collect::<Vec<_>>())
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

fn check(segmenter: &dyn Segmenter, n: usize, expect: &[(u32, u32)]) {
    let fragments = block_on(segmenter.segment(&session(n))).unwrap();
    assert_tiles(n, &fragments);
    assert_eq!(fragments.iter().map(|f| (f.span.start, f.span.end)).collect::<Vec<_>>(), expect);
}

fn fixed(window: usize, stride: usize, cuts: &[u32]) -> FixedWindow {
    let detector = Arc::new(ScriptedDetector::cutting_at(cuts.iter().copied()));
    FixedWindow::new(FixedWindowConfig { window, stride }, detector).unwrap()
}

#[test]
fn fixed_windows_cut_at_their_edges() {
    check(&fixed(5, 5, &[3, 7]), 12, &[(0, 3), (3, 5), (5, 7), (7, 10), (10, 12)]);
    check(&fixed(5, 5, &[]), 10, &[(0, 5), (5, 10)]);
    check(&fixed(5, 5, &[]), 0, &[]);
}

#[test]
fn overlapping_windows_decide_over_new_turns_only() {
    check(&fixed(6, 3, &[2, 5, 7]), 12, &[(0, 2), (2, 5), (5, 6), (6, 7), (7, 9), (9, 12)]);
}

#[test]
fn fixed_cuts_are_named() {
    let fragments = block_on(fixed(5, 5, &[3]).segment(&session(8))).unwrap();
    let cues: Vec<_> = fragments.iter().map(|f| f.cue).collect();
    assert_eq!(cues, [BoundaryCue::TopicChange, BoundaryCue::FixedCut, BoundaryCue::SessionEnd]);
}

#[test]
fn whole_session_is_one_fragment() {
    check(&WholeSession, 7, &[(0, 7)]);
    check(&WholeSession, 0, &[]);
}

#[test]
fn turn_pairs_leave_the_odd_turn_alone() {
    check(&TurnPairs, 5, &[(0, 2), (2, 4), (4, 5)]);
    check(&TurnPairs, 4, &[(0, 2), (2, 4)]);
    check(&TurnPairs, 0, &[]);
}

#[test]
fn settings_are_checked() {
    let new = |window, stride| {
        FixedWindow::new(FixedWindowConfig { window, stride }, Arc::new(LyingDetector::new(0)))
    };
    assert!(matches!(new(1, 1), Err(SegmentError::WindowTooSmall { .. })));
    assert!(matches!(new(5, 0), Err(SegmentError::StepOutOfRange { .. })));
    assert!(matches!(new(5, 6), Err(SegmentError::StepOutOfRange { .. })));
    assert!(FixedWindowConfig::default().validate().is_ok());
}

#[test]
fn blocks_refuse_turns_out_of_place() {
    let turns = session(4).turns;
    block_on(async {
        let mut running = TurnPairs.incremental("s".into(), None);
        running.push(turns[0].clone()).await.unwrap();
        assert!(matches!(running.push(turns[2].clone()).await, Err(SegmentError::Dialogue(_))));
        assert_tiles(1, &running.finish().await.unwrap());
        assert!(running.finish().await.unwrap().is_empty());
        assert!(matches!(running.push(turns[1].clone()).await, Err(SegmentError::Finished { .. })));
    });
}

proptest! {
    #[test]
    fn fixed_windows_tile_whatever_the_detector_says(
        seed: u64, n in 0usize..100, window in 2usize..25, stride in 1usize..25,
    ) {
        let config = FixedWindowConfig { window, stride: stride.min(window) };
        let session = session(n);
        let detector = Arc::new(LyingDetector::new(seed));
        let segmenter = FixedWindow::new(config, detector.clone()).unwrap();
        let fragments = block_on(segmenter.segment(&session)).unwrap();
        assert_tiles(n, &fragments);
        prop_assert!(detector.calls() <= config.max_calls(n));
        let mut running = segmenter.incremental("s".into(), None);
        let mut pushed = Vec::new();
        for turn in &session.turns {
            pushed.extend(block_on(running.push(turn.clone())).unwrap());
        }
        pushed.extend(block_on(running.finish()).unwrap());
        prop_assert_eq!(pushed, fragments);
    }
}
