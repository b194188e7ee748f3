//! The choice among answers: each leading sentence is read on its own in several ways, and a linear score with learned
//! weights decides which reading answers.

mod features;
mod readings;

use super::kinds::{Extracted, Input};
use crate::{query::AnswerType, words};

pub use features::{FEATURES, N_FEATURES, default_weights};
pub(super) use readings::{Reading, readings};

/// Score of a reading: the sum of its features, weighted.
fn score(features: &[f32; N_FEATURES], weights: &[f32; N_FEATURES]) -> f32 {
    features.iter().zip(weights).map(|(value, weight)| value * weight).sum()
}

/// Readings that join a list, at most.
const MOST_JOINED: usize = 3;
/// How far below the first a reading may score and still join a list.
const JOINED_MARGIN: f32 = 1.0;
/// Words of a reading that joins a list, at most: longer ones tell a story.
const JOINED_WORDS: usize = 8;

/// The reading that the weights put first and its score; `None` without readings. Of equals the earlier, which is of the
/// better sentence. Where several things are asked for, what other sentences tell is joined to it.
pub(super) fn choose(input: Input<'_, '_>, weights: &[f32; N_FEATURES]) -> Option<(Extracted, f32)> {
    let mut scored: Vec<(f32, Reading)> =
        readings(input).into_iter().map(|reading| (score(&reading.features, weights), reading)).collect();
    // A stable sort keeps equals in their order.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut ranked = scored.into_iter();
    let (best, first) = ranked.next()?;
    let mut answer = first.answer;
    if input.asked.kind == AnswerType::List {
        let near = ranked.take_while(|(score, _)| *score >= best - JOINED_MARGIN);
        join(&mut answer, near.map(|(_, reading)| reading.answer));
    }
    Some((answer, best))
}

/// Joins what sentences that were not used yet tell in few new words.
fn join(answer: &mut Extracted, others: impl Iterator<Item = Extracted>) {
    let mut parts = vec![words::content_stems(&answer.text)];
    for other in others {
        if parts.len() == MOST_JOINED {
            break;
        }
        let stems = words::content_stems(&other.text);
        let repeats =
            |part: &Vec<String>| 2 * stems.iter().filter(|s| part.contains(s)).count() > stems.len();
        let told = other.used.iter().any(|position| answer.used.contains(position));
        let long = words::tokens(&other.text).len() > JOINED_WORDS;
        if told || long || stems.is_empty() || parts.iter().any(repeats) {
            continue;
        }
        answer.text.push_str(", ");
        answer.text.push_str(&other.text);
        answer.used.extend(other.used);
        parts.push(stems);
    }
}
