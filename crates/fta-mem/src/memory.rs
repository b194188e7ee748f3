//! The memory of many users in one data directory.

use fta_units::Namespace;

use crate::{Error, MemoryBuilder, MemoryConfig, UserMemory};

/// The memory of many users.
#[derive(Clone)]
pub struct Memory {}

impl Memory {
    /// Starts building a memory.
    pub fn builder() -> MemoryBuilder {
        MemoryBuilder::default()
    }
    /// Names of all users' memories.
    pub fn namespaces(&self) -> Result<Vec<Namespace>, Error> {
        todo!()
    }
    /// One user's memory; it comes to be with its first session.
    pub fn user(&self, _namespace: Namespace) -> Result<UserMemory, Error> {
        todo!()
    }
    /// The settings.
    pub fn config(&self) -> &MemoryConfig {
        todo!()
    }
}
