//! What is made of the scores of a run: sections of its report.

mod audit;
mod cost;
mod density;
mod gain;
mod questions;
mod scores;
mod sweep;

use super::{Analysis, FinishedRun, RunError, RunSummary};
use crate::{
    report::{Cell, Report, Section},
    stats::Resampling,
};

pub use audit::{AgreementError, AuditItem, JUDGED, agreement, audit_items, audit_sheet};
pub use density::{Density, densities};

/// A finished run and what was made of it.
#[derive(Debug, Clone, Copy)]
pub struct Findings<'a> {
    /// The run.
    pub run: &'a FinishedRun,
    /// Its means.
    pub summary: &'a RunSummary,
    /// How densely its conversations carry anchors; empty where no analysis asks.
    pub densities: &'a [Density],
}

impl Findings<'_> {
    /// The report.
    ///
    /// # Errors
    /// [`RunError::Stats`] if a test cannot be made.
    pub fn report(self) -> Result<Report, RunError> {
        let manifest = &self.run.manifest;
        let experiment = &manifest.settings.experiment;
        let mut sections = scores::sections(self);
        for analysis in &experiment.analyses {
            sections.extend(self.analysis(analysis)?);
        }
        sections.extend(questions::worst(self));
        Ok(Report {
            title: experiment.title.clone(),
            lead: experiment.asks.clone(),
            facts: facts(self),
            sections,
        })
    }

    fn analysis(self, analysis: &Analysis) -> Result<Option<Section>, RunError> {
        let main = [self.run.manifest.settings.experiment.main_metric().to_owned()];
        let or_main = |metrics: &[String]| if metrics.is_empty() { main.to_vec() } else { metrics.to_vec() };
        Ok(match analysis {
            Analysis::Gain { baseline, metrics } => Some(gain::section(self, baseline, &or_main(metrics))?),
            Analysis::Sweep { x, metrics } => Some(sweep::section(self, x, metrics)),
            Analysis::Ranks { metrics } => Some(scores::ranks(self, metrics)?),
            Analysis::Cost => Some(cost::section(self)),
            Analysis::Density { arm, baseline, metrics } => {
                Some(density::section(self, (arm, baseline), metrics)?)
            }
            Analysis::Audit { sample, .. } => Some(audit::section(*sample)),
        })
    }

    /// How draws of the run are made.
    fn resampling(self) -> Resampling {
        let settings = &self.run.manifest.settings;
        Resampling { seed: settings.seed, rounds: settings.rounds, ..Resampling::default() }
    }
}

fn facts(findings: Findings<'_>) -> Vec<(String, String)> {
    let manifest = &findings.run.manifest;
    let settings = &manifest.settings;
    let mut selection = Vec::new();
    if !settings.conversations.is_empty() {
        selection.push(format!("conversations {}", settings.conversations.join(", ")));
    }
    selection.extend(settings.limit.map(|n| format!("at most {n} conversations")));
    selection.extend(settings.questions.map(|n| format!("at most {n} questions of each")));
    let n_cases = findings.summary.arms.first().map_or(0, |arm| arm.cost.conversations);
    let n_questions = findings.run.questions.len() / findings.summary.arms.len().max(1);
    let mut facts = vec![
        ("Answers to".to_owned(), settings.experiment.paper.join(", ")),
        (
            "Data".to_owned(),
            format!("{} ({}), SHA-256 {}", settings.data_file, settings.data_set, settings.data_sha256),
        ),
        ("Selection".to_owned(), selection.join("; ")),
        ("Conversations, questions".to_owned(), format!("{n_cases}, {n_questions}")),
        ("Embedding model".to_owned(), settings.embedder.clone()),
        ("Language model".to_owned(), settings.model.clone().unwrap_or_else(|| "none: rules".to_owned())),
        ("Judge".to_owned(), settings.judge.clone().unwrap_or_default()),
        ("BERTScore".to_owned(), settings.bert_score.clone().unwrap_or_default()),
        ("Seed, draws".to_owned(), format!("{}, {}", settings.seed, settings.rounds)),
        ("Program".to_owned(), format!("{} {}", manifest.program.version, manifest.program.revision)),
        (
            "Machine".to_owned(),
            format!(
                "{} {}, {} threads",
                manifest.machine.system, manifest.machine.processor, manifest.machine.threads
            ),
        ),
        ("Begun".to_owned(), manifest.begun_at.clone()),
        ("Odd in the data".to_owned(), manifest.odd.join("; ")),
    ];
    facts.retain(|(_, value)| !value.trim().is_empty());
    facts
}

/// A mean as a cell.
fn cell(mean: super::Mean) -> Cell {
    Cell::with_interval(mean.mean, mean.interval, 3)
}

#[cfg(test)]
mod tests;
