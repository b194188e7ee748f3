//! [`CachedEmbedder`]: an embedder that remembers vectors on disk, so that no text is embedded twice.
//!
//! Keys are hashes of model and text, so the file holds no text; but vectors say much about what they were made of, so
//! the file is as private as the texts are. [`CachedEmbedder::clear`] empties it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use redb::backends::InMemoryBackend;
use redb::{Database, Durability, ReadableDatabase, ReadableTable, ReadableTableMetadata, TableDefinition};
use sha2::{Digest, Sha256};

use crate::embed::{Embedder, Embeddings};
use crate::error::EmbedError;

type Key = [u8; 32];

/// Entries: place in the order of arrival, values, checksum.
const VECTORS: TableDefinition<'_, &Key, &[u8]> = TableDefinition::new("vectors");

/// Keys in the order of arrival, so that the oldest go first.
const ARRIVALS: TableDefinition<'_, u64, &Key> = TableDefinition::new("arrivals");

/// New entries after which the file is brought to disk. A crash loses fewer than these, which costs their embedding.
const SYNC_AFTER: usize = 256;

/// How far the norm of a vector from the file may be from 1.
const NORM_TOLERANCE: f32 = 1e-3;

/// Why a cache cannot be opened or cleared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CacheError {
    /// Another process has it open.
    #[error("embedding cache `{path}` is in use by another process; close it, or go without a cache")]
    InUse {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged, is no cache, or cannot be written.
    #[error("embedding cache `{path}` cannot be used: {reason}; if it is a cache, it can be deleted")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the storage engine said.
        reason: String,
    },
}

/// Remembers the vectors of another embedder in a file of bounded size.
///
/// Safe to share between threads; one process at a time. What is damaged on disk is embedded again, and so is all else
/// when the disk fails: that is told as a `tracing` event, and never keeps a text from being embedded. Texts that occur
/// more than once in a batch are embedded once. When the file is full, the oldest entries go.
#[derive(Debug)]
pub struct CachedEmbedder<E> {
    inner: E,
    database: Database,
    path: PathBuf,
    capacity: u64,
    unsynced: AtomicUsize,
}

impl<E: Embedder> CachedEmbedder<E> {
    /// Opens or makes the file; it keeps at most `capacity` vectors (of `4 * dim` bytes and about 100 more each).
    ///
    /// # Errors
    /// [`CacheError`] if another process has the file open, or if it is damaged or something else.
    pub fn open(inner: E, path: &Path, capacity: usize) -> Result<Self, CacheError> {
        let failed = |error: redb::Error| failure(path, &error);
        let database = Database::create(path).map_err(|error| failed(error.into()))?;
        let cache =
            Self { inner, database, path: path.to_owned(), capacity: capacity as u64, unsynced: 0.into() };
        cache.create_tables().map_err(failed)?;
        Ok(cache)
    }

    /// The embedder whose vectors are remembered.
    pub fn inner(&self) -> &E {
        &self.inner
    }

    /// Number of vectors in the file.
    ///
    /// # Errors
    /// [`CacheError`] if the file cannot be read.
    pub fn len(&self) -> Result<u64, CacheError> {
        let count = || Ok(self.database.begin_read()?.open_table(VECTORS)?.len()?);
        count().map_err(|error: redb::Error| failure(&self.path, &error))
    }

    /// Whether the file holds no vector.
    ///
    /// # Errors
    /// As [`CachedEmbedder::len`].
    pub fn is_empty(&self) -> Result<bool, CacheError> {
        Ok(self.len()? == 0)
    }

    /// Forgets everything, for good: the entries are gone from disk when this returns.
    ///
    /// # Errors
    /// [`CacheError`] if the file cannot be written.
    pub fn clear(&mut self) -> Result<(), CacheError> {
        let mut clear = || {
            // Free pages of a file still hold what was in them, so the file itself goes. Until there is a new one, or
            // if there cannot be one, vectors are kept in memory.
            let memory = Database::builder().create_with_backend(InMemoryBackend::new())?;
            drop(std::mem::replace(&mut self.database, memory));
            self.create_tables()?;
            std::fs::remove_file(&self.path)?;
            self.database = Database::create(&self.path)?;
            self.create_tables()
        };
        clear().map_err(|error: redb::Error| failure(&self.path, &error))
    }

    fn create_tables(&self) -> Result<(), redb::Error> {
        let write = self.database.begin_write()?;
        write.open_table(VECTORS)?;
        write.open_table(ARRIVALS)?;
        Ok(write.commit()?)
    }

    fn key(&self, text: &str) -> Key {
        let model = self.inner.model_id();
        let mut hash = Sha256::new();
        hash.update((model.len() as u64).to_le_bytes());
        hash.update(model);
        hash.update((self.inner.dim() as u64).to_le_bytes());
        hash.update(text);
        hash.finalize().into()
    }

    /// Fills the rows of known keys; those that stay empty are missing or damaged.
    fn look_up(&self, rows: &mut BTreeMap<Key, Vec<f32>>) -> Result<(), redb::Error> {
        let table = self.database.begin_read()?.open_table(VECTORS)?;
        for (key, row) in rows {
            if let Some(entry) = table.get(key)?
                && let Some(values) = decode(key, entry.value(), self.inner.dim())
            {
                *row = values;
            }
        }
        Ok(())
    }

