//! What ablations put in the place of a step (Figure 3, Table 8).

use std::sync::Arc;

use async_trait::async_trait;
use fta_mem::{
    retrieve::{Query, QueryRewriter, Question, RewriteError},
    units::{
        AffectAnchor, ExtractError, Extraction, ExtractionInput, Link, LinkError, Longitudinal, Relation,
        RelationClassifier, TimeAnchor, Unit, UnitExtractor,
        link::Neighbour,
        longitudinal::{LongitudinalError, LongitudinalUpdater},
    },
};
use fta_segment::{Session, SessionId};

/// Takes anchors out of every unit.
pub(super) struct Anchorless {
    pub(super) extractor: Arc<dyn UnitExtractor>,
    pub(super) time: bool,
    pub(super) affect: bool,
}

#[async_trait]
impl UnitExtractor for Anchorless {
    fn id(&self) -> &str {
        self.extractor.id()
    }

    fn max_group_turns(&self) -> usize {
        self.extractor.max_group_turns()
    }

    async fn extract(&self, input: ExtractionInput<'_>) -> Result<Extraction, ExtractError> {
        let mut extraction = self.extractor.extract(input).await?;
        for unit in &mut extraction.units {
            if self.time {
                unit.time = TimeAnchor::default();
            }
            if self.affect {
                unit.affect = AffectAnchor::default();
            }
        }
        Ok(extraction)
    }
}

/// Links nothing.
pub(super) struct Unlinked;

#[async_trait]
impl RelationClassifier for Unlinked {
    fn id(&self) -> &'static str {
        "none/1"
    }

    async fn classify(
        &self,
        _unit: &Unit,
        neighbours: &[Neighbour<'_>],
    ) -> Result<Vec<Option<Relation>>, LinkError> {
        Ok(vec![None; neighbours.len()])
    }
}

/// Keeps no longitudinal memory.
pub(super) struct NoLongitudinal;

#[async_trait]
impl LongitudinalUpdater for NoLongitudinal {
    fn id(&self) -> &'static str {
        "none/1"
    }

    async fn update(
        &self,
        current: &Longitudinal,
        _session: &SessionId,
        _units: &[Unit],
        _links: &[Link],
    ) -> Result<Longitudinal, LongitudinalError> {
        Ok(current.clone())
    }
}

/// Looks for the question as it was asked; its cues are read off it as before.
pub(super) struct Verbatim(pub(super) Arc<dyn QueryRewriter>);

#[async_trait]
impl QueryRewriter for Verbatim {
    fn id(&self) -> &'static str {
        "verbatim/1"
    }

    async fn rewrite(&self, question: Question<'_>) -> Result<Query, RewriteError> {
        let query = self.0.rewrite(question).await?;
        Ok(Query { text: query.question.clone(), ..query })
    }
}

/// A session without any date.
pub(super) fn undated(session: &Session) -> Session {
    let mut session = session.clone();
    session.started_at = None;
    for turn in &mut session.turns {
        turn.at = None;
    }
    session
}
