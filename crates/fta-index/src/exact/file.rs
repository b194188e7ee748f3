//! An [`ExactIndex`] in a file: sections of ids (strictly rising), rows in their order, and, for
//! 8-bit scans, their codes.

use std::{
    io::{self, Write},
    path::Path,
};

use crate::{
    check::{ID_BOUND, check_unit},
    error::IndexError,
    file::{self, Contents, Header, Label, Section},
    vector::VectorId,
};

use super::{
    ExactIndex, Precision,
    blocks::{BLOCK_ROWS, Blocks},
    codes::{Codes, check_block},
};

const IDS: usize = 0;
const ROWS: usize = 1;
const CODES: usize = 2;

/// Kind of the file: an index is loaded with the precision it was saved with.
fn kind(precision: Precision) -> &'static str {
    match precision {
        Precision::F32 => "exact",
        Precision::Int8 => "exact-int8",
    }
}

pub(super) fn save(index: &ExactIndex, path: &Path, label: &Label) -> Result<(), IndexError> {
    // Damage in a mapped file is found before anything is written, and then said as what it is.
    for number in 0..index.rows.len() {
        index.rows.get(number)?;
    }
    let (dim, count) = (index.dim, index.ids.len());
    // In rising id order, so that the bytes depend on the content alone and not on its history.
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_unstable_by_key(|&row| index.ids[row]);
    let mut write_ids = |out: &mut dyn Write| -> io::Result<()> {
        order.iter().try_for_each(|&row| out.write_all(&index.ids[row].to_le_bytes()))
    };
    let mut write_rows = |out: &mut dyn Write| -> io::Result<()> {
        let mut bytes = Vec::with_capacity(4 * dim);
        for &row in &order {
            bytes.clear();
            bytes.extend(index.row(row).map_err(io::Error::other)?.iter().flat_map(|x| x.to_le_bytes()));
            out.write_all(&bytes)?;
        }
        Ok(())
    };
    let mut write_codes = |out: &mut dyn Write| -> io::Result<()> {
        for rows in order.chunks(BLOCK_ROWS) {
            let mut codes = Codes::new(dim);
            for (place, &row) in rows.iter().enumerate() {
                let vector = index.row(row).map_err(io::Error::other)?;
                codes.set(place, vector).map_err(io::Error::other)?;
            }
            let words = codes.block(0).map_err(io::Error::other)?;
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            out.write_all(&bytes)?;
        }
        Ok(())
    };
    let block_of_codes = 4 * Codes::block_words(dim) as u64;
    let mut sections = vec![
        Section { length: 8 * count as u64, block: file::BLOCK_BYTES, write: &mut write_ids },
        Section {
            length: (4 * dim * count) as u64,
            block: row_block_bytes(dim, path)?,
            write: &mut write_rows,
        },
    ];
    if index.config.precision == Precision::Int8 {
        let length = count.div_ceil(BLOCK_ROWS) as u64 * block_of_codes;
        sections.push(Section { length, block: block_of_codes as u32, write: &mut write_codes });
    }
    let kind = kind(index.config.precision).to_owned();
    let header = Header { kind, label: label.clone(), dim, count: count as u64 };
    file::write(path, &header, &mut sections)
}

fn row_block_bytes(dim: usize, path: &Path) -> Result<u32, IndexError> {
    u32::try_from(4 * BLOCK_ROWS * dim)
        .map_err(|error| IndexError::Io { path: path.to_owned(), source: io::Error::other(error) })
}

/// What a file holds.
pub(super) struct Content {
    pub(super) ids: Vec<VectorId>,
    pub(super) rows: Blocks<f32>,
    pub(super) codes: Option<Codes>,
    pub(super) label: Label,
}

/// Reads a file; with `map`, rows and codes stay in it where the machine's byte order allows that.
pub(super) fn read(path: &Path, dim: usize, precision: Precision, map: bool) -> Result<Content, IndexError> {
    let mut contents = Contents::open(path, kind(precision), dim)?;
    check_sections(&contents, dim, precision)?;
    let ids = read_ids(&mut contents)?;
    let map = map && cfg!(target_endian = "little");
    let rows = if map {
        Blocks::map(&contents, ROWS, path, Box::new(move |values| check_rows(dim, values)))?
    } else {
        Blocks::owned(read_words(&mut contents, ROWS, f32::from_le_bytes, |values| check_rows(dim, values))?)
    };
    let codes = match precision {
        Precision::F32 => None,
        Precision::Int8 if map => {
            let check = Box::new(move |words: &[u32]| check_block(dim, words));
            Some(Codes::with(dim, Blocks::map(&contents, CODES, path, check)?))
        }
        Precision::Int8 => {
            let blocks =
                read_words(&mut contents, CODES, u32::from_le_bytes, |words| check_block(dim, words))?;
            Some(Codes::with(dim, Blocks::owned(blocks)))
        }
    };
    Ok(Content { ids, rows, codes, label: contents.header.label })
}

fn check_sections(contents: &Contents, dim: usize, precision: Precision) -> Result<(), IndexError> {
    let count = contents.header.count;
    let blocks = count.div_ceil(BLOCK_ROWS as u64);
    let block_of_codes = 4 * Codes::block_words(dim) as u64;
    let n_sections = if precision == Precision::Int8 { 3 } else { 2 };
    let fits = contents.n_sections() == n_sections
        && count.checked_mul(8) == Some(contents.length(IDS))
        && count.checked_mul(4 * dim as u64) == Some(contents.length(ROWS))
        && u64::from(contents.block(ROWS)) == 4 * (BLOCK_ROWS * dim) as u64
        && (precision == Precision::F32
            || (blocks.checked_mul(block_of_codes) == Some(contents.length(CODES))
                && u64::from(contents.block(CODES)) == block_of_codes));
    if fits { Ok(()) } else { Err(contents.damaged(&format!("its sections do not fit `{count}` vectors"))) }
}

fn read_ids(contents: &mut Contents) -> Result<Vec<VectorId>, IndexError> {
    let bytes = contents.read(IDS)?;
    let ids: Vec<VectorId> = bytes.as_chunks::<8>().0.iter().map(|&id| u64::from_le_bytes(id)).collect();
    // A right checksum does not make the content legal: whoever can write the file can compute it.
    if ids.windows(2).any(|pair| pair[0] >= pair[1]) || ids.last().is_some_and(|&id| id >= ID_BOUND) {
        return Err(contents.damaged("its ids are out of order or out of range"));
    }
    Ok(ids)
}

fn check_rows(dim: usize, values: &[f32]) -> Result<(), String> {
    let mut rows = values.chunks_exact(dim).enumerate();
    rows.try_for_each(|(row, vector)| check_unit(row, vector).map_err(|error| error.to_string()))
}

/// Reads a section of words of 4 bytes, and checks each block.
fn read_words<T>(
    contents: &mut Contents,
    section: usize,
    word: fn([u8; 4]) -> T,
    check: impl Fn(&[T]) -> Result<(), String>,
) -> Result<Vec<Vec<T>>, IndexError> {
    let mut blocks: Vec<Vec<T>> = Vec::new();
    let mut wrong = None;
    contents.read_blocks(section, |_, bytes| {
        let words: Vec<T> = bytes.as_chunks::<4>().0.iter().map(|&bytes| word(bytes)).collect();
        if let Err(reason) = check(&words) {
            wrong.get_or_insert(reason);
        }
        blocks.push(words);
        Ok(())
    })?;
    match wrong {
        Some(reason) => Err(contents.damaged(&reason)),
        None => Ok(blocks),
    }
}
