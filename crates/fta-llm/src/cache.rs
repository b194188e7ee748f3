//! Replies kept on disk, so that nothing is asked twice: a cache from run to run, and the journal of a build.
//!
//! # A journal
//! A reply is on disk, flushed, when [`complete`](LanguageModel::complete) returns it. A build that was killed and
//! begins again with the same directory gets every reply that it got before from there, and asks only what it never
//! got an answer to.
//!
//! # What stands where
//! Decorators see what passes them. A reply from disk carries the tokens that it took when it was made; an account that
//! counts it again would be wrong. So the cache stands outermost, then the account, then what asks again and limits:
//!
//! ```
//! use std::{num::NonZeroUsize, sync::Arc, time::Duration};
//!
//! use fta_llm::{ChatRequest, DiskCache, LanguageModel, Limit, Message, Retry, RetryPolicy};
//! use fta_llm::{ScriptedModel, Sleep, UsageMeter};
//!
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let server = ScriptedModel::new("model").reply("answer", "Yes.");
//! let limited = Limit::new(server, NonZeroUsize::new(8).expect("8 is not 0"));
//! let sleep: Sleep = Arc::new(|_| Box::pin(std::future::ready(()))); // `tokio_sleep()` in a program
//! let retried = Retry::new(limited, RetryPolicy::default(), sleep)?;
//! let began = std::time::Instant::now();
//! let meter = Arc::new(UsageMeter::new(retried, move || began.elapsed()));
//! let directory = tempfile::tempdir()?;
//! let model = DiskCache::open(meter.clone(), directory.path())?;
//!
//! let request = ChatRequest::new("answer", vec![Message::user("Is ice cold?")]);
//! for _ in 0..2 {
//!     assert_eq!(model.complete(request.clone()).await?.text, "Yes.");
//! }
//! assert_eq!((meter.total().calls, model.stats().hits), (1, 1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Retries within a limit hold no place while they wait, since the limit stands inside. With the account outside the
//! retries a request counts once, whatever it took; inside, each attempt counts.
//!
//! # Format
//! One file per reply, `<key>.json`. The key is SHA-256 of the model's id and the whole request, [`ChatRequest::step`]
//! included: steps that ask the same are still two questions, and a step never gets the reply of another that happened
//! to be asked first. Requests are not kept, only their keys; replies are kept as they came.

use std::{
    collections::BTreeMap,
    fs, io,
    io::Write,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::{
    canonical::{canonical, digest},
    error::ModelError,
    model::{ChatReply, ChatRequest, FinishReason, LanguageModel},
};

/// Version of the files; others are asked anew.
const FORMAT: u32 = 1;
const TEMPORARY: &str = ".reply-";

/// Keeps a model's replies in a directory and gives them again for equal requests.
///
/// - Kept are whole replies and those cut off by a limit ([`FinishReason::Stop`], [`FinishReason::Length`]); errors and
///   filtered replies are not.
/// - Of equal requests at the same time one is asked, the others wait for it. If it fails or is dropped, the next asks.
/// - A file that is damaged is as good as none, and is written anew.
/// - A reply that cannot be written is still given; see [`CacheStats::unkept`].
/// - Processes may share a directory: files appear whole or not at all.
///
/// Files are small, so they are read and written within the call.
pub struct DiskCache<M> {
    model: M,
    directory: PathBuf,
    flights: Mutex<Flights>,
    hits: AtomicU64,
    misses: AtomicU64,
    unkept: AtomicU64,
}

/// What a cache did since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CacheStats {
    /// Replies from disk.
    pub hits: u64,
    /// Requests that went on to the model.
    pub misses: u64,
    /// Replies that should have been kept but could not be written: a build that is killed will ask for them again.
    pub unkept: u64,
}

/// For each key that is being asked about a lock, which equal requests share.
type Flights = BTreeMap<String, Arc<tokio::sync::Mutex<()>>>;

/// A file.
#[derive(Serialize, Deserialize)]
struct Entry {
    format: u32,
    key: String,
    /// Digest of the key and the reply.
    check: String,
    reply: ChatReply,
}

impl Entry {
    fn new(key: &str, reply: ChatReply) -> Self {
        Self { format: FORMAT, key: key.to_owned(), check: check(key, &reply), reply }
    }

    fn is_sound(&self, key: &str) -> bool {
        self.format == FORMAT && self.key == key && self.check == check(key, &self.reply)
    }
}

fn check(key: &str, reply: &ChatReply) -> String {
    let ChatReply { text, finish, usage } = reply;
    digest(&[key, text, &format!("{finish:?} {} {}", usage.prompt_tokens, usage.completion_tokens)])
}

impl<M: LanguageModel> DiskCache<M> {
    /// Keeps replies of `model` in `directory`, which is made if there is none.
    ///
    /// # Errors
    /// If the directory cannot be made.
    pub fn open(model: M, directory: impl Into<PathBuf>) -> io::Result<Self> {
        let directory = directory.into();
        fs::create_dir_all(&directory)?;
        let (hits, misses, unkept) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        Ok(Self { model, directory, flights: Mutex::default(), hits, misses, unkept })
    }

