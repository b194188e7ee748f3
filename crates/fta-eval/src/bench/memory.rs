//! A memory in memory for one conversation.

use std::{sync::Arc, time::Instant};

use fta_mem::{Memory, UserMemory, index::Embedder, units::Namespace};

use super::{BenchError, embedder::Metered};
use crate::datasets::Case;

/// A conversation taken in.
pub(super) struct Ingested {
    pub(super) memory: UserMemory,
    pub(super) seconds: f64,
    /// Texts that were embedded for it.
    pub(super) embedded_texts: usize,
    /// Part of `seconds` that the embedder took.
    pub(super) embedding_seconds: f64,
}

/// Wraps a failure of the facade.
pub(super) fn failed(case: &Case) -> impl Fn(fta_mem::Error) -> BenchError {
    let conversation = case.conversation.id.clone();
    move |source| BenchError::Memory { conversation: conversation.clone(), source: Box::new(source) }
}

/// Takes a conversation in, session by session.
pub(super) async fn ingest(case: &Case, embedder: &Arc<dyn Embedder>) -> Result<Ingested, BenchError> {
    let failed = failed(case);
    let name = Namespace::new(case.conversation.id.clone()).map_err(|source| BenchError::Name {
        conversation: case.conversation.id.clone(),
        source: Box::new(source),
    })?;
    let metered = Arc::new(Metered::new(embedder.clone()));
    let memory = Memory::builder().in_memory().embedder(metered.clone()).build();
    let memory = memory.and_then(|m| m.user(name)).map_err(&failed)?;
    let start = Instant::now();
    for session in &case.conversation.sessions {
        memory.ingest(session).await.map_err(&failed)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(Ingested { memory, seconds, embedded_texts: metered.texts(), embedding_seconds: metered.seconds() })
}
