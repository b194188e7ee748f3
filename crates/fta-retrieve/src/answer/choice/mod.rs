//! The choice among answers: each leading sentence is read on its own in several ways, and a linear score with learned
//! weights decides which reading answers.

mod features;
mod readings;

use super::kinds::{Extracted, Input};

pub use features::{FEATURES, N_FEATURES, default_weights};
pub(super) use readings::{Reading, readings};

/// Score of a reading: the sum of its features, weighted.
fn score(features: &[f32; N_FEATURES], weights: &[f32; N_FEATURES]) -> f32 {
    features.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

/// The reading that the weights put first and its score; `None` without readings. Of equals the earlier, which is of the
/// better sentence.
pub(super) fn choose(input: Input<'_, '_>, weights: &[f32; N_FEATURES]) -> Option<(Extracted, f32)> {
    let mut best: Option<(f32, Reading)> = None;
    for reading in readings(input) {
        let score = score(&reading.features, weights);
        if best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, reading));
        }
    }
    best.map(|(score, reading)| (reading.answer, score))
}