    /// What happened so far.
    pub fn stats(&self) -> CacheStats {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        CacheStats { hits: read(&self.hits), misses: read(&self.misses), unkept: read(&self.unkept) }
    }

    /// How many replies the directory holds, those of other models and damaged ones too.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn len(&self) -> io::Result<usize> {
        Ok(self.files()?.iter().filter(|path| is_entry(path)).count())
    }

    /// Whether the directory holds no reply.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Removes all replies, and what killed processes left half written; other files stay.
    ///
    /// # Errors
    /// If the directory cannot be read, or a file cannot be removed.
    pub fn clear(&self) -> io::Result<()> {
        for path in self.files()?.iter().filter(|path| is_entry(path) || is_temporary(path)) {
            match fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }

    fn files(&self) -> io::Result<Vec<PathBuf>> {
        fs::read_dir(&self.directory)?.map(|file| Ok(file?.path())).collect()
    }

    fn path(&self, key: &str) -> PathBuf {
        self.directory.join(format!("{key}.json"))
    }

    fn find(&self, key: &str) -> Option<ChatReply> {
        let bytes = fs::read(self.path(key)).ok()?;
        let entry: Entry = serde_json::from_slice(&bytes).ok()?;
        entry.is_sound(key).then(|| {
            self.hits.fetch_add(1, Ordering::Relaxed);
            entry.reply
        })
    }

    /// Writes a reply so that a crash at any point leaves the old file or the new one.
    fn keep(&self, key: &str, reply: &ChatReply) -> io::Result<()> {
        let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.directory)?;
        serde_json::to_writer(&mut file, &Entry::new(key, reply.clone()))?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(self.path(key)).map_err(|error| error.error)?;
        sync_directory(&self.directory)
    }

    async fn ask(
        &self,
        request: ChatRequest,
        on_text: Option<&mut (dyn for<'t> FnMut(&'t str) + Send)>,
    ) -> Result<ChatReply, ModelError> {
        let key = digest(&[self.model.model_id(), &canonical(&request)]);
        let flight = Flight { flights: &self.flights, lock: Some(self.flight(&key)), key: &key };
        let _turn = flight.lock().lock().await;
        if let Some(reply) = self.find(&key) {
            if let Some(on_text) = on_text {
                on_text(&reply.text);
            }
            return Ok(reply);
        }
        self.misses.fetch_add(1, Ordering::Relaxed);
        let reply = match on_text {
            Some(on_text) => self.model.complete_streaming(request, on_text).await?,
            None => self.model.complete(request).await?,
        };
        if matches!(reply.finish, FinishReason::Stop | FinishReason::Length)
            && self.keep(&key, &reply).is_err()
        {
            self.unkept.fetch_add(1, Ordering::Relaxed);
        }
        Ok(reply)
    }

    /// The lock that equal requests share.
    fn flight(&self, key: &str) -> Arc<tokio::sync::Mutex<()>> {
        locked(&self.flights).entry(key.to_owned()).or_default().clone()
    }
}

fn locked(flights: &Mutex<Flights>) -> MutexGuard<'_, Flights> {
    flights.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A request's hold on the lock of its key; the last of them removes the lock.
struct Flight<'a> {
    flights: &'a Mutex<Flights>,
    /// There until the drop.
    lock: Option<Arc<tokio::sync::Mutex<()>>>,
    key: &'a str,
}

impl Flight<'_> {
    fn lock(&self) -> &tokio::sync::Mutex<()> {
        self.lock.as_ref().expect("the lock is there until the drop")
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        let mut flights = locked(self.flights);
        drop(self.lock.take());
        // Locks are handed out under `flights` only, so the count cannot grow meanwhile.
        if flights.get(self.key).is_some_and(|lock| Arc::strong_count(lock) == 1) {
            flights.remove(self.key);
        }
    }
}

fn is_entry(path: &Path) -> bool {
    let is_key = |name: &str| name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    path.extension().is_some_and(|extension| extension == "json")
        && path.file_stem().and_then(|name| name.to_str()).is_some_and(is_key)
}

fn is_temporary(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(TEMPORARY))
}

/// Makes a new name durable; only Unix has a way to, and elsewhere the file system does it in its own time.
fn sync_directory(directory: &Path) -> io::Result<()> {
    if cfg!(unix) { fs::File::open(directory)?.sync_all() } else { Ok(()) }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for DiskCache<M> {
    fn model_id(&self) -> &str {
        self.model.model_id()
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        self.ask(request, None).await
    }

    async fn complete_streaming(
        &self,
        request: ChatRequest,
        on_text: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatReply, ModelError> {
        self.ask(request, Some(on_text)).await
    }
}

#[cfg(test)]
mod tests;
