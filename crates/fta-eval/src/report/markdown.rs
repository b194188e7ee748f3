//! Reports as Markdown.

use std::fmt::Write as _;

use super::{
    Block, Cell, Plot, PlotKind, Point, QuestionCard, Report, Table,
    numbers::{NOTHING, same_decimals, short, turn_name},
};
use crate::{datasets::EvidenceRef, run::QuestionRecord};

/// Characters of an answer or a retrieved text that are shown.
const LONGEST_TEXT: usize = 400;

/// Retrieved items of a question that are shown.
const MOST_ITEMS: usize = 10;

impl Report {
    /// The report as Markdown: tables and plots as tables, questions as lists.
    ///
    /// Texts are escaped, so that none of them makes a heading, a table cell or HTML. Long texts of questions are cut;
    /// the page ([`Report::html`]) has all of them.
    pub fn markdown(&self) -> String {
        let mut out = format!("# {}\n", inline(&self.title));
        if !self.lead.is_empty() {
            let _ = write!(out, "\n{}\n", paragraph(&self.lead));
        }
        if !self.facts.is_empty() {
            out.push('\n');
            for (name, value) in &self.facts {
                let _ = writeln!(out, "- {}: {}", inline(name), inline(value));
            }
        }
        for section in &self.sections {
            let _ = writeln!(out, "\n## {}", inline(&section.title));
            for block in &section.blocks {
                let text = match block {
                    Block::Text(text) => paragraph(text) + "\n",
                    Block::Table(table) => captioned(&table.caption, &table.markdown()),
                    Block::Plot(plot) => captioned(&plot.caption, &plot.table().markdown()),
                    Block::Questions(cards) => cards.iter().map(card).collect::<Vec<_>>().join("\n"),
                };
                let _ = write!(out, "\n{text}");
            }
        }
        out
    }
}

impl Table {
    /// The table in aligned Markdown, without its caption; the best of a column in bold, `-` for nothing.
    pub fn markdown(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).chain([self.header.len()]).max().unwrap_or(0);
        if columns == 0 {
            return String::new();
        }
        let head = (0..columns).map(|c| self.header.get(c).map_or_else(String::new, |h| inline(h))).collect();
        let body = self.rows.iter().map(|row| (0..columns).map(|c| cell(row.get(c))).collect());
        let rows: Vec<Vec<String>> = std::iter::once(head).chain(body).collect();
        let longest = |c: usize| rows.iter().map(|row: &Vec<String>| row[c].chars().count()).max();
        let widths: Vec<usize> = (0..columns).map(|c| longest(c).unwrap_or(0).max(3)).collect();
        let mut out = String::new();
        for (number, row) in rows.iter().enumerate() {
            out.push('|');
            for (c, (text, width)) in row.iter().zip(&widths).enumerate() {
                let _ =
                    if c == 0 { write!(out, " {text:<width$} |") } else { write!(out, " {text:>width$} |") };
            }
            out.push('\n');
            if number == 0 {
                out.push('|');
                for (c, width) in widths.iter().enumerate() {
                    let dashes = "-".repeat(width + 1);
                    let _ = if c == 0 { write!(out, " {dashes}|") } else { write!(out, "{dashes}:|") };
                }
                out.push('\n');
            }
        }
        out
    }
}

impl Plot {
    /// The points as a table: a row for each group or `x`, a column for each series; single points in rows.
    pub(super) fn table(&self) -> Table {
        let sizes = self.series.iter().flat_map(|series| &series.points).map(|point| point.y.abs());
        let decimals = same_decimals(sizes);
        let value = |point: &Point| match decimals {
            Some(decimals) => Cell::with_interval(Some(point.y), point.interval, decimals),
            None => Cell::Text(short(point.y)),
        };
        if self.kind == PlotKind::Scatter {
            let mut table = Table::new("", ["point", "series", self.x.as_str(), self.y.as_str()]);
            for series in &self.series {
                for point in &series.points {
                    let (label, name) = (point.label.as_str(), series.name.as_str());
                    table.push([
                        Cell::text(label),
                        Cell::text(name),
                        Cell::Text(short(point.x)),
                        value(point),
                    ]);
                }
            }
            return table;
        }
        let name = |point: &Point| match self.kind {
            PlotKind::Lines => short(point.x),
            _ => point.label.clone(),
        };
        let mut points: Vec<&Point> = self.series.iter().flat_map(|series| &series.points).collect();
        if self.kind == PlotKind::Lines {
            points.sort_by(|a, b| a.x.total_cmp(&b.x));
        }
        let mut names: Vec<String> = Vec::new();
        for point in points {
            if !names.contains(&name(point)) {
                names.push(name(point));
            }
        }
        let header = std::iter::once(&self.x).chain(self.series.iter().map(|series| &series.name));
        let mut table = Table::new("", header.cloned());
        for row in names {
            let cells = self.series.iter().map(|series| {
                series.points.iter().find(|point| name(point) == row).map_or(Cell::Empty, value)
            });
            let cells: Vec<Cell> = cells.collect();
            table.push(std::iter::once(Cell::Text(row)).chain(cells));
        }
        table
    }
}

