//! Every kernel on every vector unit against plain `f64` code.

use super::*;

fn values(n: usize, seed: u32) -> Vec<f32> {
    (0..n as u32).map(|i| ((i * 37 + seed * 101) % 89) as f32 / 30.0 - 1.4).collect()
}

fn close(found: &[f32], expect: &[f64], what: &str) {
    assert_eq!(found.len(), expect.len());
    for (i, (x, y)) in found.iter().zip(expect).enumerate() {
        assert!((f64::from(*x) - y).abs() < 2e-6 * (1.0 + y.abs()), "{what} at {i}: {x} for {y}");
    }
}

#[test]
fn exponential_function() {
    let mut x = -86.0_f32;
    while x < 80.0 {
        let expect = f64::from(x).exp();
        for found in [exp::<false>(x), exp::<true>(x)] {
            assert!((f64::from(found) - expect).abs() < 1e-6 * expect, "exp({x}) = {found}");
        }
        x += 0.137;
    }
    assert!(exp::<false>(f32::MIN) < 1e-37 && exp::<true>(f32::MIN) >= 0.0);
}

#[test]
fn gelu_against_a_series() {
    // The error function by its Taylor series, which converges everywhere.
    let erf = |x: f64| {
        let (mut term, mut sum) = (x, x);
        for n in 1..200 {
            term *= -x * x / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    };
    let input: Vec<f32> = (-400..400).map(|i| i as f32 / 100.0).collect();
    let expect: Vec<f64> = input
        .iter()
        .map(|&x| 0.5 * f64::from(x) * (1.0 + erf(f64::from(x) * std::f64::consts::FRAC_1_SQRT_2)))
        .collect();
    for unit in Unit::supported() {
        let mut found = input.clone();
        unit.gelu(&mut found);
        close(&found, &expect, &format!("{unit:?}"));
    }
}

#[test]
fn layer_norm_of_odd_widths() {
    for width in [1, 5, 16, 33, 384] {
        let norm = Norm { scale: values(width, 1), shift: values(width, 2), epsilon: 1e-5 };
        // A large mean shows whether the variance is computed with care.
        let input: Vec<f32> = values(3 * width, 3).iter().map(|x| x + 100.0).collect();
        let mut expect = Vec::new();
        for row in input.chunks(width) {
            let mean = row.iter().map(|&x| f64::from(x)).sum::<f64>() / width as f64;
            let variance = row.iter().map(|&x| (f64::from(x) - mean).powi(2)).sum::<f64>() / width as f64;
            expect.extend(row.iter().zip(&norm.scale).zip(&norm.shift).map(|((&x, &scale), &shift)| {
                (f64::from(x) - mean) / (variance + 1e-5).sqrt() * f64::from(scale) + f64::from(shift)
            }));
        }
        for unit in Unit::supported() {
            let mut found = input.clone();
            unit.layer_norm(&mut found, &norm);
            for (i, (x, y)) in found.iter().zip(&expect).enumerate() {
                assert!((f64::from(*x) - y).abs() < 1e-4, "{unit:?} width {width} at {i}: {x} for {y}");
            }
        }
    }
}

fn attend_plainly(projected: &[f32], Heads { heads, head_width }: Heads) -> Vec<f64> {
    let width = heads * head_width;
    let tokens: Vec<&[f32]> = projected.chunks(3 * width).collect();
    let mut output = vec![0.0; tokens.len() * width];
    for head in 0..heads {
        let part = |token: &[f32], which: usize| -> Vec<f64> {
            let from = which * width + head * head_width;
            token[from..from + head_width].iter().map(|&x| f64::from(x)).collect()
        };
        for (i, query) in tokens.iter().enumerate() {
            let query = part(query, 0);
            let weights: Vec<f64> = tokens
                .iter()
                .map(|token| query.iter().zip(part(token, 1)).map(|(q, k)| q * k).sum::<f64>())
                .map(|score| (score / (head_width as f64).sqrt()).exp())
                .collect();
            for (token, weight) in tokens.iter().zip(&weights) {
                for (d, value) in part(token, 2).into_iter().enumerate() {
                    output[i * width + head * head_width + d] += weight * value / weights.iter().sum::<f64>();
                }
            }
        }
    }
    output
}

#[test]
fn attention_of_any_shape() {
    let mut buffers = AttentionBuffers::default();
    for shape in [(1, 1), (2, 5), (3, 16), (12, 32), (2, 40)] {
        let shape = Heads { heads: shape.0, head_width: shape.1 };
        let width = shape.heads * shape.head_width;
        // Long before short, so that stale buffers would show.
        for n in [37, 1, 16, 17, 0] {
            let projected = values(n * 3 * width, 5);
            for unit in Unit::supported() {
                let mut found = vec![f32::NAN; n * width];
                unit.attend(&projected, shape, &mut found, &mut buffers);
                close(&found, &attend_plainly(&projected, shape), &format!("{unit:?} {shape:?} {n} tokens"));
            }
        }
    }
}
