//! Evidence for a boundary at each gap between two turns.

use std::collections::BTreeMap;

use fta_index::Embeddings;

use super::{config::CohesionConfig, features::TurnFeatures};
use crate::{detect::BoundaryCue, dialogue::Turn};

/// The least score of a boundary, whatever the window's mean: a window in which nothing happens has none.
const FLOOR: f64 = 0.2;
/// How much less the turn one further from the gap counts.
const DECAY: f64 = 0.8;
/// The most that a valley counts, in deep valleys; one gap between two blocks of small talk must not outweigh all else.
const DEEPEST: f64 = 1.5;
/// Turns that a question may wait for its answer.
const ANSWER_REACH: usize = 3;

/// The evidence at one gap; the parts are weighted.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Evidence {
    topic: f64,
    marker: f64,
    emotion: f64,
    time: f64,
    against: f64,
}

impl Evidence {
    /// The sum without time, which is compared with the window's mean.
    fn content(&self) -> f64 {
        self.topic + self.marker + self.emotion - self.against
    }

    /// The cue that weighs most; of equals the first of time, marker, emotion, topic.
    pub(super) fn cue(&self) -> BoundaryCue {
        let parts = [
            (self.time, BoundaryCue::TimeGap),
            (self.marker, BoundaryCue::DiscourseMarker),
            (self.emotion, BoundaryCue::EmotionalShift),
            (self.topic, BoundaryCue::TopicChange),
        ];
        let mut strongest = (0.0, BoundaryCue::Unknown);
        for part in parts {
            if part.0 > strongest.0 {
                strongest = part;
            }
        }
        strongest.1
    }
}

/// The evidence before each turn, `[n]`; the first has none.
pub(super) fn weigh_gaps(
    config: &CohesionConfig,
    turns: &[Turn],
    features: &[TurnFeatures],
    embeddings: Option<&Embeddings>,
) -> Vec<Evidence> {
    let n = turns.len();
    let weights = stem_weights(features);
    let words: Vec<f64> = (1..n).map(|g| word_cohesion(features, &weights, config.block, g)).collect();
    let mut depths = relative_depths(&words);
    if let Some(rows) = embeddings {
        let meaning: Vec<f64> = (1..n).map(|g| meaning_cohesion(rows, config.block, g)).collect();
        let share = config.embedding_share;
        for (depth, other) in depths.iter_mut().zip(relative_depths(&meaning)) {
            *depth = *depth * (1.0 - share) + other * share;
        }
    }
    let mut evidence = vec![Evidence::default(); n];
    for g in 1..n {
        let (before, after) = (&features[g - 1], &features[g]);
        let same_speaker = turns[g - 1].speaker == turns[g].speaker;
        let opens = after.asks && !before.asks_last && !same_speaker;
        let goes_on = after.responds || (same_speaker && before.stops_short);
        let own = &mut evidence[g];
        own.topic = config.topic_weight * depths[g - 1] + if opens { config.question_weight } else { 0.0 };
        own.marker = config.marker_weight * marker(before, after);
        own.emotion = config.emotion_weight * feeling_shift(features, config.block, g);
        own.time = config.time_weight * time_gap(config, &turns[g - 1], &turns[g]);
        own.against = if goes_on { config.response_weight } else { 0.0 };
    }
    evidence
}

/// The gain of a cut before each turn: its score less the window's threshold; minus infinity where a cut is forbidden.
pub(super) fn gains(
    config: &CohesionConfig,
    turns: &[Turn],
    features: &[TurnFeatures],
    evidence: &[Evidence],
) -> Vec<f64> {
    let content: Vec<f64> = evidence.iter().skip(1).map(Evidence::content).collect();
    let (mean, deviation) = mean_and_deviation(&content);
    let threshold = (mean + config.sensitivity * deviation).max(FLOOR);
    let mut gains: Vec<f64> = evidence.iter().map(|e| e.content() + e.time - threshold).collect();
    for question in 0..turns.len() {
        if !features[question].asks_last {
            continue;
        }
        let after = question + 1..turns.len().min(question + 1 + ANSWER_REACH);
        if let Some(answer) = after.clone().find(|&i| turns[i].speaker != turns[question].speaker) {
            gains[question + 1..=answer].fill(f64::NEG_INFINITY);
        }
    }
    gains
}

/// How much each stem tells within the window: the rarer, the more, but those of most turns tell nothing.
fn stem_weights(features: &[TurnFeatures]) -> BTreeMap<&str, f64> {
    let mut turns_with: BTreeMap<&str, f64> = BTreeMap::new();
    for stem in features.iter().flat_map(|f| f.stems.keys()) {
        *turns_with.entry(stem).or_default() += 1.0;
    }
    let n = features.len() as f64;
    turns_with.into_iter().map(|(stem, with)| (stem, ((n + 1.0) / (with + 0.5)).ln())).collect()
}

/// The turns on one side of gap `g`, nearest first.
fn left(g: usize, block: usize) -> impl Iterator<Item = usize> {
    (g.saturating_sub(block)..g).rev()
}

