//! What arms cost, and what that buys (Tables 5 and 6).

use super::Findings;
use crate::{
    report::{Block, Cell, Plot, PlotKind, Point, Section, Series, Table},
    run::{ArmSummary, summary::total},
};

pub(super) fn section(findings: Findings<'_>) -> Section {
    let arms = &findings.summary.arms;
    let count = |n: u64| Cell::Count(n);
    let row = |arm: &ArmSummary| {
        let cost = &arm.cost;
        let (build, asked) = (total(&cost.build), total(&cost.questions));
        vec![
            Cell::Text(arm.arm.clone()),
            count(cost.items as u64),
            Cell::number(Some(cost.items as f64 / cost.turns.max(1) as f64), 2),
            Cell::number(cost.coverage, 3),
            count(build.calls),
            count(build.prompt_tokens + build.reply_tokens),
            count(asked.calls),
            Cell::number(cost.context_tokens, 0),
            Cell::number(cost.ingest_seconds, 2),
            Cell::number(cost.question_milliseconds, 1),
        ]
    };
    let header = [
        "arm",
        "items",
        "per turn",
        "turns held",
        "build calls",
        "build tokens",
        "question calls",
        "context tokens",
        "ingest s",
        "question ms",
    ];
    let table = Table {
        caption: "What is kept, what building and asking took. Tokens of contexts are characters / 4. Times are of this \
                  machine and run, conversations side by side, vectors from a cache where there is one: only ratios \
                  between arms of one kind say something"
            .to_owned(),
        header: header.map(str::to_owned).to_vec(),
        rows: arms.iter().map(row).collect(),
    };
    let metric = findings.run.manifest.settings.experiment.main_metric();
    let point = |arm: &ArmSummary| {
        let mean = arm.headline(metric);
        Some(Series {
            name: arm.arm.clone(),
            points: vec![Point {
                label: arm.arm.clone(),
                x: arm.cost.context_tokens?,
                y: mean.mean?,
                interval: mean.interval,
            }],
        })
    };
    // What a stand-in answers means nothing.
    let real = findings.run.manifest.settings.experiment.arms.iter();
    let real = real.filter(|arm| arm.model != crate::run::ArmModel::StandIn);
    let plot = Plot {
        caption: format!("{metric} against the tokens that a question is answered from"),
        kind: PlotKind::Scatter,
        x: "tokens of the context (mean)".to_owned(),
        y: metric.to_owned(),
        series: real.filter_map(|arm| point(findings.summary.arm(&arm.name)?)).collect(),
    };
    let mut blocks = vec![Block::Table(table)];
    if let Some(steps) = steps(arms) {
        blocks.push(Block::Table(steps));
    }
    if plot.series.len() > 1 {
        blocks.push(Block::Plot(plot));
    }
    Section { title: "Cost".to_owned(), blocks }
}

/// Calls by step; `None` if there were none.
fn steps(arms: &[ArmSummary]) -> Option<Table> {
    let mut rows = Vec::new();
    for arm in arms {
        for (when, calls) in [("build", &arm.cost.build), ("question", &arm.cost.questions)] {
            for (step, calls) in calls {
                rows.push(vec![
                    Cell::Text(format!("{}: {when}, {step}", arm.arm)),
                    Cell::Count(calls.calls),
                    Cell::Count(calls.errors),
                    Cell::Count(calls.prompt_tokens),
                    Cell::Count(calls.reply_tokens),
                ]);
            }
        }
    }
    (!rows.is_empty()).then(|| Table {
        caption: "Model calls by step, over all conversations".to_owned(),
        header: ["arm and step", "calls", "failed", "prompt tokens", "reply tokens"]
            .map(str::to_owned)
            .to_vec(),
        rows,
    })
}
