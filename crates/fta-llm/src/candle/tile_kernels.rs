//! Products of packed matrices with vectors, by the instructions of AVX-512 that multiply bytes.

#![expect(
    unsafe_code,
    reason = "loads of aligned lines, and a call that needs a vector unit; every block says why"
)]

use std::ops::Range;

use super::tiles::{BLOCK, Format, Line, Scales, TILE_ROWS, Tiles, centre};

/// A block of 32 values, as bytes with one scale.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C, align(16))]
pub(super) struct Block {
    /// Four signed bytes each.
    quants: [i32; 8],
    /// Sums of the quants of each half.
    sums: [i32; 2],
    scale: f32,
}

/// Rows of values, each in blocks.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    blocks: Vec<Block>,
    per_row: usize,
}

impl Blocks {
    /// Rounds rows of `columns` values, each block to 127 steps of its greatest value on either side.
    ///
    /// Rows are filled up to whole records of any format, with zeros.
    pub(super) fn fill(&mut self, values: &[f32], columns: usize) {
        self.per_row = columns.div_ceil(8 * BLOCK) * 8;
        self.blocks.clear();
        self.blocks.resize(values.len() / columns * self.per_row, Block::default());
        for (row, blocks) in values.chunks_exact(columns).zip(self.blocks.chunks_exact_mut(self.per_row)) {
            for (values, block) in row.chunks(BLOCK).zip(blocks) {
                *block = Block::of(values);
            }
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.blocks.len().checked_div(self.per_row).unwrap_or(0)
    }

    fn row(&self, row: usize) -> &[Block] {
        &self.blocks[row * self.per_row..(row + 1) * self.per_row]
    }
}

impl Block {
    fn of(values: &[f32]) -> Self {
        let mut padded = [0.0; BLOCK];
        padded[..values.len()].copy_from_slice(values);
        let greatest = padded.iter().fold(0.0_f32, |greatest, x| greatest.max(x.abs()));
        let scale = greatest / 127.0;
        let factor = if greatest > 0.0 { 127.0 / greatest } else { 0.0 };
        let mut bytes = [0_i32; BLOCK];
        for (byte, x) in bytes.iter_mut().zip(&padded) {
            // Adding and taking away 1.5 * 2^23 rounds to the nearest whole number, ties to even.
            *byte = ((x * factor + 12_582_912.0) - 12_582_912.0) as i32;
        }
        let mut quants = [0; 8];
        for (quant, bytes) in quants.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *quant = i32::from_le_bytes(bytes.map(|byte| byte as u8));
        }
        let sums = [bytes[..16].iter().sum(), bytes[16..].iter().sum()];
        Self { quants, sums, scale }
    }
}

/// Whether this machine has what [`Kernel`] needs. Only [`Kernel::detect`] makes one.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel(());

impl Kernel {
    pub(super) fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        {
            let has = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512vnni");
            has.then_some(Self(()))
        }
        #[cfg(not(target_arch = "x86_64"))]
        None
    }

    /// Writes the products of a range of tiles with all rows: `[rows, width]`, where `width` is the number of values
    /// that `out` has for each row.
    #[cfg(target_arch = "x86_64")]
    pub(super) fn multiply(self, tiles: &Tiles, range: Range<usize>, input: &Blocks, out: &mut [f32]) {
        let Self(()) = self;
        // SAFETY: `self` exists only where `detect` found all features that the function is compiled for.
        unsafe { avx512::multiply(tiles, range, input, out) }
    }

    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn multiply(self, _: &Tiles, _: Range<usize>, _: &Blocks, _: &mut [f32]) {
        unreachable!("`detect` gives none on this machine")
    }
}

