//! The arithmetic of a network between its matrix products.
//!
//! Each kernel is plain code that the compiler turns into vector instructions; it is compiled once per vector unit
//! and the unit is chosen at run time. Results of a token do not depend on which tokens are worked on with it.

#![expect(unsafe_code, reason = "vector units chosen at run time; every block says why")]
#![expect(
    clippy::inline_always,
    reason = "a body must be compiled within the function that has the vector unit"
)]

use super::cache::CACHE_BLOCK;

/// A vector unit that this machine has. Only [`Unit::detect`] and [`Unit::supported`] make one, which is what
/// the safety of the calls below rests on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Unit(Width);

#[derive(Debug, Clone, Copy)]
enum Width {
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    Portable,
}

impl Unit {
    /// The widest unit of this machine.
    pub(super) fn detect() -> Self {
        Self::supported().next().expect("the portable code is always there")
    }

    /// All units of this machine, widest first.
    pub(super) fn supported() -> impl Iterator<Item = Self> {
        let widths = [
            #[cfg(target_arch = "x86_64")]
            (is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("fma"))
            .then_some(Width::Avx512),
            #[cfg(target_arch = "x86_64")]
            (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")).then_some(Width::Avx2),
            Some(Width::Portable),
        ];
        widths.into_iter().flatten().map(Self)
    }
}

/// Defines a method of [`Unit`] that runs `$body::<FMA>` compiled for the unit.
macro_rules! for_each_unit {
    ($(#[$doc:meta])* $name:ident = $body:ident($($arg:ident: $type:ty),*)) => {
        impl Unit {
            $(#[$doc])*
            pub(super) fn $name(self, $($arg: $type),*) {
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,fma")]
                fn avx512($($arg: $type),*) {
                    $body::<true>($($arg),*);
                }
                #[cfg(target_arch = "x86_64")]
                #[target_feature(enable = "avx2,fma")]
                fn avx2($($arg: $type),*) {
                    $body::<true>($($arg),*);
                }
                match self.0 {
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: this variant is made only where all features of the function were detected.
                    Width::Avx512 => unsafe { avx512($($arg),*) },
                    #[cfg(target_arch = "x86_64")]
                    // SAFETY: this variant is made only where AVX2 and FMA were detected.
                    Width::Avx2 => unsafe { avx2($($arg),*) },
                    Width::Portable => $body::<false>($($arg),*),
                }
            }
        }
    };
}

/// Values that are worked on side by side.
const LANES: usize = 16;

/// Heads that are worked on side by side.
const HEADS: usize = 4;

/// `a * b + c`, in one instruction where there is one; without, the fused operation would be a slow call.
#[inline(always)]
fn mul_add<const FMA: bool>(a: f32, b: f32, c: f32) -> f32 {
    if FMA { a.mul_add(b, c) } else { a * b + c }
}

/// Exponential function with a relative error of about 1e-7, free of branches.
#[inline(always)]
fn exp<const FMA: bool>(x: f32) -> f32 {
    // Cephes: split off the power of two, then a polynomial on what is left. ln 2 is in two parts for accuracy.
    let x = x.clamp(-87.0, 88.0);
    let power = mul_add::<FMA>(x, std::f32::consts::LOG2_E, 0.5).floor();
    let rest = mul_add::<FMA>(power, 2.121_944_4e-4, mul_add::<FMA>(power, -0.693_359_4, x));
    let mut sum = 1.987_569_1e-4;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        sum = mul_add::<FMA>(sum, rest, coefficient);
    }
    let fraction = mul_add::<FMA>(sum * rest, rest, rest) + 1.0;
    f32::from_bits(((power as i32 + 127) << 23) as u32) * fraction
}

#[inline(always)]
fn sum_over_lanes(values: &[f32], add: impl Fn(f32, f32) -> f32) -> f32 {
    let mut sums = [0.0; LANES];
    let (wide, rest) = values.as_chunks::<LANES>();
    for chunk in wide {
        for lane in 0..LANES {
            sums[lane] = add(sums[lane], chunk[lane]);
        }
    }
    rest.iter().fold(sums.iter().sum(), |sum, &x| add(sum, x))
}

for_each_unit! {
    /// Scales each row of `rows` (`[n, weights.len()]`) to a mean square of 1, then by the weights.
    rms_norm = rms_norm_body(rows: &mut [f32], weights: &[f32], epsilon: f32)
}

#[inline(always)]
fn rms_norm_body<const FMA: bool>(rows: &mut [f32], weights: &[f32], epsilon: f32) {
    for row in rows.chunks_exact_mut(weights.len()) {
        let squares = sum_over_lanes(row, |sum, x| mul_add::<FMA>(x, x, sum));
        let factor = 1.0 / (squares / weights.len() as f32 + epsilon).sqrt();
        for (x, weight) in row.iter_mut().zip(weights) {
            *x = *x * factor * weight;
        }
    }
}

for_each_unit! {
    /// `gate = silu(gate) * up`.
    silu_gate = silu_gate_body(gate: &mut [f32], up: &[f32])
}

#[inline(always)]
fn silu_gate_body<const FMA: bool>(gate: &mut [f32], up: &[f32]) {
    for (x, up) in gate.iter_mut().zip(up) {
        *x = *x / (1.0 + exp::<FMA>(-*x)) * up;
    }
}

for_each_unit! {
    /// `gate = gelu(gate) * up`, with the approximation by the hyperbolic tangent that Gemma was trained with.
    gelu_gate = gelu_gate_body(gate: &mut [f32], up: &[f32])
}

#[inline(always)]
fn gelu_gate_body<const FMA: bool>(gate: &mut [f32], up: &[f32]) {
    for (value, up) in gate.iter_mut().zip(up) {
        let x = *value;
        // 1 + tanh(y) is 2 * sigmoid(2 * y); the factor is twice the square root of 2 / pi.
        let y = 1.595_769_2 * x * mul_add::<FMA>(0.044_715 * x, x, 1.0);
        *value = x / (1.0 + exp::<FMA>(-y)) * up;
    }
}

/// One token's part in the attention of a layer, for the heads that share keys and values.
#[derive(Debug, Clone, Copy)]
pub(super) struct Attention<'a> {
    /// `[blocks]` of `[head width, CACHE_BLOCK]`: keys lie across, so that scores come side by side.
    pub(super) keys: &'a [&'a [f32]],
    /// `[blocks]` of `[CACHE_BLOCK, head width]`.
    pub(super) values: &'a [&'a [f32]],
    /// Positions that are seen: `from..to`.
    pub(super) from: usize,
    pub(super) to: usize,
    /// Scores are multiplied by this.
    pub(super) scale: f32,
}

