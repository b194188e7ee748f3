//! The port behind which every score stands.

use std::{error::Error, sync::Arc};

use async_trait::async_trait;

use super::{Aggregation, Direction, Metric, MetricError, Need, Observation};

/// Scores a question and what a system made of it.
///
/// All scores of a run are made through this port: the [`Metric`]s here, judges by a language model, or a stranger's
/// own. One call scores one question; calls may run at the same time, and what one returns must not depend on another.
/// Scores are numbers that may be averaged, most in `[0, 1]`, and a judge's as it gives them (0 to 2); what leaves
/// `[0, 1]` says so in its own docs. A score that asks a model may fail, so scoring is asynchronous; dropping the
/// future gives up the score and nothing else.
///
/// # Examples
/// ```
/// use fta_eval::metrics::{Observation, ScoreError, Scorer};
///
/// /// Words of the answer.
/// struct Words;
///
/// #[async_trait::async_trait]
/// impl Scorer for Words {
///     fn name(&self) -> String {
///         "words".to_owned()
///     }
///
///     async fn score(&self, observation: &Observation<'_>) -> Result<Option<f64>, ScoreError> {
///         Ok(observation.answer.map(|answer| answer.split_whitespace().count() as f64))
///     }
/// }
///
/// let scorers: Vec<Box<dyn Scorer>> = vec![Box::new(Words), Box::new(fta_eval::metrics::Metric::Bleu1)];
/// assert_eq!(scorers[1].name(), "bleu1");
/// ```
#[async_trait]
pub trait Scorer: Send + Sync {
    /// Its name in files and tables; one name is one way of scoring.
    fn name(&self) -> String;

    /// Which way is better.
    fn direction(&self) -> Direction {
        Direction::HigherIsBetter
    }

    /// How the scores of questions become one number.
    fn aggregation(&self) -> Aggregation {
        Aggregation::Mean
    }

    /// What it reads of a question and its run; a run without answers leaves scorers out that need them.
    fn needs(&self) -> &[Need] {
        &[Need::Answer]
    }

    /// Score of a question; `None` if it does not apply to it, or if a judge gave no readable verdict.
    ///
    /// # Errors
    /// [`ScoreError`] if the run lacks what is scored, or if what scores it fails.
    async fn score(&self, observation: &Observation<'_>) -> Result<Option<f64>, ScoreError>;
}

/// A question that could not be scored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScoreError {
    /// A metric lacks what it needs.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// The run has no answer or no ranked items for a scorer that needs them.
    #[error("scorer `{scorer}` needs {need} of question `{question}`, and the run has none")]
    Missing {
        /// The scorer.
        scorer: String,
        /// What it needs.
        need: Need,
        /// The question.
        question: String,
    },
    /// What makes the score failed, as a model that cannot be reached.
    #[error("scorer `{scorer}` failed at question `{question}`")]
    Failed {
        /// The scorer.
        scorer: String,
        /// The question.
        question: String,
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}

#[async_trait]
impl Scorer for Metric {
    fn name(&self) -> String {
        self.to_string()
    }

    fn direction(&self) -> Direction {
        Metric::direction(*self)
    }

    fn aggregation(&self) -> Aggregation {
        Metric::aggregation(*self)
    }

    fn needs(&self) -> &[Need] {
        Metric::needs(*self)
    }

    async fn score(&self, observation: &Observation<'_>) -> Result<Option<f64>, ScoreError> {
        Ok(Metric::score(*self, observation)?)
    }
}

macro_rules! forward {
    ($($holder:ty),*) => {$(
        #[async_trait]
        impl<S: Scorer + ?Sized> Scorer for $holder {
            fn name(&self) -> String {
                (**self).name()
            }

            fn direction(&self) -> Direction {
                (**self).direction()
            }

            fn aggregation(&self) -> Aggregation {
                (**self).aggregation()
            }

            fn needs(&self) -> &[Need] {
                (**self).needs()
            }

            async fn score(&self, observation: &Observation<'_>) -> Result<Option<f64>, ScoreError> {
                (**self).score(observation).await
            }
        }
    )*};
}

forward!(&S, Box<S>, Arc<S>);

/// The scorer of a metric's name, as `bleu1` or `ndcg@10` ([`Metric::forms`] lists them).
///
/// Judges and scores by an embedding model are not found by name: they are made with the model that they ask.
///
/// # Errors
/// [`MetricError::Unknown`] and [`MetricError::Cutoff`] as for [`Metric`].
pub fn scorer_by_name(name: &str) -> Result<Arc<dyn Scorer>, MetricError> {
    Ok(Arc::new(name.parse::<Metric>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::tests::question;

    /// Scores what it is told to.
    struct Fixed(Option<f64>);

    #[async_trait]
    impl Scorer for Fixed {
        fn name(&self) -> String {
            "fixed".to_owned()
        }

        async fn score(&self, observation: &Observation<'_>) -> Result<Option<f64>, ScoreError> {
            if observation.answer.is_none() {
                let question = observation.question.id.clone();
                return Err(ScoreError::Failed { scorer: self.name(), question, source: "no reply".into() });
            }
            Ok(self.0)
        }
    }

    fn observation<'a>(
        question: &'a crate::datasets::CaseQuestion,
        answer: Option<&'a str>,
    ) -> Observation<'a> {
        Observation {
            conversation: "case",
            question,
            answer,
            abstained: None,
            retrieved: None,
            within: None,
            history: None,
        }
    }

    #[tokio::test]
    async fn scorers_are_held_as_objects() {
        let held: Vec<Arc<dyn Scorer>> = vec![
            Arc::new(Metric::FalseRefusal),
            Arc::new(Fixed(Some(1.5))),
            Arc::new(Box::new(Fixed(None)) as Box<dyn Scorer>),
            scorer_by_name("set_f1_simple").unwrap(),
        ];
        let names: Vec<String> = held.iter().map(Scorer::name).collect();
        assert_eq!(names, ["false_refusal", "fixed", "fixed", "set_f1_simple"]);
        assert_eq!(held[0].direction(), Direction::LowerIsBetter);
        assert_eq!(held[1].needs(), [Need::Answer]);
        let asked = question(4, "red", &[]);
        let mut scores = Vec::new();
        for scorer in &held {
            scores.push(Scorer::score(&scorer, &observation(&asked, Some("red"))).await.unwrap());
        }
        assert_eq!(scores, [Some(0.0), Some(1.5), None, Some(1.0)]);
    }

    #[tokio::test]
    async fn failures_name_the_question() {
        let asked = question(4, "red", &[]);
        let error = Fixed(None).score(&observation(&asked, None)).await.unwrap_err();
        assert_eq!(error.to_string(), "scorer `fixed` failed at question `case_qa4`");
        assert_eq!(error.source().unwrap().to_string(), "no reply");
        let error = Scorer::score(&Metric::Bleu1, &observation(&asked, None)).await.unwrap_err();
        assert!(matches!(error, ScoreError::Metric(MetricError::Missing { .. })), "{error}");
        assert!(scorer_by_name("f1").is_err());
    }
}