fn captioned(caption: &str, table: &str) -> String {
    if caption.is_empty() { table.to_owned() } else { format!("{}\n\n{table}", paragraph(caption)) }
}

fn cell(cell: Option<&Cell>) -> String {
    let Some(cell) = cell else { return NOTHING.to_owned() };
    let value = match cell {
        Cell::Text(text) if text.trim().is_empty() => NOTHING.to_owned(),
        Cell::Text(text) => inline(text),
        Cell::Number { best: true, .. } => format!("**{}**", cell.value_text()),
        _ => cell.value_text(),
    };
    cell.interval_text().map_or_else(|| value.clone(), |bounds| format!("{value} {bounds}"))
}

fn card(card: &QuestionCard) -> String {
    let Some(first) = card.records.first() else { return String::new() };
    let mut out = format!(
        "- **{}** ({}, {}, {})",
        inline(&cut(&first.text)),
        inline(&first.conversation),
        inline(&first.question),
        inline(&first.category),
    );
    if !card.note.is_empty() {
        let _ = write!(out, ": {}", inline(&card.note));
    }
    let gold =
        if first.answerable { inline(&cut(&first.gold)) } else { "no answer in the conversation".into() };
    let _ = writeln!(out, "\n  - gold: {gold}");
    let _ = writeln!(out, "  - evidence: {}", turns(&first.evidence));
    for record in &card.records {
        arm(&mut out, record);
    }
    out
}

fn arm(out: &mut String, record: &QuestionRecord) {
    let answer = record.answer.as_ref().map_or_else(|| "not asked".to_owned(), |text| inline(&cut(text)));
    let refused = if record.abstained == Some(true) { " (refused)" } else { "" };
    let scores: Vec<String> =
        record.scores.iter().map(|(name, score)| format!("{} {}", inline(name), short(*score))).collect();
    let _ = write!(out, "  - {}: {answer}{refused}", inline(&record.arm));
    if !scores.is_empty() {
        let _ = write!(out, "; {}", scores.join(", "));
    }
    let missing = record.missing_evidence();
    if !missing.is_empty() {
        let _ = write!(out, "; not retrieved: {}", turns(missing));
    }
    out.push('\n');
    for item in record.context.iter().take(MOST_ITEMS) {
        let gold = if record.holds_evidence(item) { " (gold)" } else { "" };
        let text = item.text.as_deref().map_or_else(String::new, |text| format!(": {}", inline(&cut(text))));
        let _ = writeln!(out, "    - {}{gold}{text}", inline(&item.id));
    }
    if let Some(more) = record.context.len().checked_sub(MOST_ITEMS).filter(|more| *more > 0) {
        let _ = writeln!(out, "    - {more} more");
    }
}

fn turns<'t>(turns: impl IntoIterator<Item = &'t EvidenceRef>) -> String {
    let names: Vec<String> = turns.into_iter().map(|turn| inline(&turn_name(turn))).collect();
    if names.is_empty() { NOTHING.to_owned() } else { names.join(", ") }
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Text inside a line: no breaks, nothing that Markdown or HTML reads as more than text.
fn inline(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let in_word = |c: Option<&char>| c.is_some_and(|c| c.is_alphanumeric() || *c == '_');
        let escape = match c {
            '\\' | '|' | '*' | '`' | '<' | '[' | ']' | '&' | '~' => true,
            // Inside a word it is no emphasis, and names of metrics are full of it.
            '_' => !(in_word(before.as_ref()) && in_word(rest.peek())),
            _ => false,
        };
        if escape {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
    out
}

/// A line of text that does not begin a heading, list, quotation or rule.
fn paragraph(text: &str) -> String {
    let line = inline(text);
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 0 && line[digits..].starts_with(['.', ')']) {
        return format!("{}\\{}", &line[..digits], &line[digits..]);
    }
    if line.starts_with(['#', '>', '-', '+', '=', '~']) { format!("\\{line}") } else { line }
}

#[cfg(test)]
mod tests;
