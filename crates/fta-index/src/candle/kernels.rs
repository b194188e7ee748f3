//! The arithmetic of the encoder between its matrix products, and the products themselves.
//!
//! Each kernel is plain code that the compiler turns into vector instructions; it is compiled once per vector unit
//! and the unit is chosen at run time. Nothing here starts threads.

#![expect(
    unsafe_code,
    reason = "vector units chosen at run time, and the matrix product; every block says why"
)]
#![expect(
    clippy::inline_always,
    reason = "a body must be compiled within the function that has the vector unit"
)]

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

mod product;

pub(super) use product::{Linear, Rows, Then};

/// Values that are worked on side by side.
const LANES: usize = 16;

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
    // Adding 1.5 * 2^23 leaves the nearest whole number in the low bits; a conversion, which must check its range, would
    // be slower.
    let rounded = mul_add::<FMA>(x, std::f32::consts::LOG2_E, 12_582_912.0);
    let power = rounded - 12_582_912.0;
    let rest = mul_add::<FMA>(power, 2.121_944_4e-4, mul_add::<FMA>(power, -0.693_359_4, x));
    let mut sum = 1.987_569_1e-4;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5] {
        sum = mul_add::<FMA>(sum, rest, coefficient);
    }
    let fraction = mul_add::<FMA>(sum * rest, rest, rest) + 1.0;
    f32::from_bits((rounded.to_bits() << 23).wrapping_add(127 << 23)) * fraction
}

for_each_unit! {
    /// Applies the exact (error function) GELU to all values.
    gelu = gelu_body(values: &mut [f32])
}

#[inline(always)]
fn gelu_body<const FMA: bool>(values: &mut [f32]) {
    for x in values {
        *x = 0.5 * *x * (1.0 + erf::<FMA>(*x * std::f32::consts::FRAC_1_SQRT_2));
    }
}

/// Error function with an absolute error of about 2e-7, free of branches.
#[inline(always)]
fn erf<const FMA: bool>(x: f32) -> f32 {
    // The ratio of polynomials that XLA and Eigen use; beyond 4 the function is 1 to the precision of `f32`.
    const ABOVE: [f32; 6] =
        [2.770_681_4e-8, -2.101_024e-6, -5.692_506_4e-5, -7.349_906_3e-4, -2.954_6e-3, -1.609_603_3e-2];
    const BELOW: [f32; 4] = [-2.133_740_6e-4, -1.682_827e-3, -7.373_329_2e-3, -1.426_473_9e-2];
    // Unlike `clamp`, this leaves NaN to the result.
    let x = if x > 4.0 { 4.0 } else { x };
    let x = if x < -4.0 { -4.0 } else { x };
    let square = x * x;
    let mut above = -2.726_142_3e-10;
    for coefficient in ABOVE {
        above = mul_add::<FMA>(above, square, coefficient);
    }
    let mut below = -1.456_607_2e-5;
    for coefficient in BELOW {
        below = mul_add::<FMA>(below, square, coefficient);
    }
    x * above / below
}

/// Scale and shift of a layer normalisation, `[width]` each.
#[derive(Debug)]
pub(super) struct Norm {
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
    pub(super) epsilon: f32,
}

for_each_unit! {
    /// Normalises each row of `rows` (`[n, width]`) to mean 0 and variance 1, then scales and shifts it.
    layer_norm = layer_norm_body(rows: &mut [f32], norm: &Norm)
}

#[inline(always)]
fn layer_norm_body<const FMA: bool>(rows: &mut [f32], norm: &Norm) {
    let width = norm.scale.len();
    for row in rows.chunks_exact_mut(width) {
        let mean = sum_over_lanes(row, |sum, x| sum + x) / width as f32;
        // In two passes: the difference of large sums would lose the small variances.
        let squares = sum_over_lanes(row, |sum, x| mul_add::<FMA>(x - mean, x - mean, sum));
        let factor = 1.0 / (squares / width as f32 + norm.epsilon).sqrt();
        for ((x, scale), shift) in row.iter_mut().zip(&norm.scale).zip(&norm.shift) {
            *x = mul_add::<FMA>((*x - mean) * factor, *scale, *shift);
        }
    }
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
    rest.iter().fold(fold_lanes(sums, |a, b| a + b), |sum, &x| add(sum, x))
}

