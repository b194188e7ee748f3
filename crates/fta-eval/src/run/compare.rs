//! Two runs on the same questions: what changed, and by how much.

mod outcome;
mod shown;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::QuestionRecord;
use crate::{
    metrics::{Aggregation, Metric, refuses},
    stats::{CaseValues, Resampling, StatsError, Unit, Weighting},
};

pub use outcome::{CompareError, Comparison, Flip, MetricRow, PairComparison, QuestionKey};

/// What is compared, and how.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CompareOptions {
    /// What the runs are called, `a` first.
    pub names: [String; 2],
    /// Arms of `a` and of `b` that are set against each other; [`equal_arms`] finds those of the same name.
    pub arms: Vec<ArmPair>,
    /// Metrics in the order in which they are shown; without any, all that both runs have, by name.
    pub metrics: Vec<String>,
    /// How intervals and p-values are drawn.
    pub resampling: Resampling,
    /// Most questions that are shown of those that flipped, for each pair of arms.
    pub most: usize,
}

impl Default for CompareOptions {
    fn default() -> Self {
        Self {
            names: ["a".to_owned(), "b".to_owned()],
            arms: Vec::new(),
            metrics: Vec::new(),
            resampling: Resampling::default(),
            most: 20,
        }
    }
}

/// An arm of one run and the arm of the other that it is set against.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ArmPair {
    /// Arm of the first run.
    pub a: String,
    /// Arm of the second run.
    pub b: String,
}

/// Pairs of arms of the same name, by name.
pub fn equal_arms(a: &[QuestionRecord], b: &[QuestionRecord]) -> Vec<ArmPair> {
    arms(a).intersection(&arms(b)).map(|arm| ArmPair { a: (*arm).to_owned(), b: (*arm).to_owned() }).collect()
}

/// Compares two runs, or two arms of the same run, question by question.
///
/// Differences are `b - a`, over questions that have the metric in both arms; intervals draw conversations, and
/// p-values flip the signs of conversations. They are not corrected for the number of metrics and categories. Without
/// pairs of arms in the options, arms of the same name are compared. The order of the records does not matter.
///
/// # Errors
/// [`CompareError`] if there is nothing to compare, a question stands twice, or scores are not finite.
pub fn compare(
    a: &[QuestionRecord],
    b: &[QuestionRecord],
    options: &CompareOptions,
) -> Result<Comparison, CompareError> {
    let pairs = if options.arms.is_empty() { equal_arms(a, b) } else { options.arms.clone() };
    if pairs.is_empty() {
        let names = |run| arms(run).into_iter().map(str::to_owned).collect();
        return Err(CompareError::NoArms { a: names(a), b: names(b) });
    }
    let [name_a, name_b] = &options.names;
    let pairs = pairs.into_iter().map(|arms| {
        let (a, b) = (of_arm(a, &arms.a, name_a)?, of_arm(b, &arms.b, name_b)?);
        compare_arms(arms, &a, &b, options)
    });
    Ok(Comparison {
        names: options.names.clone(),
        confidence: options.resampling.confidence,
        pairs: pairs.collect::<Result<_, _>>()?,
    })
}

type ByKey<'r> = BTreeMap<QuestionKey, &'r QuestionRecord>;

/// A question in both arms.
#[derive(Clone, Copy)]
struct Shared<'r> {
    a: &'r QuestionRecord,
    b: &'r QuestionRecord,
}

fn arms(run: &[QuestionRecord]) -> BTreeSet<&str> {
    run.iter().map(|record| record.arm.as_str()).collect()
}

