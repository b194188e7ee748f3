//! Detectors and sessions for tests.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;

use crate::{
    detect::{BoundaryCue, BoundaryDetector, BoundarySpan, DetectError, Window},
    dialogue::{Role, Session, Turn, TurnSpan},
    fragment::Fragment,
};

/// Makes up spans: out of range, overlapping, unordered, with gaps, empty, doubled, reversed, none; now and then a tiling.
///
/// The answer is a function of the seed and of the window (its place and its turns' text).
#[derive(Debug, Default)]
pub struct LyingDetector {
    seed: u64,
    calls: AtomicUsize,
}

impl LyingDetector {
    /// The liar number `seed`.
    pub fn new(seed: u64) -> Self {
        Self { seed, calls: AtomicUsize::new(0) }
    }

    /// How often it was asked.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl BoundaryDetector for LyingDetector {
    fn id(&self) -> &'static str {
        "lying"
    }

    async fn detect(&self, window: Window<'_>) -> Result<Vec<BoundarySpan>, DetectError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let mut random =
            SplitMix(self.seed ^ (u64::from(window.span.start) << 32 | u64::from(window.span.end)));
        for byte in window.turns().iter().flat_map(|t| t.text.bytes()) {
            random.0 = random.0.rotate_left(7) ^ u64::from(byte);
        }
        Ok(lie(&mut random, window.span))
    }
}

/// One made-up answer.
fn lie(random: &mut SplitMix, window: TurnSpan) -> Vec<BoundarySpan> {
    const CUES: [BoundaryCue; 4] =
        [BoundaryCue::TopicChange, BoundaryCue::EmotionalShift, BoundaryCue::TimeGap, BoundaryCue::Unknown];
    let mut spans = Vec::new();
    match random.below(5) {
        0 => {}
        1 => spans.push(BoundarySpan { span: window, cue: BoundaryCue::TopicChange }),
        2 => {
            let mut start = window.start;
            while start < window.end {
                let end = (start + 1 + random.below(7) as u32).min(window.end);
                let cue = CUES[random.below(CUES.len() as u64) as usize];
                spans.push(BoundarySpan { span: TurnSpan::new(start, end), cue });
                start = end;
            }
        }
        _ => {
            let reach = u64::from(window.end) + 10;
            for _ in 0..random.below(9) {
                let far = random.below(20) == 0;
                let start = random.below(reach) as u32;
                let end = if far { u32::MAX } else { random.below(reach) as u32 };
                let cue = CUES[random.below(CUES.len() as u64) as usize];
                spans.push(BoundarySpan { span: TurnSpan::new(start, end), cue });
                if random.below(4) == 0 {
                    spans.extend(spans.last().copied());
                }
            }
        }
    }
    spans
}

/// A small generator of random numbers with a state of 64 bits (SplitMix64).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// Cuts where it is told to, records its windows, and fails when told to.
#[derive(Debug, Default)]
pub struct ScriptedDetector {
    cuts: Vec<(u32, BoundaryCue)>,
    failing: Vec<usize>,
    windows: Mutex<Vec<TurnSpan>>,
}

impl ScriptedDetector {
    /// A span ends before each of these session turn indexes that lies within the window, with the cue given.
    pub fn new(cuts: impl IntoIterator<Item = (u32, BoundaryCue)>) -> Self {
        let mut cuts: Vec<_> = cuts.into_iter().collect();
        cuts.sort_by_key(|cut| cut.0);
        Self { cuts, ..Self::default() }
    }

    /// As [`new`](Self::new) with the cue [`BoundaryCue::TopicChange`].
    pub fn cutting_at(cuts: impl IntoIterator<Item = u32>) -> Self {
        Self::new(cuts.into_iter().map(|cut| (cut, BoundaryCue::TopicChange)))
    }

    /// Fails at these calls, counted from 0.
    pub fn failing_at(mut self, calls: impl IntoIterator<Item = usize>) -> Self {
        self.failing.extend(calls);
        self
    }

    /// The windows it was asked about, in order.
    pub fn windows(&self) -> Vec<TurnSpan> {
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

#[async_trait]
impl BoundaryDetector for ScriptedDetector {
    fn id(&self) -> &'static str {
        "scripted"
    }

    async fn detect(&self, window: Window<'_>) -> Result<Vec<BoundarySpan>, DetectError> {
        let call = {
            let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
            windows.push(window.span);
            windows.len() - 1
        };
        if self.failing.contains(&call) {
            return Err(DetectError::Failed {
                detector: "scripted".to_owned(),
                message: format!("told to at call {call}"),
            });
        }
        let mut spans = Vec::new();
        let mut start = window.span.start;
        for &(cut, cue) in self.cuts.iter().filter(|c| window.span.contains(c.0) && c.0 > window.span.start) {
            spans.push(BoundarySpan { span: TurnSpan::new(start, cut), cue });
            start = cut;
        }
        spans.push(BoundarySpan { span: TurnSpan::new(start, window.span.end), cue: BoundaryCue::Unknown });
        Ok(spans)
    }
}

/// A session of alternating speakers `A` and `B` that say these texts.
pub fn session_of<S: AsRef<str>>(texts: &[S]) -> Session {
    let turns = texts.iter().enumerate().map(|(i, text)| Turn {
        index: i as u32,
        source_id: format!("s:{}", i + 1),
        speaker: if i % 2 == 0 { "A" } else { "B" }.to_owned(),
        role: Role::Peer,
        at: None,
        text: text.as_ref().to_owned(),
        caption: None,
    });
    Session { id: "s".into(), started_at: None, turns: turns.collect() }
}

/// Asserts that the fragments tile a session of `n_turns` turns and that the last one ends with it.
///
/// # Panics
/// If they do not: that is what it is for.
pub fn assert_tiles(n_turns: usize, fragments: &[Fragment]) {
    let mut next = 0;
    for fragment in fragments {
        assert_eq!(fragment.span.start, next, "gap or overlap at {fragment:?} in {fragments:?}");
        assert!(!fragment.span.is_empty(), "empty fragment {fragment:?}");
        next = fragment.span.end;
    }
    assert_eq!(next as usize, n_turns, "turns are missing after {fragments:?}");
    assert_eq!(fragments.last().map(|f| f.cue), (n_turns > 0).then_some(BoundaryCue::SessionEnd));
}
