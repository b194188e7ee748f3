//! What happens when a step fails for good: stop, or let the offline implementation do it and mark the session.

use std::{error::Error as StdError, sync::Arc};

use async_trait::async_trait;
use fta_llm::ModelError;
use fta_retrieve::{Answerer, QueryRewriter};
use fta_segment::Segmenter;
use fta_units::{
    ExtractError, Extraction, ExtractionInput, RelationClassifier, UnitExtractor,
    longitudinal::LongitudinalUpdater,
};
use serde::{Deserialize, Serialize};

/// What happens when a step of ingest or of a question fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnFailure {
    /// The call fails and the memory stays as it was.
    Stop,
    /// The offline implementation does that step, the units say so, and the session is marked for
    /// [`UserMemory::retry`](crate::UserMemory::retry). A model that can never answer ([`ModelError::Permanent`]: a wrong
    /// key, an unknown name) still stops the call, or a mistake in the settings would pass for an outage.
    #[default]
    FallBack,
}

/// The offline implementation of each step that a model may do.
pub(crate) struct Fallback {
    pub(crate) segmenter: Arc<dyn Segmenter>,
    pub(crate) extractor: Arc<dyn UnitExtractor>,
    pub(crate) classifier: Arc<dyn RelationClassifier>,
    pub(crate) longitudinal: Arc<dyn LongitudinalUpdater>,
    pub(crate) rewriter: Arc<dyn QueryRewriter>,
    pub(crate) answerer: Arc<dyn Answerer>,
}

/// The fallback after `error` and why it is needed; the error itself if there is none or it does not help.
pub(crate) fn after<E: StdError + 'static>(
    fallback: Option<&Fallback>,
    error: E,
) -> Result<(&Fallback, String), E> {
    match fallback {
        Some(fallback) if !is_permanent(&error) => Ok((fallback, reason(&error))),
        _ => Err(error),
    }
}

fn chain<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

fn is_permanent(error: &(dyn StdError + 'static)) -> bool {
    chain(error).any(|e| matches!(e.downcast_ref(), Some(ModelError::Permanent { .. })))
}

fn reason(error: &(dyn StdError + 'static)) -> String {
    chain(error).map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// An extractor whose units say that it stands in for another.
pub(crate) struct StandIn<'a> {
    pub(crate) extractor: &'a dyn UnitExtractor,
    pub(crate) wanted: &'a str,
}

#[async_trait]
impl UnitExtractor for StandIn<'_> {
    fn id(&self) -> &str {
        self.extractor.id()
    }

    async fn extract(&self, input: ExtractionInput<'_>) -> Result<Extraction, ExtractError> {
        let mut extraction = self.extractor.extract(input).await?;
        for unit in &mut extraction.units {
            unit.provenance.fallback(self.wanted);
        }
        Ok(extraction)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permanent_error_is_found_at_any_depth_and_reasons_are_whole() {
        let down = ModelError::Transient { message: "the server is down".to_owned() };
        let error = ExtractError::Model { extractor: "llm/1".to_owned(), source: down };
        assert!(!is_permanent(&error));
        assert_eq!(
            reason(&error),
            "unit extractor `llm/1` got no usable reply: model is not available for now: the server is down"
        );
        let key = ModelError::Permanent { message: "no such key".to_owned() };
        assert!(is_permanent(&crate::Error::from(ExtractError::Model {
            extractor: "llm/1".to_owned(),
            source: key
        })));
        let own = ExtractError::Failed { extractor: "x".to_owned(), message: "why".to_owned() };
        assert!(after(None, own).is_err());
    }
}
