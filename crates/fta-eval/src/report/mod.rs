//! Reports of runs as values: sections of text, tables, plots and questions to read, and how they are written.
//!
//! [`Report::markdown`] is for terminals and repositories, [`Report::html`] is one page to read and to print.

mod evidence;
mod html;
mod markdown;
mod model;
mod numbers;
mod plot;
mod tables;
#[cfg(test)]
pub(crate) mod testing;

pub use html::ReportError;
pub use model::{Block, Cell, Plot, PlotKind, Point, QuestionCard, Report, Section, Series, Table};

impl Report {
    /// The report without plots and questions: what fits into a terminal.
    pub fn tables(&self) -> Self {
        let mut report = self.clone();
        for section in &mut report.sections {
            section.blocks.retain(|block| matches!(block, Block::Text(_) | Block::Table(_)));
        }
        report.sections.retain(|section| section.blocks.iter().any(|block| matches!(block, Block::Table(_))));
        report
    }
}
