//! Fact-Time-Affect units: what they are, how they are made offline, how they are linked and where they are kept.
//!
//! Retrieval and answering are in `fta-retrieve`.

pub mod extract;
pub mod link;
pub mod longitudinal;
pub mod offline;
pub mod store;
pub mod time;
pub mod unit;

pub use extract::{ExtractError, Extraction, ExtractionInput, UnitExtractor};
pub use link::{LinkError, Neighbour, RelationClassifier};
pub use longitudinal::{Longitudinal, ProfileEntry, ProfileTopic, SupportEntry, SupportOutcome};
pub use store::{
    MemoryMeta, MemorySnapshot, Namespace, SessionState, StoreError, StoreOp, StoredSession, StoredVector, UnitStore,
};
pub use time::{DateInterval, EventTime, Granularity, TimeBound};
pub use unit::{
    AffectAnchor, CandidateUnit, Completion, Evidence, FactAnchor, Lifecycle, Link, Provenance, Quote, Relation,
    SituationType, TimeAnchor, TimeOrientation, Unit, UnitId, UnitStatus,
};
