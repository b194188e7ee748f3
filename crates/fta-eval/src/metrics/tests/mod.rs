//! Metrics against reference values, by name, and their invariants.

mod named;
mod properties;
mod reference;

use crate::datasets::{CaseQuestion, EvidenceRef};

pub(super) fn turn(id: &str) -> EvidenceRef {
    EvidenceRef { session: "session_1".into(), turn: id.to_owned() }
}

pub(crate) fn question(category: u8, gold: &str, evidence: &[&str]) -> CaseQuestion {
    let names = ["", "multi-hop", "temporal", "open-domain", "single-hop", "adversarial"];
    CaseQuestion {
        id: format!("case_qa{category}"),
        category: Some(category),
        category_name: names[usize::from(category)].to_owned(),
        text: "Which boat?".to_owned(),
        gold: gold.to_owned(),
        answerable: category != 5,
        evidence_raw: evidence.iter().map(|id| (*id).to_owned()).collect(),
        evidence: evidence.iter().map(|id| turn(id)).collect(),
        asked_at: None,
    }
}
