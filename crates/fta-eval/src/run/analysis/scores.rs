//! Tables of means, beside what the paper reports.

use super::{Findings, cell};
use crate::{
    metrics::{Direction, Metric},
    report::{Block, Cell, Plot, PlotKind, Point, Section, Series, Table},
    run::{ArmSummary, MetricSummary, RunError},
    stats::{self, average_ranks},
};

/// Arms that a plot can hold and still be read.
const PLOTTED: usize = 8;

pub(super) fn sections(findings: Findings<'_>) -> Vec<Section> {
    let experiment = &findings.run.manifest.settings.experiment;
    let main = experiment.main_metric();
    let mut blocks = vec![Block::Table(overview(findings))];
    if let Some(table) = by_category(findings, main) {
        blocks.push(Block::Table(table));
        blocks.push(Block::Plot(plot(findings, main)));
    }
    if let Some(table) = audited(findings, main) {
        blocks.push(Block::Table(table));
    }
    let mut sections = vec![Section { title: "Scores".to_owned(), blocks }];
    let others: Vec<Block> = experiment.metrics[1..]
        .iter()
        .filter_map(|metric| by_category(findings, metric).map(Block::Table))
        .collect();
    if !others.is_empty() {
        sections.push(Section { title: "Other metrics by category".to_owned(), blocks: others });
    }
    sections
}

/// Every metric's headline for every arm.
fn overview(findings: Findings<'_>) -> Table {
    let scored: Vec<&String> = findings
        .run
        .manifest
        .settings
        .experiment
        .metrics
        .iter()
        .filter(|metric| findings.summary.arms.iter().any(|arm| arm.metric(metric).is_some()))
        .collect();
    let header = std::iter::once("arm").chain(scored.iter().map(|metric| metric.as_str()));
    let caption = "Means over the answerable questions (refusal: over the unanswerable ones; balanced accuracy: over all)";
    let mut table = Table::new(caption, header);
    for arm in &findings.summary.arms {
        let values = scored.iter().map(|metric| Cell::number(arm.headline(metric).mean, 3));
        table.push(std::iter::once(Cell::text(&arm.arm)).chain(values));
    }
    for (column, metric) in scored.iter().enumerate() {
        table.mark_best(column + 1, direction(metric));
    }
    table
}

/// Which way of a metric is better; of somebody else's, more.
fn direction(metric: &str) -> Direction {
    metric.parse::<Metric>().map_or(Direction::HigherIsBetter, Metric::direction)
}

fn categories<'a>(findings: Findings<'a>, metric: &str) -> Vec<&'a String> {
    let mut categories: Vec<&String> = findings
        .summary
        .arms
        .iter()
        .filter_map(|arm| arm.metric(metric))
        .flat_map(|metric| metric.by_category.keys())
        .collect();
    categories.sort();
    categories.dedup();
    categories
}

/// One metric by category, with the rows of the paper.
fn by_category(findings: Findings<'_>, metric: &str) -> Option<Table> {
    let arms: Vec<(&ArmSummary, &MetricSummary)> =
        findings.summary.arms.iter().filter_map(|arm| Some((arm, arm.metric(metric)?))).collect();
    let (_, first) = arms.first()?;
    let categories = categories(findings, metric);
    let has_both = first.answerable.n > 0 && first.unanswerable.n > 0;
    let mut header = vec!["arm".to_owned()];
    let n = |category: &String| first.by_category.get(category).map_or(0, |mean| mean.n);
    header.extend(categories.iter().map(|category| format!("{category} (n = {})", n(category))));
    if first.answerable.n > 0 {
        header.push(format!("answerable (n = {})", first.answerable.n));
    }
    if has_both {
        header.push(format!("all (n = {})", first.pooled.n));
    }
    let better = match direction(metric) {
        Direction::HigherIsBetter => "more is better",
        Direction::LowerIsBetter => "less is better",
    };
    let caption = format!("{metric} ({better}), with 95 % intervals of the bootstrap over conversations");
    let mut table = Table::new(caption, header);
    for (arm, means) in &arms {
        let of = |category: &&String| means.by_category.get(*category).copied().map_or(Cell::Empty, cell);
        let answerable = (first.answerable.n > 0).then(|| cell(means.answerable));
        let all = has_both.then(|| cell(means.pooled));
        let row = std::iter::once(Cell::text(&arm.arm)).chain(categories.iter().map(of));
        table.push(row.chain(answerable).chain(all));
    }
    for column in 1..table.header.len() {
        table.mark_best(column, direction(metric));
    }
    let settings = &findings.run.manifest.settings;
    let reported = settings.experiment.reported.iter().filter(|paper| paper.data_set == settings.data_set);
    for paper in reported.filter(|paper| paper.metric == metric) {
        let value = |category: &str| Cell::number(paper.values.get(category).copied(), 3);
        let name = Cell::text(format!("paper, {}: {}", paper.table, paper.label));
        let values = categories.iter().map(|category| value(category));
        table.push(std::iter::once(name).chain(values).chain([value("pooled")]));
    }
    Some(table)
}