fn of_arm<'r>(run: &'r [QuestionRecord], arm: &str, name: &str) -> Result<ByKey<'r>, CompareError> {
    let mut by_key = ByKey::new();
    for record in run.iter().filter(|record| record.arm == arm) {
        let (conversation, question) = (record.conversation.clone(), record.question.clone());
        let key = QuestionKey { conversation: conversation.clone(), question: question.clone() };
        if by_key.insert(key, record).is_some() {
            let (run, arm) = (name.to_owned(), arm.to_owned());
            return Err(CompareError::Twice { run, arm, conversation, question });
        }
    }
    if by_key.is_empty() {
        let known = arms(run).into_iter().map(str::to_owned).collect();
        return Err(CompareError::UnknownArm { run: name.to_owned(), arm: arm.to_owned(), known });
    }
    Ok(by_key)
}

fn compare_arms(
    arms: ArmPair,
    a: &ByKey<'_>,
    b: &ByKey<'_>,
    options: &CompareOptions,
) -> Result<PairComparison, CompareError> {
    let alone = |of: &ByKey<'_>, other: &ByKey<'_>| -> Vec<QuestionKey> {
        of.keys().filter(|key| !other.contains_key(*key)).cloned().collect()
    };
    let both = || a.iter().filter_map(|(key, a)| b.get(key).map(|b| (key, Shared { a, b })));
    let shared: Vec<Shared<'_>> = both().map(|(_, shared)| shared).collect();
    if shared.is_empty() {
        return Err(CompareError::NothingShared { arms });
    }
    let mut metrics = options.metrics.clone();
    if metrics.is_empty() {
        let scored = |shared: &Shared<'_>| -> Vec<String> {
            shared.a.scores.keys().filter(|metric| shared.b.scores.contains_key(*metric)).cloned().collect()
        };
        metrics = shared.iter().flat_map(scored).collect::<BTreeSet<_>>().into_iter().collect();
    }
    let mut rows = Vec::new();
    for metric in &metrics {
        let of_metric = rows_of(metric, &shared, &options.resampling)
            .map_err(|source| CompareError::Stats { metric: metric.clone(), source })?;
        if of_metric.is_empty() {
            return Err(CompareError::NoMetric { metric: metric.clone(), arms });
        }
        rows.extend(of_metric);
    }
    let mut flips: Vec<Flip> = shared.iter().filter_map(|shared| flip(*shared, &metrics)).collect();
    // Stable, so that equal changes stay in the order of their keys.
    flips.sort_by(|one, other| other.size.total_cmp(&one.size));
    let n_flips = flips.len();
    flips.truncate(options.most);
    Ok(PairComparison {
        n_shared: shared.len(),
        only_a: alone(a, b),
        only_b: alone(b, a),
        unlike: both().filter(|(_, shared)| is_unlike(*shared)).map(|(key, _)| key.clone()).collect(),
        rows,
        flips,
        n_flips,
        arms,
    })
}

fn is_unlike(Shared { a, b }: Shared<'_>) -> bool {
    let of = |record: &QuestionRecord| {
        let texts = [&record.text, &record.gold, &record.category].map(String::clone);
        (texts, record.answerable, record.evidence.iter().cloned().collect::<BTreeSet<_>>())
    };
    of(a) != of(b)
}