for_each_unit! {
    /// Attends with queries of `heads` heads (`[heads, head width]`) and writes as many values.
    attend = attend_body(task: Attention<'_>, queries: &[f32], output: &mut [f32], scores: &mut Vec<f32>)
}

#[inline(always)]
fn attend_body<const FMA: bool>(
    task: Attention<'_>,
    queries: &[f32],
    output: &mut [f32],
    scores: &mut Vec<f32>,
) {
    let head_width = task.keys[0].len() / CACHE_BLOCK;
    let padded = task.keys.len() * CACHE_BLOCK;
    scores.clear();
    scores.resize(HEADS * padded, 0.0);
    for (queries, output) in queries.chunks(HEADS * head_width).zip(output.chunks_mut(HEADS * head_width)) {
        let n_heads = queries.len() / head_width;
        // The last group may be smaller; its last head is then worked on more than once.
        let query = |head: usize| &queries[head.min(n_heads - 1) * head_width..][..head_width];
        let queries: [&[f32]; HEADS] = std::array::from_fn(query);
        score_keys::<FMA>(task, queries, scores);
        for head in 0..n_heads {
            soft_max::<FMA>(&mut scores[head * padded..(head + 1) * padded], task);
        }
        blend_values::<FMA>(task, scores, output, head_width);
    }
}

/// Inner products of queries with keys: `[HEADS, blocks * CACHE_BLOCK]`.
#[inline(always)]
fn score_keys<const FMA: bool>(task: Attention<'_>, queries: [&[f32]; HEADS], scores: &mut [f32]) {
    let padded = task.keys.len() * CACHE_BLOCK;
    let head_width = queries[0].len();
    for block in task.from / CACHE_BLOCK..task.to.div_ceil(CACHE_BLOCK) {
        let keys = &task.keys[block].as_chunks::<CACHE_BLOCK>().0[..head_width];
        for lanes in 0..CACHE_BLOCK / LANES {
            let mut sums = [[0.0_f32; LANES]; HEADS];
            for (i, key) in keys.iter().enumerate() {
                let key: &[f32; LANES] = &key.as_chunks().0[lanes];
                for head in 0..HEADS {
                    let query = queries[head][i];
                    for lane in 0..LANES {
                        sums[head][lane] = mul_add::<FMA>(query, key[lane], sums[head][lane]);
                    }
                }
            }
            for (head, sums) in sums.iter().enumerate() {
                scores[head * padded + block * CACHE_BLOCK + lanes * LANES..][..LANES].copy_from_slice(sums);
            }
        }
    }
}

/// Makes weights of scores that add up to 1; zero for positions that are not seen.
#[inline(always)]
fn soft_max<const FMA: bool>(scores: &mut [f32], task: Attention<'_>) {
    let first = task.from / LANES * LANES;
    scores[first..task.from].fill(f32::MIN);
    let end = task.to.next_multiple_of(LANES);
    scores[task.to..end].fill(f32::MIN);
    let seen = &mut scores[first..end];
    let mut greatest = [f32::MIN; LANES];
    for chunk in seen.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            greatest[lane] = greatest[lane].max(chunk[lane]);
        }
    }
    let greatest = greatest.into_iter().fold(f32::MIN, f32::max);
    for x in seen.iter_mut() {
        *x = exp::<FMA>((*x - greatest) * task.scale);
    }
    seen[..task.from - first].fill(0.0);
    let unseen = end - task.to;
    let n = seen.len();
    seen[n - unseen..].fill(0.0);
    let factor = 1.0 / sum_over_lanes(seen, |sum, x| sum + x);
    for x in seen {
        *x *= factor;
    }
}

