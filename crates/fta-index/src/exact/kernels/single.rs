//! Inner products of `f32` rows.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    _mm256_add_ps, _mm256_fmadd_ps, _mm256_loadu_ps, _mm256_setzero_ps, _mm256_storeu_ps, _mm512_add_ps,
    _mm512_fmadd_ps, _mm512_loadu_ps, _mm512_reduce_add_ps, _mm512_setzero_ps,
};

/// Rows that a batch works on before it goes to the next queries: they stay in the first-level cache.
const TILE_ROWS: usize = 16;

/// A way to compute scores that this machine supports. Only [`F32Kernel::detect`] and [`F32Kernel::supported`] make
/// one, which is what its safety rests on.
#[derive(Debug, Clone, Copy)]
pub(in super::super) struct F32Kernel(Unit);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Unit {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// Plain code that the compiler turns into what the target always has: NEON on 64-bit ARM, SSE2 on x86-64.
    Portable,
}

impl F32Kernel {
    /// The fastest kernel of this machine.
    pub(in super::super) fn detect() -> Self {
        Self::supported().next().expect("the portable kernel is always there")
    }

    /// All kernels of this machine, fastest first.
    pub(in super::super) fn supported() -> impl Iterator<Item = Self> {
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
    pub(in super::super) fn score(self, rows: &[f32], query: &[f32], scores: &mut [f32]) {
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

    /// Scores `rows` (`[n, dim]`) for `queries` (`[m, dim]`): `scores` is `[m, n]`. Sums in another order than
    /// [`F32Kernel::score`], so the last bits may differ.
    pub(in super::super) fn score_batch(
        self,
        (rows, dim): (&[f32], usize),
        queries: &[f32],
        scores: &mut [f32],
    ) {
        let (n, m) = (rows.len() / dim, queries.len() / dim);
        assert!(
            rows.len() == n * dim && queries.len() == m * dim && scores.len() == n * m,
            "whole rows, a score each"
        );
        let mut from = 0;
        for rows in rows.chunks(TILE_ROWS * dim) {
            let batch = Batch { rows, dim, n, from };
            match self.0 {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: this variant is made only where AVX-512F was detected.
                Unit::Avx512 => unsafe { batch_avx512(batch, queries, scores) },
                #[cfg(target_arch = "x86_64")]
                // SAFETY: this variant is made only where AVX2 and FMA were detected.
                Unit::Avx2 => unsafe { batch_avx2(batch, queries, scores) },
                Unit::Portable => {
                    let to = from + rows.len() / dim;
                    for (query, scores) in queries.chunks_exact(dim).zip(scores.chunks_exact_mut(n)) {
                        score_portable(rows, query, &mut scores[from..to]);
                    }
                }
            }
            from += rows.len() / dim;
        }
    }
}

/// Some rows of a batch: their scores go to `from..` of the `n` of each query.
#[derive(Clone, Copy)]
struct Batch<'a> {
    rows: &'a [f32],
    dim: usize,
    n: usize,
    from: usize,
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

/// `a * b + c`, fused where the target always has the instruction.
#[inline]
fn mul_add(a: f32, b: f32, c: f32) -> f32 {
    if cfg!(target_arch = "aarch64") { a.mul_add(b, c) } else { a * b + c }
}

fn score_portable(rows: &[f32], query: &[f32], scores: &mut [f32]) {
    let (query_wide, query_rest) = query.as_chunks::<16>();
    for (row, score) in rows.chunks_exact(query.len()).zip(scores) {
        let (row_wide, row_rest) = row.as_chunks::<16>();
        let mut sums = [0.0; 16];
        for (a, b) in row_wide.iter().zip(query_wide) {
            for lane in 0..16 {
                sums[lane] = mul_add(a[lane], b[lane], sums[lane]);
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

/// Four rows by four queries at a time: sixteen sums stay in registers, and each value that is loaded serves four.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn batch_avx512(batch: Batch<'_>, queries: &[f32], scores: &mut [f32]) {
    const TILE: usize = 4;
    let Batch { rows, dim, n, from } = batch;
    let wide = dim / 16 * 16;
    let query_tiles = queries.chunks_exact(TILE * dim);
    let rest = query_tiles.remainder();
    for (tile, four) in query_tiles.enumerate() {
        let row_tiles = rows.chunks_exact(TILE * dim);
        let last_rows = row_tiles.remainder();
        for (i, row_tile) in row_tiles.enumerate() {
            let mut sums = [[_mm512_setzero_ps(); TILE]; TILE];
            for at in (0..wide).step_by(16) {
                let mut x = [_mm512_setzero_ps(); TILE];
                for (r, x) in x.iter_mut().enumerate() {
                    // SAFETY: `at + 16 <= dim`, and the tile has four rows of `dim` values.
                    *x = unsafe { _mm512_loadu_ps(row_tile.as_ptr().add(r * dim + at)) };
                }
                for (q, sums) in sums.iter_mut().enumerate() {
                    // SAFETY: as above, for four queries of `dim` values.
                    let y = unsafe { _mm512_loadu_ps(four.as_ptr().add(q * dim + at)) };
                    for (sum, x) in sums.iter_mut().zip(x) {
                        *sum = _mm512_fmadd_ps(x, y, *sum);
                    }
                }
            }
            for (q, sums) in sums.iter().enumerate() {
                for (r, &sum) in sums.iter().enumerate() {
                    let rest = dot_rest(
                        &row_tile[r * dim + wide..(r + 1) * dim],
                        &four[q * dim + wide..(q + 1) * dim],
                    );
                    scores[(tile * TILE + q) * n + from + i * TILE + r] = _mm512_reduce_add_ps(sum) + rest;
                }
            }
        }
        let first = from + rows.len() / dim - last_rows.len() / dim;
        for (q, query) in four.chunks_exact(dim).enumerate() {
            let at = (tile * TILE + q) * n + first;
            score_avx512(last_rows, query, &mut scores[at..at + last_rows.len() / dim]);
        }
    }
    let done = queries.len() / dim / TILE * TILE;
    for (q, query) in rest.chunks_exact(dim).enumerate() {
        let at = (done + q) * n + from;
        score_avx512(rows, query, &mut scores[at..at + rows.len() / dim]);
    }
}

/// Two rows by four queries at a time, which is what sixteen registers hold.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn batch_avx2(batch: Batch<'_>, queries: &[f32], scores: &mut [f32]) {
    const ROWS: usize = 2;
    const QUERIES: usize = 4;
    let Batch { rows, dim, n, from } = batch;
    let wide = dim / 8 * 8;
    let query_tiles = queries.chunks_exact(QUERIES * dim);
    let rest = query_tiles.remainder();
    for (tile, four) in query_tiles.enumerate() {
        let row_tiles = rows.chunks_exact(ROWS * dim);
        let last_rows = row_tiles.remainder();
        for (i, row_tile) in row_tiles.enumerate() {
            let mut sums = [[_mm256_setzero_ps(); ROWS]; QUERIES];
            for at in (0..wide).step_by(8) {
                let mut x = [_mm256_setzero_ps(); ROWS];
                for (r, x) in x.iter_mut().enumerate() {
                    // SAFETY: `at + 8 <= dim`, and the tile has two rows of `dim` values.
                    *x = unsafe { _mm256_loadu_ps(row_tile.as_ptr().add(r * dim + at)) };
                }
                for (q, sums) in sums.iter_mut().enumerate() {
                    // SAFETY: as above, for four queries of `dim` values.
                    let y = unsafe { _mm256_loadu_ps(four.as_ptr().add(q * dim + at)) };
                    for (sum, x) in sums.iter_mut().zip(x) {
                        *sum = _mm256_fmadd_ps(x, y, *sum);
                    }
                }
            }
            for (q, sums) in sums.iter().enumerate() {
                for (r, &sum) in sums.iter().enumerate() {
                    let mut lanes = [0.0; 8];
                    // SAFETY: `lanes` holds exactly the eight values that are stored.
                    unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), sum) };
                    let rest = dot_rest(
                        &row_tile[r * dim + wide..(r + 1) * dim],
                        &four[q * dim + wide..(q + 1) * dim],
                    );
                    scores[(tile * QUERIES + q) * n + from + i * ROWS + r] = lanes.iter().sum::<f32>() + rest;
                }
            }
        }
        let first = from + rows.len() / dim - last_rows.len() / dim;
        for (q, query) in four.chunks_exact(dim).enumerate() {
            let at = (tile * QUERIES + q) * n + first;
            score_avx2(last_rows, query, &mut scores[at..at + last_rows.len() / dim]);
        }
    }
    let done = queries.len() / dim / QUERIES * QUERIES;
    for (q, query) in rest.chunks_exact(dim).enumerate() {
        let at = (done + q) * n + from;
        score_avx2(rows, query, &mut scores[at..at + rows.len() / dim]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values that are no multiples of powers of two, so that a lost lane shows.
    fn values(n: usize, seed: u32) -> Vec<f32> {
        (0..n as u32).map(|i| ((i * 37 + seed * 101) % 89) as f32 / 89.0 - 0.45).collect()
    }

    fn plain(row: &[f32], query: &[f32]) -> f32 {
        row.iter().zip(query).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>() as f32
    }

    #[test]
    fn all_kernels_agree_with_the_plain_sum() {
        for dim in [1, 3, 15, 16, 17, 31, 33, 63, 64, 65, 100, 129, 384] {
            for n_rows in [0, 1, 5] {
                let (rows, query) = (values(n_rows * dim, 1), values(dim, 2));
                for kernel in F32Kernel::supported() {
                    let mut scores = vec![f32::NAN; n_rows];
                    kernel.score(&rows, &query, &mut scores);
                    for (row, score) in rows.chunks_exact(dim).zip(&scores) {
                        let expect = plain(row, &query);
                        assert!((expect - score).abs() < 1e-4, "{kernel:?} dim {dim}: {score} for {expect}");
                    }
                }
            }
        }
    }

    #[test]
    fn batches_agree_with_the_plain_sum() {
        for dim in [1, 7, 8, 16, 19, 64, 100] {
            for (n, m) in [(0, 3), (1, 1), (3, 5), (4, 4), (17, 9), (40, 6), (5, 0)] {
                let (rows, queries) = (values(n * dim, 3), values(m * dim, 4));
                for kernel in F32Kernel::supported() {
                    let mut scores = vec![f32::NAN; n * m];
                    kernel.score_batch((&rows, dim), &queries, &mut scores);
                    for (i, score) in scores.iter().enumerate() {
                        let (q, r) = (i / n, i % n);
                        let expect = plain(&rows[r * dim..][..dim], &queries[q * dim..][..dim]);
                        assert!(
                            (expect - score).abs() < 1e-4,
                            "{kernel:?} {dim} {n} {m}: {score} for {expect}"
                        );
                    }
                }
            }
        }
    }
}
