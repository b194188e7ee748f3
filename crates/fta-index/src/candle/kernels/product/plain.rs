//! Products in plain code, for processors without the instructions.
//!
//! Sums of whole numbers are exact, so all processors agree on them; those of `bf16` agree to rounding.

use super::super::{Unit, Width};
use super::{PANEL, Packed, Rows, Then};

#[inline(always)]
fn multiply<S: Copy>(
    (packed, rows, then, out): (&Packed, &Rows, Then, &mut [f32]),
    start: impl Fn(i32) -> S,
    dot: impl Fn(S, u32, u32) -> S,
    finish: impl Fn(S) -> f32,
) {
    let by_row = rows.words.chunks_exact(packed.words * 4).zip(rows.scales.iter().zip(&rows.offsets));
    for ((row, (row_scale, offset)), out) in by_row.zip(out.chunks_exact_mut(packed.outputs)) {
        for (panel, out) in out.chunks_mut(PANEL).enumerate() {
            let column = panel * PANEL;
            let mut sums: [S; PANEL] = std::array::from_fn(|i| start(packed.start[column + i]));
            let lines = &packed.panels[panel * packed.words..(panel + 1) * packed.words];
            for (word, line) in row.as_chunks::<4>().0.iter().zip(lines) {
                let word = u32::from_le_bytes(*word);
                for (sum, &weights) in sums.iter_mut().zip(&line.0) {
                    *sum = dot(*sum, word, weights);
                }
            }
            let columns =
                packed.scales[column..].iter().zip(&packed.bias[column..]).zip(&packed.totals[column..]);
            for ((out, &sum), ((scale, bias), total)) in out.iter_mut().zip(&sums).zip(columns) {
                let value = finish(sum) * (scale * row_scale) + bias + offset * total;
                *out = if then == Then::Add { *out + value } else { value };
            }
        }
    }
}

for_each_unit! {
    multiply_f32 = f32_body(packed: &Packed, rows: &Rows, then: Then, out: &mut [f32])
}

#[inline(always)]
fn f32_body<const FMA: bool>(packed: &Packed, rows: &Rows, then: Then, out: &mut [f32]) {
    let dot = |sum: f32, a: u32, b: u32| sum + f32::from_bits(a) * f32::from_bits(b);
    multiply((packed, rows, then, out), |_| 0.0, dot, |sum| sum);
}

for_each_unit! {
    multiply_bf16 = bf16_body(packed: &Packed, rows: &Rows, then: Then, out: &mut [f32])
}

#[inline(always)]
fn bf16_body<const FMA: bool>(packed: &Packed, rows: &Rows, then: Then, out: &mut [f32]) {
    let low = |x: u32| f32::from_bits(x << 16);
    let high = |x: u32| f32::from_bits(x & 0xFFFF_0000);
    let dot = |sum: f32, a: u32, b: u32| sum + high(a) * high(b) + low(a) * low(b);
    multiply((packed, rows, then, out), |_| 0.0, dot, |sum| sum);
}

for_each_unit! {
    multiply_i16 = i16_body(packed: &Packed, rows: &Rows, then: Then, out: &mut [f32])
}

#[inline(always)]
fn i16_body<const FMA: bool>(packed: &Packed, rows: &Rows, then: Then, out: &mut [f32]) {
    let low = |x: u32| i32::from((x as u16).cast_signed());
    let high = |x: u32| x.cast_signed() >> 16;
    let dot = |sum: i32, a: u32, b: u32| sum.wrapping_add((low(a) * low(b)).wrapping_add(high(a) * high(b)));
    multiply((packed, rows, then, out), |start| start, dot, |sum| sum as f32);
}

for_each_unit! {
    multiply_i8 = i8_body(packed: &Packed, rows: &Rows, then: Then, out: &mut [f32])
}

#[inline(always)]
fn i8_body<const FMA: bool>(packed: &Packed, rows: &Rows, then: Then, out: &mut [f32]) {
    let dot = |sum: i32, a: u32, b: u32| {
        let [a, b] = [a.to_le_bytes(), b.to_le_bytes()];
        let products = a.iter().zip(b).map(|(&a, b)| i32::from(a) * i32::from(b.cast_signed()));
        sum.wrapping_add(products.sum())
    };
    multiply((packed, rows, then, out), |start| start, dot, |sum| sum as f32);
}
