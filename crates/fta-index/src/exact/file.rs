//! The file of an [`ExactIndex`](super::ExactIndex), little-endian throughout:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | magic `FTAEXACT` |
//! | 4 | format version |
//! | 4 | dimension |
//! | 8 | number of vectors `n` |
//! | `8 n` | ids, strictly rising |
//! | `4 n * dim` | vectors, in the order of the ids |
//! | 4 | CRC-32 of all before |

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::Path;

use crate::check::{ID_BOUND, check_unit};
use crate::error::IndexError;
use crate::vector::VectorId;

const MAGIC: &[u8; 8] = b"FTAEXACT";
const VERSION: u32 = 1;
const HEADER_BYTES: u64 = 24;
const CHECKSUM_BYTES: u64 = 4;

/// Writes vectors in strictly rising order of their ids to a temporary file beside `path`, syncs it and renames
/// it, so that a reader sees the old file or the new one.
pub(super) fn write<'a>(
    path: &Path,
    dim: usize,
    vectors: impl ExactSizeIterator<Item = (VectorId, &'a [f32])> + Clone,
) -> Result<(), IndexError> {
    let io_error = |source| IndexError::Io { path: path.to_owned(), source };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let temporary = tempfile::NamedTempFile::new_in(directory).map_err(io_error)?;
    write_to(temporary.as_file(), dim, vectors).map_err(io_error)?;
    temporary.persist(path).map_err(|failed| io_error(failed.error))?;
    // The rename itself must reach the disk too; where folders cannot be opened there is nothing to sync.
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    Ok(())
}

fn write_to<'a>(
    file: &File,
    dim: usize,
    vectors: impl ExactSizeIterator<Item = (VectorId, &'a [f32])> + Clone,
) -> io::Result<()> {
    let dim = u32::try_from(dim).map_err(io::Error::other)?;
    let mut out = Summed { inner: BufWriter::new(file), checksum: crc32fast::Hasher::new() };
    out.write_all(MAGIC)?;
    out.write_all(&VERSION.to_le_bytes())?;
    out.write_all(&dim.to_le_bytes())?;
    out.write_all(&(vectors.len() as u64).to_le_bytes())?;
    for (id, _) in vectors.clone() {
        out.write_all(&id.to_le_bytes())?;
    }
    let mut bytes = Vec::with_capacity(4 * dim as usize);
    for (_, vector) in vectors {
        bytes.clear();
        bytes.extend(vector.iter().flat_map(|x| x.to_le_bytes()));
        out.write_all(&bytes)?;
    }
    let Summed { mut inner, checksum } = out;
    inner.write_all(&checksum.finalize().to_le_bytes())?;
    inner.flush()?;
    file.sync_all()
}

/// Reads ids and vectors (`[ids.len(), dim]`), after having checked everything that can be checked.
pub(super) fn read(path: &Path, dim: usize) -> Result<(Vec<VectorId>, Vec<f32>), IndexError> {
    let io_error = |source| IndexError::Io { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(io_error)?;
    if !metadata.is_file() {
        return Err(IndexError::File { path: path.to_owned(), reason: "not a regular file".to_owned() });
    }
    let file = File::open(path).map_err(io_error)?;
    let length = file.metadata().map_err(io_error)?.len();
    read_from(file, length, dim).map_err(|failure| match failure {
        // The length was checked, so a file that ends early was cut while it was read.
        Failure::Io(source) if source.kind() == io::ErrorKind::UnexpectedEof => {
            IndexError::File { path: path.to_owned(), reason: "it ends too early".to_owned() }
        }
        Failure::Io(source) => io_error(source),
        Failure::Damaged(reason) => IndexError::File { path: path.to_owned(), reason },
    })
}

enum Failure {
    Io(io::Error),
    Damaged(String),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn damaged<T>(reason: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Damaged(reason.into()))
}

fn read_from(file: impl Read, length: u64, dim: usize) -> Result<(Vec<VectorId>, Vec<f32>), Failure> {
    if length < HEADER_BYTES + CHECKSUM_BYTES {
        return damaged("it is too short");
    }
    let mut input = Summed { inner: BufReader::new(file), checksum: crc32fast::Hasher::new() };
    if &input.array::<8>()? != MAGIC {
        return damaged("it is no file of an exact index");
    }
    let version = u32::from_le_bytes(input.array()?);
    if version != VERSION {
        return damaged(format!("format version `{version}` is unknown, expected `{VERSION}`"));
    }
    let found_dim = u32::from_le_bytes(input.array()?);
    if found_dim as usize != dim {
        return damaged(format!("its vectors have dimension `{found_dim}`, expected `{dim}`"));
    }
    let count = u64::from_le_bytes(input.array()?);
    // Checked before anything is allocated: a damaged count must not ask for the machine's memory.
    let expected = (8 + 4 * u64::from(found_dim)).checked_mul(count);
    if expected.and_then(|body| body.checked_add(HEADER_BYTES + CHECKSUM_BYTES)) != Some(length) {
        return damaged(format!("`{length}` bytes do not fit `{count}` vectors"));
    }
    let count = count as usize;
    let mut ids = Vec::with_capacity(count);
    for _ in 0..count {
        ids.push(u64::from_le_bytes(input.array()?));
    }
    let mut rows = Vec::with_capacity(count * dim);
    let mut bytes = vec![0; 4 * dim];
    for _ in 0..count {
        input.fill(&mut bytes)?;
        rows.extend(bytes.as_chunks::<4>().0.iter().map(|&value| f32::from_le_bytes(value)));
    }
    let Summed { mut inner, checksum } = input;
    let mut stored = [0; 4];
    inner.read_exact(&mut stored)?;
    if u32::from_le_bytes(stored) != checksum.finalize() {
        return damaged("its checksum is wrong");
    }
    check_content(dim, &ids, &rows)?;
    Ok((ids, rows))
}

/// A right checksum does not make the content legal: whoever can write the file can compute it.
fn check_content(dim: usize, ids: &[VectorId], rows: &[f32]) -> Result<(), Failure> {
    if ids.windows(2).any(|pair| pair[0] >= pair[1]) || ids.last().is_some_and(|&id| id >= ID_BOUND) {
        return damaged("its ids are out of order or out of range");
    }
    for (row, vector) in rows.chunks_exact(dim).enumerate() {
        check_unit(row, vector).or_else(|error| damaged(error.to_string()))?;
    }
    Ok(())
}

/// A reader or writer that sums up what passes through it.
struct Summed<T> {
    inner: T,
    checksum: crc32fast::Hasher,
}

impl<W: Write> Summed<W> {
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.checksum.update(bytes);
        self.inner.write_all(bytes)
    }
}

impl<R: Read> Summed<R> {
    fn fill(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.checksum.update(bytes);
        Ok(())
    }

    fn array<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }
}
