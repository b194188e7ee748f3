//! Settings of a memory.

use fta_retrieve::RetrievalConfig;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Settings of linking (Eq. 6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkingConfig {
    /// Nearest older units that a new unit is compared with.
    pub neighbours: usize,
    /// Least embedding similarity of a pair that is looked at, in `[-1, 1]`.
    pub min_similarity: f32,
    /// Older units besides these that share rare words with the new unit.
    pub by_words: usize,
    /// Newest open plans of the same person besides these.
    pub open_plans: usize,
    /// Units said just before, besides these.
    pub preceding: usize,
}

impl Default for LinkingConfig {
    fn default() -> Self {
        Self { neighbours: 12, min_similarity: 0.3, by_words: 8, open_plans: 6, preceding: 3 }
    }
}

/// Settings of a memory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryConfig {
    /// Retrieval and packet.
    pub retrieval: RetrievalConfig,
    /// Linking.
    pub linking: LinkingConfig,
}

impl MemoryConfig {
    /// Checks that every setting is in range.
    ///
    /// # Errors
    /// [`Error::Setting`] naming the first that is not.
    pub fn validate(&self) -> Result<(), Error> {
        let retrieval = &self.retrieval;
        let check = |legal: bool, setting: &'static str, value: String, expected: &'static str| {
            if legal { Ok(()) } else { Err(Error::Setting { setting, value, expected }) }
        };
        check(
            (0.0..=1.0).contains(&retrieval.lambda),
            "retrieval.lambda",
            retrieval.lambda.to_string(),
            "between 0 and 1",
        )?;
        check(retrieval.tau.is_finite(), "retrieval.tau", retrieval.tau.to_string(), "a finite number")?;
        check(retrieval.k > 0, "retrieval.k", retrieval.k.to_string(), "at least 1")?;
        check(
            retrieval.candidates > 0,
            "retrieval.candidates",
            retrieval.candidates.to_string(),
            "at least 1",
        )?;
        let weights = [retrieval.views.rho, retrieval.views.sentence];
        check(
            weights.iter().all(|w| w.is_finite() && *w >= 0.0) && weights.iter().sum::<f32>() > 0.0,
            "retrieval.views",
            format!("{weights:?}"),
            "weights of 0 or more, not all 0",
        )?;
        check(
            (-1.0..=1.0).contains(&self.linking.min_similarity),
            "linking.min_similarity",
            self.linking.min_similarity.to_string(),
            "between -1 and 1",
        )
    }
}
