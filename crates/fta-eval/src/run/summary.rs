//! Means of a run with their intervals, by arm, metric and category.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{CallRecord, FinishedRun, QuestionRecord, RunError};
use crate::{
    metrics::{Aggregation, GoldAudit, Scored, Scorer, summarise},
    stats::{CaseValues, Resampling, Weighting},
};

/// What came out of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunSummary {
    /// Name of the experiment.
    pub experiment: String,
    /// Arms in the order of the experiment.
    pub arms: Vec<ArmSummary>,
}

/// What came out of an arm.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmSummary {
    /// Its name.
    pub arm: String,
    /// Metrics in the order of the experiment.
    pub metrics: Vec<MetricSummary>,
    /// What it cost.
    pub cost: Cost,
}

/// Means of one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MetricSummary {
    /// The metric.
    pub metric: String,
    /// By category as shown.
    pub by_category: BTreeMap<String, Mean>,
    /// Over the answerable questions.
    pub answerable: Mean,
    /// Over the unanswerable questions.
    pub unanswerable: Mean,
    /// Over all questions that it applies to.
    pub pooled: Mean,
    /// Over the answerable questions whose gold answer the audit does not find wrong; `None` without an audit.
    pub audited: Option<Mean>,
}

/// A mean with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Mean {
    /// Questions.
    pub n: usize,
    /// Their mean; `None` of none.
    pub mean: Option<f64>,
    /// Percentile interval of the cluster bootstrap over conversations; `None` for fewer than two.
    pub interval: Option<(f64, f64)>,
}

/// What an arm cost.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Cost {
    /// Conversations.
    pub conversations: usize,
    /// Their turns.
    pub turns: usize,
    /// Items that it keeps.
    pub items: usize,
    /// Share of the turns that say something which some item holds; `None` where it is not known.
    pub coverage: Option<f64>,
    /// Calls that building took, by step.
    pub build: BTreeMap<String, CallRecord>,
    /// Calls that questions took, by step.
    pub questions: BTreeMap<String, CallRecord>,
    /// Mean tokens (characters / 4) of what a question was answered from.
    pub context_tokens: Option<f64>,
    /// Mean seconds to take a conversation in.
    pub ingest_seconds: Option<f64>,
    /// Median milliseconds from question to answer, or to context where there are no answers.
    pub question_milliseconds: Option<f64>,
}

impl RunSummary {
    /// Makes means; `scorers` are those of the experiment, in its order.
    ///
    /// # Errors
    /// [`RunError::Stats`] for scores that are no numbers.
    pub fn new(
        run: &FinishedRun,
        scorers: &[std::sync::Arc<dyn Scorer>],
        audit: Option<&GoldAudit>,
    ) -> Result<Self, RunError> {
        let settings = &run.manifest.settings;
        let resampling = Resampling { seed: settings.seed, rounds: settings.rounds, ..Resampling::default() };
        let mut arms = Vec::new();
        for arm in &settings.experiment.arms {
            let questions: Vec<&QuestionRecord> =
                run.questions.iter().filter(|q| q.arm == arm.name).collect();
            let mut metrics = Vec::new();
            for scorer in scorers {
                let made = metric(&scorer.name(), scorer.aggregation(), &questions, (audit, &resampling))?;
                metrics.extend(made);
            }
            arms.push(ArmSummary { arm: arm.name.clone(), metrics, cost: cost(run, &arm.name, &questions) });
        }
        Ok(Self { experiment: settings.name.clone(), arms })
    }

    /// An arm by name.
    pub fn arm(&self, name: &str) -> Option<&ArmSummary> {
        self.arms.iter().find(|arm| arm.arm == name)
    }
}

impl ArmSummary {
    /// A metric by name.
    pub fn metric(&self, name: &str) -> Option<&MetricSummary> {
        self.metrics.iter().find(|metric| metric.metric == name)
    }

    /// The mean of a metric that stands for the whole arm: over the answerable questions, or over all where it does not
    /// apply to those.
    pub fn headline(&self, metric: &str) -> Mean {
        self.metric(metric).map(MetricSummary::headline).unwrap_or_default()
    }
}

impl MetricSummary {
    /// The mean that stands for the metric: over the answerable questions, unless it is about unanswerable ones too.
    pub fn headline(&self) -> Mean {
        let is_about_all = self.metric == "abstention_balanced_accuracy" || self.answerable.n == 0;
        if is_about_all { self.pooled } else { self.answerable }
    }
}

