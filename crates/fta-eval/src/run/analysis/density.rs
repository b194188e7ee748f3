//! How densely conversations carry facts, times and affect, and whether gains go with it (Tables 1, 4 and 9).

use std::collections::BTreeMap;

use fta_mem::{ListFilter, units::Unit};
use serde::{Deserialize, Serialize};

use super::{Findings, gain::gain};
use crate::{
    datasets::Case,
    report::{Block, Cell, Plot, PlotKind, Point, Section, Series, Table},
    run::RunError,
    stats::{CasePoints, Correlation, Exchange},
    systems::{FtaSettings, FtaSystem, MemorySystem as _, Parts, SystemError, tokens},
};

/// How densely a conversation carries anchors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Density {
    /// The conversation.
    pub conversation: String,
    /// Turns.
    pub turns: usize,
    /// Tokens (characters / 4) of what was said.
    pub tokens: usize,
    /// Turns that say something more than greetings and the like.
    pub content_turns: usize,
    /// Units: facts, states, plans and the like.
    pub facts: usize,
    /// Units whose event time is resolved to days.
    pub times: usize,
    /// Units with an emotion, an intention or a relation cue.
    pub affects: usize,
    /// Turns that some question names as evidence.
    pub evidence_turns: usize,
}

impl Density {
    /// Names of the measures of [`Density::measures`], in their order.
    pub const MEASURES: [&'static str; 5] = [
        "facts per 1,000 tokens",
        "times per 1,000 tokens",
        "affect per 1,000 tokens",
        "content turns",
        "evidence turns",
    ];

    /// Anchors per 1,000 tokens, and shares of turns.
    pub fn measures(&self) -> [f64; 5] {
        let per_thousand = |n: usize| n as f64 * 1000.0 / self.tokens.max(1) as f64;
        let share = |n: usize| n as f64 / self.turns.max(1) as f64;
        [
            per_thousand(self.facts),
            per_thousand(self.times),
            per_thousand(self.affects),
            share(self.content_turns),
            share(self.evidence_turns),
        ]
    }
}

/// Annotates conversations with the extractor of `parts`: the model's where there is one, else the offline one.
///
/// # Errors
/// [`RunError::System`] if a conversation cannot be taken in.
pub async fn densities(cases: &[Case], parts: impl Fn(&Case) -> Parts) -> Result<Vec<Density>, RunError> {
    let mut densities = Vec::with_capacity(cases.len());
    for case in cases {
        let density = density(case, &parts(case)).await;
        densities.push(density.map_err(|source| RunError::System {
            arm: "density".to_owned(),
            conversation: case.conversation.id.clone(),
            source: Box::new(source),
        })?);
    }
    Ok(densities)
}

async fn density(case: &Case, parts: &Parts) -> Result<Density, SystemError> {
    let mut system = FtaSystem::new(FtaSettings::default(), parts)?;
    for session in &case.conversation.sessions {
        system.ingest(session).await?;
    }
    let units = system.memory().list(&ListFilter::default());
    let stats = system.memory().stats();
    let turns = || case.conversation.sessions.iter().flat_map(|session| &session.turns);
    let mut evidence: Vec<_> = case.questions.iter().flat_map(|q| &q.evidence).collect();
    evidence.sort();
    evidence.dedup();
    let count = |has: &dyn Fn(&Unit) -> bool| units.iter().filter(|unit| has(unit)).count();
    Ok(Density {
        conversation: case.conversation.id.clone(),
        turns: turns().count(),
        tokens: turns().map(|turn| tokens(&turn.text)).sum(),
        content_turns: stats.content_turns,
        facts: units.len(),
        times: count(&|unit| unit.time.event.as_ref().is_some_and(|event| event.interval.is_some())),
        affects: count(&|unit| {
            let affect = &unit.affect;
            !affect.emotions.is_empty() || affect.intention.is_some() || !affect.relation_cues.is_empty()
        }),
        evidence_turns: evidence.len(),
    })
}

