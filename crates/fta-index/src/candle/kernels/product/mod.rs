//! Matrix products of the encoder, in the precision that was chosen at load.
//!
//! Weights are packed once. Activations are brought to the form of the product row by row, each row with a scale of
//! its own, so that the result of a row does not depend on what else is in the batch. Nothing here starts threads.

#![expect(
    unsafe_code,
    reason = "instructions chosen at run time, and candle's product; every block says why"
)]
#![expect(
    clippy::inline_always,
    reason = "a body must be compiled within the function that has the vector unit"
)]

mod attention;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod convert;
mod plain;

pub(super) use attention::HeadBuffers;
#[cfg(target_arch = "x86_64")]
pub(super) use attention::attend;

use super::Unit;
use crate::candle::precision::Precision;

/// Columns that are packed side by side.
const PANEL: usize = 32;

/// Rows that are brought to the form of the product at once, which bounds the memory of the copy.
const CHUNK: usize = 112;

/// What becomes of a product (with the bias added).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::candle) enum Then {
    /// It is written to the output.
    Write,
    /// It is added to the output, as residual connections do.
    Add,
}

/// One word of each column of a panel.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
struct Line([u32; PANEL]);

/// Weights in the form of a product.
#[derive(Debug, Default)]
struct Packed {
    /// `[panels, words]`.
    panels: Vec<Line>,
    /// Words of a column, each of one, two or four values.
    words: usize,
    /// Columns; those beyond, up to a whole number of panels, are zero.
    outputs: usize,
    /// What sums start with, as bits: for bytes, it makes numbers from 0 to 255 ones from -128 to 127.
    /// `[panels * PANEL]`.
    start: Vec<i32>,
    /// Sums of the weights of each column, for rows whose zero stands for something else. `[panels * PANEL]`.
    totals: Vec<f32>,
    /// `[panels * PANEL]`.
    scales: Vec<f32>,
    /// `[panels * PANEL]`.
    bias: Vec<f32>,
}

/// A matrix `[inputs, outputs]` and a bias `[outputs]`.
#[derive(Debug)]
pub(in crate::candle) struct Linear {
    inputs: usize,
    outputs: usize,
    weights: Weights,
}

#[derive(Debug)]
enum Weights {
    /// For candle's own product: `[outputs, inputs]`, and the bias.
    Plain(Vec<f32>, Vec<f32>),
    Packed(Packed, Form, Engine),
}

/// What words of a product hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    F32,
    Bf16,
    I16,
    I8,
}

/// What multiplies packed weights. Only [`Engine::supported`] makes one, which is what the safety of the calls rests
/// on.
#[derive(Debug, Clone, Copy)]
struct Engine(Instructions);

#[derive(Debug, Clone, Copy)]
enum Instructions {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// Plain code, compiled for the unit.
    Plain(Unit),
}

impl Engine {
    /// What this machine has for a form, fastest first.
    fn supported(form: Form) -> impl Iterator<Item = Self> {
        #[cfg(target_arch = "x86_64")]
        let avx512 = {
            let base = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl");
            let product = match form {
                Form::F32 => true,
                Form::Bf16 => is_x86_feature_detected!("avx512bf16"),
                Form::I16 | Form::I8 => is_x86_feature_detected!("avx512vnni"),
            };
            (base && product).then_some(Self(Instructions::Avx512))
        };
        #[cfg(not(target_arch = "x86_64"))]
        let avx512 = {
            let _ = form;
            None
        };
        avx512.into_iter().chain(Unit::supported().map(|unit| Self(Instructions::Plain(unit))))
    }
}

/// Copies of rows in the form of a product, kept between calls.
#[derive(Debug, Default)]
pub(in crate::candle) struct Rows {
    /// `[CHUNK, words]` words of 4 bytes.
    words: Vec<u8>,
    /// `[CHUNK]`.
    scales: Vec<f32>,
    /// `[CHUNK]`: what zero stands for.
    offsets: Vec<f32>,
}

impl Linear {
    /// `matrix` is `[outputs, inputs]`, as files have it.
    pub(in crate::candle) fn new(matrix: Vec<f32>, bias: Vec<f32>, precision: Precision) -> Self {
        let form = match precision.resolved() {
            Precision::Bf16 => Form::Bf16,
            Precision::Int16 => Form::I16,
            Precision::Int8 => Form::I8,
            Precision::F32 | Precision::Auto => Form::F32,
        };
        let engine = Engine::supported(form).next().expect("plain code is always there");
        // Candle's product knows the vector units of more processors than the packed one.
        if form == Form::F32 && matches!(engine.0, Instructions::Plain(_)) {
            return Self::plain(matrix, bias);
        }
        Self::packed(&matrix, &bias, form, engine)
    }

    fn plain(matrix: Vec<f32>, bias: Vec<f32>) -> Self {
        let (inputs, outputs) = shape(&matrix, &bias);
        Self { inputs, outputs, weights: Weights::Plain(matrix, bias) }
    }

