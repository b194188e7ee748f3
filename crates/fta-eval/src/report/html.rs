//! Reports as one page: style, script and plots are in it, and nothing is fetched.

use minijinja::{Environment, Value, context, value::Serde};
use serde::Serialize;

use super::{
    Block, Cell, Plot, QuestionCard, Report, Section, Table,
    numbers::{NOTHING, short, turn_name},
    plot::colour,
};
use crate::run::{ItemRecord, QuestionRecord};

/// The template; its name turns on escaping.
const TEMPLATE: (&str, &str) = ("page.html", include_str!("page.html"));

/// The style sheet.
const STYLE: &str = include_str!("page.css");

/// Sorts tables and folds cards; the page reads without it. The page's policy names its hash.
const SCRIPT: &str = include_str!("page.js");

/// The base64 of the script's SHA-256: nothing else may run in the page.
const SCRIPT_HASH: &str = "24xQ4H29r4LlPJu1Immoq2z3eIU57plMmizcj1YrCiM=";

/// A page that could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The template failed.
    #[error("make a page of the report")]
    Template(#[from] minijinja::Error),
}

impl Report {
    /// The report as one HTML page, to read in any browser without a network, and to print.
    ///
    /// All texts are escaped, and a policy in the page forbids everything but its own style and script. Equal reports
    /// give equal pages.
    ///
    /// # Errors
    /// [`ReportError::Template`] if the template fails, which no report should make it do.
    pub fn html(&self) -> Result<String, ReportError> {
        let mut environment = Environment::new();
        environment.add_template(TEMPLATE.0, TEMPLATE.1)?;
        let mut plots = 0;
        let sections: Vec<SectionView<'_>> =
            self.sections.iter().map(|section| SectionView::new(section, &mut plots)).collect();
        Ok(environment.get_template(TEMPLATE.0)?.render(context! {
            title => self.title.as_str(),
            lead => self.lead.as_str(),
            facts => Value::from(Serde(&self.facts)),
            sections => Value::from(Serde(&sections)),
            style => Value::from_safe_string(STYLE.to_owned()),
            script => Value::from_safe_string(SCRIPT.to_owned()),
            script_hash => SCRIPT_HASH,
        })?)
    }
}

#[derive(Serialize)]
struct SectionView<'r> {
    title: &'r str,
    blocks: Vec<BlockView<'r>>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum BlockView<'r> {
    Text(&'r str),
    Table(TableView<'r>),
    Plot(PlotView<'r>),
    Questions(Vec<CardView<'r>>),
}

#[derive(Serialize)]
struct TableView<'r> {
    caption: &'r str,
    /// Heads, and whether numbers stand below.
    header: Vec<(String, bool)>,
    rows: Vec<Vec<CellView>>,
}

#[derive(Serialize)]
struct CellView {
    text: String,
    interval: Option<String>,
    /// Where its interval lies among those of its column.
    range: Option<Range>,
    is_number: bool,
    is_best: bool,
    /// What it is sorted by.
    key: Option<f64>,
}

/// Shares of a width, in percent.
#[derive(Serialize)]
struct Range {
    from: String,
    width: String,
    at: String,
    /// Where zero lies, if the column has both signs.
    zero: Option<String>,
}

#[derive(Serialize)]
struct PlotView<'r> {
    caption: &'r str,
    svg: Option<Value>,
    legend: Vec<(String, &'r str)>,
    table: TableView<'r>,
}

#[derive(Serialize)]
struct CardView<'r> {
    note: &'r str,
    conversation: &'r str,
    question: &'r str,
    category: &'r str,
    text: &'r str,
    gold: &'r str,
    answerable: bool,
    evidence: Vec<String>,
    arms: Vec<ArmView<'r>>,
}

#[derive(Serialize)]
struct ArmView<'r> {
    arm: &'r str,
    answer: Option<&'r str>,
    abstained: Option<bool>,
    scores: Vec<(&'r str, String)>,
    context_tokens: usize,
    items: Vec<ItemView<'r>>,
    /// Items without text, and those of them that hold evidence.
    others: usize,
    gold_others: Vec<ItemView<'r>>,
    missing: Vec<String>,
}

#[derive(Serialize)]
struct ItemView<'r> {
    rank: usize,
    id: &'r str,
    text: &'r str,
    is_gold: bool,
    turns: Vec<(String, bool)>,
}

impl<'r> SectionView<'r> {
    /// `plots` counts the plots of the page.
    fn new(section: &'r Section, plots: &mut usize) -> Self {
        let block = |block: &'r Block| match block {
            Block::Text(text) => BlockView::Text(text),
            Block::Table(table) => BlockView::Table(TableView::new(table)),
            Block::Plot(plot) => {
                *plots += 1;
                BlockView::Plot(PlotView::new(plot, *plots))
            }
            Block::Questions(cards) => BlockView::Questions(cards.iter().filter_map(CardView::new).collect()),
        };
        Self { title: &section.title, blocks: section.blocks.iter().map(block).collect() }
    }
}

