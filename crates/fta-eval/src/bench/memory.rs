//! A memory in memory for one conversation.

use std::{str::FromStr, sync::Arc, time::Instant};

use fta_mem::{
    Memory, MemoryConfig, UserMemory, index::Embedder, retrieve::RetrievalConfig, units::Namespace,
};

use super::{BenchError, embedder::Metered};
use crate::datasets::Case;

/// Settings of retrieval by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// The default of the facade.
    #[default]
    Offline,
    /// The paper's setting on LoCoMo.
    Locomo,
    /// The paper's setting on ES-MemEval.
    EsMemeval,
}

impl Preset {
    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Locomo => "locomo",
            Self::EsMemeval => "es_memeval",
        }
    }

    /// The settings.
    pub fn config(self) -> MemoryConfig {
        let retrieval = match self {
            Self::Offline => RetrievalConfig::offline(),
            Self::Locomo => RetrievalConfig::locomo(),
            Self::EsMemeval => RetrievalConfig::es_memeval(),
        };
        MemoryConfig { retrieval, ..MemoryConfig::default() }
    }
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Offline, Self::Locomo, Self::EsMemeval]
            .into_iter()
            .find(|p| p.name() == text)
            .ok_or_else(|| format!("`{text}` is no preset: `offline`, `locomo` or `es_memeval` is expected"))
    }
}

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
pub(super) async fn ingest(
    case: &Case,
    embedder: &Arc<dyn Embedder>,
    preset: Preset,
) -> Result<Ingested, BenchError> {
    let failed = failed(case);
    let name = Namespace::new(case.conversation.id.clone()).map_err(|source| BenchError::Name {
        conversation: case.conversation.id.clone(),
        source: Box::new(source),
    })?;
    let metered = Arc::new(Metered::new(embedder.clone()));
    let memory = Memory::builder().in_memory().embedder(metered.clone()).config(preset.config()).build();
    let memory = memory.and_then(|m| m.user(name)).map_err(&failed)?;
    let start = Instant::now();
    for session in &case.conversation.sessions {
        memory.ingest(session).await.map_err(&failed)?;
    }
    let seconds = start.elapsed().as_secs_f64();
    Ok(Ingested { memory, seconds, embedded_texts: metered.texts(), embedding_seconds: metered.seconds() })
}