/// Brings lanes together, half with half, which takes four steps and not sixteen.
#[inline(always)]
fn fold_lanes(mut lanes: [f32; LANES], join: impl Fn(f32, f32) -> f32) -> f32 {
    for half in [8, 4, 2, 1] {
        for lane in 0..half {
            lanes[lane] = join(lanes[lane], lanes[lane + half]);
        }
    }
    lanes[0]
}

/// Buffers of [`Unit::attend`], kept between calls.
#[derive(Debug, Default)]
pub(super) struct AttentionBuffers {
    packed: product::HeadBuffers,
    /// Scores of one query with all keys, padded to whole lanes.
    scores: Vec<f32>,
    /// Keys of one head, `[head width, padded number of tokens]`, so that scores come side by side.
    keys: Vec<f32>,
}

/// Tokens are vectors of `heads` parts of `head_width` values each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heads {
    pub(super) heads: usize,
    pub(super) head_width: usize,
}

impl Unit {
    /// Self-attention of one text of `n` tokens.
    ///
    /// `projected` is `[n, 3 * width]`, query, key and value of each token side by side, where `width` is
    /// `heads * head_width`. Writes `[n, width]`.
    pub(super) fn attend(
        self,
        projected: &[f32],
        shape: Heads,
        output: &mut [f32],
        buffers: &mut AttentionBuffers,
    ) {
        #[cfg(target_arch = "x86_64")]
        if matches!(self.0, Width::Avx512) {
            return product::attend(self, projected, shape, output, &mut buffers.packed);
        }
        self.attend_plainly(projected, shape, output, buffers);
    }
}

for_each_unit! {
    /// As [`Unit::attend`], without packed products.
    attend_plainly = attend_body(projected: &[f32], shape: Heads, output: &mut [f32], buffers: &mut AttentionBuffers)
}

#[inline(always)]
fn attend_body<const FMA: bool>(
    projected: &[f32],
    shape: Heads,
    output: &mut [f32],
    buffers: &mut AttentionBuffers,
) {
    let Heads { heads, head_width } = shape;
    let width = heads * head_width;
    let n = output.len() / width;
    let padded = n.next_multiple_of(LANES);
    let scale = 1.0 / (head_width as f32).sqrt();
    buffers.scores.resize(padded, 0.0);
    buffers.keys.resize(head_width * padded, 0.0);
    for head in 0..heads {
        let at = head * head_width;
        buffers.keys.fill(0.0);
        for (j, token) in projected.chunks_exact(3 * width).enumerate() {
            let key = &token[width + at..width + at + head_width];
            for (row, &x) in buffers.keys.chunks_exact_mut(padded).zip(key) {
                row[j] = x;
            }
        }
        for (token, output) in projected.chunks_exact(3 * width).zip(output.chunks_exact_mut(width)) {
            score_keys::<FMA>(&token[at..at + head_width], &buffers.keys, &mut buffers.scores);
            let sum = soft_max_padded::<FMA>(&mut buffers.scores, n, scale);
            let values = &projected[2 * width + at..];
            let output = &mut output[at..at + head_width];
            blend_values::<FMA>(&buffers.scores[..n], values, 3 * width, output);
            for x in output {
                *x /= sum;
            }
        }
    }
}

