//! Numbers and names as they are written.

use super::Cell;
use crate::datasets::EvidenceRef;

/// What stands for nothing.
pub(super) const NOTHING: &str = "-";

/// A number with so many decimals; [`NOTHING`] if it is no finite number.
pub(super) fn fixed(value: f64, decimals: usize) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    let text = format!("{value:.decimals$}");
    // What rounds to zero has no sign.
    if text.starts_with('-') && text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.')) {
        text[1..].to_owned()
    } else {
        text
    }
}

/// A number with four significant digits and no zeros at its end.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        NOTHING.to_owned()
    } else if size != 0.0 && !(1e-4..1e6).contains(&size) {
        let text = format!("{value:.3e}");
        let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
        format!("{}e{power}", digits.trim_end_matches('0').trim_end_matches('.'))
    } else {
        let whole_digits = if size < 1.0 { 0 } else { size.log10().floor() as usize + 1 };
        let text = fixed(value, 4_usize.saturating_sub(whole_digits));
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    }
}

/// Decimals that suit all of these sizes; `None` if they are too far from 1 for decimals.
pub(super) fn same_decimals(sizes: impl Iterator<Item = f64>) -> Option<usize> {
    let largest = sizes.filter(|size| size.is_finite()).fold(0.0, f64::max);
    match largest {
        0.0 => Some(3),
        _ if !(1e-2..1e9).contains(&largest) => None,
        _ => Some((3.0 - largest.log10().floor().max(0.0)).max(0.0) as usize),
    }
}

/// An interval of finite bounds, as `[0.380, 0.441]`.
pub(super) fn interval((lower, upper): (f64, f64), write: impl Fn(f64) -> String) -> Option<String> {
    (lower.is_finite() && upper.is_finite()).then(|| format!("[{}, {}]", write(lower), write(upper)))
}

impl Cell {
    /// Its text without its interval; [`NOTHING`] if it is empty.
    pub(super) fn value_text(&self) -> String {
        match self {
            Self::Empty => NOTHING.to_owned(),
            Self::Text(text) => text.clone(),
            Self::Count(count) => count.to_string(),
            Self::Number { value, decimals, .. } => fixed(*value, *decimals),
        }
    }

    /// Its interval, if it has one with finite bounds.
    pub(super) fn interval_text(&self) -> Option<String> {
        match self {
            Self::Number { decimals, interval: Some(bounds), .. } => {
                interval(*bounds, |bound| fixed(bound, *decimals))
            }
            _ => None,
        }
    }
}

/// A turn as it is shown, as `session_3 / D3:7`.
pub(super) fn turn_name(turn: &EvidenceRef) -> String {
    format!("{} / {}", turn.session, turn.turn)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_suit_the_largest() {
        for (sizes, expected) in [
            (&[0.0, f64::NAN][..], Some(3)),
            (&[0.5, 0.01], Some(3)),
            (&[25.0, 0.5], Some(2)),
            (&[8_000.0], Some(0)),
            (&[1e12, 1.0], None),
            (&[1e-9], None),
        ] {
            assert_eq!(same_decimals(sizes.iter().copied()), expected, "{sizes:?}");
        }
    }

    #[test]
    fn numbers_are_written_with_their_digits() {
        for (value, decimals, expected) in [
            (0.4123, 3, "0.412"),
            (-0.0001, 3, "0.000"),
            (-0.5, 0, "0"),
            (-1.5, 1, "-1.5"),
            (f64::NAN, 2, "-"),
        ] {
            assert_eq!(fixed(value, decimals), expected);
        }
        for (value, expected) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (-0.123_456, "-0.1235"),
            (12.5, "12.5"),
            (1_234.56, "1235"),
            (1_000.0, "1000"),
            (-3e6, "-3e6"),
            (250_000.0, "250000"),
            (2.5e9, "2.5e9"),
            (1e-7, "1e-7"),
            (f64::NEG_INFINITY, "-"),
        ] {
            assert_eq!(short(value), expected);
        }
    }
}
