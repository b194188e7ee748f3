//! What arms gain over another, with the paired bootstrap and the sign-flip test (Table 10).

use std::collections::BTreeMap;

use super::Findings;
use crate::{
    report::{Block, Cell, Plot, PlotKind, Point, Section, Series, Table},
    run::RunError,
    stats::{CaseValues, Unit, Weighting},
};

/// A gain over the same questions.
pub(super) struct Gain {
    pub(super) values: CaseValues,
    pub(super) n: usize,
}

/// What `arm` gains over `baseline` on the answerable questions that both were scored on; on all where there are none.
pub(super) fn gain(
    findings: Findings<'_>,
    (arm, baseline): (&str, &str),
    metric: &str,
) -> Result<Gain, RunError> {
    let of = |arm: &str| -> BTreeMap<(&str, &str), (bool, f64)> {
        let scored = findings.run.questions.iter().filter(|q| q.arm == arm);
        let key = |q: &'_ crate::run::QuestionRecord| (q.answerable, q.scores.get(metric).copied());
        scored
            .filter_map(|q| {
                let (answerable, score) = key(q);
                Some(((q.conversation.as_str(), q.question.as_str()), (answerable, score?)))
            })
            .collect()
    };
    let (ours, theirs) = (of(arm), of(baseline));
    let has_answerable = ours.values().any(|(answerable, _)| *answerable);
    let (mut cases, mut a, mut b) = (Vec::new(), Vec::new(), Vec::new());
    for (key, (answerable, score)) in &ours {
        if let Some((_, other)) = theirs.get(key)
            && *answerable == has_answerable
        {
            cases.push(key.0);
            a.push(*score);
            b.push(*other);
        }
    }
    Ok(Gain { n: cases.len(), values: CaseValues::differences(&cases, &a, &b)? })
}

pub(super) fn section(
    findings: Findings<'_>,
    baseline: &str,
    metrics: &[String],
) -> Result<Section, RunError> {
    let resampling = findings.resampling();
    let mut blocks = Vec::new();
    let (mut few, mut n_cases) = (false, 0);
    for metric in metrics {
        let (mut rows, mut points) = (Vec::new(), Vec::new());
        for (i, arm) in findings.summary.arms.iter().enumerate().filter(|(_, arm)| arm.arm != baseline) {
            let gain = gain(findings, (&arm.arm, baseline), metric)?;
            let Some(mean) = gain.values.mean(Weighting::Questions) else { continue };
            let (mut interval, mut p) = (None, None);
            if gain.values.n_cases() >= 2 {
                let estimate = gain.values.bootstrap(Weighting::Questions, &resampling)?;
                interval = Some((estimate.interval.lower, estimate.interval.upper));
                p = Some(gain.values.sign_flips(Unit::Case, Weighting::Questions, &resampling)?.p);
            }
            few |= interval.is_none();
            n_cases = n_cases.max(gain.values.n_cases());
            rows.push(vec![
                Cell::Text(arm.arm.clone()),
                Cell::Count(gain.n as u64),
                Cell::Number { value: mean, decimals: 4, interval, best: false },
                Cell::number(p, 4),
            ]);
            points.push(Point { label: arm.arm.clone(), x: i as f64, y: mean, interval });
        }
        if rows.is_empty() {
            continue;
        }
        blocks.push(Block::Table(Table {
            caption: format!("Gain in {metric} over {baseline}"),
            header: ["arm", "n", "gain", "p"].map(str::to_owned).to_vec(),
            rows,
        }));
        blocks.push(Block::Plot(Plot {
            caption: format!("Gain in {metric} over {baseline}"),
            kind: PlotKind::Bars,
            x: "arm".to_owned(),
            y: format!("gain in {metric}"),
            series: vec![Series { name: metric.clone(), points }],
        }));
    }
    let note = if few {
        "One conversation has no interval and no test: conversations are what is drawn.".to_owned()
    } else {
        // Both signs of the same size are counted, so the smallest p is twice the share of one arrangement.
        let smallest = if n_cases <= 20 { 2.0 / (1_u64 << n_cases) as f64 } else { 0.0 };
        format!(
            "Intervals: 95 %, paired bootstrap over conversations. p: both sides, signs of whole conversations flipped; \
             with {n_cases} conversations no p can be below {smallest:.3}. p is not corrected for the number of arms."
        )
    };
    blocks.push(Block::Text(note));
    Ok(Section { title: format!("Gain over {baseline}"), blocks })
}
