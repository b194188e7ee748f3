//! The memory of many users in one data directory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use fta_units::Namespace;

use crate::{Error, MemoryBuilder, MemoryConfig, UserMemory, parts::Parts, state::UserState};

/// The memory of many users in one data directory. Cheap to clone; clones share everything.
///
/// Its asynchronous calls need a tokio runtime: embedding and disk access run on its blocking threads.
#[derive(Clone)]
pub struct Memory {
    shared: Arc<Shared>,
}

struct Shared {
    parts: Arc<Parts>,
    users: Mutex<HashMap<Namespace, Arc<UserState>>>,
}

impl Memory {
    /// Starts building a memory.
    pub fn builder() -> MemoryBuilder {
        MemoryBuilder::default()
    }

    pub(crate) fn new(parts: Parts) -> Self {
        Self { shared: Arc::new(Shared { parts: Arc::new(parts), users: Mutex::default() }) }
    }

    /// Names of all users' memories that hold something, in order.
    ///
    /// # Errors
    /// [`Error::Store`] if the store cannot be read.
    pub fn namespaces(&self) -> Result<Vec<Namespace>, Error> {
        Ok(self.shared.parts.store.namespaces()?)
    }

    /// One user's memory; it comes to be with its first session. The first call for a name reads the whole memory.
    ///
    /// # Errors
    /// [`Error::Store`] if the store cannot be read, [`Error::Embedder`] if the memory was embedded with another model.
    pub fn user(&self, namespace: Namespace) -> Result<UserMemory, Error> {
        let mut users = self.shared.users.lock().unwrap_or_else(PoisonError::into_inner);
        let state = match users.get(&namespace) {
            Some(state) => state.clone(),
            None => {
                let state = Arc::new(UserState::load(&self.shared.parts, namespace.clone())?);
                users.insert(namespace, state.clone());
                state
            }
        };
        Ok(UserMemory::new(self.shared.parts.clone(), state))
    }

    /// The settings.
    pub fn config(&self) -> &MemoryConfig {
        &self.shared.parts.config
    }
}
