//! Makes a tiling of whatever a detector answered.

use crate::{
    detect::{BoundaryCue, BoundarySpan},
    dialogue::TurnSpan,
};

/// Turns a detector's answer into spans that tile the window: in order, no gap, no overlap, none empty.
///
/// A span's start is believed before its end, since a fragment is over where the next one begins:
/// 1. a reversed span (`end < start`) is turned round; the parts outside the window are cut off; empty spans are dropped;
/// 2. spans are put in order of their start; of several with one start the longest stays (the first given, if equal);
/// 3. each span runs to the next one's start, so a gap goes to the span before it and an overlap is cut at the later start;
/// 4. the first span begins, and the last one ends, with the window.
///
/// Every span keeps the cue it came with. An answer without a usable span is one span, cue [`BoundaryCue::Unknown`].
/// An empty window gives no span. A tiling comes back as it was. `O(n log n)`.
///
/// # Source
/// Spec section 9.3.
pub fn repair(window: TurnSpan, answer: &[BoundarySpan]) -> Vec<BoundarySpan> {
    if window.is_empty() {
        return Vec::new();
    }
    let mut spans: Vec<BoundarySpan> = answer.iter().filter_map(|span| clip(window, *span)).collect();
    // A stable sort: of equal spans the first one given comes first.
    spans.sort_by_key(|s| (s.span.start, std::cmp::Reverse(s.span.end)));
    spans.dedup_by_key(|s| s.span.start);
    let Some(first) = spans.first_mut() else {
        return vec![BoundarySpan { span: window, cue: BoundaryCue::Unknown }];
    };
    first.span.start = window.start;
    let mut next_start = window.end;
    for span in spans.iter_mut().rev() {
        span.span.end = next_start;
        next_start = span.span.start;
    }
    spans
}

/// The part of a span within the window, or `None` if there is none.
fn clip(window: TurnSpan, given: BoundarySpan) -> Option<BoundarySpan> {
    let (low, high) = (given.span.start.min(given.span.end), given.span.start.max(given.span.end));
    let span = TurnSpan::new(low.max(window.start), high.min(window.end));
    (!span.is_empty()).then_some(BoundarySpan { span, cue: given.cue })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(window: (u32, u32), answer: &[(u32, u32)], expect: &[(u32, u32)]) {
        let answer: Vec<_> = answer
            .iter()
            .map(|&(b, e)| BoundarySpan { span: TurnSpan::new(b, e), cue: BoundaryCue::TopicChange })
            .collect();
        let found: Vec<_> = repair(TurnSpan::new(window.0, window.1), &answer)
            .iter()
            .map(|s| (s.span.start, s.span.end))
            .collect();
        assert_eq!(found, expect);
    }

    #[test]
    fn keeps_a_tiling() {
        check((5, 20), &[(5, 9), (9, 15), (15, 20)], &[(5, 9), (9, 15), (15, 20)]);
    }

    #[test]
    fn repairs_every_lie() {
        check((0, 10), &[], &[(0, 10)]);
        check((0, 10), &[(3, 3), (20, 30)], &[(0, 10)]);
        check((0, 10), &[(2, 4)], &[(0, 10)]);
        check((0, 10), &[(0, 4), (6, 8)], &[(0, 6), (6, 10)]);
        check((0, 10), &[(0, 7), (4, 10)], &[(0, 4), (4, 10)]);
        check((0, 10), &[(5, 10), (0, 5)], &[(0, 5), (5, 10)]);
        check((0, 10), &[(5, 0), (10, 5)], &[(0, 5), (5, 10)]);
        check((0, 10), &[(0, 5), (0, 5), (5, 10), (5, 6)], &[(0, 5), (5, 10)]);
        check((10, 20), &[(0, 14), (14, 99)], &[(10, 14), (14, 20)]);
        check((0, 10), &[(0, u32::MAX), (u32::MAX, 0)], &[(0, 10)]);
        check((4, 4), &[(0, 9)], &[]);
    }

    #[test]
    fn keeps_the_cue_of_the_longest_span() {
        let span = |b, e, cue| BoundarySpan { span: TurnSpan::new(b, e), cue };
        let answer = [
            span(0, 2, BoundaryCue::TimeGap),
            span(0, 5, BoundaryCue::EmotionalShift),
            span(5, 9, BoundaryCue::TopicChange),
        ];
        let cues: Vec<_> = repair(TurnSpan::new(0, 9), &answer).iter().map(|s| s.cue).collect();
        assert_eq!(cues, [BoundaryCue::EmotionalShift, BoundaryCue::TopicChange]);
    }

    proptest! {
        #[test]
        fn always_tiles_and_is_idempotent(
            start in 0u32..50,
            len in 1u32..50,
            spans in proptest::collection::vec((0u32..120, 0u32..120), 0..12),
        ) {
            let window = TurnSpan::new(start, start + len);
            let answer: Vec<_> = spans
                .iter()
                .map(|&(b, e)| BoundarySpan { span: TurnSpan::new(b, e), cue: BoundaryCue::TopicChange })
                .collect();
            let repaired = repair(window, &answer);
            let mut next = window.start;
            for s in &repaired {
                prop_assert_eq!(s.span.start, next);
                prop_assert!(!s.span.is_empty());
                next = s.span.end;
            }
            prop_assert_eq!(next, window.end);
            prop_assert_eq!(repair(window, &repaired), repaired);
        }
    }
}
