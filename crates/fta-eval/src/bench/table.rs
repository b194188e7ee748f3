//! Means and numbers in the tables of single measurements.

use crate::report::Cell;

/// A table; numbers come as text.
pub(super) struct Table(crate::report::Table);

impl Table {
    pub(super) fn new(header: &[&str]) -> Self {
        Self(crate::report::Table::new("", header.iter().copied()))
    }

    pub(super) fn row(&mut self, cells: Vec<String>) {
        self.0.push(cells.into_iter().map(Cell::text));
    }

    /// The table as Markdown.
    pub(super) fn render(&self) -> String {
        self.0.markdown()
    }
}

/// Mean, or `None` of nothing.
pub(super) fn mean(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    crate::metrics::Mean::of(values).mean
}

/// With so many decimals; `-` of nothing.
pub(super) fn decimals(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{v:.decimals$}"))
}
