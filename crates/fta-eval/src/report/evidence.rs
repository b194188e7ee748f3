//! Which gold turns a question's context holds.

use crate::{
    datasets::EvidenceRef,
    run::{ItemRecord, QuestionRecord},
};

impl QuestionRecord {
    /// Whether an item was made from a turn that the gold answer rests on.
    pub(super) fn holds_evidence(&self, item: &ItemRecord) -> bool {
        item.turns.iter().any(|turn| self.evidence.contains(turn))
    }

    /// Gold turns that no item of the context was made from, each once, in order.
    pub(super) fn missing_evidence(&self) -> Vec<&EvidenceRef> {
        let mut missing: Vec<&EvidenceRef> = Vec::new();
        for turn in &self.evidence {
            if !missing.contains(&turn) && !self.context.iter().any(|item| item.turns.contains(turn)) {
                missing.push(turn);
            }
        }
        missing
    }
}
