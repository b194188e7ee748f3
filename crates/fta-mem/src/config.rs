//! Settings of a memory.

use fta_retrieve::RetrievalConfig;
use serde::{Deserialize, Serialize};

/// Settings of linking (Eq. 6).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkingConfig {
    /// Nearest older units that a new unit is compared with.
    pub neighbours: usize,
    /// Least embedding similarity of a pair that is looked at.
    pub min_similarity: f32,
}

impl Default for LinkingConfig {
    fn default() -> Self {
        Self { neighbours: 5, min_similarity: 0.4 }
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
