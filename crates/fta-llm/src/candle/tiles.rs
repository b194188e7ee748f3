//! Quantised matrices in tiles of sixteen rows, packed so that one vector instruction works on sixteen rows.
//!
//! The types of GGUF files are kept exactly: only the order of their bits changes. A tile goes along the columns in
//! records, each a whole number of cache lines: first the quants of its blocks of 32 columns, then their scales.
//!
//! Quants of a block: byte `4 * row + i` of a line belongs to column `4 * group + i`. Line `j` of the first four has
//! the low four bits of group `j` and, above them, those of group `j + 4`. Further lines have the fifth bits (one
//! line, bit `j` for group `j`), or the fifth and sixth (two lines, two bits for each of four groups). Quants of
//! eight bits have one line a group.

use candle_core::quantized::GgmlDType;

/// Rows of a tile.
pub(super) const TILE_ROWS: usize = 16;

/// Columns of a block.
pub(super) const BLOCK: usize = 32;

/// A cache line.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
pub(super) struct Line(pub(super) [u8; 64]);

/// How scales are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scales {
    /// Two blocks a record. One line: a half-precision scale for each block and row; quants are centred.
    Centred,
    /// Two blocks a record. One line of scales, one line of minima, both in half precision.
    Minima,
    /// Eight blocks a record. Two lines of scales, two of minima, a byte for each block and row, then one line of
    /// what they are multiplied by: sixteen half-precision scales, sixteen for minima.
    Nested,
    /// Eight blocks a record. Four lines of scales, a signed byte for each half block and row, then one line whose
    /// first half has what they are multiplied by. Quants are centred.
    Halves,
}

/// Bits of a quant and how its scales are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    pub(super) bits: usize,
    pub(super) scales: Scales,
}

impl Format {
    /// The format that keeps a type of GGUF exactly, if there is one.
    pub(super) fn of(dtype: GgmlDType) -> Option<Self> {
        let (bits, scales) = match dtype {
            GgmlDType::Q4_0 => (4, Scales::Centred),
            GgmlDType::Q4_1 => (4, Scales::Minima),
            GgmlDType::Q5_0 => (5, Scales::Centred),
            GgmlDType::Q5_1 => (5, Scales::Minima),
            GgmlDType::Q8_0 => (8, Scales::Centred),
            GgmlDType::Q4K => (4, Scales::Nested),
            GgmlDType::Q5K => (5, Scales::Nested),
            GgmlDType::Q6K => (6, Scales::Halves),
            _ => return None,
        };
        Some(Self { bits, scales })
    }

    /// Blocks of a record.
    pub(super) const fn blocks(self) -> usize {
        match self.scales {
            Scales::Centred | Scales::Minima => 2,
            Scales::Nested | Scales::Halves => 8,
        }
    }

    /// Lines of the quants of a block.
    pub(super) const fn block_lines(self) -> usize {
        self.bits
    }

    /// Lines of a record.
    pub(super) const fn record_lines(self) -> usize {
        let scales = match self.scales {
            Scales::Centred => 1,
            Scales::Minima => 2,
            Scales::Nested | Scales::Halves => 5,
        };
        self.blocks() * self.block_lines() + scales
    }
}

/// What the quants of a block are centred at.
pub(super) const fn centre(bits: usize) -> i32 {
    1 << (bits - 1)
}

/// A packed matrix.
#[derive(Debug)]
pub(super) struct Tiles {
    pub(super) format: Format,
    pub(super) rows: usize,
    pub(super) columns: usize,
    /// `[tiles, records, record lines]`.
    pub(super) lines: Vec<Line>,
}

impl Tiles {
    /// Packs the bytes of a matrix `[rows, columns]` as they lie in a GGUF file.
    ///
    /// The caller has checked that there are as many bytes as the type takes.
    pub(super) fn pack(dtype: GgmlDType, rows: usize, columns: usize, bytes: &[u8]) -> Option<Self> {
        let format = Format::of(dtype)?;
        let (block, size) = (dtype.block_size(), dtype.type_size());
        let row_bytes = columns / block * size;
        let records = columns.div_ceil(format.blocks() * BLOCK);
        let per_record = format.blocks() * BLOCK / block;
        let mut lines = vec![Line([0; 64]); rows.div_ceil(TILE_ROWS) * records * format.record_lines()];
        for (index, record) in lines.chunks_exact_mut(format.record_lines()).enumerate() {
            let (tile, at) = (index / records, index % records);
            for row in 0..TILE_ROWS.min(rows - tile * TILE_ROWS) {
                let from = (tile * TILE_ROWS + row) * row_bytes;
                let source = bytes[from..from + row_bytes].chunks_exact(size).skip(at * per_record);
                for (part, block) in source.take(per_record).enumerate() {
                    format.put(dtype, record, (row, part), block);
                }
            }
        }
        Some(Self { format, rows, columns, lines })
    }

