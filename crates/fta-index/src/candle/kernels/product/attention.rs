//! Attention by packed products: the scores of all tokens with all tokens are one product, and what is made of the
//! values by them is another.

use super::Packed;
#[cfg(target_arch = "x86_64")]
use super::{Line, PANEL, Then, as_bytes, avx512};
#[cfg(target_arch = "x86_64")]
use crate::candle::kernels::{Heads, Unit};

/// Buffers for one head, kept between calls.
#[derive(Debug, Default)]
pub(in crate::candle) struct HeadBuffers {
    /// `[n, head width]`.
    queries: Vec<f32>,
    /// A matrix `[head width, n]`.
    keys: Packed,
    /// A matrix `[n, head width]`.
    values: Packed,
    /// `[n, n]`.
    scores: Vec<f32>,
    /// `[n]`, for the scores.
    ones: Vec<f32>,
    /// `[n]`: what makes the weights of a token add up to 1.
    factors: Vec<f32>,
    /// `[n, head width]`.
    output: Vec<f32>,
}

#[cfg(target_arch = "x86_64")]
impl Packed {
    /// Makes room for a matrix of `f32` without scales and bias. What its panels hold is left from earlier uses.
    fn reshape(&mut self, words: usize, outputs: usize) {
        let padded = outputs.next_multiple_of(PANEL);
        (self.words, self.outputs) = (words, outputs);
        self.panels.resize(padded / PANEL * words, Line([0; PANEL]));
        self.start.resize(padded, 0);
        self.totals.resize(padded, 0.0);
        self.scales.resize(padded, 1.0);
        self.bias.resize(padded, 0.0);
    }
}

/// As [`Unit::attend`]; `unit` must be that of AVX-512.
#[cfg(target_arch = "x86_64")]
pub(in crate::candle) fn attend(
    unit: Unit,
    projected: &[f32],
    shape: Heads,
    output: &mut [f32],
    buffers: &mut HeadBuffers,
) {
    let Heads { heads, head_width } = shape;
    let width = heads * head_width;
    let n = output.len() / width;
    if n == 0 {
        return;
    }
    let scale = 1.0 / (head_width as f32).sqrt();
    buffers.keys.reshape(head_width, n);
    buffers.values.reshape(n, head_width);
    buffers.queries.resize(n * head_width, 0.0);
    buffers.output.resize(n * head_width, 0.0);
    buffers.scores.resize(n * n, 0.0);
    buffers.ones.resize(n, 1.0);
    buffers.factors.resize(n, 0.0);
    for head in 0..heads {
        let at = head * head_width;
        pack_head(projected, (width, at, head_width), buffers);
        let queries = avx512::Input { words: as_bytes(&buffers.queries), scales: &buffers.ones };
        // SAFETY: the unit of AVX-512 is made only where all features of these functions were detected.
        unsafe { avx512::f32(&buffers.keys, queries, Then::Write, &mut buffers.scores) };
        unit.soft_max(&mut buffers.scores, scale, &mut buffers.factors);
        let weights = avx512::Input { words: as_bytes(&buffers.scores), scales: &buffers.factors };
        // SAFETY: as above.
        unsafe { avx512::f32(&buffers.values, weights, Then::Write, &mut buffers.output) };
        for (row, found) in output.chunks_exact_mut(width).zip(buffers.output.chunks_exact(head_width)) {
            row[at..at + head_width].copy_from_slice(found);
        }
    }
}

/// Copies queries, keys and values of one head to where products take them.
#[cfg(target_arch = "x86_64")]
fn pack_head(projected: &[f32], (width, at, head_width): (usize, usize, usize), buffers: &mut HeadBuffers) {
    let n = buffers.values.words;
    let tokens = projected.chunks_exact(3 * width).zip(buffers.queries.chunks_exact_mut(head_width));
    for (j, (token, query)) in tokens.enumerate() {
        query.copy_from_slice(&token[at..at + head_width]);
        let key = &token[width + at..width + at + head_width];
        let panel = &mut buffers.keys.panels[j / PANEL * head_width..][..head_width];
        for (line, x) in panel.iter_mut().zip(key) {
            line.0[j % PANEL] = x.to_bits();
        }
        let value = &token[2 * width + at..2 * width + at + head_width];
        for (panel, values) in value.chunks(PANEL).enumerate() {
            let line = &mut buffers.values.panels[panel * n + j].0;
            for (word, x) in line.iter_mut().zip(values) {
                *word = x.to_bits();
            }
        }
    }
}