    fn store<'a>(
        &self,
        rows: impl ExactSizeIterator<Item = (&'a Key, &'a [f32])>,
    ) -> Result<(), redb::Error> {
        let added = rows.len();
        let mut write = self.database.begin_write()?;
        let unsynced = self.unsynced.load(Ordering::Relaxed) + added;
        let sync = unsynced >= SYNC_AFTER;
        write.set_durability(if sync { Durability::Immediate } else { Durability::None })?;
        {
            let (mut vectors, mut arrivals) = (write.open_table(VECTORS)?, write.open_table(ARRIVALS)?);
            let next = arrivals.last()?.map_or(0, |(last, _)| last.value() + 1);
            for (arrival, (key, row)) in (next..).zip(rows) {
                let old = vectors.insert(key, &*encode(key, arrival, row))?;
                if let Some(replaced) = old.and_then(|old| arrival_of(old.value())) {
                    arrivals.remove(replaced)?;
                }
                arrivals.insert(arrival, key)?;
            }
            while arrivals.len()? > self.capacity {
                let Some((place, oldest)) = arrivals.pop_first()? else { break };
                // An entry that was damaged and mended has come anew, and its old place is nobody's.
                let current = vectors.get(oldest.value())?.and_then(|entry| arrival_of(entry.value()));
                if current == Some(place.value()) {
                    vectors.remove(oldest.value())?;
                }
            }
        }
        write.commit()?;
        self.unsynced.store(if sync { 0 } else { unsynced }, Ordering::Relaxed);
        Ok(())
    }
}

impl<E: Embedder> Embedder for CachedEmbedder<E> {
    fn model_id(&self) -> &str {
        self.inner.model_id()
    }

    fn dim(&self) -> usize {
        self.inner.dim()
    }

    fn embed(&self, texts: &[&str]) -> Result<Embeddings, EmbedError> {
        let dim = self.inner.dim();
        let keys: Vec<Key> = texts.iter().map(|text| self.key(text)).collect();
        let mut rows: BTreeMap<Key, Vec<f32>> = keys.iter().map(|key| (*key, Vec::new())).collect();
        if let Err(error) = self.look_up(&mut rows) {
            tracing::warn!(path = %self.path.display(), %error, "the embedding cache cannot be read");
        }
        let mut missing: Vec<(&Key, &str)> = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        for (key, text) in keys.iter().zip(texts) {
            if rows[key].is_empty() && seen.insert(key) {
                missing.push((key, text));
            }
        }
        if !missing.is_empty() {
            let unknown: Vec<&str> = missing.iter().map(|(_, text)| *text).collect();
            let found = self.inner.embed(&unknown)?;
            if found.dim() != dim || found.len() != missing.len() {
                return Err(EmbedError::Shape { dim, values: found.as_slice().len() });
            }
            if let Err(error) = self.store(missing.iter().map(|(key, _)| *key).zip(found.rows())) {
                tracing::warn!(path = %self.path.display(), %error, "the embedding cache cannot be written");
            }
            for ((key, _), row) in missing.iter().zip(found.rows()) {
                rows.insert(**key, row.to_vec());
            }
        }
        Embeddings::new(dim, keys.iter().flat_map(|key| &rows[key]).copied().collect())
    }
}

fn failure(path: &Path, error: &redb::Error) -> CacheError {
    match error {
        redb::Error::DatabaseAlreadyOpen => CacheError::InUse { path: path.to_owned() },
        _ => CacheError::Unusable { path: path.to_owned(), reason: error.to_string() },
    }
}

fn encode(key: &Key, arrival: u64, row: &[f32]) -> Vec<u8> {
    let mut bytes = arrival.to_le_bytes().to_vec();
    bytes.extend(row.iter().flat_map(|x| x.to_le_bytes()));
    bytes.extend(checksum(key, &bytes).to_le_bytes());
    bytes
}

fn arrival_of(bytes: &[u8]) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.first_chunk()?))
}

/// The values of an entry, or nothing if it is damaged.
fn decode(key: &Key, bytes: &[u8], dim: usize) -> Option<Vec<f32>> {
    let (content, sum) = bytes.split_last_chunk::<4>()?;
    if content.len() != 8 + 4 * dim || u32::from_le_bytes(*sum) != checksum(key, content) {
        return None;
    }
    let values: Vec<f32> = content[8..].as_chunks().0.iter().map(|&x| f32::from_le_bytes(x)).collect();
    let norm = values.iter().map(|x| x * x).sum::<f32>().sqrt();
    // This is false for what is not finite.
    ((norm - 1.0).abs() <= NORM_TOLERANCE).then_some(values)
}

fn checksum(key: &Key, content: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(key);
    hasher.update(content);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::HashEmbedder;

    #[test]
    fn damaged_entries_are_embedded_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let cache =
            CachedEmbedder::open(HashEmbedder::new(8), &folder.path().join("c"), 10).expect("a cache");
        let sound = cache.embed(&["some text"]).expect("a vector");
        let key = cache.key("some text");
        let entry = encode(&key, 0, sound.as_slice());
        let mut damages: Vec<Vec<u8>> = vec![vec![], vec![1; 3], entry[..20].to_vec()];
        damages.extend((0..entry.len()).map(|at| {
            let mut damaged = entry.clone();
            damaged[at] ^= 0x10;
            damaged
        }));
        // Sound by its sum, and still no vector.
        damages.extend([f32::NAN, f32::INFINITY, 0.0, 2.0].map(|x| encode(&key, 0, &[x; 8])));
        damages.push(encode(&key, 0, &[1.0]));
        damages.push(encode(&[7; 32], 0, sound.as_slice()));
        for damaged in damages {
            let write = cache.database.begin_write().expect("a transaction");
            write.open_table(VECTORS).expect("the table").insert(&key, &*damaged).expect("an entry");
            write.commit().expect("a commit");
            assert_eq!(cache.embed(&["some text"]).expect("a vector"), sound);
            let mut rows = BTreeMap::from([(key, Vec::new())]);
            cache.look_up(&mut rows).expect("the table");
            assert_eq!(rows[&key], sound.as_slice(), "the entry is mended");
        }
        assert_eq!(cache.len().expect("a number"), 1);
    }
}
