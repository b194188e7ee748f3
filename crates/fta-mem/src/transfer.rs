//! Export and import as JSON lines.

use serde::{Deserialize, Serialize};

/// What an import added.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ImportReport {
    /// Sessions.
    pub sessions: usize,
    /// Units.
    pub units: usize,
    /// Links.
    pub links: usize,
    /// Sessions that were there already, unchanged.
    pub unchanged: usize,
}
