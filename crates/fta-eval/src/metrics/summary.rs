//! Means over questions, by category and pooled.

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

use super::{Aggregation, GoldAudit, Observation, ScoreError, Scorer};

/// The score of one question.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scored {
    /// The conversation.
    pub conversation: String,
    /// The question's id.
    pub question: String,
    /// Its category as shown.
    pub category: String,
    /// Whether the conversation holds an answer.
    pub answerable: bool,
    /// The score.
    pub score: f64,
}

/// A mean and the number of questions in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Mean {
    /// Questions.
    pub n: usize,
    /// Their mean; `None` of none, and where a part that an [`Aggregation`] needs is missing.
    pub mean: Option<f64>,
}

/// Means of one metric; each question counts once, so pooled means are weighted by questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// Name of the metric.
    pub metric: String,
    /// By category as shown ([`CaseQuestion::category_label`](crate::datasets::CaseQuestion::category_label)).
    pub by_category: BTreeMap<String, Mean>,
    /// Over the answerable questions: for LoCoMo categories 1 to 4.
    pub answerable: Mean,
    /// Over the unanswerable questions.
    pub unanswerable: Mean,
    /// Over all questions, or as the [`Aggregation`] says.
    pub pooled: Mean,
}

impl Mean {
    /// Mean of scores, added in their order.
    pub fn of(scores: impl IntoIterator<Item = f64>) -> Self {
        let (mut n, mut sum) = (0_usize, 0.0);
        for score in scores {
            n += 1;
            sum += score;
        }
        Self { n, mean: (n > 0).then(|| sum / n as f64) }
    }
}

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mean {
            Some(mean) => write!(f, "{mean:.4} (n = {})", self.n),
            None => write!(f, "- (n = {})", self.n),
        }
    }
}

/// Scores every question to which the scorer applies, in order, one after the other.
///
/// # Errors
/// As [`Scorer::score`]; the first question that fails ends it.
pub async fn evaluate(
    scorer: &dyn Scorer,
    observations: &[Observation<'_>],
) -> Result<Vec<Scored>, ScoreError> {
    let mut scored = Vec::new();
    for observation in observations {
        if let Some(score) = scorer.score(observation).await? {
            scored.push(Scored {
                conversation: observation.conversation.to_owned(),
                question: observation.question.id.clone(),
                category: observation.question.category_label(),
                answerable: observation.question.answerable,
                score,
            });
        }
    }
    Ok(scored)
}

/// Makes means; with an audit, of the questions whose gold answer it does not find wrong.
///
/// The main table takes `None`: the unchanged data. Beside it stands the audited one.
pub fn summarise(
    name: &str,
    aggregation: Aggregation,
    scored: &[Scored],
    audit: Option<&GoldAudit>,
) -> Summary {
    let is_right = |s: &&Scored| audit.is_none_or(|audit| !audit.is_wrong(&s.conversation, &s.question));
    let kept: Vec<&Scored> = scored.iter().filter(is_right).collect();
    let mut by_category: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for one in &kept {
        by_category.entry(&one.category).or_default().push(one.score);
    }
    let part = |answerable| Mean::of(kept.iter().filter(|s| s.answerable == answerable).map(|s| s.score));
    let (answerable, unanswerable) = (part(true), part(false));
    let pooled = match aggregation {
        Aggregation::Mean => Mean::of(kept.iter().map(|s| s.score)),
        Aggregation::MeanOfAnswerability => {
            let mean = answerable.mean.zip(unanswerable.mean).map(|(a, u)| f64::midpoint(a, u));
            Mean { n: kept.len(), mean }
        }
    };
    Summary {
        metric: name.to_owned(),
        by_category: by_category
            .into_iter()
            .map(|(name, scores)| (name.to_owned(), Mean::of(scores)))
            .collect(),
        answerable,
        unanswerable,
        pooled,
    }
}