pub(super) fn section(
    findings: Findings<'_>,
    (arm, baseline): (&str, &str),
    metrics: &[String],
) -> Result<Section, RunError> {
    let mut blocks = vec![Block::Table(profile(findings.densities))];
    for metric in metrics {
        let gain = gain(findings, (arm, baseline), metric)?;
        let gains: BTreeMap<&str, f64> = gain.values.case_means().into_iter().collect();
        let known: Vec<(&Density, f64)> = findings
            .densities
            .iter()
            .filter_map(|d| Some((d, *gains.get(d.conversation.as_str())?)))
            .collect();
        if known.len() < 3 {
            let text = format!("A correlation of {metric} with density needs at least three conversations.");
            blocks.push(Block::Text(text));
            continue;
        }
        blocks.push(Block::Table(correlations(findings, &known, metric)?));
        blocks.push(Block::Plot(plot(&known, metric)));
    }
    let note =
        "With so few conversations an interval covers nearly everything; read signs and ranges, not values.";
    blocks.push(Block::Text(note.to_owned()));
    Ok(Section { title: format!("Density and the gain of {arm} over {baseline}"), blocks })
}

/// How dense each conversation is (Table 1).
fn profile(densities: &[Density]) -> Table {
    let mut header = vec!["conversation".to_owned(), "turns".to_owned(), "tokens".to_owned()];
    header.extend(Density::MEASURES.map(str::to_owned));
    let row = |density: &Density| {
        let mut row = vec![
            Cell::Text(density.conversation.clone()),
            Cell::Count(density.turns as u64),
            Cell::Count(density.tokens as u64),
        ];
        row.extend(density.measures().map(|value| Cell::number(Some(value), 2)));
        row
    };
    Table {
        caption: "Anchors by conversation; the last two columns are shares of turns".to_owned(),
        header,
        rows: densities.iter().map(row).collect(),
    }
}

/// Pearson and Spearman with interval, p and leave-one-out range (Tables 4 and 9).
fn correlations(findings: Findings<'_>, known: &[(&Density, f64)], metric: &str) -> Result<Table, RunError> {
    let labels: Vec<&str> = known.iter().map(|(density, _)| density.conversation.as_str()).collect();
    let gains: Vec<f64> = known.iter().map(|(_, gain)| *gain).collect();
    let mut rows = Vec::new();
    for (i, measure) in Density::MEASURES.iter().enumerate() {
        let x: Vec<f64> = known.iter().map(|(density, _)| density.measures()[i]).collect();
        let points = CasePoints::new(&labels, &x, &gains)?;
        for correlation in [Correlation::Pearson, Correlation::Spearman] {
            // Where all conversations are alike there is nothing to correlate.
            let Ok(found) = points.correlate(correlation, Exchange::Points, &findings.resampling()) else {
                continue;
            };
            let range = found.leave_one_out_range();
            rows.push(vec![
                Cell::Text(format!("{measure}, {correlation:?}")),
                Cell::Number {
                    value: found.value,
                    decimals: 3,
                    interval: Some((found.interval.lower, found.interval.upper)),
                    best: false,
                },
                Cell::number(Some(found.p_value.p), 3),
                range.map_or(Cell::Empty, |(low, high)| Cell::Text(format!("{low:.3} to {high:.3}"))),
            ]);
        }
    }
    Ok(Table {
        caption: format!(
            "Correlation of the gain in {metric} with density over {} conversations",
            known.len()
        ),
        header: ["measure", "correlation", "p (permutation)", "leaving one out"].map(str::to_owned).to_vec(),
        rows,
    })
}

fn plot(known: &[(&Density, f64)], metric: &str) -> Plot {
    let point = |(density, gain): &(&Density, f64)| Point {
        label: density.conversation.clone(),
        x: density.measures()[0],
        y: *gain,
        interval: None,
    };
    Plot {
        caption: format!("Gain in {metric} against density of facts"),
        kind: PlotKind::Scatter,
        x: Density::MEASURES[0].to_owned(),
        y: format!("gain in {metric}"),
        series: vec![Series { name: "conversations".to_owned(), points: known.iter().map(point).collect() }],
    }
}
