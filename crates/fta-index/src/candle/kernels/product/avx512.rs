//! Products in AVX-512.
//!
//! One loop serves all precisions: factors are 32-bit words that hold one, two or four values, and an instruction
//! multiplies the values of words and adds them up. A tile of sums stays in registers: up to fourteen rows by two
//! vectors of columns, so that two loads of weights serve fourteen rows.

use std::arch::x86_64::{
    __m512, __m512bh, __m512i, _mm512_add_ps, _mm512_castsi512_ps, _mm512_cvtepi32_ps, _mm512_dpbf16_ps,
    _mm512_dpbusd_epi32, _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_loadu_si512, _mm512_mask_storeu_ps,
    _mm512_maskz_loadu_ps, _mm512_mul_ps, _mm512_set1_epi32, _mm512_set1_ps,
};

use super::{PANEL, Packed, Then};

/// Most rows of a tile; with two vectors of columns they leave three registers for factors.
const ROWS: usize = 14;

/// Rows in the form of a product: `[n, words]`, and a scale for each.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    /// `[n, words]` words of 4 bytes; any alignment.
    pub(super) words: &'a [u8],
    /// `[n]`.
    pub(super) scales: &'a [f32],
}

/// A tile: `M` rows from `row` on, and the columns of a panel.
#[derive(Clone, Copy)]
struct Place {
    row: usize,
    panel: usize,
}

macro_rules! kernel {
    ($(#[$doc:meta])* $name:ident, $features:literal, $sum:ty, $start:expr, $dot:expr, $finish:expr) => {
        $(#[$doc])*
        ///
        /// # Safety
        /// The processor must have the features that this is compiled for.
        #[target_feature(enable = $features)]
        pub(super) fn $name(packed: &Packed, input: Input<'_>, then: Then, out: &mut [f32]) {
            #[target_feature(enable = $features)]
            fn tile<const M: usize>(packed: &Packed, input: Input<'_>, place: Place, then: Then, out: &mut [f32]) {
                let (words, outputs) = (packed.words, packed.outputs);
                let column = place.panel * PANEL;
                let rows = &input.words[place.row * words * 4..(place.row + M) * words * 4];
                let scales: &[f32; M] = input.scales[place.row..place.row + M].try_into().expect("M rows");
                let panel = &packed.panels[place.panel * words..(place.panel + 1) * words];
                let width = PANEL.min(outputs - column);
                let out = &mut out[place.row * outputs..(place.row + M) * outputs][column..];
                let mut sums: [[$sum; 2]; M];
                // SAFETY: `start` has `PANEL` values for each panel, as `Packed` says, and a panel's line has as
                // many words; `rows` has `M * words` words, and reads are of word `w < words` of row `i < M`.
                unsafe {
                    let start = packed.start[column..column + PANEL].as_ptr();
                    let start = [
                        $start(_mm512_loadu_si512(start.cast())),
                        $start(_mm512_loadu_si512(start.add(16).cast())),
                    ];
                    sums = [start; M];
                    for (w, line) in panel.iter().enumerate() {
                        let weights = line.0.as_ptr();
                        let weights =
                            [_mm512_loadu_si512(weights.cast()), _mm512_loadu_si512(weights.add(16).cast())];
                        for i in 0..M {
                            let word = rows.as_ptr().add((i * words + w) * 4).cast::<i32>().read_unaligned();
                            let word = _mm512_set1_epi32(word);
                            sums[i][0] = $dot(sums[i][0], word, weights[0]);
                            sums[i][1] = $dot(sums[i][1], word, weights[1]);
                        }
                    }
                }
                for half in 0..2 {
                    let from = half * 16;
                    if from >= width {
                        break;
                    }
                    let mask = if width - from >= 16 { u16::MAX } else { (1 << (width - from)) - 1 };
                    // SAFETY: `scales` and `bias` have `PANEL` values for each panel; `out` has `width` values from
                    // this column on in each of `M` rows that are `outputs` apart, and the mask covers no more.
                    unsafe {
                        let scale = _mm512_loadu_ps(packed.scales[column + from..].as_ptr());
                        let bias = _mm512_loadu_ps(packed.bias[column + from..].as_ptr());
                        for i in 0..M {
                            let scale = _mm512_mul_ps(scale, _mm512_set1_ps(scales[i]));
                            let mut value = _mm512_fmadd_ps($finish(sums[i][half]), scale, bias);
                            let at = out.as_mut_ptr().add(i * outputs + from);
                            if matches!(then, Then::Add) {
                                value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, at));
                            }
                            _mm512_mask_storeu_ps(at, mask, value);
                        }
                    }
                }
            }

            let n = input.scales.len();
            // Tiles of like height, since a low one takes nearly as long.
            let n_tiles = n.div_ceil(ROWS);
            for panel in 0..packed.outputs.div_ceil(PANEL) {
                for index in 0..n_tiles {
                    let (row, to) = (n * index / n_tiles, n * (index + 1) / n_tiles);
                    let place = Place { row, panel };
                    match to - row {
                        1 => tile::<1>(packed, input, place, then, out),
                        2 => tile::<2>(packed, input, place, then, out),
                        3 => tile::<3>(packed, input, place, then, out),
                        4 => tile::<4>(packed, input, place, then, out),
                        5 => tile::<5>(packed, input, place, then, out),
                        6 => tile::<6>(packed, input, place, then, out),
                        7 => tile::<7>(packed, input, place, then, out),
                        8 => tile::<8>(packed, input, place, then, out),
                        9 => tile::<9>(packed, input, place, then, out),
                        10 => tile::<10>(packed, input, place, then, out),
                        11 => tile::<11>(packed, input, place, then, out),
                        12 => tile::<12>(packed, input, place, then, out),
                        13 => tile::<13>(packed, input, place, then, out),
                        _ => tile::<14>(packed, input, place, then, out),
                    }
                }
            }
        }
    };
}

kernel! {
    /// Products of `f32`.
    f32, "avx512f,avx512bw,avx512vl",
    __m512, _mm512_castsi512_ps,
    |sum, a, b| _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), sum),
    |sum: __m512| sum
}

kernel! {
    /// Products of pairs of `bf16`.
    bf16, "avx512f,avx512bw,avx512vl,avx512bf16",
    __m512, _mm512_castsi512_ps,
    |sum, a, b| _mm512_dpbf16_ps(
        sum,
        std::mem::transmute::<__m512i, __m512bh>(a),
        std::mem::transmute::<__m512i, __m512bh>(b)
    ),
    |sum: __m512| sum
}

kernel! {
    /// Products of pairs of `i16`.
    i16, "avx512f,avx512bw,avx512vl,avx512vnni",
    __m512i, |start: __m512i| start,
    |sum, a, b| dpwssd(sum, a, b),
    |sum: __m512i| _mm512_cvtepi32_ps(sum)
}

kernel! {
    /// Products of fours of `u8` and `i8`.
    i8, "avx512f,avx512bw,avx512vl,avx512vnni",
    __m512i, |start: __m512i| start,
    |sum, a, b| _mm512_dpbusd_epi32(sum, a, b),
    |sum: __m512i| _mm512_cvtepi32_ps(sum)
}

/// Adds the products of pairs of `i16` to sums.
///
/// In assembly, since the compiler takes the intrinsic apart into two instructions that take twice as long here.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni")]
#[inline]
fn dpwssd(mut sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: the instruction works on these registers alone, and the processor has it.
    unsafe {
        std::arch::asm!(
            "vpdpwssd {sum}, {a}, {b}",
            sum = inout(zmm_reg) sum, a = in(zmm_reg) a, b = in(zmm_reg) b,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    sum
}
