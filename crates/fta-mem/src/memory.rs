//! The memory of many users in one data directory.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use fta_units::Namespace;

use crate::{
    Error, MemoryBuilder, MemoryConfig, ReindexProgress, UserMemory, parts::Parts, reindex, state::UserState,
};

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
    /// Held by a re-embedding: two would use the same file.
    reindexing: tokio::sync::Mutex<()>,
}

impl Memory {
    /// Starts building a memory.
    pub fn builder() -> MemoryBuilder {
        MemoryBuilder::default()
    }

    pub(crate) fn new(parts: Parts) -> Self {
        let (users, reindexing) = (Mutex::default(), tokio::sync::Mutex::default());
        Self { shared: Arc::new(Shared { parts: Arc::new(parts), users, reindexing }) }
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

    /// Embeds all of a user's memory anew with the configured model, from what the store has; no other model is asked.
    /// Returns the number of vectors made, 0 if they are of that model already.
    ///
    /// Vectors are gathered beside the store, so the memory stays as it is, and usable with the old model, until all are
    /// there and take the place of the old ones in one transaction. When this is dropped or killed, a later call goes
    /// on where it stopped, unless what would be embedded has changed since. `progress` is told after each batch.
    ///
    /// # Errors
    /// [`Error::Embed`] if a text cannot be embedded, [`Error::Store`] if a store cannot be read or written; the memory
    /// is as it was then.
    pub async fn reindex(
        &self,
        namespace: &Namespace,
        progress: &mut (dyn FnMut(ReindexProgress) + Send),
    ) -> Result<usize, Error> {
        let _only = self.shared.reindexing.lock().await;
        reindex::reindex(&self.shared.parts, namespace, progress).await
    }

    /// The settings.
    pub fn config(&self) -> &MemoryConfig {
        &self.shared.parts.config
    }
}