    fn packed(matrix: &[f32], bias: &[f32], form: Form, engine: Engine) -> Self {
        let (inputs, outputs) = shape(matrix, bias);
        Self { inputs, outputs, weights: Weights::Packed(convert::pack(matrix, bias, form), form, engine) }
    }

    /// Values per row of the result.
    pub(in crate::candle) fn outputs(&self) -> usize {
        self.outputs
    }

    /// Multiplies `input`, `[n, inputs]`, and writes or adds the result and the bias to `out`, `[n, outputs]`.
    pub(in crate::candle) fn apply(&self, input: &[f32], then: Then, out: &mut [f32], rows: &mut Rows) {
        let n = out.len() / self.outputs;
        assert!(out.len() == n * self.outputs && input.len() == n * self.inputs, "shapes of a product");
        match &self.weights {
            Weights::Plain(matrix, bias) => {
                start_with_bias(out, bias, then);
                add_product(input, matrix, out, (n, self.inputs, self.outputs));
            }
            Weights::Packed(packed, form, engine) => {
                let chunks = input.chunks(CHUNK * self.inputs).zip(out.chunks_mut(CHUNK * self.outputs));
                for (input, out) in chunks {
                    #[cfg(target_arch = "x86_64")]
                    if let (Form::F32, Instructions::Avx512) = (form, engine.0) {
                        rows.scales.resize(input.len() / self.inputs, 1.0);
                        rows.scales.fill(1.0);
                        let input = avx512::Input { words: as_bytes(input), scales: &rows.scales };
                        // SAFETY: `supported` made this engine where it found all features of the function.
                        unsafe { avx512::f32(packed, input, then, out) };
                        continue;
                    }
                    convert::rows(input, self.inputs, *form, Unit::detect(), rows);
                    engine.multiply((packed, *form), rows, then, out);
                }
            }
        }
    }
}

impl Engine {
    fn multiply(self, (packed, form): (&Packed, Form), rows: &Rows, then: Then, out: &mut [f32]) {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => {
                let unit = Unit::detect();
                let input = avx512::Input { words: &rows.words, scales: &rows.scales };
                // SAFETY: `supported` made this engine for this form where it found all features of the function.
                unsafe {
                    match form {
                        Form::F32 => avx512::f32(packed, input, then, out),
                        Form::Bf16 => avx512::bf16(packed, input, then, out),
                        Form::I16 => avx512::i16(packed, input, then, out),
                        Form::I8 => avx512::i8(packed, input, then, out),
                    }
                }
                if form == Form::I8 {
                    unit.add_offsets(packed, rows, out);
                }
            }
            Instructions::Plain(unit) => match form {
                Form::F32 => unit.multiply_f32(packed, rows, then, out),
                Form::Bf16 => unit.multiply_bf16(packed, rows, then, out),
                Form::I16 => unit.multiply_i16(packed, rows, then, out),
                Form::I8 => unit.multiply_i8(packed, rows, then, out),
            },
        }
    }
}

/// The bytes of values.
#[cfg(target_arch = "x86_64")]
fn as_bytes(values: &[f32]) -> &[u8] {
    // SAFETY: the memory is that of the slice, all of it is initialised, and bytes need no alignment.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

fn shape(matrix: &[f32], bias: &[f32]) -> (usize, usize) {
    assert!(!bias.is_empty() && matrix.len().is_multiple_of(bias.len()), "whole rows");
    (matrix.len() / bias.len(), bias.len())
}

fn start_with_bias(out: &mut [f32], bias: &[f32], then: Then) {
    for row in out.chunks_exact_mut(bias.len()) {
        match then {
            Then::Write => row.copy_from_slice(bias),
            Then::Add => row.iter_mut().zip(bias).for_each(|(x, bias)| *x += bias),
        }
    }
}

/// Adds the product of `[n, inputs]` and the transpose of `[outputs, inputs]` to `[n, outputs]`.
///
/// This is candle's own matrix product (the `gemm` crate), called directly: it adds to what is there, which saves a
/// pass for bias and residual, and it stays on this thread, since batches are what runs in parallel.
fn add_product(input: &[f32], matrix: &[f32], sums: &mut [f32], (n, inputs, outputs): (usize, usize, usize)) {
    assert!(input.len() == n * inputs && matrix.len() == outputs * inputs && sums.len() == n * outputs);
    // SAFETY: the pointers are to slices of `n * outputs`, `n * inputs` and `outputs * inputs` values, as the
    // assertion says, and the strides are those of matrices of these shapes. `sums` is borrowed mutably, so it
    // overlaps nothing.
    unsafe {
        gemm::gemm(
            n,
            outputs,
            inputs,
            sums.as_mut_ptr(),
            1,
            outputs.cast_signed(),
            true,
            input.as_ptr(),
            1,
            inputs.cast_signed(),
            matrix.as_ptr(),
            inputs.cast_signed(),
            1,
            1.0,
            1.0,
            false,
            false,
            false,
            gemm::Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests;
