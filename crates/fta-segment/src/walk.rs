//! How windows move over a session and which spans become final: the one engine behind [`Bws`](crate::Bws) and
//! [`FixedWindow`](crate::FixedWindow), at once and incremental.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::civil::DateTime;

use crate::{
    detect::{BoundaryCue, BoundaryDetector, BoundarySpan, Window},
    dialogue::{DialogueError, Session, SessionId, Turn, TurnSpan},
    error::SegmentError,
    fragment::Fragment,
    repair::repair,
    segmenter::IncrementalSegmenter,
};

/// How the window moves on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Movement {
    /// To the start of the last span, which is provisional; by `min_step` at least.
    ToProvisionalSpan {
        /// In turns, `1..=window`.
        min_step: u32,
    },
    /// By a fixed stride; all spans are final.
    ByStride {
        /// In turns, `1..=window`.
        stride: u32,
    },
}

/// Checks a window and step.
pub(crate) fn check_window(window: usize, step: usize) -> Result<(), SegmentError> {
    if window < 2 {
        return Err(SegmentError::WindowTooSmall { received: window });
    }
    if step < 1 || step > window {
        return Err(SegmentError::StepOutOfRange { received: step, window });
    }
    Ok(())
}

/// Upper bound on detector calls for a session of `n_turns`.
///
/// Every call but the last looks at a full window, and each starts `step` or more after the one before.
pub(crate) fn max_calls(window: usize, step: usize, n_turns: usize) -> usize {
    match n_turns {
        0 => 0,
        n if n < window => 1,
        n => (n - window) / step.max(1) + 2,
    }
}

/// The position in one session. Knows no turns and no detector: windows out, answers in.
#[derive(Debug, Clone)]
pub(crate) struct Walk {
    window: u32,
    movement: Movement,
    /// Start of the next window.
    start: u32,
    /// End of the last window that was looked at; all turns before it are in `ready`, given out, or `held`.
    seen: u32,
    /// The last span found, not given out yet.
    held: Option<BoundarySpan>,
    /// Final fragments, not given out yet.
    ready: Vec<Fragment>,
}

impl Walk {
    pub(crate) fn new(window: usize, movement: Movement) -> Self {
        let window = u32::try_from(window).unwrap_or(u32::MAX);
        Self { window, movement, start: 0, seen: 0, held: None, ready: Vec::new() }
    }

    /// The next window, if the first `n_turns` turns fill it.
    fn full_window(&self, n_turns: u32) -> Option<TurnSpan> {
        let end = self.start.checked_add(self.window)?;
        (end <= n_turns).then_some(TurnSpan::new(self.start, end))
    }

    /// The window that ends with the session, if there are turns that no window held.
    fn last_window(&self, n_turns: u32) -> Option<TurnSpan> {
        (self.seen < n_turns).then_some(TurnSpan::new(self.start, n_turns))
    }

    /// Takes the detector's answer for `window`.
    fn accept(&mut self, window: TurnSpan, answer: &[BoundarySpan]) {
        let mut spans = repair(window, answer);
        let step = match self.movement {
            Movement::ToProvisionalSpan { min_step } => {
                // The provisional span keeps its start, which lies before the window if that had to step over it.
                if let (Some(held), Some(first)) = (self.held.take(), spans.first_mut()) {
                    first.span.start = held.span.start;
                }
                min_step
            }
            Movement::ByStride { stride } => {
                self.ready.extend(self.held.take().map(into_fragment));
                spans.retain(|s| s.span.end > self.seen);
                if let Some(first) = spans.first_mut() {
                    first.span.start = self.seen;
                }
                if let Some(last) = spans.last_mut() {
                    last.cue = BoundaryCue::FixedCut;
                }
                stride
            }
        };
        self.held = spans.pop();
        self.ready.extend(spans.into_iter().map(into_fragment));
        self.seen = window.end;
        let stepped = self.start.saturating_add(step);
        self.start = match (self.movement, self.held) {
            (Movement::ToProvisionalSpan { .. }, Some(held)) => stepped.max(held.span.start),
            _ => stepped,
        };
    }

