//! Markdown tables and the means in them.

use std::fmt::Write as _;

/// A table; numbers come as text.
pub(super) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(super) fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(|h| (*h).to_owned()).collect()] }
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Markdown with padded columns; all but the first column stand to the right.
    pub(super) fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width =
            |c: usize| self.rows.iter().filter_map(|r| r.get(c)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..columns).map(|c| width(c).unwrap_or(0).max(3)).collect();
        let mut out = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            out.push('|');
            for (c, width) in widths.iter().enumerate() {
                let cell = row.get(c).map_or("", String::as_str);
                let _ =
                    if c == 0 { write!(out, " {cell:<width$} |") } else { write!(out, " {cell:>width$} |") };
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

/// Mean, or `None` of nothing.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0_usize);
    for value in values {
        sum += value;
        n += 1;
    }
    (n > 0).then(|| sum / n as f64)
}

/// With so many decimals; `-` of nothing.
pub(super) fn decimals(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{v:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_aligned_markdown() {
        let mut table = Table::new(&["arm", "n"]);
        table.row(vec!["bm25-turn".to_owned(), "7".to_owned()]);
        assert_eq!(table.render(), "| arm       |   n |\n| ----------|----:|\n| bm25-turn |   7 |\n");
    }

    #[test]
    fn means_have_decimals() {
        assert_eq!(decimals(mean([1.0, 2.0]), 2), "1.50");
        assert_eq!(decimals(mean([]), 2), "-");
    }
}
