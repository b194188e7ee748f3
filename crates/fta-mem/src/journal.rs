//! Replies of a model that are kept while a session is built, so that a build that was killed asks nothing twice.
//!
//! The replies themselves are kept by a decorator of the model; here is only when they can go: they hold what was said,
//! so none may outlive the build that it was kept for, nor a deletion.

use std::{
    io,
    sync::{Mutex, MutexGuard, PoisonError},
};

use crate::Error;

/// Removes all kept replies.
type Clear = dyn Fn() -> io::Result<()> + Send + Sync;

/// Counts the builds that are going on.
#[derive(Default)]
pub(crate) struct Journal {
    clear: Option<Box<Clear>>,
    /// Held while replies are removed, so that no build begins meanwhile.
    n_building: Mutex<usize>,
}

impl Journal {
    /// A journal that `clear` empties.
    pub(crate) fn new(clear: Box<Clear>) -> Self {
        Self { clear: Some(clear), n_building: Mutex::new(0) }
    }

    /// Begins a build. Its replies are kept when it is dropped before it is done.
    pub(crate) fn building(&self) -> Building<'_> {
        *self.count() += 1;
        Building { journal: self }
    }

    /// Removes all replies now, those of builds that are going on too: they would only have saved calls.
    pub(crate) fn clear(&self) -> Result<(), Error> {
        let _no_build_begins = self.count();
        self.remove()
    }

    fn remove(&self) -> Result<(), Error> {
        self.clear.as_ref().map_or(Ok(()), |clear| clear()).map_err(|source| Error::Journal { source })
    }

    fn count(&self) -> MutexGuard<'_, usize> {
        self.n_building.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A build that is going on.
pub(crate) struct Building<'a> {
    journal: &'a Journal,
}

impl Building<'_> {
    /// Ends a build that is stored: the last one of all removes the replies.
    pub(crate) fn done(self) -> Result<(), Error> {
        let journal = self.journal;
        let count = journal.count();
        // This one is still counted; it is taken off when it is dropped.
        let result = if *count == 1 { journal.remove() } else { Ok(()) };
        drop(count);
        result
    }
}

impl Drop for Building<'_> {
    fn drop(&mut self) {
        let mut count = self.journal.count();
        *count = count.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use super::*;

    #[test]
    fn replies_go_with_the_last_build_that_is_done_and_stay_after_one_that_failed() {
        let n_cleared = Arc::new(AtomicUsize::new(0));
        let counter = n_cleared.clone();
        let journal = Journal::new(Box::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(())
        }));
        let cleared = || n_cleared.load(Ordering::Relaxed);
        let (first, second) = (journal.building(), journal.building());
        first.done().unwrap();
        assert_eq!(cleared(), 0);
        second.done().unwrap();
        assert_eq!(cleared(), 1);
        drop(journal.building());
        assert_eq!(cleared(), 1);
        journal.building().done().unwrap();
        assert_eq!(cleared(), 2);
        let _running = journal.building();
        journal.clear().unwrap();
        assert_eq!(cleared(), 3);
    }
}
