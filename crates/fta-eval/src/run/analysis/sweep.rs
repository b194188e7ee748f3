//! Metrics over a setting (Figure 2).

use std::collections::BTreeMap;

use super::Findings;
use crate::report::{Block, Plot, PlotKind, Point, Section, Series};

/// A value with its interval.
type Value = (Option<f64>, Option<(f64, f64)>);

/// One plot for each metric, one line for each family of arms: names without what follows the last `-`.
pub(super) fn section(findings: Findings<'_>, x: &str, metrics: &[String]) -> Section {
    let arms = &findings.run.manifest.settings.experiment.arms;
    let tokens = |arm: &str| {
        let cost = findings.summary.arm(arm).map(|arm| &arm.cost);
        (cost.and_then(|cost| cost.context_tokens), None)
    };
    let mut blocks = Vec::new();
    let value_of = |metric: &String, arm: &str| {
        let mean = findings.summary.arm(arm).map(|arm| arm.headline(metric)).unwrap_or_default();
        (mean.mean, mean.interval)
    };
    let plot = |y: &str, value: &dyn Fn(&str) -> Value| {
        let mut lines: BTreeMap<&str, Vec<Point>> = BTreeMap::new();
        for arm in arms {
            let (Some(x), (Some(y), interval)) = (arm.x, value(&arm.name)) else { continue };
            let family = arm.name.rsplit_once('-').map_or("", |(family, _)| family);
            let point = Point { label: String::new(), x, y, interval };
            lines.entry(family).or_default().push(point);
        }
        let series = lines.into_iter().map(|(name, mut points)| {
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
            Series { name: name.to_owned(), points }
        });
        Block::Plot(Plot {
            caption: format!("{y} over {x}"),
            kind: PlotKind::Lines,
            x: x.to_owned(),
            y: y.to_owned(),
            series: series.collect(),
        })
    };
    for metric in metrics {
        blocks.push(plot(metric, &|arm| value_of(metric, arm)));
    }
    blocks.push(plot("tokens of the context", &tokens));
    Section { title: format!("Over {x}"), blocks }
}
