//! The [`Segmenter`] port: a session in, fragments that tile it out, at once or as it is said.

use async_trait::async_trait;
use jiff::civil::DateTime;

use crate::{
    dialogue::{Session, SessionId, Turn},
    error::SegmentError,
    fragment::Fragment,
};

/// Cuts sessions into fragments.
///
/// # Contract
/// - The fragments tile the session: in order, no gap, no overlap, none empty; no turns, no fragments.
/// - The last fragment's cue is [`BoundaryCue::SessionEnd`](crate::BoundaryCue::SessionEnd).
/// - [`segment`](Self::segment) gives what [`incremental`](Self::incremental) gives for the same turns, pushed one by one.
/// - Sessions are independent: the result depends on the session alone.
#[async_trait]
pub trait Segmenter: Send + Sync {
    /// Name and settings of the segmenter, kept as provenance.
    fn id(&self) -> &str;

    /// Starts a session whose turns come one by one. It owns what it needs and may outlive the segmenter.
    fn incremental(&self, session: SessionId, started_at: Option<DateTime>) -> Box<dyn IncrementalSegmenter>;

    /// Cuts a whole session.
    ///
    /// # Errors
    /// [`SegmentError::Dialogue`] if turns are not numbered `0, 1, 2, ...`; [`SegmentError::Detect`] if a detector could
    /// not answer. No partial result.
    async fn segment(&self, session: &Session) -> Result<Vec<Fragment>, SegmentError> {
        let mut running = self.incremental(session.id.clone(), session.started_at);
        let mut fragments = Vec::new();
        for turn in &session.turns {
            fragments.extend(running.push(turn.clone()).await?);
        }
        fragments.extend(running.finish().await?);
        Ok(fragments)
    }
}

/// A session that is being cut while it is said.
#[async_trait]
pub trait IncrementalSegmenter: Send {
    /// Takes the next turn and gives the fragments that became final by it, oldest first; often none.
    ///
    /// # Errors
    /// - [`SegmentError::Dialogue`] if the turn's index is not the next one, [`SegmentError::Finished`] after
    ///   [`finish`](Self::finish): the turn is refused, nothing changes.
    /// - [`SegmentError::Detect`] if a detector could not answer: **the turn is kept**, do not push it again. The next push
    ///   or `finish` asks again for the same window, and gives what is due by then. A future dropped early is the same.
    async fn push(&mut self, turn: Turn) -> Result<Vec<Fragment>, SegmentError>;

    /// Ends the session and gives the fragments that are left; called again, it gives none.
    ///
    /// # Errors
    /// [`SegmentError::Detect`] if a detector could not answer: the session stays open and `finish` can be called again.
    async fn finish(&mut self) -> Result<Vec<Fragment>, SegmentError>;
}

macro_rules! forward {
    ($($t:ty),*) => {$(
        #[async_trait]
        impl<S: Segmenter + ?Sized> Segmenter for $t {
            fn id(&self) -> &str {
                (**self).id()
            }
            fn incremental(
                &self,
                session: SessionId,
                started_at: Option<DateTime>,
            ) -> Box<dyn IncrementalSegmenter> {
                (**self).incremental(session, started_at)
            }
            async fn segment(&self, session: &Session) -> Result<Vec<Fragment>, SegmentError> {
                (**self).segment(session).await
            }
        }
    )*};
}
forward!(&S, Box<S>, std::sync::Arc<S>);
