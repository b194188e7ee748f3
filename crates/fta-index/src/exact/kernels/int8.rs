//! Inner products of rows of 8-bit codes, sixteen rows side by side.
//!
//! A panel holds sixteen rows, four values of each in turn: `[dim / 4][16 rows][4]`. One load then has the next four
//! values of all sixteen rows, one instruction adds their products with four values of the query to sixteen sums, and
//! no sum across a register is ever needed. Rows are kept as unsigned codes (128 above their value), since the
//! instruction multiplies unsigned by signed; what that adds is the same for every row and is taken off at the end.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepu8_epi16, _mm256_madd_epi16, _mm256_set1_epi64x,
    _mm256_setzero_si256, _mm256_storeu_si256, _mm512_add_epi32, _mm512_dpbusd_epi32, _mm512_loadu_si512,
    _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
};

/// Rows of a panel.
pub(in super::super) const PANEL_ROWS: usize = 16;

/// Bytes of a panel that one step takes: four values of each row.
const STEP: usize = 4 * PANEL_ROWS;

/// Sums of one panel.
pub(in super::super) type Panel = [i32; PANEL_ROWS];

/// Queries that go over a panel together.
const QUERIES: usize = 8;

/// A way to compute sums that this machine supports; made only by [`Int8Kernel::detect`] and
/// [`Int8Kernel::supported`], which is what its safety rests on.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct Int8Kernel(Unit);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Int8Kernel {
    /// The fastest kernel of this machine.
    pub(in super::super) fn detect() -> Self {
        Self::supported().next().expect("the portable kernel is always there")
    }

    /// All kernels of this machine, fastest first.
    pub(in super::super) fn supported() -> impl Iterator<Item = Self> {
        let units = [
            #[cfg(target_arch = "x86_64")]
            (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni"))
                .then_some(Unit::Avx512Vnni),
            #[cfg(target_arch = "x86_64")]
            is_x86_feature_detected!("avx2").then_some(Unit::Avx2),
            Some(Unit::Portable),
        ];
        units.into_iter().flatten().map(Self)
    }

    /// Sums of products of each panel with a query: `panels` is `[sums.len()][query.len() / 4][16][4]` unsigned
    /// codes, `query` a multiple of four of signed ones. Exact in 32 bits for up to 65,536 values.
    pub(in super::super) fn sum(self, panels: &[u8], query: &[i8], sums: &mut [Panel]) {
        assert!(query.len().is_multiple_of(4), "whole steps");
        assert_eq!(panels.len(), query.len() * PANEL_ROWS * sums.len(), "one sum per row");
        for (panel, sums) in panels.chunks_exact((query.len() * PANEL_ROWS).max(1)).zip(sums) {
            match self.0 {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: this variant is made only where AVX-512F and VNNI were detected.
                Unit::Avx512Vnni => unsafe { sum_vnni(panel, query, sums) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: this variant is made only where AVX2 was detected.
                Unit::Avx2 => unsafe { sum_avx2(panel, query, sums) },
                Unit::Portable => sum_portable(panel, query, sums),
            }
        }
    }

    /// As [`Int8Kernel::sum`], for one panel and several queries of `dim` values: `sums[q]` belongs to query `q`.
    pub(in super::super) fn sum_batch(
        self,
        panel: &[u8],
        (queries, dim): (&[i8], usize),
        sums: &mut [Panel],
    ) {
        assert!(dim.is_multiple_of(4) && queries.len() == dim * sums.len(), "whole queries");
        assert_eq!(panel.len(), dim * PANEL_ROWS, "one panel");
        let blocks = queries.chunks((QUERIES * dim).max(1));
        for (queries, sums) in blocks.zip(sums.chunks_mut(QUERIES)) {
            #[cfg(target_arch = "x86_64")]
            if let (Unit::Avx512Vnni, Ok(sums)) = (self.0, <&mut [Panel; QUERIES]>::try_from(&mut *sums)) {
                // SAFETY: this variant is made only where AVX-512F and VNNI were detected.
                unsafe { sum_eight_vnni(panel, (queries, dim), sums) };
                continue;
            }
            for (query, sums) in queries.chunks_exact(dim).zip(sums) {
                self.sum(panel, query, std::slice::from_mut(sums));
            }
        }
    }
}

/// Four signed values as the instruction takes them.
#[cfg(target_arch = "x86_64")]
#[inline]
fn four(query: [i8; 4]) -> i32 {
    i32::from_le_bytes(query.map(i8::cast_unsigned))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn sum_vnni(panel: &[u8], query: &[i8], sums: &mut Panel) {
    // The instruction takes some cycles: eight sums side by side keep it busy, and the panel is read in order.
    const CHAINS: usize = 8;
    let (steps, _) = panel.as_chunks::<STEP>();
    let (query, _) = query.as_chunks::<4>();
    let mut chains = [_mm512_setzero_si512(); CHAINS];
    for (steps, query) in steps.chunks(CHAINS).zip(query.chunks(CHAINS)) {
        for ((step, query), sum) in steps.iter().zip(query).zip(&mut chains) {
            // SAFETY: a step has exactly the 64 bytes that are loaded.
            let codes = unsafe { _mm512_loadu_si512(step.as_ptr().cast()) };
            *sum = _mm512_dpbusd_epi32(*sum, codes, _mm512_set1_epi32(four(*query)));
        }
    }
    let total = chains.into_iter().fold(_mm512_setzero_si512(), |a, b| _mm512_add_epi32(a, b));
    // SAFETY: a panel has exactly the sixteen sums that are stored.
    unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), total) };
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
fn sum_eight_vnni(panel: &[u8], (queries, dim): (&[i8], usize), sums: &mut [Panel; QUERIES]) {
    let (steps, _) = panel.as_chunks::<STEP>();
    let (values, _) = queries.as_chunks::<4>();
    let n_steps = dim / 4;
    let mut totals = [_mm512_setzero_si512(); QUERIES];
    for (i, step) in steps.iter().enumerate() {
        // SAFETY: a step has exactly the 64 bytes that are loaded.
        let codes = unsafe { _mm512_loadu_si512(step.as_ptr().cast()) };
        for (q, total) in totals.iter_mut().enumerate() {
            *total = _mm512_dpbusd_epi32(*total, codes, _mm512_set1_epi32(four(values[q * n_steps + i])));
        }
    }
    for (sums, total) in sums.iter_mut().zip(totals) {
        // SAFETY: a panel has exactly the sixteen sums that are stored.
        unsafe { _mm512_storeu_si512(sums.as_mut_ptr().cast(), total) };
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2(panel: &[u8], query: &[i8], sums: &mut Panel) {
    // Without an instruction for four products at a time codes are widened to 16 bits, where nothing saturates; two
    // sums of each row, four rows to a register.
    let (steps, _) = panel.as_chunks::<STEP>();
    let (query, _) = query.as_chunks::<4>();
    let mut pairs = [_mm256_setzero_si256(); 4];
    for (step, &query) in steps.iter().zip(query) {
        let [a, b, c, d] = query.map(|x| u64::from(i16::from(x).cast_unsigned()));
        let four = _mm256_set1_epi64x((a | b << 16 | c << 32 | d << 48).cast_signed());
        for (quarter, sum) in pairs.iter_mut().enumerate() {
            // SAFETY: `quarter < 4`, so 16 bytes from `16 * quarter` lie within the 64 of the step.
            let codes = unsafe { _mm_loadu_si128(step.as_ptr().add(16 * quarter).cast()) };
            *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(_mm256_cvtepu8_epi16(codes), four));
        }
    }
    for (sums, pair) in sums.as_chunks_mut::<4>().0.iter_mut().zip(pairs) {
        let mut lanes = [0_i32; 8];
        // SAFETY: `lanes` holds exactly the eight values that are stored.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), pair) };
        for (sum, pair) in sums.iter_mut().zip(lanes.as_chunks::<2>().0) {
            *sum = pair[0] + pair[1];
        }
    }
}

fn sum_portable(panel: &[u8], query: &[i8], sums: &mut Panel) {
    *sums = [0; PANEL_ROWS];
    let (steps, _) = panel.as_chunks::<STEP>();
    let (query, _) = query.as_chunks::<4>();
    for (step, query) in steps.iter().zip(query) {
        for (sum, codes) in sums.iter_mut().zip(step.as_chunks::<4>().0) {
            for (&code, &x) in codes.iter().zip(query) {
                *sum += i32::from(code) * i32::from(x);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn kernels_agree_with_the_plain_sum(
            steps in 0_usize..40,
            n_panels in 0_usize..3,
            n_queries in 0_usize..19,
            seed in any::<u64>(),
            extreme in any::<bool>(),
        ) {
            let mut state = seed | 1;
            let mut byte = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                if extreme { if state >> 63 == 0 { 255 } else { 127 } } else { (state >> 56) as u8 }
            };
            let dim = 4 * steps;
            let panels: Vec<u8> = (0..n_panels * dim * PANEL_ROWS).map(|_| byte()).collect();
            let queries: Vec<i8> = (0..n_queries * dim).map(|_| byte().cast_signed()).collect();
            let expect = |panel: usize, row: usize, query: &[i8]| -> i32 {
                (0..dim)
                    .map(|i| {
                        let at = panel * dim * PANEL_ROWS + i / 4 * STEP + row * 4 + i % 4;
                        i32::from(panels[at]) * i32::from(query[i])
                    })
                    .sum()
            };
            for kernel in Int8Kernel::supported() {
                for q in 0..n_queries {
                    let query = &queries[q * dim..][..dim];
                    let mut sums = vec![[7; PANEL_ROWS]; n_panels];
                    kernel.sum(&panels, query, &mut sums);
                    for (panel, sums) in sums.iter().enumerate().filter(|_| dim > 0) {
                        for (row, &sum) in sums.iter().enumerate() {
                            prop_assert_eq!(sum, expect(panel, row, query), "{:?}", kernel);
                        }
                    }
                }
                for panel in 0..n_panels {
                    let mut sums = vec![[7; PANEL_ROWS]; n_queries];
                    let codes = &panels[panel * dim * PANEL_ROWS..][..dim * PANEL_ROWS];
                    kernel.sum_batch(codes, (&queries, dim), &mut sums);
                    for (q, sums) in sums.iter().enumerate().filter(|_| dim > 0) {
                        for (row, &sum) in sums.iter().enumerate() {
                            prop_assert_eq!(sum, expect(panel, row, &queries[q * dim..][..dim]), "{:?}", kernel);
                        }
                    }
                }
            }
        }
    }
}
