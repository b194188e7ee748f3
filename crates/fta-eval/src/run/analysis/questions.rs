//! Questions to read: where the first arm did worst.

use super::Findings;
use crate::{
    report::{Block, QuestionCard, Section},
    run::{Arm, QuestionRecord, sha256},
};

/// Questions of each category.
const OF_EACH: usize = 6;
/// Arms beside each other.
const ARMS: usize = 3;

/// The worst questions of the first arm in each category, those that the other arms did better on first; among equals a
/// draw by the seed, so that they are not all of the first conversation.
pub(super) fn worst(findings: Findings<'_>) -> Option<Section> {
    let settings = &findings.run.manifest.settings;
    let arm = &settings.experiment.arms.first()?.name;
    let main = settings.experiment.main_metric();
    let score = |record: &QuestionRecord| {
        let refused = record.abstained.unwrap_or(false);
        let unanswerable = (!record.answerable).then(|| f64::from(u8::from(refused)));
        record.scores.get(main).copied().or(unanswerable)
    };
    let draw = |record: &QuestionRecord| {
        sha256(format!("{} {} {}", settings.seed, record.conversation, record.question).as_bytes())
    };
    let mut ranked: Vec<(f64, String, &QuestionRecord)> = findings
        .run
        .questions
        .iter()
        .filter(|record| record.arm == *arm)
        .filter_map(|record| Some((score(record)?, draw(record), record)))
        .filter(|(score, ..)| *score < 0.5)
        .collect();
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let mut categories: Vec<&str> = ranked.iter().map(|(.., record)| record.category.as_str()).collect();
    categories.sort_unstable();
    categories.dedup();
    let arms = beside(&settings.experiment.arms);
    let mut cards = Vec::new();
    for category in categories {
        let of_category = ranked.iter().filter(|(.., record)| record.category == category);
        cards.extend(of_category.take(OF_EACH).map(|(score, _, record)| {
            let of_arm = |arm: &&str| {
                findings.run.questions.iter().find(|other| {
                    other.arm == **arm
                        && other.conversation == record.conversation
                        && other.question == record.question
                })
            };
            QuestionCard {
                note: format!("{main} {score:.3}"),
                records: arms.iter().filter_map(of_arm).cloned().collect(),
            }
        }));
    }
    (!cards.is_empty()).then(|| Section {
        title: "Worst questions".to_owned(),
        blocks: vec![
            Block::Text(format!(
                "Of each category, {OF_EACH} questions that {arm} did worst on, with what was retrieved. Unanswerable ones \
                 are here if they were answered."
            )),
            Block::Questions(cards),
        ],
    })
}

/// The arms whose records stand beside each other: the first of each system, the first of all first.
fn beside(arms: &[Arm]) -> Vec<&str> {
    let mut chosen: Vec<&Arm> = Vec::new();
    for arm in arms {
        if chosen.len() < ARMS && chosen.iter().all(|other| other.system != arm.system) {
            chosen.push(arm);
        }
    }
    chosen.into_iter().map(|arm| arm.name.as_str()).collect()
}
