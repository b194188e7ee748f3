//! Long-term memory for dialogue agents.
//!
//! [`Memory`] keeps conversations as Fact-Time-Affect units in one data directory; [`UserMemory`] is the memory of one
//! user. Sessions go in through [`UserMemory::ingest`], questions are answered by [`UserMemory::ask`]. Every step is
//! a port that the [`MemoryBuilder`] lets you replace; the defaults run offline.

pub mod builder;
pub mod config;
mod edit;
pub mod error;
mod fallback;
mod hash;
mod ingest;
mod journal;
mod linking;
pub mod memory;
mod parts;
pub mod profile;
mod reindex;
pub mod report;
mod retry;
pub mod running;
mod state;
pub mod transfer;
pub mod user;
mod vectors;
mod view;

pub use builder::MemoryBuilder;
pub use config::{LinkingConfig, MemoryConfig};
pub use error::Error;
pub use fallback::OnFailure;
pub use memory::Memory;
pub use parts::IndexFactory;
pub use reindex::ReindexProgress;
pub use report::{
    Asked, Correction, Deleted, IngestOutcome, IngestReport, ListFilter, MemoryStats, Neighbour,
    RetrieveOptions, UnitView, parse_unit_id,
};
pub use running::RunningSession;
pub use transfer::ImportReport;
pub use user::UserMemory;

pub use fta_index as index;
pub use fta_llm as llm;
pub use fta_retrieve as retrieve;
pub use fta_segment as segment;
pub use fta_units as units;

/// The README's program is compiled with the tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
