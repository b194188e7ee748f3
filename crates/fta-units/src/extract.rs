//! The [`UnitExtractor`] port (Eq. 3-5): from a fragment and the carried partial units to candidate units.

use async_trait::async_trait;
use fta_segment::{Fragment, Session};

use crate::unit::CandidateUnit;

/// What an extractor sees.
#[derive(Debug, Clone, Copy)]
pub struct ExtractionInput<'a> {
    /// The session; turns after the fragment may not have been said yet and must not be used.
    pub session: &'a Session,
    /// The fragment to extract from, or several neighbouring ones as one (see [`UnitExtractor::max_group_turns`]).
    pub fragment: Fragment,
    /// The fragments that `fragment` consists of, in order; one unless the extractor wants groups. They tile it.
    pub parts: &'a [Fragment],
    /// Partial units of earlier fragments of this session, oldest first (Eq. 4).
    pub carried: &'a [CandidateUnit],
}

/// What an extractor gives back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Extraction {
    /// Candidate units in text order. Those with status `partial` are carried to the next fragment.
    pub units: Vec<CandidateUnit>,
    /// Pairs `(index in carried, index in units)`: the candidate completes or refines the carried unit and already
    /// holds both, fact, time, affect and evidence (Eq. 5). The carried unit is dropped.
    pub fused: Vec<(usize, usize)>,
}

/// Makes units of a fragment.
///
/// # Contract
/// - Every claim is grounded in its evidence; nothing is inferred that was not said.
/// - Evidence spans lie inside the fragment, or start in a carried unit's span when fused with it.
/// - Every turn of the fragment that says something lies in the evidence of some unit.
/// - The result depends on the input alone.
#[async_trait]
pub trait UnitExtractor: Send + Sync {
    /// Name and version, kept as provenance.
    fn id(&self) -> &str;

    /// Most turns of neighbouring fragments that it takes at once; 0 is one fragment at a time, whatever its length.
    ///
    /// A model that is asked once for several fragments reads its instructions once. A fragment longer than this still
    /// comes alone.
    fn max_group_turns(&self) -> usize {
        0
    }

    /// Extracts candidate units.
    ///
    /// # Errors
    /// [`ExtractError`] when the extractor cannot answer; no partial result.
    async fn extract(&self, input: ExtractionInput<'_>) -> Result<Extraction, ExtractError>;
}

/// An extractor that could not answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExtractError {
    /// The model behind the extractor gave no usable reply.
    #[error("unit extractor `{extractor}` got no usable reply")]
    Model {
        /// Its id.
        extractor: String,
        /// What the model said, by remedy.
        source: fta_llm::ModelError,
    },
    /// The extractor gave up.
    #[error("unit extractor `{extractor}` failed: {message}")]
    Failed {
        /// Its id.
        extractor: String,
        /// Why.
        message: String,
    },
}