/// Inner products of a query with all keys.
#[inline(always)]
fn score_keys<const FMA: bool>(query: &[f32], keys: &[f32], scores: &mut [f32]) {
    let padded = scores.len();
    for (block, scores) in scores.as_chunks_mut::<LANES>().0.iter_mut().enumerate() {
        let mut sums = [0.0; LANES];
        for (&q, row) in query.iter().zip(keys.chunks_exact(padded)) {
            let row = &row[block * LANES..(block + 1) * LANES];
            for lane in 0..LANES {
                sums[lane] = mul_add::<FMA>(q, row[lane], sums[lane]);
            }
        }
        *scores = sums;
    }
}

for_each_unit! {
    /// Makes weights of each row of scores, `[n, n]`; writes what makes the sum of each row 1.
    soft_max = soft_max_body(scores: &mut [f32], scale: f32, factors: &mut [f32])
}

#[inline(always)]
fn soft_max_body<const FMA: bool>(scores: &mut [f32], scale: f32, factors: &mut [f32]) {
    let n = factors.len();
    for (row, factor) in scores.chunks_exact_mut(n).zip(factors) {
        let (wide, rest) = row.as_chunks_mut::<LANES>();
        // The rest is worked on as a whole vector too; loops over fewer would be slower.
        let mut last = [f32::MIN; LANES];
        last[..rest.len()].copy_from_slice(rest);
        let mut lanes = last;
        for chunk in &*wide {
            for lane in 0..LANES {
                lanes[lane] = if chunk[lane] > lanes[lane] { chunk[lane] } else { lanes[lane] };
            }
        }
        let greatest = fold_lanes(lanes, |a, b| if a > b { a } else { b });
        // What pads the last vector becomes about 1e-38 each, which no sum feels.
        let mut sums = [0.0; LANES];
        for lane in 0..LANES {
            last[lane] = exp::<FMA>((last[lane] - greatest) * scale);
            sums[lane] = last[lane];
        }
        for chunk in wide {
            for lane in 0..LANES {
                chunk[lane] = exp::<FMA>((chunk[lane] - greatest) * scale);
                sums[lane] += chunk[lane];
            }
        }
        rest.copy_from_slice(&last[..rest.len()]);
        *factor = 1.0 / fold_lanes(sums, |a, b| a + b);
    }
}

/// Makes weights of the first `n` scores and zeros of the padding; returns the sum of the weights.
#[inline(always)]
fn soft_max_padded<const FMA: bool>(scores: &mut [f32], n: usize, scale: f32) -> f32 {
    scores[n..].fill(f32::MIN);
    let mut greatest = [f32::MIN; LANES];
    for chunk in scores.as_chunks::<LANES>().0 {
        for lane in 0..LANES {
            greatest[lane] = greatest[lane].max(chunk[lane]);
        }
    }
    let greatest = greatest.into_iter().fold(f32::MIN, f32::max);
    for chunk in scores.as_chunks_mut::<LANES>().0 {
        for x in chunk {
            *x = exp::<FMA>((*x - greatest) * scale);
        }
    }
    scores[n..].fill(0.0);
    sum_over_lanes(scores, |sum, x| sum + x)
}

/// Sum of the value vectors by their weights; they lie `stride` apart.
#[inline(always)]
fn blend_values<const FMA: bool>(weights: &[f32], values: &[f32], stride: usize, output: &mut [f32]) {
    let (wide, rest) = output.as_chunks_mut::<LANES>();
    let first_of_rest = wide.len() * LANES;
    for (block, output) in wide.iter_mut().enumerate() {
        let mut sums = [0.0; LANES];
        for (&weight, values) in weights.iter().zip(values.chunks(stride)) {
            let values = &values[block * LANES..(block + 1) * LANES];
            for lane in 0..LANES {
                sums[lane] = mul_add::<FMA>(weight, values[lane], sums[lane]);
            }
        }
        *output = sums;
    }
    for (i, output) in rest.iter_mut().enumerate() {
        let terms = weights.iter().zip(values.chunks(stride));
        *output = terms.map(|(weight, values)| weight * values[first_of_rest + i]).sum();
    }
}

#[cfg(test)]
mod tests;
