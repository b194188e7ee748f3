//! A read-only view of a file that takes writes in memory.
//!
//! The engine repairs a file as it opens it. A file that is no store, or one whose damage cannot be repaired, must stay
//! as it is for whoever wants to rescue it; so a file is first opened through this view, and for real only if that
//! went well.

use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    sync::{Mutex, PoisonError},
};

const PAGE: u64 = 4096;

#[derive(Debug)]
pub(super) struct Overlay {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    file: File,
    /// Bytes below this come from the file unless they were written; above they are zero.
    from_file: u64,
    len: u64,
    written: BTreeMap<u64, Vec<u8>>,
}

impl Overlay {
    pub(super) fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { state: Mutex::new(State { file, from_file: len, len, written: BTreeMap::new() }) })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn read_file(&mut self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let there = self.from_file.saturating_sub(offset).min(out.len() as u64) as usize;
        let (from_file, zero) = out.split_at_mut(there);
        zero.fill(0);
        if from_file.is_empty() {
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(offset))?;
        self.file.read_exact(from_file)
    }

    /// Page numbers that `offset..offset + len` touches.
    fn pages(offset: u64, len: usize) -> std::ops::Range<u64> {
        offset / PAGE..(offset + len as u64).div_ceil(PAGE)
    }

    /// The common part of page `number` and `offset..offset + len`, as ranges of the page and of the buffer.
    fn overlap(number: u64, offset: u64, len: usize) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let start = offset.max(number * PAGE);
        let end = (offset + len as u64).min((number + 1) * PAGE);
        let in_page = (start - number * PAGE) as usize..(end - number * PAGE) as usize;
        let in_buffer = (start - offset) as usize..(end - offset) as usize;
        (in_page, in_buffer)
    }
}

impl redb::StorageBackend for Overlay {
    fn len(&self) -> Result<u64, io::Error> {
        Ok(self.state().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), io::Error> {
        let mut state = self.state();
        if offset.checked_add(out.len() as u64).is_none_or(|end| end > state.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        state.read_file(offset, out)?;
        for (number, page) in state.written.range(State::pages(offset, out.len())) {
            let (in_page, in_buffer) = State::overlap(*number, offset, out.len());
            out[in_buffer].copy_from_slice(&page[in_page]);
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> Result<(), io::Error> {
        let mut state = self.state();
        state.from_file = state.from_file.min(len);
        state.len = len;
        state.written.retain(|number, _| number * PAGE < len);
        // What lies past the end reads as zero if the file grows again.
        if let Some(page) = state.written.get_mut(&(len / PAGE)) {
            page[(len % PAGE) as usize..].fill(0);
        }
        Ok(())
    }

    fn sync_data(&self) -> Result<(), io::Error> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> Result<(), io::Error> {
        let mut state = self.state();
        if offset.checked_add(data.len() as u64).is_none_or(|end| end > state.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for number in State::pages(offset, data.len()) {
            if !state.written.contains_key(&number) {
                let mut page = vec![0; PAGE as usize];
                state.read_file(number * PAGE, &mut page)?;
                state.written.insert(number, page);
            }
            let (in_page, in_buffer) = State::overlap(number, offset, data.len());
            let page = state.written.get_mut(&number).expect("the page was put there just above");
            page[in_page].copy_from_slice(&data[in_buffer]);
        }
        Ok(())
    }
}
