//! Recall of evidence turns.

use std::collections::BTreeSet;

use crate::datasets::EvidenceRef;

/// One thing that was handed back for a question, as a unit, a turn or a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RetrievedItem {
    /// Turns that it was made from.
    pub turns: Vec<EvidenceRef>,
    /// Its length in tokens, as the system that hands it to a reader counts them.
    pub tokens: usize,
}

/// What a system's context holds within a token budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetedTurns<'a> {
    /// The budget, in tokens.
    pub budget: usize,
    /// Turns that stand in the context verbatim; turns that are no evidence need not be listed.
    pub turns: &'a [EvidenceRef],
}

/// Recall within a token budget, and what was spent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecallWithinTokens {
    /// Share of gold turns, in `[0, 1]`.
    pub recall: f64,
    /// Tokens of the items that were taken; at most the budget.
    pub tokens: usize,
    /// Items that were taken.
    pub items: usize,
}

/// Share of distinct gold turns that were found, in `[0, 1]`; `None` without gold turns.
///
/// The tolerant score: gold turns are those that the loader made of the raw evidence (broken ids repaired, ids of no
/// turn and repeated ids left out; the load report counts them). [`locomo_context_recall`](super::locomo_context_recall)
/// compares raw strings. Does not depend on the order of either side.
pub fn evidence_recall<'a, T: Ord + 'a>(found: impl IntoIterator<Item = &'a T>, gold: &[T]) -> Option<f64> {
    let gold: BTreeSet<&T> = gold.iter().collect();
    let found: BTreeSet<&T> = found.into_iter().filter(|turn| gold.contains(turn)).collect();
    (!gold.is_empty()).then(|| found.len() as f64 / gold.len() as f64)
}

/// [`evidence_recall`] of the first `k` items, best first.
pub fn recall_at_items(items: &[RetrievedItem], gold: &[EvidenceRef], k: usize) -> Option<f64> {
    evidence_recall(items.iter().take(k).flat_map(|item| &item.turns), gold)
}

/// [`evidence_recall`] of the items that fit into `budget` tokens.
///
/// Items are taken best first up to the first one that does not fit; later ones are not tried, even if they would.
pub fn recall_within_tokens(
    items: &[RetrievedItem],
    gold: &[EvidenceRef],
    budget: usize,
) -> Option<RecallWithinTokens> {
    let (mut taken, mut tokens) = (0, 0_usize);
    for item in items {
        match tokens.checked_add(item.tokens).filter(|sum| *sum <= budget) {
            Some(sum) => tokens = sum,
            None => break,
        }
        taken += 1;
    }
    let recall = recall_at_items(items, gold, taken)?;
    Some(RecallWithinTokens { recall, tokens, items: taken })
}
