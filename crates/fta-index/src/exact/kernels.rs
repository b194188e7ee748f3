//! Inner products of one query with many rows, for the widest vector unit that the machine has.

#![expect(unsafe_code, reason = "vector instructions chosen at run time; every block states why it is sound")]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm256_add_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_setzero_ps, _mm256_storeu_ps, _mm512_add_ps,
    _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_reduce_add_ps, _mm512_setzero_ps,
};

/// A way to compute scores that this machine supports. Only [`Kernel::detect`] and [`Kernel::supported`] make
/// one, which is what its safety rests on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kernel(Unit);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Kernel {
    /// The fastest kernel of this machine.
    pub(super) fn detect() -> Self {
        Self::supported().next().expect("the portable kernel is always there")
    }

    /// All kernels of this machine, fastest first.
    pub(super) fn supported() -> impl Iterator<Item = Self> {
        let units = [
            #[cfg(target_arch = "x86_64")]
            is_x86_feature_detected!("avx512f").then_some(Unit::Avx512),
            #[cfg(target_arch = "x86_64")]
            (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Unit::Avx2),
            Some(Unit::Portable),
        ];
        units.into_iter().flatten().map(Self)
    }

    /// Writes the inner products of `query` (`[dim]`) with `rows` (`[scores.len(), dim]`) to `scores`.
    ///
    /// A row's score does not depend on the other rows of the call.
    pub(super) fn score(self, rows: &[f32], query: &[f32], scores: &mut [f32]) {
        assert_eq!(rows.len(), query.len() * scores.len(), "one score per row");
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is made only where AVX-512F was detected.
            Unit::Avx512 => unsafe { score_avx512(rows, query, scores) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: this variant is made only where AVX2 and FMA were detected.
            Unit::Avx2 => unsafe { score_avx2(rows, query, scores) },
            Unit::Portable => score_portable(rows, query, scores),
        }
    }
}

// The scan is inside the function that has the feature: a call per row would cost a third of the speed.

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn score_avx512(rows: &[f32], query: &[f32], scores: &mut [f32]) {
    let (query_wide, query_rest) = query.as_chunks::<64>();
    for (row, score) in rows.chunks_exact(query.len()).zip(scores) {
        let (row_wide, row_rest) = row.as_chunks::<64>();
        let mut sums = [_mm512_setzero_ps(); 4];
        for (a, b) in row_wide.iter().zip(query_wide) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                // SAFETY: `lane < 4`, so 16 values from `16 * lane` lie within the 64 of the chunk.
                let (a, b) = unsafe {
                    (_mm512_loadu_ps(a.as_ptr().add(16 * lane)), _mm512_loadu_ps(b.as_ptr().add(16 * lane)))
                };
                *sum = _mm512_fmadd_ps(a, b, *sum);
            }
        }
        let sum = _mm512_add_ps(_mm512_add_ps(sums[0], sums[1]), _mm512_add_ps(sums[2], sums[3]));
        *score = _mm512_reduce_add_ps(sum) + dot_rest(row_rest, query_rest);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn score_avx2(rows: &[f32], query: &[f32], scores: &mut [f32]) {
    let (query_wide, query_rest) = query.as_chunks::<32>();
    for (row, score) in rows.chunks_exact(query.len()).zip(scores) {
        let (row_wide, row_rest) = row.as_chunks::<32>();
        let mut sums = [_mm256_setzero_ps(); 4];
        for (a, b) in row_wide.iter().zip(query_wide) {
            for (lane, sum) in sums.iter_mut().enumerate() {
                // SAFETY: `lane < 4`, so 8 values from `8 * lane` lie within the 32 of the chunk.
                let (a, b) = unsafe {
                    (_mm256_loadu_ps(a.as_ptr().add(8 * lane)), _mm256_loadu_ps(b.as_ptr().add(8 * lane)))
                };
                *sum = _mm256_fmadd_ps(a, b, *sum);
            }
        }
        let sum = _mm256_add_ps(_mm256_add_ps(sums[0], sums[1]), _mm256_add_ps(sums[2], sums[3]));
        let mut lanes = [0.0; 8];
        // SAFETY: `lanes` holds exactly the eight values that are stored.
        unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sum) };
        *score = lanes.iter().sum::<f32>() + dot_rest(row_rest, query_rest);
    }
}

fn score_portable(rows: &[f32], query: &[f32], scores: &mut [f32]) {
    let (query_wide, query_rest) = query.as_chunks::<16>();
    for (row, score) in rows.chunks_exact(query.len()).zip(scores) {
        let (row_wide, row_rest) = row.as_chunks::<16>();
        let mut sums = [0.0; 16];
        for (a, b) in row_wide.iter().zip(query_wide) {
            for lane in 0..16 {
                sums[lane] += a[lane] * b[lane];
            }
        }
        *score = sums.iter().sum::<f32>() + dot_rest(row_rest, query_rest);
    }
}

/// What is left of a row after its wide chunks.
#[inline]
fn dot_rest(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that are no multiples of powers of two, so that a lost lane shows.
    fn values(n: usize, seed: u32) -> Vec<f32> {
        (0..n as u32).map(|i| ((i * 37 + seed * 101) % 89) as f32 / 89.0 - 0.45).collect()
    }

    #[test]
    fn all_kernels_agree_with_the_plain_sum() {
        for dim in [1, 3, 15, 16, 17, 31, 33, 63, 64, 65, 100, 129, 384] {
            for n_rows in [0, 1, 5] {
                let (rows, query) = (values(n_rows * dim, 1), values(dim, 2));
                for kernel in Kernel::supported() {
                    let mut scores = vec![f32::NAN; n_rows];
                    kernel.score(&rows, &query, &mut scores);
                    for (row, score) in rows.chunks_exact(dim).zip(&scores) {
                        let expect: f64 =
                            row.iter().zip(&query).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum();
                        assert!(
                            (expect as f32 - score).abs() < 1e-4,
                            "{kernel:?} dim {dim}: {score} for {expect}"
                        );
                    }
                }
            }
        }
    }
}