    pub(super) fn records(&self) -> usize {
        self.columns.div_ceil(self.format.blocks() * BLOCK)
    }

    /// Lines of one tile.
    pub(super) fn tile_lines(&self) -> usize {
        self.records() * self.format.record_lines()
    }

    /// Writes the values of one row.
    pub(super) fn row(&self, row: usize, values: &mut [f32]) {
        let tile = &self.lines[row / TILE_ROWS * self.tile_lines()..][..self.tile_lines()];
        let per_record = self.format.blocks();
        for (record, values) in
            tile.chunks_exact(self.format.record_lines()).zip(values.chunks_mut(per_record * BLOCK))
        {
            for (block, values) in values.chunks_mut(BLOCK).enumerate() {
                for (column, value) in values.iter_mut().enumerate() {
                    *value = self.format.value(record, row % TILE_ROWS, block, column);
                }
            }
        }
    }
}

impl Format {
    /// Puts a block of a file into a row of a record; `part` counts the blocks of the file within the record.
    fn put(self, dtype: GgmlDType, record: &mut [Line], (row, part): (usize, usize), bytes: &[u8]) {
        let (quants, scales) = record.split_at_mut(self.blocks() * self.block_lines());
        let mut put = |block: usize, values: [u8; BLOCK]| {
            self.put_quants(&mut quants[block * self.block_lines()..], row, values);
        };
        let half = |line: &mut Line, index: usize, bytes: &[u8]| {
            line.0[2 * index..2 * index + 2].copy_from_slice(bytes);
        };
        match dtype {
            GgmlDType::Q8_0 => {
                half(&mut scales[0], part * TILE_ROWS + row, &bytes[..2]);
                put(part, std::array::from_fn(|column| bytes[2 + column].wrapping_add(128)));
            }
            GgmlDType::Q4_0 | GgmlDType::Q4_1 | GgmlDType::Q5_0 | GgmlDType::Q5_1 => {
                half(&mut scales[0], part * TILE_ROWS + row, &bytes[..2]);
                let rest = if self.scales == Scales::Minima {
                    half(&mut scales[1], part * TILE_ROWS + row, &bytes[2..4]);
                    &bytes[4..]
                } else {
                    &bytes[2..]
                };
                let (high, low) = rest.split_at(if self.bits == 5 { 4 } else { 0 });
                let high = high.iter().rev().fold(0_u32, |bits, &byte| bits << 8 | u32::from(byte));
                let low: &[u8; 16] = low.try_into().expect("a block of the type has 16 bytes of quants");
                put(
                    part,
                    std::array::from_fn(|column| {
                        let byte = low[column % 16];
                        let quant = if column < 16 { byte & 15 } else { byte >> 4 };
                        quant | ((high >> column & 1) as u8) << 4
                    }),
                );
            }
            GgmlDType::Q4K | GgmlDType::Q5K => {
                half(&mut scales[4], row, &bytes[..2]);
                half(&mut scales[4], TILE_ROWS + row, &bytes[2..4]);
                let (high, low) = bytes[16..].split_at(if self.bits == 5 { 32 } else { 0 });
                for block in 0..8 {
                    let (scale, minimum) = nested_scale(&bytes[4..16], block);
                    let at = block * TILE_ROWS + row;
                    scales[at / 64].0[at % 64] = scale;
                    scales[2 + at / 64].0[at % 64] = minimum;
                    let low = &low[block / 2 * 32..][..32];
                    let mut quants: [u8; BLOCK] =
                        std::array::from_fn(|column| low[column] >> (block % 2 * 4) & 15);
                    for (quant, bits) in quants.iter_mut().zip(high) {
                        *quant |= (bits >> block & 1) << 4;
                    }
                    put(block, quants);
                }
            }
            GgmlDType::Q6K => {
                half(&mut scales[4], row, &bytes[208..210]);
                for (sixteen, &scale) in bytes[192..208].iter().enumerate() {
                    let at = sixteen * TILE_ROWS + row;
                    scales[at / 64].0[at % 64] = scale;
                }
                for block in 0..8 {
                    let quarter = block % 4;
                    let low = &bytes[block / 4 * 64 + quarter % 2 * 32..][..32];
                    let high = &bytes[128 + block / 4 * 32..][..32];
                    put(
                        block,
                        std::array::from_fn(|column| {
                            (low[column] >> (quarter / 2 * 4) & 15) | (high[column] >> (2 * quarter) & 3) << 4
                        }),
                    );
                }
            }
            _ => unreachable!("`Format::of` names the types above"),
        }
    }