/// Sums of the value vectors by the weights of each head.
#[inline(always)]
fn blend_values<const FMA: bool>(
    task: Attention<'_>,
    weights: &[f32],
    output: &mut [f32],
    head_width: usize,
) {
    let padded = task.keys.len() * CACHE_BLOCK;
    let n_heads = output.len() / head_width;
    for at in (0..head_width).step_by(LANES) {
        let mut sums = [[0.0_f32; LANES]; HEADS];
        for block in task.from / CACHE_BLOCK..task.to.div_ceil(CACHE_BLOCK) {
            let start = block * CACHE_BLOCK;
            let (from, to) = (task.from.max(start), task.to.min(start + CACHE_BLOCK));
            let values = &task.values[block][(from - start) * head_width..(to - start) * head_width];
            let of_head: [&[f32]; HEADS] =
                std::array::from_fn(|head| &weights[head * padded + from..head * padded + to]);
            for (i, value) in values.chunks_exact(head_width).enumerate() {
                let value: &[f32; LANES] = value[at..at + LANES].try_into().expect("a whole number of lanes");
                for head in 0..HEADS {
                    let weight = of_head[head][i];
                    for lane in 0..LANES {
                        sums[head][lane] = mul_add::<FMA>(weight, value[lane], sums[head][lane]);
                    }
                }
            }
        }
        for (head, sums) in sums.iter().enumerate().take(n_heads) {
            output[head * head_width + at..][..LANES].copy_from_slice(sums);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(n: usize, seed: usize) -> Vec<f32> {
        (0..n).map(|i| (((i * 7919 + seed * 104_729) % 1009) as f32 / 1009.0 - 0.5) * 4.0).collect()
    }

    fn close(ours: &[f32], expect: &[f64]) {
        assert_eq!(ours.len(), expect.len());
        for (&a, &b) in ours.iter().zip(expect) {
            assert!((f64::from(a) - b).abs() <= 2e-5 * b.abs().max(1.0), "{a} {b}");
        }
    }

    /// Attention as it is defined, over keys and values of `to` tokens in the layout of the cache.
    fn check_attention(heads: usize, head_width: usize, from: usize, to: usize) {
        let n_blocks = to.div_ceil(CACHE_BLOCK);
        // What lies beyond the last token is left from other sequences, and must not be felt.
        let keys: Vec<Vec<f32>> = (0..n_blocks).map(|i| values(head_width * CACHE_BLOCK, i)).collect();
        let vectors: Vec<Vec<f32>> =
            (0..n_blocks).map(|i| values(head_width * CACHE_BLOCK, i + 50)).collect();
        let queries = values(heads * head_width, 99);
        let mut expect = Vec::new();
        for query in queries.chunks_exact(head_width) {
            let score = |position: usize| {
                let (block, at) = (&keys[position / CACHE_BLOCK], position % CACHE_BLOCK);
                let products =
                    query.iter().enumerate().map(|(i, q)| f64::from(q * block[i * CACHE_BLOCK + at]));
                (products.sum::<f64>() * 0.25).exp()
            };
            let weights: Vec<f64> = (from..to).map(score).collect();
            let total: f64 = weights.iter().sum();
            for i in 0..head_width {
                let value = |position: usize| {
                    f64::from(vectors[position / CACHE_BLOCK][position % CACHE_BLOCK * head_width + i])
                };
                expect.push(
                    (from..to).zip(&weights).map(|(at, weight)| weight / total * value(at)).sum::<f64>(),
                );
            }
        }
        let (keys, vectors): (Vec<&[f32]>, Vec<&[f32]>) =
            (keys.iter().map(Vec::as_slice).collect(), vectors.iter().map(Vec::as_slice).collect());
        let task = Attention { keys: &keys, values: &vectors, from, to, scale: 0.25 };
        for unit in Unit::supported() {
            let mut output = vec![f32::NAN; heads * head_width];
            unit.attend(task, &queries, &mut output, &mut vec![f32::NAN; 3]);
            close(&output, &expect);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        #[test]
        fn attention_is_right_on_every_unit(heads in 1..10_usize, width in 1..5_usize, a in 0..200_usize, b in 1..60_usize) {
            check_attention(heads, width * 16, a, a + b);
            check_attention(heads, width * 16, 0, a + b);
        }

        #[test]
        fn norms_and_gates_are_right_on_every_unit(width in 1..80_usize, rows in 1..4_usize, seed in 0..100_usize) {
            let (input, weights) = (values(width * rows, seed), values(width, seed + 1));
            let gelu = |x: f64| 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x * x * x)).tanh());
            let silu = |x: f64| x / (1.0 + (-x).exp());
            let by = |gate: &dyn Fn(f64) -> f64| {
                input.iter().map(|&x| gate(f64::from(x)) * f64::from(x)).collect::<Vec<f64>>()
            };
            let normed: Vec<f64> = input.chunks_exact(width).flat_map(|row| {
                let squares: f64 = row.iter().map(|x| f64::from(x * x)).sum();
                let factor = 1.0 / (squares / width as f64 + 1e-5).sqrt();
                row.iter().zip(&weights).map(move |(x, weight)| f64::from(*x) * factor * f64::from(*weight)).collect::<Vec<_>>()
            }).collect();
            for unit in Unit::supported() {
                let mut output = input.clone();
                unit.silu_gate(&mut output, &input);
                close(&output, &by(&silu));
                output.clone_from(&input);
                unit.gelu_gate(&mut output, &input);
                close(&output, &by(&gelu));
                output.clone_from(&input);
                unit.rms_norm(&mut output, &weights, 1e-5);
                close(&output, &normed);
            }
        }
    }
}
