//! Whatever spans a detector answers, the repaired ones tile the window.
#![no_main]

use fta_segment::{BoundaryCue, BoundarySpan, TurnSpan, repair::repair};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u16, u8, Vec<(u32, u32)>)| {
    let (start, len, answer) = input;
    let window = TurnSpan::new(u32::from(start), u32::from(start) + u32::from(len));
    let answer: Vec<BoundarySpan> = answer
        .into_iter()
        .map(|(b, e)| BoundarySpan { span: TurnSpan::new(b, e), cue: BoundaryCue::Unknown })
        .collect();
    let spans = repair(window, &answer);
    let mut next = window.start;
    for span in &spans {
        assert!(span.span.start == next && !span.span.is_empty());
        next = span.span.end;
    }
    assert_eq!(next, window.end);
    assert_eq!(repair(window, &spans), spans);
});
