//! Rows as 8-bit codes: a quarter of the bytes, for a first look whose error is known.
//!
//! Each row has a scale of its own, its greatest value / 127. What rounding can do to an inner product is bounded by
//! the length of what was rounded off (Cauchy and Schwarz), so a search knows which rows it must look at again.

use crate::error::IndexError;

use super::{
    blocks::{BLOCK_ROWS, Blocks},
    kernels::{Int8Kernel, PANEL_ROWS},
};

const PANELS: usize = BLOCK_ROWS / PANEL_ROWS;

/// Greatest dimension whose sums of products fit 32 bits.
pub(super) const MAX_DIM: usize = 1 << 16;

/// What is added to a code to make it unsigned.
const ZERO: u8 = 128;

/// Words of a block after its panels and scales: the greatest error of its rows, and fill.
const TAIL_WORDS: usize = 16;

/// Codes of all rows.
///
/// A block is `[16 panels][dim / 4][16 rows][4]` codes, 256 scales, and the greatest error, all in 32-bit words, and
/// always whole: rows that are not there have zeros.
#[derive(Debug, Clone)]
pub(super) struct Codes {
    dim: usize,
    blocks: Blocks<u32>,
    kernel: Int8Kernel,
}

/// A query as codes.
pub(super) struct CodedQuery {
    codes: Vec<i8>,
    scale: f32,
    /// What the codes' being unsigned adds to every sum.
    offset: i32,
    /// Length of what was rounded off.
    error: f32,
    norm: f32,
}

impl Codes {
    pub(super) fn new(dim: usize) -> Self {
        Self::with(dim, Blocks::default())
    }

    /// Takes blocks that were read or mapped.
    pub(super) fn with(dim: usize, blocks: Blocks<u32>) -> Self {
        Self { dim, blocks, kernel: Int8Kernel::detect() }
    }

    /// Words of a block.
    pub(super) fn block_words(dim: usize) -> usize {
        BLOCK_ROWS * dim.next_multiple_of(4) / 4 + BLOCK_ROWS + TAIL_WORDS
    }

    fn panel_words(&self) -> usize {
        PANEL_ROWS * self.dim.next_multiple_of(4) / 4
    }

    fn scales_at(&self) -> usize {
        PANELS * self.panel_words()
    }

    fn error_at(&self) -> usize {
        self.scales_at() + BLOCK_ROWS
    }

    /// Sets the codes of a row, which is at most one past the last.
    pub(super) fn set(&mut self, row: usize, vector: &[f32]) -> Result<(), IndexError> {
        if row / BLOCK_ROWS == self.blocks.len() {
            self.blocks.push(self.empty_block());
        }
        let (scales_at, error_at, panel_words) = (self.scales_at(), self.error_at(), self.panel_words());
        let block = self.blocks.get_mut(row / BLOCK_ROWS)?;
        let (scale, codes, error) = encode(vector);
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(block);
        let at = row % BLOCK_ROWS / PANEL_ROWS * panel_words * 4 + row % PANEL_ROWS * 4;
        for (i, code) in codes.enumerate() {
            bytes[at + i / 4 * 4 * PANEL_ROWS + i % 4] = code.cast_unsigned().wrapping_add(ZERO);
        }
        block[scales_at + row % BLOCK_ROWS] = scale.to_bits();
        block[error_at] = f32::from_bits(block[error_at]).max(error).to_bits();
        Ok(())
    }

    fn empty_block(&self) -> Vec<u32> {
        let mut words = vec![u32::from_ne_bytes([ZERO; 4]); Self::block_words(self.dim)];
        words[self.scales_at()..].fill(0);
        words
    }

    /// Words of a block.
    ///
    /// # Errors
    /// [`IndexError::File`] if it lies in a mapped file that is damaged.
    pub(super) fn block(&self, number: usize) -> Result<&[u32], IndexError> {
        self.blocks.get(number)
    }

