//! The [`RelationClassifier`] port (Eq. 6): how does a new unit relate to its nearest older units?

mod effect;
mod pair;
mod rules;
mod statement;
mod words;

use async_trait::async_trait;

pub(crate) use self::pair::is_said_for_support;
pub use self::{
    effect::{OlderUnitChange, effect, is_open, lifecycle},
    rules::{LinkRules, RuleClassifier},
};
use crate::unit::{Relation, Unit};

/// An older unit and how near it is.
#[derive(Debug, Clone, Copy)]
pub struct Neighbour<'a> {
    /// The older unit.
    pub unit: &'a Unit,
    /// Embedding similarity with the new unit, in `[-1, 1]`.
    pub similarity: f32,
}

/// A new unit and the older units that it is compared with.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// The new unit.
    pub unit: &'a Unit,
    /// Its nearest older units.
    pub neighbours: &'a [Neighbour<'a>],
}

/// Labels the pairs of a new unit and its nearest older units.
///
/// # Contract
/// - One result per neighbour, same order; `None` is the label `unknown`: no link.
/// - All neighbours of a unit come in one call, so that a model needs one call and not one per pair.
#[async_trait]
pub trait RelationClassifier: Send + Sync {
    /// Name and version, kept as provenance.
    fn id(&self) -> &str;

    /// Labels each pair.
    ///
    /// # Errors
    /// [`LinkError`] when the classifier cannot answer.
    async fn classify(
        &self,
        unit: &Unit,
        neighbours: &[Neighbour<'_>],
    ) -> Result<Vec<Option<Relation>>, LinkError>;

    /// How many new units it wants at once in [`RelationClassifier::classify_batch`]. Units of one batch are seen as
    /// they were before it; with 1, each is seen with what the links of those before it changed.
    fn batch_size(&self) -> usize {
        1
    }

    /// Labels the pairs of several new units: one result per comparison, same order, each as from
    /// [`RelationClassifier::classify`].
    ///
    /// # Errors
    /// [`LinkError`] when the classifier cannot answer for one of them.
    async fn classify_batch(
        &self,
        comparisons: &[Comparison<'_>],
    ) -> Result<Vec<Vec<Option<Relation>>>, LinkError> {
        let mut labels = Vec::with_capacity(comparisons.len());
        for comparison in comparisons {
            labels.push(self.classify(comparison.unit, comparison.neighbours).await?);
        }
        Ok(labels)
    }
}

/// A classifier that could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The model behind the classifier gave no usable reply.
    #[error("relation classifier `{classifier}` got no usable reply")]
    Model {
        /// Its id.
        classifier: String,
        /// What the model said, by remedy.
        source: fta_llm::ModelError,
    },
    /// The classifier gave up.
    #[error("relation classifier `{classifier}` failed: {message}")]
    Failed {
        /// Its id.
        classifier: String,
        /// Why.
        message: String,
    },
}
