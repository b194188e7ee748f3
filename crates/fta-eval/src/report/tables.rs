//! Cells and rows as a run makes them, and the best of a column.

use super::{Cell, Table};
use crate::{
    metrics,
    stats::{Direction, Estimate},
};

impl From<metrics::Direction> for Direction {
    fn from(direction: metrics::Direction) -> Self {
        match direction {
            metrics::Direction::HigherIsBetter => Self::Higher,
            metrics::Direction::LowerIsBetter => Self::Lower,
        }
    }
}

impl Cell {
    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A whole number.
    pub fn count(count: usize) -> Self {
        Self::Count(count as u64)
    }

    /// A number with so many decimals; empty if it is `None` or no finite number.
    pub fn number(value: impl Into<Option<f64>>, decimals: usize) -> Self {
        match value.into().filter(|value| value.is_finite()) {
            Some(value) => Self::Number { value, decimals, interval: None, best: false },
            None => Self::Empty,
        }
    }

    /// An estimate with its interval, with so many decimals.
    pub fn estimate(estimate: &Estimate, decimals: usize) -> Self {
        let interval = Some((estimate.interval.lower, estimate.interval.upper));
        Self::Number { value: estimate.value, decimals, interval, best: false }
    }

    /// A number with an interval where there is one; empty if the number is `None` or not finite.
    pub fn with_interval(value: Option<f64>, interval: Option<(f64, f64)>, decimals: usize) -> Self {
        match Self::number(value, decimals) {
            Self::Number { value, decimals, best, .. } => Self::Number { value, decimals, interval, best },
            other => other,
        }
    }
}

impl Table {
    /// A table without rows.
    pub fn new<H: Into<String>>(caption: impl Into<String>, header: impl IntoIterator<Item = H>) -> Self {
        Self {
            caption: caption.into(),
            header: header.into_iter().map(Into::into).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row; what is missing of it is filled up with empty cells, and columns that it adds have no head.
    pub fn push(&mut self, row: impl IntoIterator<Item = Cell>) {
        let mut row: Vec<Cell> = row.into_iter().collect();
        let columns = self.header.len().max(row.len());
        row.resize(columns, Cell::Empty);
        self.header.resize(columns, String::new());
        for earlier in &mut self.rows {
            earlier.resize(columns, Cell::Empty);
        }
        self.rows.push(row);
    }

    /// Marks the best numbers of a column, and no others; equal ones as written are all marked.
    ///
    /// Nothing is marked where a column has fewer than two numbers or all are equal. `column` counts from 0.
    pub fn mark_best(&mut self, column: usize, direction: impl Into<Direction>) {
        let direction = direction.into();
        let better = |a: f64, b: f64| match direction {
            Direction::Higher => a > b,
            Direction::Lower => a < b,
        };
        let written: Vec<(f64, String)> = self
            .rows
            .iter()
            .filter_map(|row| match row.get(column)? {
                cell @ Cell::Number { value, .. } if value.is_finite() => Some((*value, cell.value_text())),
                _ => None,
            })
            .collect();
        let best = written.iter().reduce(|best, one| if better(one.0, best.0) { one } else { best });
        let best = best.filter(|best| written.iter().any(|one| one.1 != best.1)).map(|best| best.1.clone());
        for row in &mut self.rows {
            let Some(cell) = row.get_mut(column) else { continue };
            let is_best = best.as_ref().is_some_and(|best| cell.value_text() == *best);
            if let Cell::Number { best, .. } = cell {
                *best = is_best;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Interval;

    fn best(column: &[Cell], direction: impl Into<Direction>) -> Vec<bool> {
        let mut table = Table::new("", ["arm", "score"]);
        for cell in column {
            table.push([Cell::text("a"), cell.clone()]);
        }
        table.mark_best(1, direction);
        table.rows.iter().map(|row| matches!(row[1], Cell::Number { best: true, .. })).collect()
    }

    #[test]
    fn the_best_as_written_are_marked() {
        let column = [Cell::number(0.4121, 3), Cell::Empty, Cell::number(0.4124, 3), Cell::number(0.1, 3)];
        assert_eq!(best(&column, Direction::Higher), [true, false, true, false]);
        assert_eq!(best(&column, metrics::Direction::LowerIsBetter), [false, false, false, true]);
        assert_eq!(best(&column[..3], Direction::Higher), [false; 3], "all are equal");
        assert_eq!(best(&[Cell::number(0.5, 1), Cell::Count(9)], Direction::Higher), [false; 2]);
    }

    #[test]
    fn a_mark_does_not_stay() {
        let mut table = Table::new("", ["arm", "score"]);
        table.push([Cell::text("a"), Cell::number(1.0, 1)]);
        table.push([Cell::text("b"), Cell::number(2.0, 1)]);
        table.mark_best(1, Direction::Higher);
        table.mark_best(1, Direction::Lower);
        assert!(matches!(table.rows[0][1], Cell::Number { best: true, .. }));
        assert!(matches!(table.rows[1][1], Cell::Number { best: false, .. }));
        table.mark_best(7, Direction::Higher);
    }

    #[test]
    fn cells_come_from_numbers_that_may_be_missing() {
        assert_eq!(Cell::number(None, 3), Cell::Empty);
        assert_eq!(Cell::number(f64::NAN, 3), Cell::Empty);
        assert_eq!(Cell::with_interval(None, Some((0.0, 1.0)), 2), Cell::Empty);
        let interval = Interval { lower: 0.25, upper: 0.75, confidence: 0.95 };
        let estimate = Estimate { value: 0.5, interval, n_questions: 8, n_cases: 2 };
        assert_eq!(
            Cell::estimate(&estimate, 2),
            Cell::Number { value: 0.5, decimals: 2, interval: Some((0.25, 0.75)), best: false }
        );
    }

    #[test]
    fn rows_are_as_long_as_the_header() {
        let mut table = Table::new("", ["arm", "score"]);
        table.push([Cell::text("a")]);
        table.push([Cell::text("b"), Cell::Count(1), Cell::Count(2)]);
        assert_eq!(table.header.len(), 3);
        assert!(table.rows.iter().all(|row| row.len() == 3));
    }
}