/// All questions, then each category; nothing if no question has the metric in both arms.
fn rows_of(
    metric: &str,
    shared: &[Shared<'_>],
    resampling: &Resampling,
) -> Result<Vec<MetricRow>, StatsError> {
    let scored: Vec<Shared<'_>> = shared
        .iter()
        .filter(|shared| shared.a.scores.contains_key(metric) && shared.b.scores.contains_key(metric))
        .copied()
        .collect();
    let categories: BTreeSet<&str> = scored.iter().map(|shared| shared.a.category.as_str()).collect();
    let mut rows = Vec::new();
    rows.extend(row(metric, None, &scored, resampling)?);
    for category in categories {
        let of_category: Vec<Shared<'_>> =
            scored.iter().filter(|shared| shared.a.category == category).copied().collect();
        rows.extend(row(metric, Some(category), &of_category, resampling)?);
    }
    Ok(rows)
}

/// `None` where the metric has no value: of no questions, or if a part that it needs is missing.
fn row(
    metric: &str,
    category: Option<&str>,
    scored: &[Shared<'_>],
    resampling: &Resampling,
) -> Result<Option<MetricRow>, StatsError> {
    let Some(weights) = weights(metric, scored) else { return Ok(None) };
    let weighted = |arm: fn(Shared<'_>) -> &QuestionRecord| -> Vec<f64> {
        scored.iter().zip(&weights).map(|(shared, weight)| weight * arm(*shared).scores[metric]).collect()
    };
    let (a, b) = (weighted(|shared| shared.a), weighted(|shared| shared.b));
    let cases: Vec<&str> = scored.iter().map(|shared| shared.a.conversation.as_str()).collect();
    let mean =
        |values: &[f64]| Ok(CaseValues::new(&cases, values)?.mean(Weighting::Questions).unwrap_or(0.0));
    let differences = CaseValues::differences(&cases, &b, &a)?;
    let (interval, p) = if differences.n_cases() > 1 {
        let estimate = differences.bootstrap(Weighting::Questions, resampling)?;
        (Some(estimate.interval), Some(differences.sign_flips(Unit::Case, Weighting::Questions, resampling)?))
    } else {
        (None, None)
    };
    Ok(Some(MetricRow {
        metric: metric.to_owned(),
        category: category.map(str::to_owned),
        n_questions: differences.n_questions(),
        n_conversations: differences.n_cases(),
        mean_a: mean(&a)?,
        mean_b: mean(&b)?,
        difference: differences.mean(Weighting::Questions).unwrap_or(0.0),
        interval,
        p,
    }))
}

/// What each question counts, so that the mean of the weighted scores is the metric; `None` if it has no value.
fn weights(metric: &str, scored: &[Shared<'_>]) -> Option<Vec<f64>> {
    let is_balanced =
        metric.parse::<Metric>().is_ok_and(|m| m.aggregation() == Aggregation::MeanOfAnswerability);
    if !is_balanced {
        return (!scored.is_empty()).then(|| vec![1.0; scored.len()]);
    }
    let answerable = scored.iter().filter(|shared| shared.a.answerable).count();
    let sizes = [scored.len() - answerable, answerable];
    let weight =
        |shared: &Shared<'_>| scored.len() as f64 / (2.0 * sizes[usize::from(shared.a.answerable)] as f64);
    sizes.iter().all(|&size| size > 0).then(|| scored.iter().map(weight).collect())
}

/// Whether an arm refused: as it says, else by its words; `None` without an answer.
fn refused(record: &QuestionRecord) -> Option<bool> {
    record.abstained.or_else(|| record.answer.as_deref().map(refuses))
}

fn flip(shared: Shared<'_>, metrics: &[String]) -> Option<Flip> {
    let Shared { a, b } = shared;
    let crossed = metrics
        .iter()
        .filter_map(|metric| Some((metric, [*a.scores.get(metric)?, *b.scores.get(metric)?])))
        .filter(|(_, [a, b])| (*a < 0.5) != (*b < 0.5))
        .reduce(|most, one| if size(one.1) > size(most.1) { one } else { most });
    let refused = refused(a).zip(refused(b)).filter(|(a, b)| a != b).map(|(a, b)| [a, b]);
    if crossed.is_none() && refused.is_none() {
        return None;
    }
    let of_score = crossed.map_or(0.0, |(_, scores)| size(scores));
    Some(Flip {
        metric: crossed.map(|(metric, _)| metric.clone()),
        scores: crossed.map(|(_, scores)| scores),
        refused,
        size: if refused.is_some() { of_score.max(1.0) } else { of_score },
        records: Box::new([a.clone(), b.clone()]),
    })
}

fn size([a, b]: [f64; 2]) -> f64 {
    (b - a).abs()
}

#[cfg(test)]
mod tests;