fn plot(findings: Findings<'_>, metric: &str) -> Plot {
    let categories = categories(findings, metric);
    let series = findings.summary.arms.iter().take(PLOTTED).filter_map(|arm| {
        let means = arm.metric(metric)?;
        let point = |(i, category): (usize, &&String)| {
            let mean = means.by_category.get(*category)?;
            Some(Point { label: (*category).clone(), x: i as f64, y: mean.mean?, interval: mean.interval })
        };
        let points = categories.iter().enumerate().filter_map(point).collect();
        Some(Series { name: arm.arm.clone(), points })
    });
    Plot {
        caption: format!("{metric} by category"),
        kind: PlotKind::Bars,
        x: "category".to_owned(),
        y: metric.to_owned(),
        series: series.collect(),
    }
}

/// The main metric with and without the questions whose gold answer is wrong.
fn audited(findings: Findings<'_>, metric: &str) -> Option<Table> {
    let rows: Vec<Vec<Cell>> = findings
        .summary
        .arms
        .iter()
        .filter_map(|arm| {
            let means = arm.metric(metric)?;
            let audited = means.audited?;
            let count = |n: usize| Cell::Count(n as u64);
            Some(vec![
                Cell::Text(arm.arm.clone()),
                count(means.answerable.n),
                cell(means.answerable),
                count(audited.n),
                cell(audited),
            ])
        })
        .collect();
    let header = ["arm", "n", "all answerable", "n audited", "gold answer not found wrong"];
    (!rows.is_empty()).then(|| Table {
        caption: format!("{metric} with and without the questions whose gold answer the audit finds wrong"),
        header: header.map(str::to_owned).to_vec(),
        rows,
    })
}

/// Average ranks over metrics.
pub(super) fn ranks(findings: Findings<'_>, metrics: &[String]) -> Result<Section, RunError> {
    let arms: Vec<&ArmSummary> = findings
        .summary
        .arms
        .iter()
        .filter(|arm| metrics.iter().all(|metric| arm.headline(metric).mean.is_some()))
        .collect();
    let scores: Vec<Vec<f64>> = arms
        .iter()
        .map(|arm| metrics.iter().filter_map(|metric| arm.headline(metric).mean).collect())
        .collect();
    let directions: Vec<stats::Direction> = metrics.iter().map(|metric| direction(metric).into()).collect();
    let title = "Average rank".to_owned();
    if arms.is_empty() {
        let text = "No arm was scored by all of these metrics.".to_owned();
        return Ok(Section { title, blocks: vec![Block::Text(text)] });
    }
    let ranks = average_ranks(&scores, &directions)?;
    let header = ["arm", "average rank"].into_iter().chain(metrics.iter().map(String::as_str));
    let caption = "Ranks, 1 for the best; equal scores share the mean of their ranks (Avg.R)";
    let mut table = Table::new(caption, header);
    for ((arm, by_metric), average) in arms.iter().zip(&ranks.by_metric).zip(&ranks.average) {
        let row = [Cell::text(&arm.arm), Cell::number(*average, 2)];
        table.push(row.into_iter().chain(by_metric.iter().map(|rank| Cell::number(*rank, 1))));
    }
    table.rows.sort_by(|a, b| rank_of(a).total_cmp(&rank_of(b)));
    table.mark_best(1, Direction::LowerIsBetter);
    Ok(Section { title, blocks: vec![Block::Table(table)] })
}

fn rank_of(row: &[Cell]) -> f64 {
    match row[1] {
        Cell::Number { value, .. } => value,
        _ => f64::MAX,
    }
}