/// See [`left`].
fn right(g: usize, block: usize, n: usize) -> impl Iterator<Item = usize> {
    g..n.min(g + block)
}

/// Cosine of the weighted words on both sides of gap `g`, in `[0, 1]`.
fn word_cohesion(features: &[TurnFeatures], weights: &BTreeMap<&str, f64>, block: usize, g: usize) -> f64 {
    let bag = |side: &mut dyn Iterator<Item = usize>| {
        let mut bag: BTreeMap<&str, f64> = BTreeMap::new();
        let mut near = 1.0;
        for i in side {
            for (stem, count) in &features[i].stems {
                let weight = weights.get(stem.as_str()).copied().unwrap_or(0.0);
                *bag.entry(stem).or_default() += near * weight * (1.0 + count.ln());
            }
            near *= DECAY;
        }
        bag
    };
    let (a, b) = (bag(&mut left(g, block)), bag(&mut right(g, block, features.len())));
    let dot: f64 = a.iter().filter_map(|(stem, x)| b.get(stem).map(|y| x * y)).sum();
    let norm = |bag: &BTreeMap<&str, f64>| bag.values().map(|x| x * x).sum::<f64>().sqrt();
    let norms = norm(&a) * norm(&b);
    if norms > 0.0 { dot / norms } else { 0.0 }
}

/// Cosine of the mean vectors on both sides of gap `g`, in `[-1, 1]`.
fn meaning_cohesion(rows: &Embeddings, block: usize, g: usize) -> f64 {
    let mean = |side: &mut dyn Iterator<Item = usize>| {
        let mut sum = vec![0.0f64; rows.dim()];
        let mut near = 1.0;
        for row in side.filter_map(|i| rows.row(i)) {
            for (s, x) in sum.iter_mut().zip(row) {
                *s += near * f64::from(*x);
            }
            near *= DECAY;
        }
        sum
    };
    let (a, b) = (mean(&mut left(g, block)), mean(&mut right(g, block, rows.len())));
    let dot: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let norms = norm(&a) * norm(&b);
    if norms > 0.0 { dot / norms } else { 0.0 }
}

/// How deep each valley of cohesion is, relative to the window's deep ones (mean and one deviation); `[0, 1.5]`.
///
/// The depth at a gap is the climb from it to the next peak on either side.
///
/// # Source
/// TextTiling (Hearst, 1997), depth score.
fn relative_depths(cohesion: &[f64]) -> Vec<f64> {
    let climb = |path: &mut dyn Iterator<Item = f64>, from: f64| {
        let mut peak = from;
        for value in path {
            if value < peak {
                break;
            }
            peak = value;
        }
        peak - from
    };
    let depths: Vec<f64> = (0..cohesion.len())
        .map(|i| {
            climb(&mut cohesion[..i].iter().rev().copied(), cohesion[i])
                + climb(&mut cohesion[i + 1..].iter().copied(), cohesion[i])
        })
        .collect();
    let (mean, deviation) = mean_and_deviation(&depths);
    let deep = mean + deviation;
    if deep <= f64::EPSILON {
        return vec![0.0; depths.len()];
    }
    depths.into_iter().map(|d| (d / deep).min(DEEPEST)).collect()
}

/// Strength of the marker between two turns, in `[0, 1]`.
fn marker(before: &TurnFeatures, after: &TurnFeatures) -> f64 {
    let greeting = if after.greets && !before.greets { 0.5 } else { 0.0 };
    let closing = if after.closes && !before.closes { 0.6 } else { 0.0 };
    after.opening.max(greeting).max(closing)
}

/// How much the feeling differs on both sides of gap `g`, in `[0, 1]`; 0 unless both sides have one.
fn feeling_shift(features: &[TurnFeatures], block: usize, g: usize) -> f64 {
    let valence = |side: &mut dyn Iterator<Item = usize>| {
        let (mut pleasant, mut unpleasant) = (0.0, 0.0);
        for i in side {
            pleasant += features[i].pleasant;
            unpleasant += features[i].unpleasant;
        }
        let felt: f64 = pleasant + unpleasant;
        (felt > 0.0).then(|| (pleasant - unpleasant) / (felt + 1.0))
    };
    match (valence(&mut left(g, block)), valence(&mut right(g, block, features.len()))) {
        (Some(before), Some(after)) if before * after < 0.0 => ((after - before).abs() / 2.0).min(1.0),
        _ => 0.0,
    }
}

/// Strength of a gap in time: 0 below the setting, then from 1 by the logarithm up to 3.
fn time_gap(config: &CohesionConfig, before: &Turn, after: &Turn) -> f64 {
    let (Some(earlier), Some(later)) = (before.at, after.at) else {
        return 0.0;
    };
    let minutes = later.duration_since(earlier).as_secs_f64() / 60.0;
    if minutes < config.time_gap_minutes {
        return 0.0;
    }
    (1.0 + (minutes / config.time_gap_minutes).log10()).min(3.0)
}

fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>() / n;
    (mean, variance.sqrt())
}
