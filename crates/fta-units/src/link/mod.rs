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
}

/// A classifier that could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The classifier gave up.
    #[error("relation classifier `{classifier}` failed: {message}")]
    Failed {
        /// Its id.
        classifier: String,
        /// Why.
        message: String,
    },
}
