//! The file of an index, whatever back end wrote it: a header that is checked before anything else is read, then
//! sections of bytes with a checksum for each block. Little-endian throughout.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | magic `FTAINDEX` |
//! | 4 | format version |
//! | 4 | length of the header `h`, this table up to its checksum |
//! | 2 + n | kind of the index, which names the back end and what its sections mean |
//! | 2 + n | id of the model that made the vectors |
//! | 8 | generation: a number of the caller's |
//! | 4 | dimension |
//! | 1 | metric: 1, inner product of unit vectors |
//! | 8 | number of vectors |
//! | 4 | number of sections; for each of them: |
//! | 8 + 4 | length of the section, length of its blocks |
//! | 4 each | CRC-32 of each block |
//! | 4 | CRC-32 of the header |
//!
//! Sections follow in order, each from a multiple of 64 on, with zeros between them and nothing after the last.

use std::{
    fs::File,
    io::{self, BufWriter, Read, Seek as _, SeekFrom, Write},
    path::{Path, PathBuf},
};

use crate::error::IndexError;

const MAGIC: &[u8; 8] = b"FTAINDEX";
const VERSION: u32 = 2;
const INNER_PRODUCT: u8 = 1;
/// Sections start at multiples of this, so that a mapped section is aligned for every vector unit.
const ALIGNMENT: u64 = 64;
/// No header is longer: room for the sums of some hundred million blocks would be a damaged length.
const LONGEST_HEADER: u64 = 1 << 28;
/// Blocks of sections that name no size of their own.
pub(crate) const BLOCK_BYTES: u32 = 1 << 20;

/// What the owner of an index says of its vectors; kept in the file and given back by
/// [`VectorIndex::load`](crate::VectorIndex::load).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Label {
    /// Id of the model that made the vectors: vectors of different models must never be compared.
    pub model_id: String,
    /// A number of the owner's own, for example how much of a store the index has seen.
    pub generation: u64,
}

/// What a file says of its index before any vector is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Header {
    /// Back end and setting, at most 1,000 bytes.
    pub(crate) kind: String,
    pub(crate) label: Label,
    pub(crate) dim: usize,
    /// Number of vectors.
    pub(crate) count: u64,
}

/// A section to write: its exact length is known before its bytes are.
pub(crate) struct Section<'a> {
    pub(crate) length: u64,
    /// A checksum covers so many bytes.
    pub(crate) block: u32,
    /// Writes exactly `length` bytes.
    pub(crate) write: &'a mut dyn FnMut(&mut dyn Write) -> io::Result<()>,
}