    /// Forgets the rows from `n_rows` on.
    pub(super) fn truncate(&mut self, n_rows: usize) {
        while self.blocks.len() > n_rows.div_ceil(BLOCK_ROWS) {
            self.blocks.pop();
        }
    }

    /// The greatest length that rounding took off a row. Looks at every block, so once for all queries of a batch.
    pub(super) fn row_error(&self) -> Result<f32, IndexError> {
        let mut greatest = 0.0_f32;
        for number in 0..self.blocks.len() {
            greatest = greatest.max(f32::from_bits(self.blocks.get(number)?[self.error_at()]));
        }
        Ok(greatest)
    }

    /// Encodes a query; `None` if its values are too large or too small to be scaled.
    pub(super) fn encode_query(&self, query: &[f32]) -> Option<CodedQuery> {
        let norm = query.iter().map(|x| x * x).sum::<f32>().sqrt();
        if !(1e-15..1e15).contains(&norm) {
            return None;
        }
        let (scale, codes, error) = encode(query);
        let mut codes: Vec<i8> = codes.collect();
        codes.resize(self.dim.next_multiple_of(4), 0);
        let sum: i32 = codes.iter().map(|&code| i32::from(code)).sum();
        Some(CodedQuery { codes, scale, offset: i32::from(ZERO) * sum, error, norm })
    }

    /// Scores of a block's first rows, within [`CodedQuery::error`].
    pub(super) fn score(
        &self,
        number: usize,
        query: &CodedQuery,
        scores: &mut [f32],
    ) -> Result<(), IndexError> {
        let block = self.blocks.get(number)?;
        let n_panels = scores.len().div_ceil(PANEL_ROWS);
        let mut sums = [[0; PANEL_ROWS]; PANELS];
        let panels: &[u8] = bytemuck::cast_slice(&block[..n_panels * self.panel_words()]);
        self.kernel.sum(panels, &query.codes, &mut sums[..n_panels]);
        let scales: &[f32] = bytemuck::cast_slice(&block[self.scales_at()..self.error_at()]);
        scale_sums(sums.as_flattened(), query, scales, scores);
        Ok(())
    }

    /// As [`Codes::score`] for several queries: `scores` is `[queries, n]`.
    pub(super) fn score_batch(
        &self,
        number: usize,
        queries: &CodedQueries,
        (scores, n): (&mut [f32], usize),
    ) -> Result<(), IndexError> {
        let block = self.blocks.get(number)?;
        let scales: &[f32] = bytemuck::cast_slice(&block[self.scales_at()..self.error_at()]);
        let panels: &[u8] = bytemuck::cast_slice(&block[..self.scales_at()]);
        let padded = self.dim.next_multiple_of(4);
        let mut sums = vec![[0; PANEL_ROWS]; queries.each.len()];
        for (p, panel) in panels.chunks_exact(padded * PANEL_ROWS).take(n.div_ceil(PANEL_ROWS)).enumerate() {
            self.kernel.sum_batch(panel, (&queries.codes, padded), &mut sums);
            let from = p * PANEL_ROWS;
            let to = (from + PANEL_ROWS).min(n);
            for ((query, sums), scores) in queries.each.iter().zip(&sums).zip(scores.chunks_exact_mut(n)) {
                scale_sums(sums, query, &scales[from..], &mut scores[from..to]);
            }
        }
        Ok(())
    }
}

impl CodedQuery {
    /// How far a score may be from the true one, for rows that rounding took at most `row_error` off.
    pub(super) fn error(&self, row_error: f32) -> f32 {
        // A row has norm 1 within 1e-3, its coded form is at most its error longer. One more part in 10,000 covers
        // the rounding of the scores themselves.
        row_error * self.norm + (1.001 + row_error) * self.error + 1e-4 * self.norm
    }
}

/// Several queries, their codes one after the other.
pub(super) struct CodedQueries {
    codes: Vec<i8>,
    each: Vec<CodedQuery>,
}

