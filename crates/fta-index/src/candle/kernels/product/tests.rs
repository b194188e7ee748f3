//! Every engine in every form against plain `f64` code, and against each other.

use proptest::prelude::*;

use super::*;

const FORMS: [(Form, f64); 4] = [(Form::F32, 1e-6), (Form::Bf16, 1e-2), (Form::I16, 1e-3), (Form::I8, 2e-2)];

fn values(n: usize, seed: usize) -> Vec<f32> {
    (0..n).map(|i| ((i * 7919 + seed * 104_729) % 1009) as f32 / 1009.0 - 0.45).collect()
}

fn product(linear: &Linear, input: &[f32], then: Then, start: f32) -> Vec<f32> {
    let n = input.len() / linear.inputs;
    let mut out = vec![start; n * linear.outputs];
    // Buffers that were used for something larger.
    let mut rows =
        Rows { words: vec![0xFF; 5000], scales: vec![f32::NAN; 200], offsets: vec![f32::NAN; 200] };
    linear.apply(input, then, &mut out, &mut rows);
    out
}

/// All engines of all forms, and how far each may be off, in parts of the norms of row and column.
fn engines(matrix: &[f32], bias: &[f32]) -> Vec<(String, Form, f64, Linear)> {
    let mut all = Vec::new();
    for (form, tolerance) in FORMS {
        for engine in Engine::supported(form) {
            let name = format!("{form:?} {engine:?}");
            all.push((name, form, tolerance, Linear::packed(matrix, bias, form, engine)));
        }
    }
    all.push(("gemm".to_owned(), Form::F32, 1e-6, Linear::plain(matrix.to_vec(), bias.to_vec())));
    all
}

fn norm(values: &[f32]) -> f64 {
    values.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>().sqrt()
}

fn check((n, inputs, outputs): (usize, usize, usize), seed: usize) {
    let (matrix, bias) = (values(inputs * outputs, seed), values(outputs, seed + 1));
    let input = values(n * inputs, seed + 2);
    let mut exact = std::collections::BTreeMap::new();
    for (name, form, tolerance, linear) in engines(&matrix, &bias) {
        let written = product(&linear, &input, Then::Write, f32::NAN);
        let added = product(&linear, &input, Then::Add, 2.0);
        for (at, (&x, &y)) in written.iter().zip(&added).enumerate() {
            let (row, column) =
                (&input[at / outputs * inputs..][..inputs], &matrix[at % outputs * inputs..][..inputs]);
            let sum: f64 = row.iter().zip(column).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
            let expect = sum + f64::from(bias[at % outputs]);
            let room = tolerance * (norm(row) * norm(column)) + 2e-6;
            assert!((f64::from(x) - expect).abs() <= room, "{name} {n} {inputs} {outputs}: {x} for {expect}");
            assert!((y - x - 2.0).abs() < 2e-6 * (1.0 + x.abs()), "{name}: {y} is not {x} more than 2");
        }
        // Sums of whole numbers are exact, so engines agree to the rounding of scales.
        if matches!(form, Form::I16 | Form::I8) {
            let first = exact.entry(format!("{form:?}")).or_insert_with(|| written.clone());
            for (x, y) in written.iter().zip(first.iter()) {
                assert!(
                    (x - y).abs() <= 4e-6 * (1.0 + x.abs()),
                    "{name} differs from the first: {x} for {y}"
                );
            }
        }
        // A row does not feel its neighbours, not even in its last bit.
        for (row, found) in input.chunks_exact(inputs).zip(written.chunks_exact(outputs)).take(3) {
            let alone = product(&linear, row, Then::Write, 0.0);
            if name != "gemm" {
                assert_eq!(alone, found, "{name}: a row alone");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn products_of_any_shape(n in 0..40_usize, inputs in 1..80_usize, outputs in 1..100_usize, seed in 0..100_usize) {
        check((n, inputs, outputs), seed);
    }
}

#[test]
fn shapes_of_an_encoder() {
    check((CHUNK + 15, 384, 64), 1);
    check((3, 1536, 33), 2);
}

#[test]
fn the_greatest_sums_do_not_wrap_around() {
    // All values alike give the greatest sum for the norm; one value alone gives the greatest value.
    for inputs in [1, 2, 384, 1536, 20_000] {
        for alone in [false, true] {
            let row: Vec<f32> = (0..inputs).map(|i| if alone && i > 0 { 0.0 } else { 3.7 }).collect();
            let expect = row.iter().map(|&x| f64::from(x).powi(2)).sum::<f64>();
            for (name, form, _, linear) in engines(&row, &[0.0]) {
                // A sum that wraps around is off by far more than roundings that all go one way.
                let room = if form == Form::Bf16 { 1e-2 } else { 5e-3 };
                for (sign, input) in [(1.0, row.clone()), (-1.0, row.iter().map(|x| -x).collect())] {
                    let found = f64::from(product(&linear, &input, Then::Write, 0.0)[0]);
                    assert!(
                        (found - sign * expect).abs() < room * expect,
                        "{name} {inputs}: {found} {expect}"
                    );
                }
            }
        }
    }
}

#[test]
fn zeros_and_tiny_values() {
    for scale in [0.0, 1e-30, 1e-20, 1e18] {
        let matrix: Vec<f32> = values(40 * 7, 3).iter().map(|x| x * scale).collect();
        for (name, _, _, linear) in engines(&matrix, &[0.5; 7]) {
            assert_eq!(product(&linear, &[0.0; 40], Then::Write, 0.0), vec![0.5; 7], "{name}");
            let found = product(&linear, &values(40, 1), Then::Write, 0.0);
            assert!(found.iter().all(|x| x.is_finite()), "{name} at {scale}: {found:?}");
        }
    }
}

#[test]
fn what_is_not_finite_shows() {
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::from_bits(0x7FFF_FFFF)] {
        let mut matrix = values(33 * 5, 1);
        matrix[33 * 2 + 32] = bad;
        let mut row = values(33, 2);
        row[32] = bad;
        for ((name, form, _, damaged), (.., sound)) in
            engines(&matrix, &[0.0; 5]).into_iter().zip(engines(&values(33 * 5, 1), &[0.0; 5]))
        {
            let found = product(&damaged, &values(33, 3), Then::Write, 0.0);
            assert!(!found[2].is_finite(), "{name}: damaged weights give {found:?}");
            assert!(found[1].is_finite(), "{name}: other columns do not feel it: {found:?}");
            // Rounding to `bf16` may take a signalling bit away from odd kinds of NaN, which no sum makes.
            if form != Form::Bf16 || bad.to_bits() != 0x7FFF_FFFF {
                let found = product(&sound, &row, Then::Write, 0.0);
                assert!(found.iter().all(|x| !x.is_finite()), "{name}: a damaged row gives {found:?}");
            }
        }
    }
}

#[test]
#[should_panic(expected = "shapes")]
fn wrong_shapes_are_refused() {
    let linear = Linear::new(values(6, 1), values(2, 1), Precision::F32);
    linear.apply(&values(5, 1), Then::Write, &mut values(4, 1), &mut Rows::default());
}