/// Writes an index to a temporary file beside `path`, syncs it and renames it, so that a reader sees the old file or
/// the new one.
///
/// # Errors
/// [`IndexError::Io`] if the file cannot be written.
pub(crate) fn write(path: &Path, header: &Header, sections: &mut [Section<'_>]) -> Result<(), IndexError> {
    let io_error = |source| IndexError::Io { path: path.to_owned(), source };
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let temporary = tempfile::NamedTempFile::new_in(directory).map_err(io_error)?;
    write_to(temporary.as_file(), header, sections).map_err(io_error)?;
    temporary.persist(path).map_err(|failed| io_error(failed.error))?;
    // The rename itself must reach the disk too; where folders cannot be opened there is nothing to sync.
    if let Ok(directory) = File::open(directory) {
        let _ = directory.sync_all();
    }
    Ok(())
}

fn write_to(file: &File, header: &Header, sections: &mut [Section<'_>]) -> io::Result<()> {
    let mut layouts: Vec<Layout> = sections.iter().map(|s| Layout::new(s.length, s.block)).collect();
    let head = encode(header, &layouts)?;
    let mut out = BufWriter::with_capacity(1 << 16, file);
    // The sums are not known yet; the header is written again at the end.
    out.write_all(&head)?;
    let mut at = head.len() as u64;
    for (section, layout) in sections.iter_mut().zip(&mut layouts) {
        let start = at.next_multiple_of(ALIGNMENT);
        out.write_all(&[0; ALIGNMENT as usize][..(start - at) as usize])?;
        let mut summed = Summed::new(&mut out, layout.block);
        (section.write)(&mut summed)?;
        let (sums, length) = summed.finish();
        if length != layout.length {
            return Err(io::Error::other("a section has another length than was said"));
        }
        layout.sums = sums;
        at = start + length;
    }
    out.seek(SeekFrom::Start(0))?;
    out.write_all(&encode(header, &layouts)?)?;
    out.flush()?;
    file.sync_all()
}

fn encode(header: &Header, layouts: &[Layout]) -> io::Result<Vec<u8>> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend(VERSION.to_le_bytes());
    bytes.extend([0; 4]);
    for text in [&header.kind, &header.label.model_id] {
        let length = u16::try_from(text.len()).map_err(|_| io::Error::other("a name is too long"))?;
        bytes.extend(length.to_le_bytes());
        bytes.extend(text.as_bytes());
    }
    bytes.extend(header.label.generation.to_le_bytes());
    bytes.extend(u32::try_from(header.dim).map_err(io::Error::other)?.to_le_bytes());
    bytes.push(INNER_PRODUCT);
    bytes.extend(header.count.to_le_bytes());
    bytes.extend((layouts.len() as u32).to_le_bytes());
    for layout in layouts {
        bytes.extend(layout.length.to_le_bytes());
        bytes.extend(layout.block.to_le_bytes());
        bytes.extend(layout.sums.iter().flat_map(|sum| sum.to_le_bytes()));
    }
    let length = u32::try_from(bytes.len() + 4).map_err(io::Error::other)?;
    bytes[12..16].copy_from_slice(&length.to_le_bytes());
    let sum = crc32fast::hash(&bytes);
    bytes.extend(sum.to_le_bytes());
    Ok(bytes)
}

/// Length and checksums of a section.
#[derive(Debug, Clone)]
struct Layout {
    length: u64,
    block: u32,
    sums: Vec<u32>,
}

impl Layout {
    fn new(length: u64, block: u32) -> Self {
        let block = block.max(1);
        Self { length, block, sums: vec![0; length.div_ceil(u64::from(block)) as usize] }
    }
}

/// Passes bytes on and sums up each block of them.
struct Summed<W> {
    inner: W,
    block: u32,
    room: u32,
    hasher: crc32fast::Hasher,
    sums: Vec<u32>,
    length: u64,
}

impl<W: Write> Summed<W> {
    fn new(inner: W, block: u32) -> Self {
        let hasher = crc32fast::Hasher::new();
        Self { inner, block, room: block, hasher, sums: Vec::new(), length: 0 }
    }

    fn finish(mut self) -> (Vec<u32>, u64) {
        if self.room < self.block {
            self.sums.push(self.hasher.finalize());
        }
        (self.sums, self.length)
    }
}

impl<W: Write> Write for Summed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = &bytes[..bytes.len().min(self.room as usize)];
        let n = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..n]);
        self.length += n as u64;
        self.room -= n as u32;
        if self.room == 0 {
            self.room = self.block;
            self.sums.push(std::mem::take(&mut self.hasher).finalize());
        }
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

/// An index file whose header was checked.
#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) header: Header,
    path: PathBuf,
    file: File,
    sections: Vec<(u64, Layout)>,
}

impl Contents {
    /// Opens a file and checks its header, its length and the bytes between sections; reads no section.
    ///
    /// # Errors
    /// [`IndexError::Io`] if it cannot be read; [`IndexError::File`] if it is no index file, is damaged, or is of
    /// another kind or dimension.
    pub(crate) fn open(path: &Path, kind: &str, dim: usize) -> Result<Self, IndexError> {
        let io_error = |source| IndexError::Io { path: path.to_owned(), source };
        let refuse = |reason: String| IndexError::File { path: path.to_owned(), reason };
        if !std::fs::metadata(path).map_err(io_error)?.is_file() {
            return Err(refuse("not a regular file".to_owned()));
        }
        let file = File::open(path).map_err(io_error)?;
        let length = file.metadata().map_err(io_error)?.len();
        let mut contents = Self::read_header(path, file, length)?;
        let header = &contents.header;
        if header.kind != kind {
            return Err(refuse(format!("it is an index of kind `{}`, expected `{kind}`", header.kind)));
        }
        if header.dim != dim {
            return Err(refuse(format!("its vectors have dimension `{}`, expected `{dim}`", header.dim)));
        }
        contents.check_gaps(length)?;
        Ok(contents)
    }