#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::{
        arch::x86_64::{
            __m512, __m512i, _mm_load_si128, _mm256_load_si256, _mm512_and_si512, _mm512_cvtepi8_epi32,
            _mm512_cvtepi32_ps, _mm512_cvtepu8_epi32, _mm512_cvtph_ps, _mm512_dpbusd_epi32, _mm512_fmadd_ps,
            _mm512_fnmadd_ps, _mm512_load_si512, _mm512_mul_ps, _mm512_or_si512, _mm512_set1_epi8,
            _mm512_set1_epi16, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps, _mm512_setzero_si512,
            _mm512_sllv_epi16, _mm512_srlv_epi16, _mm512_storeu_ps,
        },
        ops::Range,
    };

    use super::{Block, Blocks, Format, Line, Scales, TILE_ROWS, Tiles, centre};

    macro_rules! vector_unit {
        ($($item:item)*) => {$(
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vnni,fma")]
            $item
        )*};
    }

    vector_unit! {
        pub(super) fn multiply(tiles: &Tiles, range: Range<usize>, input: &Blocks, out: &mut [f32]) {
            match (tiles.format.bits, tiles.format.scales) {
                (4, Scales::Centred) => run::<4, { CENTRED }>(tiles, range, input, out),
                (4, Scales::Minima) => run::<4, { MINIMA }>(tiles, range, input, out),
                (5, Scales::Centred) => run::<5, { CENTRED }>(tiles, range, input, out),
                (5, Scales::Minima) => run::<5, { MINIMA }>(tiles, range, input, out),
                (8, Scales::Centred) => run::<8, { CENTRED }>(tiles, range, input, out),
                (4, Scales::Nested) => run::<4, { NESTED }>(tiles, range, input, out),
                (5, Scales::Nested) => run::<5, { NESTED }>(tiles, range, input, out),
                (6, Scales::Halves) => run::<6, { HALVES }>(tiles, range, input, out),
                _ => unreachable!("`Format::of` makes no other"),
            }
        }

        fn run<const BITS: usize, const SCALES: u8>(tiles: &Tiles, range: Range<usize>, input: &Blocks, out: &mut [f32]) {
            let width = out.len() / input.rows().max(1);
            for (index, tile) in range.enumerate() {
                let lines = &tiles.lines[tile * tiles.tile_lines()..(tile + 1) * tiles.tile_lines()];
                let mut row = 0;
                // Blocks of several rows use each load of weights that often.
                while row + 8 <= input.rows() {
                    tile_rows::<BITS, SCALES, 8>(lines, input, row, out, (index * TILE_ROWS, width));
                    row += 8;
                }
                if row + 4 <= input.rows() {
                    tile_rows::<BITS, SCALES, 4>(lines, input, row, out, (index * TILE_ROWS, width));
                    row += 4;
                }
                if row + 2 <= input.rows() {
                    tile_rows::<BITS, SCALES, 2>(lines, input, row, out, (index * TILE_ROWS, width));
                    row += 2;
                }
                if row < input.rows() {
                    tile_rows::<BITS, SCALES, 1>(lines, input, row, out, (index * TILE_ROWS, width));
                }
            }
        }

        #[inline]
        fn tile_rows<const BITS: usize, const SCALES: u8, const ROWS: usize>(
            lines: &[Line],
            input: &Blocks,
            first: usize,
            out: &mut [f32],
            (column, width): (usize, usize),
        ) {
            let format = const { format::<BITS, SCALES>() };
            let mut sums = [_mm512_setzero_ps(); ROWS];
            let rows: [&[Block]; ROWS] = std::array::from_fn(|i| input.row(first + i));
            for (index, record) in lines.chunks_exact(format.record_lines()).enumerate() {
                let at = index * format.blocks();
                let blocks: [&[Block]; ROWS] = std::array::from_fn(|i| &rows[i][at..at + format.blocks()]);
                match format.scales {
                    Scales::Centred | Scales::Minima => pair::<BITS, SCALES, ROWS>(record, &blocks, &mut sums),
                    Scales::Nested => nested::<BITS, ROWS>(record, &blocks, &mut sums),
                    Scales::Halves => halves::<ROWS>(record, &blocks, &mut sums),
                }
            }
            for (i, &sum) in sums.iter().enumerate() {
                let mut values = [0.0; TILE_ROWS];
                // SAFETY: the array has the sixteen values that are written.
                unsafe { _mm512_storeu_ps(values.as_mut_ptr(), sum) };
                // The last tile may reach beyond the matrix.
                let n = TILE_ROWS.min(width - column);
                out[(first + i) * width + column..][..n].copy_from_slice(&values[..n]);
            }
        }

        /// A record of two blocks.
        #[inline]
        fn pair<const BITS: usize, const SCALES: u8, const ROWS: usize>(
            record: &[Line],
            blocks: &[&[Block]; ROWS],
            sums: &mut [__m512; ROWS],
        ) {
            for block in 0..2 {
                let quants = unpack::<BITS>(&record[block * BITS..(block + 1) * BITS]);
                let scale = halfs(&record[2 * BITS], block);
                for (blocks, sum) in blocks.iter().zip(sums.iter_mut()) {
                    let block_of_row = &blocks[block];
                    let total = block_of_row.sums[0] + block_of_row.sums[1];
                    let base = if SCALES == CENTRED {
                        _mm512_set1_epi32(-centre(BITS) * total)
                    } else {
                        _mm512_setzero_si512()
                    };
                    let product = _mm512_cvtepi32_ps(dot::<0, 8>(base, &quants, block_of_row));
                    let factor = _mm512_mul_ps(scale, _mm512_set1_ps(block_of_row.scale));
                    *sum = _mm512_fmadd_ps(product, factor, *sum);
                    if SCALES == MINIMA {
                        let factor = _mm512_set1_ps(block_of_row.scale * total as f32);
                        *sum = _mm512_fmadd_ps(halfs(&record[2 * BITS + 1], block), factor, *sum);
                    }
                }
            }
        }

        /// A record of eight blocks with scales of scales.
        #[inline]
        fn nested<const BITS: usize, const ROWS: usize>(
            record: &[Line],
            blocks: &[&[Block]; ROWS],
            sums: &mut [__m512; ROWS],
        ) {
            let scales = &record[8 * BITS..8 * BITS + 5];
            let (of_scales, of_minima) = (halfs(&scales[4], 0), halfs(&scales[4], 1));
            for block in 0..8 {
                let quants = unpack::<BITS>(&record[block * BITS..(block + 1) * BITS]);
                let scale = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes(&scales[block / 4], block % 4)));
                let minimum = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes(&scales[2 + block / 4], block % 4)));
                let (scale, minimum) = (_mm512_mul_ps(scale, of_scales), _mm512_mul_ps(minimum, of_minima));
                for (blocks, sum) in blocks.iter().zip(sums.iter_mut()) {
                    let block_of_row = &blocks[block];
                    let product = dot::<0, 8>(_mm512_setzero_si512(), &quants, block_of_row);
                    let factor = _mm512_mul_ps(scale, _mm512_set1_ps(block_of_row.scale));
                    *sum = _mm512_fmadd_ps(_mm512_cvtepi32_ps(product), factor, *sum);
                    let total = (block_of_row.sums[0] + block_of_row.sums[1]) as f32;
                    *sum = _mm512_fnmadd_ps(minimum, _mm512_set1_ps(block_of_row.scale * total), *sum);
                }
            }
        }

        /// A record of eight blocks, each half of which has a scale.
        #[inline]
        fn halves<const ROWS: usize>(record: &[Line], blocks: &[&[Block]; ROWS], sums: &mut [__m512; ROWS]) {
            let scales = &record[48..53];
            let of_scales = halfs(&scales[4], 0);
            for block in 0..8 {
                let quants = unpack::<6>(&record[block * 6..(block + 1) * 6]);
                let scale = |half: usize| {
                    let at = block * 2 + half;
                    let scale = _mm512_cvtepi8_epi32(bytes(&scales[at / 4], at % 4));
                    _mm512_mul_ps(_mm512_cvtepi32_ps(scale), of_scales)
                };
                let scale = [scale(0), scale(1)];
                for (blocks, sum) in blocks.iter().zip(sums.iter_mut()) {
                    let block_of_row = &blocks[block];
                    let base = |half: usize| _mm512_set1_epi32(-centre(6) * block_of_row.sums[half]);
                    let first = _mm512_cvtepi32_ps(dot::<0, 4>(base(0), &quants, block_of_row));
                    let second = _mm512_cvtepi32_ps(dot::<4, 8>(base(1), &quants, block_of_row));
                    let product = _mm512_fmadd_ps(second, scale[1], _mm512_mul_ps(first, scale[0]));
                    *sum = _mm512_fmadd_ps(product, _mm512_set1_ps(block_of_row.scale), *sum);
                }
            }
        }

        #[inline]
        fn dot<const FROM: usize, const TO: usize>(base: __m512i, quants: &[__m512i; 8], block: &Block) -> __m512i {
            let mut sum = base;
            for (&quants, &input) in quants[FROM..TO].iter().zip(&block.quants[FROM..TO]) {
                sum = _mm512_dpbusd_epi32(sum, quants, _mm512_set1_epi32(input));
            }
            sum
        }

        /// The quants of the eight groups of a block.
        #[inline]
        fn unpack<const BITS: usize>(lines: &[Line]) -> [__m512i; 8] {
            let lines: &[Line; BITS] = lines.try_into().expect("a block has a line for each bit");
            let (low_mask, zero) = (_mm512_set1_epi8(15), _mm512_setzero_si512());
            let mut groups = [zero; 8];
            for (place, quants) in (0_i16..).zip(&mut groups) {
                let group = place.cast_unsigned() as usize;
                if BITS == 8 {
                    *quants = load(&lines[group % BITS]);
                    continue;
                }
                let low = load(&lines[group % 4]);
                let low = if group < 4 { low } else { _mm512_srlv_epi16(low, _mm512_set1_epi16(4)) };
                let low = _mm512_and_si512(low, low_mask);
                // The upper bits are moved to the fifth place, where what comes with them is masked.
                *quants = match BITS {
                    5 => {
                        let fifth = moved(load(&lines[4 % BITS]), place);
                        _mm512_or_si512(low, _mm512_and_si512(fifth, _mm512_set1_epi8(16)))
                    }
                    6 => {
                        let upper = moved(load(&lines[(4 + group / 4) % BITS]), place % 4 * 2);
                        _mm512_or_si512(low, _mm512_and_si512(upper, _mm512_set1_epi8(48)))
                    }
                    _ => low,
                };
            }
            groups
        }

        /// Moves bit `from` of each byte to bit 4; bits of neighbours come along.
        #[inline]
        fn moved(line: __m512i, from: i16) -> __m512i {
            if from < 4 {
                _mm512_sllv_epi16(line, _mm512_set1_epi16(4 - from))
            } else {
                _mm512_srlv_epi16(line, _mm512_set1_epi16(from - 4))
            }
        }

        #[inline]
        fn load(line: &Line) -> __m512i {
            // SAFETY: a line is 64 bytes at an address that is a multiple of 64.
            unsafe { _mm512_load_si512(std::ptr::from_ref(line).cast()) }
        }

        /// Sixteen numbers of half precision, the first or second half of a line.
        #[inline]
        fn halfs(line: &Line, half: usize) -> __m512 {
            let half: &[u8; 32] = &line.0.as_chunks().0[half];
            // SAFETY: half a line is 32 bytes at an address that is a multiple of 32.
            _mm512_cvtph_ps(unsafe { _mm256_load_si256(half.as_ptr().cast()) })
        }

        /// Sixteen bytes, one of the quarters of a line.
        #[inline]
        fn bytes(line: &Line, quarter: usize) -> std::arch::x86_64::__m128i {
            let quarter: &[u8; 16] = &line.0.as_chunks().0[quarter];
            // SAFETY: a quarter of a line is 16 bytes at an address that is a multiple of 16.
            unsafe { _mm_load_si128(quarter.as_ptr().cast()) }
        }
    }

    const CENTRED: u8 = 0;
    const MINIMA: u8 = 1;
    const NESTED: u8 = 2;
    const HALVES: u8 = 3;

    const fn format<const BITS: usize, const SCALES: u8>() -> Format {
        let scales = match SCALES {
            CENTRED => Scales::Centred,
            MINIMA => Scales::Minima,
            NESTED => Scales::Nested,
            _ => Scales::Halves,
        };
        Format { bits: BITS, scales }
    }
}