    /// Ends the session: what is held is the last fragment.
    fn close(&mut self) {
        if let Some(held) = self.held.take() {
            self.ready.push(Fragment { span: held.span, cue: BoundaryCue::SessionEnd });
        }
    }
}

fn into_fragment(span: BoundarySpan) -> Fragment {
    Fragment { span: span.span, cue: span.cue }
}

/// Asks the detector about one window and takes the answer.
async fn look(
    walk: &mut Walk,
    detector: &dyn BoundaryDetector,
    window: Window<'_>,
) -> Result<(), SegmentError> {
    let answer = detector.detect(window).await.map_err(|source| SegmentError::Detect {
        session: window.session.clone(),
        span: window.span,
        source,
    })?;
    walk.accept(window.span, &answer);
    Ok(())
}

/// Walks over a whole session.
pub(crate) async fn walk_session(
    mut walk: Walk,
    detector: &dyn BoundaryDetector,
    session: &Session,
) -> Result<Vec<Fragment>, SegmentError> {
    for (position, turn) in session.turns.iter().enumerate() {
        check_index(&session.id, position, turn)?;
    }
    let n_turns = session.turns.len() as u32;
    while let Some(span) = walk.full_window(n_turns) {
        look(&mut walk, detector, Window::of(session, span)).await?;
    }
    if let Some(span) = walk.last_window(n_turns) {
        look(&mut walk, detector, Window::of(session, span)).await?;
    }
    walk.close();
    Ok(walk.ready)
}

/// Checks that `turn` stands at its place.
pub(crate) fn check_index(session: &SessionId, position: usize, turn: &Turn) -> Result<(), DialogueError> {
    if turn.index as usize == position {
        return Ok(());
    }
    Err(DialogueError::TurnIndex { session: session.clone(), expected: position, received: turn.index })
}

/// A walk over a session that is still running. Keeps the turns from the next window's start on.
pub(crate) struct RunningWalk {
    walk: Walk,
    detector: Arc<dyn BoundaryDetector>,
    session: SessionId,
    started_at: Option<DateTime>,
    /// Session index of `turns[0]`.
    first: u32,
    turns: Vec<Turn>,
    finished: bool,
}

impl RunningWalk {
    pub(crate) fn new(
        walk: Walk,
        detector: Arc<dyn BoundaryDetector>,
        session: SessionId,
        started_at: Option<DateTime>,
    ) -> Self {
        Self { walk, detector, session, started_at, first: 0, turns: Vec::new(), finished: false }
    }

    fn n_turns(&self) -> u32 {
        self.first + self.turns.len() as u32
    }

    /// Looks at one window. The state changes only after the detector's answer.
    async fn look(&mut self, span: TurnSpan) -> Result<(), SegmentError> {
        let from = (span.start - self.first) as usize;
        let turns = &self.turns[from..from + span.len()];
        let window = Window::new(&self.session, self.started_at, span.start, turns);
        look(&mut self.walk, &*self.detector, window).await?;
        let done = self.walk.start.min(self.n_turns()) - self.first;
        self.turns.drain(..done as usize);
        self.first += done;
        Ok(())
    }
}

#[async_trait]
impl IncrementalSegmenter for RunningWalk {
    async fn push(&mut self, turn: Turn) -> Result<Vec<Fragment>, SegmentError> {
        if self.finished {
            return Err(SegmentError::Finished { session: self.session.clone() });
        }
        check_index(&self.session, self.n_turns() as usize, &turn)?;
        self.turns.push(turn);
        while let Some(span) = self.walk.full_window(self.n_turns()) {
            self.look(span).await?;
        }
        Ok(std::mem::take(&mut self.walk.ready))
    }

    async fn finish(&mut self) -> Result<Vec<Fragment>, SegmentError> {
        while let Some(span) = self.walk.full_window(self.n_turns()) {
            self.look(span).await?;
        }
        if let Some(span) = self.walk.last_window(self.n_turns()) {
            self.look(span).await?;
        }
        self.walk.close();
        self.finished = true;
        Ok(std::mem::take(&mut self.walk.ready))
    }
}