impl<'r> TableView<'r> {
    fn new(table: &'r Table) -> Self {
        Self { caption: &table.caption, header: heads(table), rows: rows(table) }
    }
}

fn heads(table: &Table) -> Vec<(String, bool)> {
    let has_text = |c: usize| table.rows.iter().any(|row| matches!(row.get(c), Some(Cell::Text(_))));
    table.header.iter().enumerate().map(|(c, head)| (head.clone(), c > 0 && !has_text(c))).collect()
}

fn rows(table: &Table) -> Vec<Vec<CellView>> {
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or(0);
    let scales: Vec<Option<(f64, f64)>> = (0..columns).map(|column| scale(table, column)).collect();
    let row =
        |row: &Vec<Cell>| row.iter().zip(&scales).map(|(cell, scale)| CellView::new(cell, *scale)).collect();
    table.rows.iter().map(row).collect()
}

/// From the least to the largest bound of a column; `None` if there is nothing to compare.
fn scale(table: &Table, column: usize) -> Option<(f64, f64)> {
    let bounds: Vec<(f64, f64)> = table.rows.iter().filter_map(|row| bounds(row.get(column)?)).collect();
    let least = bounds.iter().map(|bounds| bounds.0).reduce(f64::min)?;
    let largest = bounds.iter().map(|bounds| bounds.1).reduce(f64::max)?;
    (bounds.len() > 1 && largest - least > 0.0 && (largest - least).is_finite()).then_some((least, largest))
}

/// The interval of a cell, widened to its value.
fn bounds(cell: &Cell) -> Option<(f64, f64)> {
    match cell {
        Cell::Number { value, interval: Some((lower, upper)), .. } => {
            let bounds = (lower.min(*value), upper.max(*value));
            [*lower, *upper, *value].iter().all(|number| number.is_finite()).then_some(bounds)
        }
        _ => None,
    }
}

impl CellView {
    fn new(cell: &Cell, scale: Option<(f64, f64)>) -> Self {
        let key = match cell {
            Cell::Count(count) => Some(*count as f64),
            Cell::Number { value, .. } if value.is_finite() => Some(*value),
            _ => None,
        };
        let range = scale.zip(bounds(cell)).zip(key).map(|(((least, largest), (lower, upper)), value)| {
            let share = |size: f64| format!("{:.1}", 100.0 * size / (largest - least));
            Range {
                from: share(lower - least),
                width: share(upper - lower),
                at: share(value - least),
                zero: (least < 0.0 && largest > 0.0).then(|| share(-least)),
            }
        });
        let text = match cell {
            Cell::Text(text) if text.is_empty() => NOTHING.to_owned(),
            _ => cell.value_text(),
        };
        Self {
            text,
            interval: cell.interval_text(),
            range,
            is_number: !matches!(cell, Cell::Text(_)),
            is_best: matches!(cell, Cell::Number { best: true, .. }),
            key,
        }
    }
}

impl<'r> PlotView<'r> {
    fn new(plot: &'r Plot, number: usize) -> Self {
        let legend = plot.series.iter().enumerate().map(|(s, series)| (colour(s), series.name.as_str()));
        let table = plot.table();
        Self {
            caption: &plot.caption,
            svg: plot.svg(number).map(Value::from_safe_string),
            legend: if plot.series.len() > 1 { legend.collect() } else { Vec::new() },
            table: TableView { caption: "", header: heads(&table), rows: rows(&table) },
        }
    }
}

impl<'r> CardView<'r> {
    fn new(card: &'r QuestionCard) -> Option<Self> {
        let first = card.records.first()?;
        Some(Self {
            note: &card.note,
            conversation: &first.conversation,
            question: &first.question,
            category: &first.category,
            text: &first.text,
            gold: &first.gold,
            answerable: first.answerable,
            evidence: first.evidence.iter().map(turn_name).collect(),
            arms: card.records.iter().map(ArmView::new).collect(),
        })
    }
}

impl<'r> ArmView<'r> {
    fn new(record: &'r QuestionRecord) -> Self {
        let item = |(rank, item): (usize, &'r ItemRecord)| ItemView {
            rank: rank + 1,
            id: &item.id,
            text: item.text.as_deref().unwrap_or_default(),
            is_gold: record.holds_evidence(item),
            turns: item.turns.iter().map(|turn| (turn_name(turn), record.evidence.contains(turn))).collect(),
        };
        let ranked = || record.context.iter().enumerate();
        let others = || ranked().filter(|(_, item)| item.text.is_none());
        Self {
            arm: &record.arm,
            answer: record.answer.as_deref(),
            abstained: record.abstained,
            scores: record.scores.iter().map(|(name, score)| (name.as_str(), short(*score))).collect(),
            context_tokens: record.context_tokens,
            items: ranked().filter(|(_, item)| item.text.is_some()).map(item).collect(),
            others: others().count(),
            gold_others: others().filter(|(_, item)| record.holds_evidence(item)).map(item).collect(),
            missing: record.missing_evidence().into_iter().map(turn_name).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
