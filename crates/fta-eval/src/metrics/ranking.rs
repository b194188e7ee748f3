//! Ranked lists against sets of relevant ids.

use std::collections::BTreeSet;

/// NDCG of the first `k`, in `[0, 1]`; `None` if nothing is relevant or `k` is 0.
///
/// `ranked`: ids, best first; `relevant`: ids in any order. A relevant id gains `1 / log2(rank + 1)`, an id that
/// comes again gains nothing; the ideal ranking has the relevant ids first. Does not depend on the order of `relevant`.
///
/// # Source
/// Järvelin and Kekäläinen (2002) with gains 0 and 1.
pub fn ndcg<T: Ord>(ranked: &[T], relevant: &[T], k: usize) -> Option<f64> {
    normalised_gain(ranked, relevant, k, |rank| 1.0 / (rank as f64 + 1.0).log2())
}

/// Whether one of the relevant ids is among the first `k`, as 1 or 0; `None` if nothing is relevant.
///
/// # Source
/// LongMemEval's `recall_any@k`, which leaves questions without a relevant document out (data notes, section 9).
pub fn longmemeval_recall_any<T: Ord>(ranked: &[T], relevant: &[T], k: usize) -> Option<f64> {
    let relevant: BTreeSet<&T> = relevant.iter().collect();
    let found = found_in_top(ranked, &relevant, k);
    (!relevant.is_empty()).then(|| f64::from(u8::from(found > 0)))
}

/// Whether all relevant ids are among the first `k`, as 1 or 0; `None` if nothing is relevant.
///
/// # Source
/// LongMemEval's `recall_all@k` (data notes, section 9).
pub fn longmemeval_recall_all<T: Ord>(ranked: &[T], relevant: &[T], k: usize) -> Option<f64> {
    let relevant: BTreeSet<&T> = relevant.iter().collect();
    let found = found_in_top(ranked, &relevant, k);
    (!relevant.is_empty()).then(|| f64::from(u8::from(found == relevant.len())))
}

/// LongMemEval's NDCG of the first `k`, in `[0, 1]`; `None` if nothing is relevant or `k` is 0.
///
/// Quirk: rank 1 gains 1 and rank `r` from 2 on `1 / log2(r)`, so the first two ranks are worth the same.
///
/// # Source
/// LongMemEval's evaluation code (data notes, section 9).
pub fn longmemeval_ndcg<T: Ord>(ranked: &[T], relevant: &[T], k: usize) -> Option<f64> {
    normalised_gain(ranked, relevant, k, |rank| if rank == 1 { 1.0 } else { 1.0 / (rank as f64).log2() })
}

/// Number of distinct relevant ids among the first `k`.
pub(super) fn found_in_top<T: Ord>(ranked: &[T], relevant: &BTreeSet<&T>, k: usize) -> usize {
    ranked.iter().take(k).filter(|id| relevant.contains(id)).collect::<BTreeSet<&T>>().len()
}

/// Sum of the gains of the relevant ids among the first `k`, each at its first rank (from 1).
pub(super) fn discounted_gain<T: Ord>(
    ranked: &[T],
    relevant: &BTreeSet<&T>,
    k: usize,
    gain: impl Fn(usize) -> f64,
) -> f64 {
    let mut seen = BTreeSet::new();
    let ranks = ranked.iter().take(k).enumerate();
    ranks.filter(|(_, id)| relevant.contains(id) && seen.insert(*id)).map(|(at, _)| gain(at + 1)).sum()
}

fn normalised_gain<T: Ord>(
    ranked: &[T],
    relevant: &[T],
    k: usize,
    gain: impl Fn(usize) -> f64,
) -> Option<f64> {
    let relevant: BTreeSet<&T> = relevant.iter().collect();
    let ideal: f64 = (1..=k.min(relevant.len())).map(&gain).sum();
    // The sums add the same numbers in the same order, so a perfect ranking is 1 to the bit.
    (ideal > 0.0).then(|| discounted_gain(ranked, &relevant, k, gain) / ideal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_ndcg() {
        assert_eq!(ndcg(&["a", "b", "x"], &["b", "a"], 2), Some(1.0));
        let second = ndcg(&["x", "a"], &["a"], 5).unwrap();
        assert!((second - 1.0 / 3_f64.log2()).abs() < 1e-12);
        assert_eq!(ndcg(&["a", "a"], &["a"], 2), Some(1.0));
        assert_eq!(ndcg(&["x", "a"], &["a"], 1), Some(0.0));
        assert_eq!(ndcg(&["a"], &[], 3), None);
        assert_eq!(ndcg(&["a"], &["a"], 0), None);
    }
}