    fn read_header(path: &Path, mut file: File, length: u64) -> Result<Self, IndexError> {
        let refuse = |reason: &str| IndexError::File { path: path.to_owned(), reason: reason.to_owned() };
        let failed = |source: io::Error| read_failure(path, source);
        let mut start = [0; 16];
        if length < start.len() as u64 {
            return Err(refuse("it is too short"));
        }
        file.read_exact(&mut start).map_err(failed)?;
        if &start[..8] != MAGIC {
            return Err(refuse("it is no index file"));
        }
        let version = u32::from_le_bytes([start[8], start[9], start[10], start[11]]);
        if version != VERSION {
            return Err(refuse(&format!("format version `{version}` is unknown, expected `{VERSION}`")));
        }
        let head = u64::from(u32::from_le_bytes([start[12], start[13], start[14], start[15]]));
        // Checked before anything is allocated: a damaged length must not ask for the machine's memory.
        if head < 20 || head > length.min(LONGEST_HEADER) {
            return Err(refuse("its header is cut or damaged"));
        }
        let mut bytes = start.to_vec();
        bytes.resize(head as usize, 0);
        file.read_exact(&mut bytes[16..]).map_err(failed)?;
        let (body, sum) = bytes.split_at(bytes.len() - 4);
        if crc32fast::hash(body).to_le_bytes() != sum {
            return Err(refuse("the checksum of its header is wrong"));
        }
        let (header, layouts) = decode(&body[16..]).ok_or_else(|| refuse("its header makes no sense"))?;
        let mut at = head;
        let mut sections = Vec::with_capacity(layouts.len());
        for layout in layouts {
            let start = at.next_multiple_of(ALIGNMENT);
            at = start.checked_add(layout.length).ok_or_else(|| refuse("its header makes no sense"))?;
            sections.push((start, layout));
        }
        if at != length {
            return Err(refuse(&format!("it has `{length}` bytes, expected `{at}`")));
        }
        Ok(Self { header, path: path.to_owned(), file, sections })
    }

    fn check_gaps(&mut self, length: u64) -> Result<(), IndexError> {
        let ends = self.sections.iter().map(|(start, layout)| start + layout.length);
        let starts = self.sections.iter().map(|(start, _)| *start).skip(1).chain([length]);
        let head_end = self.head_length();
        let first = self.sections.first().map_or(length, |(start, _)| *start);
        let gaps: Vec<(u64, u64)> = [(head_end, first)].into_iter().chain(ends.zip(starts)).collect();
        for (from, to) in gaps {
            let bytes = self.read_range(from, to.saturating_sub(from))?;
            if bytes.iter().any(|&byte| byte != 0) {
                return Err(self.damaged("there are bytes between its sections"));
            }
        }
        Ok(())
    }

    fn head_length(&self) -> u64 {
        let names = self.header.kind.len() + self.header.label.model_id.len();
        let table: usize = self.sections.iter().map(|(_, layout)| 12 + 4 * layout.sums.len()).sum();
        (16 + 4 + names + 8 + 4 + 1 + 8 + 4 + table + 4) as u64
    }

    /// Number of sections.
    pub(crate) fn n_sections(&self) -> usize {
        self.sections.len()
    }

    /// Length of a section in bytes; 0 for one that is not there.
    pub(crate) fn length(&self, section: usize) -> u64 {
        self.sections.get(section).map_or(0, |(_, layout)| layout.length)
    }

    /// Bytes that a checksum of a section covers; 0 for a section that is not there.
    pub(crate) fn block(&self, section: usize) -> u32 {
        self.sections.get(section).map_or(0, |(_, layout)| layout.block)
    }

    /// Where a section starts in the file.
    pub(crate) fn start(&self, section: usize) -> u64 {
        self.sections.get(section).map_or(0, |(start, _)| *start)
    }