    /// Puts the quants of one row of a block in their places, four columns at a time.
    fn put_quants(self, lines: &mut [Line], row: usize, quants: [u8; BLOCK]) {
        let words = quants.as_chunks::<4>().0;
        let word = |group: usize| u32::from_le_bytes(words[group]);
        let mut put =
            |line: usize, word: u32| lines[line].0[4 * row..4 * row + 4].copy_from_slice(&word.to_le_bytes());
        if self.bits == 8 {
            (0..8).for_each(|group| put(group, word(group)));
            return;
        }
        for group in 0..4 {
            put(group, (word(group) & 0x0F0F_0F0F) | (word(group + 4) & 0x0F0F_0F0F) << 4);
        }
        let upper = |group: usize| word(group) >> 4 & 0x0303_0303;
        match self.bits {
            5 => put(4, (0..8).fold(0, |bits, group| bits | (upper(group) & 0x0101_0101) << group)),
            6 => {
                let four =
                    |first: usize| (0..4).fold(0, |bits, group| bits | upper(first + group) << (2 * group));
                put(4, four(0));
                put(5, four(4));
            }
            _ => {}
        }
    }

    fn quant(self, lines: &[Line], row: usize, column: usize) -> u8 {
        let (group, byte) = (column / 4, 4 * row + column % 4);
        if self.bits == 8 {
            return lines[group].0[byte];
        }
        let low = lines[group % 4].0[byte] >> (group / 4 * 4) & 15;
        match self.bits {
            5 => low | (lines[4].0[byte] >> group & 1) << 4,
            6 => low | (lines[4 + group / 4].0[byte] >> (group % 4 * 2) & 3) << 4,
            _ => low,
        }
    }

    fn value(self, record: &[Line], row: usize, block: usize, column: usize) -> f32 {
        let (quants, scales) = record.split_at(self.blocks() * self.block_lines());
        let quant = i32::from(self.quant(&quants[block * self.block_lines()..], row, column));
        let half = |line: usize, index: usize| {
            half_to_f32(u16::from_le_bytes([scales[line].0[2 * index], scales[line].0[2 * index + 1]]))
        };
        let byte = |line: usize, at: usize| scales[line + at / 64].0[at % 64];
        let at = block * TILE_ROWS + row;
        match self.scales {
            Scales::Centred => half(0, at) * (quant - centre(self.bits)) as f32,
            Scales::Minima => half(0, at) * quant as f32 + half(1, at),
            Scales::Nested => {
                let scale = half(4, row) * f32::from(byte(0, at));
                scale * quant as f32 - half(4, TILE_ROWS + row) * f32::from(byte(2, at))
            }
            Scales::Halves => {
                let at = (block * 2 + column / 16) * TILE_ROWS + row;
                half(4, row) * f32::from(byte(0, at).cast_signed()) * (quant - centre(6)) as f32
            }
        }
    }
}

/// Scale and minimum of a block out of the twelve bytes that hold eight of each in six bits.
fn nested_scale(bytes: &[u8], block: usize) -> (u8, u8) {
    if block < 4 {
        return (bytes[block] & 63, bytes[block + 4] & 63);
    }
    let low = bytes[block + 4];
    ((low & 15) | bytes[block - 4] >> 6 << 4, (low >> 4) | bytes[block] >> 6 << 4)
}

