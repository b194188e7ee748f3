//! Fact-Time-Affect units: what they are, how they are made offline, how they are linked and where they are kept.
//!
//! Retrieval and answering are in `fta-retrieve`.

pub mod extract;
pub mod link;
pub mod llm;
pub mod longitudinal;
pub mod offline;
pub mod pipeline;
pub mod store;
mod text;
pub mod time;
pub mod unit;

pub use extract::{ExtractError, Extraction, ExtractionInput, UnitExtractor};
pub use link::{
    Comparison, LinkError, LinkRules, Neighbour, OlderUnitChange, RelationClassifier, RuleClassifier,
};
pub use llm::{
    FusionCheck, LlmClassifier, LlmClassifierConfig, LlmExtractor, LlmExtractorConfig, LlmUpdater,
    LlmUpdaterConfig,
};
pub use longitudinal::{
    Longitudinal, LongitudinalError, LongitudinalUpdater, ProfileEntry, ProfileTopic, RuleUpdater,
    SupportEntry, SupportOutcome, remove_units,
};
pub use pipeline::{PipelineSettings, Repair, RepairNote, UnitPipeline};
#[cfg(feature = "redb")]
pub use store::RedbStore;
pub use store::{
    FallbackMark, FallbackStep, MemoryMeta, MemorySnapshot, MemoryStore, Namespace, SessionState, StoreError,
    StoreOp, StoredSession, StoredVector, UnitStore,
};
pub use time::{DateInterval, EventTime, Granularity, TimeBound};
pub use unit::{
    AffectAnchor, CandidateUnit, Completion, Evidence, FactAnchor, Lifecycle, Link, Provenance, Quote,
    Relation, SituationType, TimeAnchor, TimeOrientation, Unit, UnitId, UnitStatus,
};