    /// Checksum of a block of a section.
    pub(crate) fn sum(&self, section: usize, block: usize) -> Option<u32> {
        self.sections.get(section).and_then(|(_, layout)| layout.sums.get(block).copied())
    }

    /// The file.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Reads a whole section and checks it.
    ///
    /// # Errors
    /// [`IndexError::Io`] if it cannot be read, [`IndexError::File`] if it is damaged.
    pub(crate) fn read(&mut self, section: usize) -> Result<Vec<u8>, IndexError> {
        let mut bytes = Vec::with_capacity(self.length(section) as usize);
        self.read_blocks(section, |_, block| {
            bytes.extend_from_slice(block);
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Reads a section block by block and gives each, checked, to `each` with its number.
    ///
    /// # Errors
    /// As [`Contents::read`], and what `each` gives.
    pub(crate) fn read_blocks(
        &mut self,
        section: usize,
        mut each: impl FnMut(usize, &[u8]) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        let Some((start, layout)) = self.sections.get(section).cloned() else {
            return Err(self.damaged("a section is missing"));
        };
        for (number, &sum) in layout.sums.iter().enumerate() {
            let from = number as u64 * u64::from(layout.block);
            let length = u64::from(layout.block).min(layout.length - from);
            let bytes = self.read_range(start + from, length)?;
            if crc32fast::hash(&bytes) != sum {
                return Err(self.damaged("a checksum is wrong"));
            }
            each(number, &bytes)?;
        }
        Ok(())
    }

    fn read_range(&mut self, from: u64, length: u64) -> Result<Vec<u8>, IndexError> {
        let mut bytes = vec![0; length as usize];
        let read = self.file.seek(SeekFrom::Start(from)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|source| read_failure(&self.path, source))?;
        Ok(bytes)
    }

    /// The error that says that this file is damaged.
    pub(crate) fn damaged(&self, reason: &str) -> IndexError {
        IndexError::File { path: self.path.clone(), reason: reason.to_owned() }
    }
}

/// The length was checked, so a file that ends early was cut while it was read.
fn read_failure(path: &Path, source: io::Error) -> IndexError {
    if source.kind() == io::ErrorKind::UnexpectedEof {
        IndexError::File { path: path.to_owned(), reason: "it ends too early".to_owned() }
    } else {
        IndexError::Io { path: path.to_owned(), source }
    }
}

/// Reads a header after its first 16 bytes and without its checksum; `None` if the bytes do not fit.
fn decode(bytes: &[u8]) -> Option<(Header, Vec<Layout>)> {
    let mut rest = bytes;
    let kind = take_text(&mut rest)?;
    let model_id = take_text(&mut rest)?;
    let generation = u64::from_le_bytes(take(&mut rest)?);
    let dim = u32::from_le_bytes(take(&mut rest)?) as usize;
    let [metric] = take(&mut rest)?;
    let count = u64::from_le_bytes(take(&mut rest)?);
    let n_sections = u32::from_le_bytes(take(&mut rest)?);
    let mut layouts = Vec::new();
    for _ in 0..n_sections {
        let length = u64::from_le_bytes(take(&mut rest)?);
        let block = u32::from_le_bytes(take(&mut rest)?);
        if block == 0 || length.div_ceil(u64::from(block)) > rest.len() as u64 / 4 {
            return None;
        }
        let n_sums = length.div_ceil(u64::from(block));
        let sums = (0..n_sums).map(|_| take(&mut rest).map(u32::from_le_bytes)).collect::<Option<_>>()?;
        layouts.push(Layout { length, block, sums });
    }
    let legal = rest.is_empty() && metric == INNER_PRODUCT && dim > 0;
    legal.then_some((Header { kind, label: Label { model_id, generation }, dim, count }, layouts))
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk::<N>()?;
    *bytes = rest;
    Some(*first)
}

fn take_text(bytes: &mut &[u8]) -> Option<String> {
    let length = u16::from_le_bytes(take(bytes)?) as usize;
    let (text, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    String::from_utf8(text.to_vec()).ok()
}