/// The value of a number in half precision.
pub(super) fn half_to_f32(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 0x3FF));
    let magnitude = match exponent {
        0 => fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + fraction / 1024.0) * 2.0_f32.powi(exponent - 15),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use candle_core::{
        Device, Tensor,
        quantized::{QStorage, QTensor},
    };
    use proptest::prelude::*;

    use super::*;
    use crate::candle::tile_kernels::{Blocks, Kernel};

    const TYPES: [GgmlDType; 8] = [
        GgmlDType::Q4_0,
        GgmlDType::Q4_1,
        GgmlDType::Q5_0,
        GgmlDType::Q5_1,
        GgmlDType::Q8_0,
        GgmlDType::Q4K,
        GgmlDType::Q5K,
        GgmlDType::Q6K,
    ];

    /// Values that differ in size from block to block, without a generator that could change.
    fn values(n: usize, seed: u64) -> Vec<f32> {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        (0..n)
            .map(|i| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                ((state >> 40) as f32 / (1_u64 << 24) as f32 - 0.45) * (1.0 + (i / 32 % 5) as f32)
            })
            .collect()
    }

    fn quantised(dtype: GgmlDType, rows: usize, columns: usize, seed: u64) -> (Vec<u8>, Vec<f32>) {
        let tensor = Tensor::from_vec(values(rows * columns, seed), (rows, columns), &Device::Cpu).unwrap();
        let quantised = QTensor::quantize(&tensor, dtype).unwrap();
        let exact = quantised.dequantize(&Device::Cpu).unwrap().flatten_all().unwrap().to_vec1().unwrap();
        (quantised.data().unwrap().into_owned(), exact)
    }

    #[test]
    fn half_precision_is_read_as_candle_reads_it() {
        for bits in 0..=u16::MAX {
            let tensor =
                QStorage::from_data(bits.to_le_bytes().to_vec().into(), &Device::Cpu, GgmlDType::F16)
                    .unwrap();
            let tensor = QTensor::new(tensor, 1).unwrap().dequantize(&Device::Cpu).unwrap();
            let expect = tensor.to_vec1::<f32>().unwrap()[0];
            let ours = half_to_f32(bits);
            assert!(
                ours.to_bits() == expect.to_bits() || ours.is_nan() && expect.is_nan(),
                "{bits:#06x}: {ours} {expect}"
            );
        }
    }

    #[test]
    fn packing_keeps_every_type_exactly() {
        for dtype in TYPES {
            for (rows, columns) in [(16, 256), (40, 512), (3, 768)] {
                let (bytes, exact) = quantised(dtype, rows, columns, 1);
                let tiles = Tiles::pack(dtype, rows, columns, &bytes).unwrap();
                for (row, exact) in exact.chunks_exact(columns).enumerate() {
                    let mut ours = vec![0.0; columns];
                    tiles.row(row, &mut ours);
                    for (a, b) in ours.iter().zip(exact) {
                        assert!((a - b).abs() <= 1e-6 * b.abs().max(1e-3), "{dtype:?} {a} {b}");
                    }
                }
            }
        }
    }

    /// Products of the kernel, and the exact ones of the rounded inputs' originals with their greatest terms.
    fn check_products(dtype: GgmlDType, rows: usize, columns: usize, inputs: usize, seed: u64) {
        let Some(kernel) = Kernel::detect() else { return };
        let (bytes, exact) = quantised(dtype, rows, columns, seed);
        let tiles = Tiles::pack(dtype, rows, columns, &bytes).unwrap();
        let input = values(inputs * columns, seed + 1);
        let mut blocks = Blocks::default();
        blocks.fill(&input, columns);
        assert_eq!(blocks.rows(), inputs);
        let mut out = vec![f32::NAN; inputs * rows];
        kernel.multiply(&tiles, 0..rows.div_ceil(TILE_ROWS), &blocks, &mut out);
        for (i, input) in input.chunks_exact(columns).enumerate() {
            for (row, weights) in exact.chunks_exact(columns).enumerate() {
                let expect: f64 = input.iter().zip(weights).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
                // Each input is off by half a step of 1/127 of its block's greatest value, five at most.
                let size: f64 = weights.iter().map(|w| f64::from(w * w)).sum::<f64>().sqrt();
                let ours = f64::from(out[i * rows + row]);
                assert!((ours - expect).abs() <= size * 5.0 / 127.0, "{dtype:?} {i} {row}: {ours} {expect}");
            }
        }
        // A row's products do not depend on the rows that come with it.
        let mut alone = Blocks::default();
        alone.fill(&input[(inputs - 1) * columns..], columns);
        let mut single = vec![0.0; rows];
        kernel.multiply(&tiles, 0..rows.div_ceil(TILE_ROWS), &alone, &mut single);
        assert_eq!(single, out[(inputs - 1) * rows..]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn products_agree_with_exact_ones(
            dtype in 0..TYPES.len(), rows in 1..70_usize, columns in 1..5_usize, inputs in 1..20_usize, seed in 0..1000_u64
        ) {
            check_products(TYPES[dtype], rows, columns * 256, inputs, seed);
        }

        #[test]
        fn blocks_of_32_need_no_whole_record(columns in 1..30_usize, dtype in 0..5_usize, seed in 0..1000_u64) {
            check_products(TYPES[dtype], 20, columns * 32, 3, seed);
        }
    }
}