/// `None` if the metric was not scored at all.
fn metric(
    name: &str,
    aggregation: Aggregation,
    questions: &[&QuestionRecord],
    (audit, resampling): (Option<&GoldAudit>, &Resampling),
) -> Result<Option<MetricSummary>, RunError> {
    let scored: Vec<Scored> = questions
        .iter()
        .filter_map(|q| {
            Some(Scored {
                conversation: q.conversation.clone(),
                question: q.question.clone(),
                category: q.category.clone(),
                answerable: q.answerable,
                score: *q.scores.get(name)?,
            })
        })
        .collect();
    if scored.is_empty() {
        return Ok(None);
    }
    let summary = summarise(name, aggregation, &scored, None);
    let with_interval = |mean: crate::metrics::Mean, part: &dyn Fn(&Scored) -> bool| {
        let rows: Vec<&Scored> = scored.iter().filter(|s| part(s)).collect();
        Ok::<_, RunError>(Mean { n: mean.n, mean: mean.mean, interval: interval(&rows, resampling)? })
    };
    let mut by_category = BTreeMap::new();
    for (category, mean) in &summary.by_category {
        by_category.insert(category.clone(), with_interval(*mean, &|s| s.category == *category)?);
    }
    // The interval of a mean of two means would need a bootstrap of its own.
    let pooled = match aggregation {
        Aggregation::Mean => with_interval(summary.pooled, &|_| true)?,
        Aggregation::MeanOfAnswerability => {
            Mean { n: summary.pooled.n, mean: summary.pooled.mean, interval: None }
        }
    };
    let audited = audit.map(|audit| {
        let mean = summarise(name, aggregation, &scored, Some(audit)).answerable;
        let is_right = |s: &Scored| s.answerable && !audit.is_wrong(&s.conversation, &s.question);
        with_interval(mean, &is_right)
    });
    Ok(Some(MetricSummary {
        metric: name.to_owned(),
        by_category,
        answerable: with_interval(summary.answerable, &|s| s.answerable)?,
        unanswerable: with_interval(summary.unanswerable, &|s| !s.answerable)?,
        pooled,
        audited: audited.transpose()?,
    }))
}

fn interval(rows: &[&Scored], resampling: &Resampling) -> Result<Option<(f64, f64)>, RunError> {
    let cases: Vec<&str> = rows.iter().map(|s| s.conversation.as_str()).collect();
    let values: Vec<f64> = rows.iter().map(|s| s.score).collect();
    let values = CaseValues::new(&cases, &values)?;
    if values.n_cases() < 2 {
        return Ok(None);
    }
    let interval = values.bootstrap(Weighting::Questions, resampling)?.interval;
    Ok(Some((interval.lower, interval.upper)))
}

fn cost(run: &FinishedRun, arm: &str, questions: &[&QuestionRecord]) -> Cost {
    let mut cost = Cost::default();
    let (mut content, mut covered) = (0, 0);
    for case in run.cases.iter().filter(|case| case.arm == arm) {
        cost.conversations += 1;
        cost.turns += case.turns;
        cost.items += case.items;
        let (turns, held) = case.covered.unwrap_or_default();
        (content, covered) = (content + turns, covered + held);
        add(&mut cost.build, &case.calls);
    }
    for question in questions {
        add(&mut cost.questions, &question.calls);
    }
    cost.coverage = (content > 0).then(|| covered as f64 / content as f64);
    cost.context_tokens = mean(questions.iter().map(|q| q.context_tokens as f64));
    let timings = || run.timings.iter().filter(|timing| timing.arm == arm);
    cost.ingest_seconds =
        mean(timings().filter(|t| t.question.is_none()).map(|t| t.context_milliseconds / 1000.0));
    let of_questions = timings().filter(|t| t.question.is_some());
    let times = of_questions.map(|t| t.answer_milliseconds.unwrap_or(t.context_milliseconds));
    cost.question_milliseconds = median(times.collect());
    cost
}

fn add(sum: &mut BTreeMap<String, CallRecord>, calls: &BTreeMap<String, CallRecord>) {
    for (step, calls) in calls {
        sum.entry(step.clone()).or_default().add(calls);
    }
}

/// All steps together.
pub(super) fn total(calls: &BTreeMap<String, CallRecord>) -> CallRecord {
    let mut total = CallRecord::default();
    for calls in calls.values() {
        total.add(calls);
    }
    total
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    crate::metrics::Mean::of(values).mean
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
