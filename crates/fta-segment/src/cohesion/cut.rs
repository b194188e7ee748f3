//! Chooses the cuts: the set with the greatest total gain that keeps to the lengths.

/// Limits on the lengths of spans, in turns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lengths {
    /// No span is shorter, unless it is all there is.
    pub(super) min: usize,
    /// A longer span costs `long_cost` per turn over.
    pub(super) long: usize,
    /// See `long`.
    pub(super) long_cost: f64,
}

/// Chooses where to cut `gains.len()` turns.
///
/// `gains[g]` is the gain of a cut before turn `g`, [`f64::NEG_INFINITY`] if it is forbidden; `gains[0]` is not used.
/// Returns the cuts in ascending order. The total gain less the cost of long spans is greatest; of equal choices the one
/// whose last spans are longest is taken. `O(n²)`.
pub(super) fn choose_cuts(gains: &[f64], lengths: Lengths) -> Vec<usize> {
    let n = gains.len();
    let cost = |len: usize| len.saturating_sub(lengths.long) as f64 * lengths.long_cost;
    // `best[e]`: the best total for the turns before `e`, and the start of the last span in it.
    let mut best: Vec<Option<(f64, usize)>> = vec![None; n + 1];
    for end in lengths.min.max(1)..=n {
        for start in 0..=end - lengths.min.max(1) {
            let before = match (start, best[start]) {
                (0, _) => 0.0,
                (_, Some((total, _))) => total + gains[start],
                (_, None) => continue,
            };
            let total = before - cost(end - start);
            if total > best[end].map_or(f64::NEG_INFINITY, |b| b.0) {
                best[end] = Some((total, start));
            }
        }
    }
    let mut cuts = Vec::new();
    let mut end = n;
    while let Some((_, start)) = best[end].filter(|b| b.1 > 0) {
        cuts.push(start);
        end = start;
    }
    cuts.reverse();
    cuts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FREE: Lengths = Lengths { min: 1, long: 100, long_cost: 1.0 };

    #[test]
    fn cuts_where_it_gains() {
        assert_eq!(choose_cuts(&[9.0, -1.0, 1.0, -1.0, 0.5], FREE), [2, 4]);
        assert_eq!(choose_cuts(&[9.0, -1.0, -1.0], FREE), [0usize; 0]);
        assert_eq!(choose_cuts(&[], FREE), [0usize; 0]);
        assert_eq!(choose_cuts(&[0.0], FREE), [0usize; 0]);
    }

    #[test]
    fn of_close_cuts_the_better_is_taken() {
        let gains = [0.0, 0.0, 0.5, 0.9, 0.5, 0.0];
        assert_eq!(choose_cuts(&gains, Lengths { min: 2, ..FREE }), [2, 4]);
        assert_eq!(choose_cuts(&gains, Lengths { min: 3, ..FREE }), [3]);
        assert_eq!(choose_cuts(&gains, Lengths { min: 4, ..FREE }), [0usize; 0]);
    }

    #[test]
    fn long_spans_are_cut_at_the_least_loss_but_never_where_forbidden() {
        let lengths = Lengths { min: 1, long: 3, long_cost: 1.0 };
        assert_eq!(choose_cuts(&[0.0, -0.5, -0.5, -0.1, -0.5, -0.5], lengths), [3]);
        assert_eq!(choose_cuts(&[f64::NEG_INFINITY; 6], lengths), [0usize; 0]);
    }

    proptest! {
        #[test]
        fn keeps_to_the_limits(
            gains in proptest::collection::vec(prop_oneof![4 => -1.0f64..1.0, 1 => Just(f64::NEG_INFINITY)], 0..40),
            min in 0usize..6,
        ) {
            let cuts = choose_cuts(&gains, Lengths { min, long: 8, long_cost: 0.2 });
            let mut start = 0;
            for &cut in &cuts {
                prop_assert!(cut > start && cut - start >= min);
                prop_assert!(gains[cut] > f64::NEG_INFINITY);
                start = cut;
            }
            prop_assert!(cuts.is_empty() || gains.len() - start >= min);
        }
    }
}