impl CodedQueries {
    pub(super) fn new(each: Vec<CodedQuery>) -> Self {
        Self { codes: each.iter().flat_map(|query| query.codes.iter().copied()).collect(), each }
    }

    pub(super) fn each(&self) -> &[CodedQuery] {
        &self.each
    }
}

fn scale_sums(sums: &[i32], query: &CodedQuery, scales: &[f32], scores: &mut [f32]) {
    for ((score, &sum), &scale) in scores.iter_mut().zip(sums).zip(scales) {
        *score = (sum - query.offset) as f32 * (scale * query.scale);
    }
}

/// Scale and codes of a vector, and the length of what rounding takes off.
fn encode(vector: &[f32]) -> (f32, impl Iterator<Item = i8>, f32) {
    let greatest = vector.iter().fold(0.0_f32, |greatest, x| greatest.max(x.abs()));
    let scale = greatest / 127.0;
    let inverse = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let code = move |x: f32| (x * inverse).round().clamp(-127.0, 127.0) as i8;
    let squares: f32 = vector.iter().map(|&x| (x - f32::from(code(x)) * scale).powi(2)).sum();
    (scale, vector.iter().map(move |&x| code(x)), squares.sqrt())
}

/// Whether the words of a block can be used: scales and error are finite and not negative.
pub(super) fn check_block(dim: usize, block: &[u32]) -> Result<(), String> {
    let tail = block.len().checked_sub(BLOCK_ROWS + TAIL_WORDS);
    let Some(tail) = tail.filter(|_| block.len() == Codes::block_words(dim)) else {
        return Err("a block of codes is not whole".to_owned());
    };
    let legal = |&word: &u32| f32::from_bits(word).is_finite() && f32::from_bits(word) >= 0.0;
    if block[tail..].iter().all(legal) { Ok(()) } else { Err("a scale makes no sense".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_within_the_stated_error() {
        for dim in [1, 3, 4, 17, 100] {
            let mut codes = Codes::new(dim);
            let vector = |seed: usize| {
                let mut x: Vec<f32> = (0..dim).map(|i| ((i * 31 + seed * 17) % 23) as f32 - 10.7).collect();
                let norm = x.iter().map(|x| x * x).sum::<f32>().sqrt();
                for x in &mut x {
                    *x /= norm;
                }
                x
            };
            let rows: Vec<Vec<f32>> = (0..BLOCK_ROWS + 40).map(vector).collect();
            for (row, x) in rows.iter().enumerate() {
                codes.set(row, x).expect("in memory");
            }
            let query: Vec<f32> = vector(999).iter().map(|x| x * 3.0).collect();
            let coded = codes.encode_query(&query).expect("a plain query");
            let error = coded.error(codes.row_error().expect("in memory"));
            assert!(error < 0.1, "{error}");
            let queries = CodedQueries::new(vec![codes.encode_query(&query).expect("plain"), coded]);
            for (number, n) in [(0, BLOCK_ROWS), (1, 40)] {
                let mut scores = vec![f32::NAN; n];
                codes.score(number, &queries.each()[1], &mut scores).expect("in memory");
                let mut batch = vec![f32::NAN; 2 * n];
                codes.score_batch(number, &queries, (&mut batch, n)).expect("in memory");
                assert_eq!(batch, [&scores[..], &scores].concat());
                for (i, score) in scores.iter().enumerate() {
                    let row = &rows[number * BLOCK_ROWS + i];
                    let exact: f32 = row.iter().zip(&query).map(|(x, y)| x * y).sum();
                    assert!((score - exact).abs() <= error, "dim {dim}: {score} for {exact}");
                }
            }
        }
    }

    #[test]
    fn only_usable_queries_are_encoded() {
        let codes = Codes::new(2);
        for query in [[0.0, 0.0], [f32::MAX, 1.0], [1e20, 0.0], [1e-30, 0.0]] {
            assert!(codes.encode_query(&query).is_none(), "{query:?}");
        }
    }
}
