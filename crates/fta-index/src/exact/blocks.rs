//! Blocks of values that are in memory or in a mapped file.

#![expect(unsafe_code, reason = "a file is mapped into memory; the block says why it is sound")]

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use bytemuck::Pod;
use memmap2::Mmap;

use crate::{error::IndexError, file::Contents};

/// Rows of a block: their scores stay in the first-level cache, and the rows of MiniLM in the second.
pub(super) const BLOCK_ROWS: usize = 256;

/// A check of the values of a block, beyond their checksum; the error says what is wrong.
pub(super) type BlockCheck<T> = Box<dyn Fn(&[T]) -> Result<(), String> + Send + Sync>;

/// A section of a mapped index file. Each block of it is checked when it is first read.
struct Mapping<T> {
    map: Mmap,
    path: PathBuf,
    start: usize,
    block: usize,
    length: usize,
    sums: Vec<u32>,
    checked: Box<[AtomicBool]>,
    check: BlockCheck<T>,
}

impl<T: Pod> Mapping<T> {
    fn block(&self, number: usize) -> Result<&[T], IndexError> {
        let from = number * self.block;
        let bytes = &self.map[self.start + from..self.start + (from + self.block).min(self.length)];
        let damaged = |reason: String| IndexError::File { path: self.path.clone(), reason };
        let values = bytemuck::try_cast_slice(bytes).map_err(|error| damaged(error.to_string()))?;
        if !self.checked[number].load(Ordering::Acquire) {
            if crc32fast::hash(bytes) != self.sums[number] {
                return Err(damaged("a checksum is wrong".to_owned()));
            }
            (self.check)(values).map_err(damaged)?;
            self.checked[number].store(true, Ordering::Release);
        }
        Ok(values)
    }
}

#[derive(Debug, Clone)]
enum Block<T> {
    Owned(Vec<T>),
    /// Block of the mapping.
    Mapped(usize),
}

/// A list of blocks.
pub(super) struct Blocks<T> {
    blocks: Vec<Block<T>>,
    mapping: Option<Arc<Mapping<T>>>,
}

impl<T> Default for Blocks<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), mapping: None }
    }
}

impl<T: Clone> Clone for Blocks<T> {
    fn clone(&self) -> Self {
        Self { blocks: self.blocks.clone(), mapping: self.mapping.clone() }
    }
}

impl<T> std::fmt::Debug for Blocks<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Blocks").field("len", &self.blocks.len()).finish_non_exhaustive()
    }
}

impl<T: Pod> Blocks<T> {
    /// Takes blocks that were read.
    pub(super) fn owned(blocks: Vec<Vec<T>>) -> Self {
        Self { blocks: blocks.into_iter().map(Block::Owned).collect(), mapping: None }
    }

    /// Maps a section of a file; nothing of it is read yet but its last block if that is not whole, which would
    /// have to be copied with the next row.
    pub(super) fn map(
        contents: &Contents,
        section: usize,
        path: &Path,
        check: BlockCheck<T>,
    ) -> Result<Self, IndexError> {
        let io_error = |source| IndexError::Io { path: path.to_owned(), source };
        // SAFETY: the mapping is only read. That nobody writes to the file is the contract of `VectorIndex::open`;
        // our own `save` replaces files by renaming and never writes to one that is there.
        let map = unsafe { Mmap::map(contents.file()) }.map_err(io_error)?;
        let (length, block) = (contents.length(section) as usize, contents.block(section) as usize);
        let n_blocks = length.div_ceil(block.max(1));
        let mapping = Mapping {
            map,
            path: path.to_owned(),
            start: contents.start(section) as usize,
            block,
            length,
            sums: (0..n_blocks).filter_map(|number| contents.sum(section, number)).collect(),
            checked: (0..n_blocks).map(|_| AtomicBool::new(false)).collect(),
            check,
        };
        // The length was checked when the file was opened; it may have been cut since.
        if mapping.map.len() < mapping.start + length {
            return Err(IndexError::File { path: path.to_owned(), reason: "it ends too early".to_owned() });
        }
        let mut blocks: Vec<Block<T>> = (0..n_blocks).map(Block::Mapped).collect();
        if !length.is_multiple_of(block.max(1))
            && let Some(last) = blocks.last_mut()
        {
            *last = Block::Owned(mapping.block(n_blocks - 1)?.to_vec());
        }
        Ok(Self { blocks, mapping: Some(Arc::new(mapping)) })
    }

    pub(super) fn len(&self) -> usize {
        self.blocks.len()
    }

    /// Values of a block.
    pub(super) fn get(&self, number: usize) -> Result<&[T], IndexError> {
        match &self.blocks[number] {
            Block::Owned(values) => Ok(values),
            Block::Mapped(number) => self.mapping().block(*number),
        }
    }

    /// Values of a block to change; a mapped block is copied first.
    pub(super) fn get_mut(&mut self, number: usize) -> Result<&mut Vec<T>, IndexError> {
        if let Block::Mapped(mapped) = self.blocks[number] {
            let copy = self.mapping().block(mapped)?.to_vec();
            self.blocks[number] = Block::Owned(copy);
        }
        match &mut self.blocks[number] {
            Block::Owned(values) => Ok(values),
            Block::Mapped(_) => unreachable!("it was copied just now"),
        }
    }

    pub(super) fn push(&mut self, values: Vec<T>) {
        self.blocks.push(Block::Owned(values));
    }

    pub(super) fn pop(&mut self) {
        self.blocks.pop();
    }

    fn mapping(&self) -> &Mapping<T> {
        self.mapping.as_deref().expect("mapped blocks come with their mapping")
    }
}
