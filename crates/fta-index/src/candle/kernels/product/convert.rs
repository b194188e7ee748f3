//! From `f32` to the forms of products, for weights at load and for activations before each product.

use super::super::{LANES, Unit, Width, mul_add, sum_over_lanes};
use super::{Form, Line, PANEL, Packed, Rows};

/// Norm of a row or column of 16-bit whole numbers: by the inequality of Cauchy and Schwarz, products of two such
/// have no sum beyond 32 bits, and parts of a sum may wrap around.
const NORM_16: f32 = 46_340.0;

/// Adding this to a number below 2^22 leaves the nearest whole number in the low bits, ties to even.
const ROUND: f32 = 12_582_912.0;

impl Form {
    /// Values in a word.
    pub(super) fn per_word(self) -> usize {
        match self {
            Self::F32 => 1,
            Self::Bf16 | Self::I16 => 2,
            Self::I8 => 4,
        }
    }
}

/// Packs `[outputs, inputs]`.
pub(super) fn pack(matrix: &[f32], bias: &[f32], form: Form) -> Packed {
    let (outputs, inputs) = (bias.len(), matrix.len() / bias.len());
    let words = inputs.div_ceil(form.per_word());
    let padded = outputs.next_multiple_of(PANEL);
    let mut packed = Packed {
        panels: vec![Line([0; PANEL]); padded / PANEL * words],
        words,
        outputs,
        start: vec![0; padded],
        totals: vec![0.0; padded],
        scales: vec![0.0; padded],
        bias: vec![0.0; padded],
    };
    packed.bias[..outputs].copy_from_slice(bias);
    for (output, column) in matrix.chunks_exact(inputs).enumerate() {
        let (scale, bits) = column_bits(column, form);
        packed.scales[output] = scale;
        if form == Form::I8 {
            let sum: i32 = bits.iter().map(|&x| i32::from(x as i8)).sum();
            packed.start[output] = -128 * sum;
            packed.totals[output] = scale * sum as f32;
        }
        let width = 32 / form.per_word();
        for (w, values) in bits.chunks(form.per_word()).enumerate() {
            let word = values.iter().rev().fold(0_u32, |word, &x| word.unbounded_shl(width as u32) | x);
            packed.panels[output / PANEL * words + w].0[output % PANEL] = word;
        }
    }
    packed
}

/// The scale of a column, and its values as bits. Values that are not finite make results that are not.
fn column_bits(column: &[f32], form: Form) -> (f32, Vec<u32>) {
    let greatest = column.iter().fold(0.0_f32, |greatest, x| greatest.max(x.abs()));
    let norm = column.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt() as f32;
    let scale = match form {
        Form::F32 | Form::Bf16 => 1.0,
        Form::I16 => scale_16(norm, greatest, column.len()),
        Form::I8 => greatest / 127.0,
    };
    let factor = if scale > 0.0 { 1.0 / scale } else { 0.0 };
    let bits = column.iter().map(|&x| match form {
        Form::F32 => x.to_bits(),
        Form::Bf16 if x.is_nan() => 0x7FC0,
        Form::Bf16 => u32::from(bf16(x)),
        Form::I16 => u32::from(((x * factor).round() as i16).cast_unsigned()),
        Form::I8 => u32::from(((x * factor).round() as i8).cast_unsigned()),
    });
    let scale = if norm.is_finite() || form == Form::F32 || form == Form::Bf16 { scale } else { f32::NAN };
    (scale, bits.collect())
}

/// The scale of 16-bit whole numbers, so that neither they nor sums of their products overflow.
#[inline(always)]
fn scale_16(norm: f32, greatest: f32, n: usize) -> f32 {
    // Rounding adds up to a half to each value.
    let room = NORM_16 - 1.0 - 0.5 * (n as f32).sqrt();
    (norm / room).max(greatest / 32_767.0)
}

/// The nearest, ties to even.
#[inline(always)]
fn bf16(x: f32) -> u16 {
    let bits = x.to_bits();
    (bits.wrapping_add(0x7FFF + ((bits >> 16) & 1)) >> 16) as u16
}

/// Brings `[n, inputs]` to the form of the product.
pub(super) fn rows(input: &[f32], inputs: usize, form: Form, unit: Unit, rows: &mut Rows) {
    let n = input.len() / inputs;
    let words = inputs.div_ceil(form.per_word());
    rows.words.resize(n * words * 4, 0);
    rows.scales.resize(n, 1.0);
    rows.offsets.clear();
    rows.offsets.resize(n, 0.0);
    match form {
        Form::F32 => unit.convert_f32(input, inputs, rows),
        Form::Bf16 => unit.convert_bf16(input, inputs, rows),
        Form::I16 => unit.convert_i16(input, inputs, rows),
        Form::I8 => unit.convert_i8(input, inputs, rows),
    }
}

for_each_unit! {
    convert_f32 = convert_f32_body(input: &[f32], inputs: usize, rows: &mut Rows)
}

#[inline(always)]
fn convert_f32_body<const FMA: bool>(input: &[f32], _: usize, rows: &mut Rows) {
    rows.scales.fill(1.0);
    for (bytes, x) in rows.words.as_chunks_mut::<4>().0.iter_mut().zip(input) {
        *bytes = x.to_le_bytes();
    }
}

