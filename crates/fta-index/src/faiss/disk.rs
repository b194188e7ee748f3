//! Files of a [`FaissIndex`], in three sections:
//!
//! | section | what |
//! |---|---|
//! | 0 | 1 byte: whether faiss holds the vectors; 8: number of rows; 8: vectors to train at next, or 0; then the kind inside faiss |
//! | 1 | 8 bytes for the id of each row |
//! | 2 | what faiss wrote, or the vectors themselves, `[rows, dim]` |
//!
//! The header names the kind, so an index of another kind is refused. Checksums are compared before faiss sees a
//! byte: it has none of its own, and crashes on damaged files. They guard against damage, not against someone who
//! writes files in order to do harm.

use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::Path,
};

use super::{Collecting, Factory, FaissConfig, FaissIndex, Ready, State, ffi::Native, rows::Rows};
use crate::{
    error::IndexError,
    exact::ExactIndex,
    file::{self, BLOCK_BYTES, Contents, Header, Label, Section},
    vector::{VectorId, VectorIndex as _},
};

const SECTIONS: usize = 3;

/// Names back end and kind in the header.
fn kind(config: &FaissConfig) -> String {
    format!("faiss {}", config.factory)
}

pub(super) fn save(index: &FaissIndex, path: &Path, label: &Label) -> Result<(), IndexError> {
    let header =
        Header { kind: kind(&index.config), label: label.clone(), dim: index.dim, count: index.len() as u64 };
    match &index.state {
        State::Collecting(collecting) => {
            let ids: Vec<VectorId> = collecting.ids.iter().copied().collect();
            let length = 4 * (ids.len() * index.dim) as u64;
            let mut write_vectors = |out: &mut dyn Write| {
                ids.iter().try_for_each(|&id| {
                    let vector = collecting.vector(id).map_err(io::Error::other)?;
                    let bytes: Vec<u8> = vector.iter().flat_map(|x| x.to_le_bytes()).collect();
                    out.write_all(&bytes)
                })
            };
            let head = encode(0, ids.len(), collecting.train_at, "");
            write(path, &header, &head, &ids, (length, &mut write_vectors))
        }
        State::Ready(ready) => {
            let mut length = 0;
            ready.native.write(&mut |piece| {
                length += piece.len() as u64;
                true
            })?;
            let mut write_native = |out: &mut dyn Write| {
                let mut outcome = Ok(());
                let written = ready.native.write(&mut |piece| {
                    outcome = out.write_all(piece);
                    outcome.is_ok()
                });
                // The cause is what `out` said, not that faiss could not go on.
                outcome.and(written.map_err(io::Error::other))
            };
            let head = encode(1, ready.rows.len(), ready.retrain_at.unwrap_or(0), &ready.factory.to_string());
            write(path, &header, &head, ready.rows.ids(), (length, &mut write_native))
        }
    }
}

type Writer<'a> = &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>;

fn write(
    path: &Path,
    header: &Header,
    head: &[u8],
    ids: &[VectorId],
    (length, write): (u64, Writer<'_>),
) -> Result<(), IndexError> {
    let mut write_head = |out: &mut dyn Write| out.write_all(head);
    let mut write_ids = |out: &mut dyn Write| ids.iter().try_for_each(|id| out.write_all(&id.to_le_bytes()));
    let mut sections = [
        Section { length: head.len() as u64, block: BLOCK_BYTES, write: &mut write_head },
        Section { length: 8 * ids.len() as u64, block: BLOCK_BYTES, write: &mut write_ids },
        Section { length, block: BLOCK_BYTES, write },
    ];
    file::write(path, header, &mut sections)
}

fn encode(state: u8, n_rows: usize, next: usize, factory: &str) -> Vec<u8> {
    let mut bytes = vec![state];
    bytes.extend((n_rows as u64).to_le_bytes());
    bytes.extend((next as u64).to_le_bytes());
    bytes.extend(factory.as_bytes());
    bytes
}

/// Section 0.
struct Head {
    state: u8,
    n_rows: usize,
    next: usize,
    factory: Option<Factory>,
}

fn decode(bytes: &[u8]) -> Option<Head> {
    let (&[state], rest) = bytes.split_first_chunk()?;
    let (n_rows, rest) = rest.split_first_chunk()?;
    let (next, factory) = rest.split_first_chunk()?;
    Some(Head {
        state,
        n_rows: usize::try_from(u64::from_le_bytes(*n_rows)).ok()?,
        next: usize::try_from(u64::from_le_bytes(*next)).ok()?,
        factory: std::str::from_utf8(factory).ok()?.parse().ok(),
    })
}

/// Reads a file of the same dimension and kind; every check is made before anything is returned.
pub(super) fn load(dim: usize, config: &FaissConfig, path: &Path) -> Result<(State, Label), IndexError> {
    let mut contents = Contents::open(path, &kind(config), dim)?;
    if contents.n_sections() != SECTIONS {
        return Err(contents.damaged("it has another number of sections than its kind"));
    }
    let head = decode(&contents.read(0)?).ok_or_else(|| contents.damaged("its state makes no sense"))?;
    let ids = contents.read(1)?;
    let ids: Vec<VectorId> = ids.as_chunks::<8>().0.iter().map(|&id| VectorId::from_le_bytes(id)).collect();
    let fits = ids.len() == head.n_rows && contents.length(1) == 8 * ids.len() as u64;
    let rows = Rows::from_ids(ids).filter(|rows| fits && rows.live() as u64 == contents.header.count);
    let rows = rows.ok_or_else(|| contents.damaged("its ids make no sense"))?;
    let bytes = contents.read(2)?;
    let state = match head.state {
        0 => collecting(dim, config, &rows, &bytes).map(State::Collecting),
        1 => ready(dim, config, &head, rows, bytes).map(State::Ready),
        other => Err(format!("its state `{other}` is unknown")),
    };
    let state = state.map_err(|reason| contents.damaged(&reason))?;
    Ok((state, contents.header.label))
}

fn collecting(dim: usize, config: &FaissConfig, rows: &Rows, bytes: &[u8]) -> Result<Collecting, String> {
    if !config.factory.needs_training() || rows.dead() > 0 || bytes.len() != 4 * dim * rows.len() {
        return Err("its vectors do not fit its kind and ids".to_owned());
    }
    let vectors: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|&value| f32::from_le_bytes(value)).collect();
    let mut exact = ExactIndex::new(dim).map_err(|error| error.to_string())?;
    exact.add(rows.ids(), &vectors).map_err(|error| error.to_string())?;
    let ids: BTreeSet<VectorId> = rows.ids().iter().copied().collect();
    Ok(Collecting { exact, ids, train_at: config.train_at() })
}

fn ready(dim: usize, config: &FaissConfig, head: &Head, rows: Rows, bytes: Vec<u8>) -> Result<Ready, String> {
    let factory = head.factory.ok_or("its kind is unknown")?;
    // The file may have a number of lists where the setting leaves it open.
    let same = factory == config.factory
        || matches!(
            (factory, config.factory),
            (Factory::Ivf { lists: Some(_), codes: a }, Factory::Ivf { lists: None, codes: b }) if a == b
        );
    if !same {
        return Err(format!("it holds `{factory}`, expected `{}`", config.factory));
    }
    let mut native = Native::read(dim, factory, config.threads, bytes, rows.len())?;
    config.apply(&mut native).map_err(|error| error.to_string())?;
    let retrain_at = config.retrain_at(1).map(|_| head.next);
    Ok(Ready { native, rows, factory, retrain_at })
}
