//! How one record is written: `[record version u8][crc32 of the payload, u32 LE][payload]`, and how keys are built.
//!
//! The payload is the bincode of the stored type; for a vector, its values as little-endian `f32`. bincode is not
//! self-describing, so any change of a stored type needs a new [`RECORD_VERSION`]; `store/redb/tests.rs` compares the
//! bytes of one record of each kind with a fixture to enforce that.

use serde::{Serialize, de::DeserializeOwned};

use crate::unit::UnitId;

/// Version of the record layout and of all stored types.
pub(crate) const RECORD_VERSION: u8 = 1;

/// Longest payload that is written.
pub(crate) const MAX_PAYLOAD: usize = 64 << 20;

const ENVELOPE: usize = 5;
/// Decoding may claim more than the payload's length, since decoded values are wider than their bytes.
const DECODE_LIMIT: usize = 4 * MAX_PAYLOAD;

/// A record that cannot be written or read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RecordError {
    /// The payload is longer than [`MAX_PAYLOAD`].
    TooLarge(usize),
    /// Another record version.
    Version(u8),
    /// The bytes are not what was written.
    Damaged(String),
}

/// Record of a value.
pub(crate) fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, RecordError> {
    let payload = bincode::serde::encode_to_vec(value, bincode::config::standard())
        .map_err(|e| RecordError::Damaged(e.to_string()))?;
    seal(&payload)
}

/// Value of a record.
pub(crate) fn decode<T: DeserializeOwned>(record: &[u8]) -> Result<T, RecordError> {
    let payload = open(record)?;
    let config = bincode::config::standard().with_limit::<DECODE_LIMIT>();
    let (value, consumed) = bincode::serde::decode_from_slice(payload, config)
        .map_err(|e| RecordError::Damaged(format!("record cannot be decoded: {e}")))?;
    if consumed != payload.len() {
        return Err(RecordError::Damaged(format!("record has {} bytes too many", payload.len() - consumed)));
    }
    Ok(value)
}

/// Record of a vector.
pub(crate) fn encode_vector(values: &[f32]) -> Result<Vec<u8>, RecordError> {
    let payload: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    seal(&payload)
}

/// Vector of a record.
pub(crate) fn decode_vector(record: &[u8]) -> Result<Vec<f32>, RecordError> {
    let (values, rest) = open(record)?.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(RecordError::Damaged("vector is cut off".to_owned()));
    }
    Ok(values.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
}

fn seal(payload: &[u8]) -> Result<Vec<u8>, RecordError> {
    if payload.len() > MAX_PAYLOAD {
        return Err(RecordError::TooLarge(payload.len()));
    }
    let mut record = Vec::with_capacity(ENVELOPE + payload.len());
    record.push(RECORD_VERSION);
    record.extend(crc32fast::hash(payload).to_le_bytes());
    record.extend(payload);
    Ok(record)
}

fn open(record: &[u8]) -> Result<&[u8], RecordError> {
    let Some(([version, crc @ ..], payload)) = record.split_first_chunk::<ENVELOPE>() else {
        return Err(RecordError::Damaged("record is cut off".to_owned()));
    };
    if *version != RECORD_VERSION {
        return Err(RecordError::Version(*version));
    }
    if u32::from_le_bytes(*crc) != crc32fast::hash(payload) {
        return Err(RecordError::Damaged("record has a wrong checksum".to_owned()));
    }
    Ok(payload)
}

/// Key of a record: the namespace, a zero byte, the record's own key.
///
/// A namespace holds no control character, so the zero byte ends it, and no name's keys lie within another's even if
/// one name begins with the other.
pub(crate) fn key(namespace: &str, parts: &[&[u8]]) -> Vec<u8> {
    let mut key = Vec::with_capacity(namespace.len() + 1 + parts.iter().map(|p| p.len()).sum::<usize>());
    key.extend(namespace.as_bytes());
    key.push(0);
    for part in parts {
        key.extend(*part);
    }
    key
}

/// First key past all keys that start with `prefix`.
pub(crate) fn after(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return end;
        }
    }
    // Only reached for a prefix of 0xff bytes alone; a namespace is text, so its keys never are.
    vec![u8::MAX; prefix.len() + 1]
}

/// Big-endian bytes of a unit id, so that keys sort as ids do.
pub(crate) fn id_bytes(id: UnitId) -> [u8; 8] {
    id.0.to_be_bytes()
}