for_each_unit! {
    convert_bf16 = convert_bf16_body(input: &[f32], inputs: usize, rows: &mut Rows)
}

#[inline(always)]
fn convert_bf16_body<const FMA: bool>(input: &[f32], inputs: usize, rows: &mut Rows) {
    rows.scales.fill(1.0);
    let row_bytes = inputs.div_ceil(2) * 4;
    for (row, bytes) in input.chunks_exact(inputs).zip(rows.words.chunks_exact_mut(row_bytes)) {
        for (bytes, &x) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(row) {
            *bytes = bf16(x).to_le_bytes();
        }
        bytes[inputs * 2..].fill(0);
    }
}

for_each_unit! {
    convert_i16 = convert_i16_body(input: &[f32], inputs: usize, rows: &mut Rows)
}

#[inline(always)]
fn convert_i16_body<const FMA: bool>(input: &[f32], inputs: usize, rows: &mut Rows) {
    let row_bytes = inputs.div_ceil(2) * 4;
    let by_row = input.chunks_exact(inputs).zip(rows.words.chunks_exact_mut(row_bytes)).zip(&mut rows.scales);
    for ((row, bytes), scale) in by_row {
        let squares = sum_over_lanes(row, |sum, x| mul_add::<FMA>(x, x, sum));
        *scale = scale_16(squares.sqrt(), greatest(row), inputs);
        let factor = if *scale == 0.0 { 0.0 } else { 1.0 / *scale };
        for (bytes, &x) in bytes.as_chunks_mut::<2>().0.iter_mut().zip(row) {
            *bytes = (mul_add::<FMA>(x, factor, ROUND).to_bits() as u16).to_le_bytes();
        }
        bytes[inputs * 2..].fill(0);
    }
}

for_each_unit! {
    convert_i8 = convert_i8_body(input: &[f32], inputs: usize, rows: &mut Rows)
}

#[inline(always)]
fn convert_i8_body<const FMA: bool>(input: &[f32], inputs: usize, rows: &mut Rows) {
    let row_bytes = inputs.div_ceil(4) * 4;
    let by_row = input.chunks_exact(inputs).zip(rows.words.chunks_exact_mut(row_bytes));
    for ((row, bytes), (scale, offset)) in by_row.zip(rows.scales.iter_mut().zip(&mut rows.offsets)) {
        // The whole range of bytes for what the row has: after GELU, nearly all of that is above zero.
        let (least, most) = range(row);
        *scale = (most - least) / 255.0;
        *offset = least + 128.0 * *scale;
        let factor = if *scale == 0.0 { 0.0 } else { 1.0 / *scale };
        for (byte, &x) in bytes.iter_mut().zip(row) {
            // Whole numbers from 0 to 255, since one factor of the product has no sign.
            *byte = mul_add::<FMA>(x - least, factor, ROUND).to_bits() as u8;
        }
        bytes[inputs..].fill(0);
    }
}

/// The least and the greatest value, with zero between them; NaN if there is a NaN or an infinity.
#[inline(always)]
fn range(row: &[f32]) -> (f32, f32) {
    let mut lanes = [(0.0_f32, 0.0_f32, 0.0_f32); LANES];
    let (wide, rest) = row.as_chunks::<LANES>();
    let step = |(least, most, check): (f32, f32, f32), x: f32| {
        // A zero times what is not finite is NaN.
        (if x < least { x } else { least }, if x > most { x } else { most }, check + x * 0.0)
    };
    for chunk in wide {
        for lane in 0..LANES {
            lanes[lane] = step(lanes[lane], chunk[lane]);
        }
    }
    let mut all = (0.0, 0.0, 0.0);
    for (least, most, check) in lanes {
        let (below, above, _) = step(step(all, least), most);
        all = (below, above, all.2 + check);
    }
    let (least, most, check) = rest.iter().fold(all, |all, &x| step(all, x));
    (least + check, most + check)
}

/// The greatest magnitude; NaN if there is a NaN.
#[inline(always)]
fn greatest(row: &[f32]) -> f32 {
    // The order of magnitudes is that of their bits, with NaN on top.
    let bits = |x: f32| x.to_bits() & 0x7FFF_FFFF;
    let mut lanes = [0; LANES];
    let (wide, rest) = row.as_chunks::<LANES>();
    for chunk in wide {
        for lane in 0..LANES {
            lanes[lane] = lanes[lane].max(bits(chunk[lane]));
        }
    }
    let greatest = rest.iter().map(|&x| bits(x)).chain(lanes).max();
    f32::from_bits(greatest.expect("there are lanes"))
}

for_each_unit! {
    /// Adds what the zeros of rows stand for to products.
    add_offsets = add_offsets_body(packed: &Packed, rows: &Rows, out: &mut [f32])
}

#[inline(always)]
fn add_offsets_body<const FMA: bool>(packed: &Packed, rows: &Rows, out: &mut [f32]) {
    for (row, &offset) in out.chunks_exact_mut(packed.outputs).zip(&rows.offsets) {
        for (x, total) in row.iter_mut().zip(&packed.totals) {
            *x = mul_add::<FMA>(offset, *total, *x);
        }
    }
}
