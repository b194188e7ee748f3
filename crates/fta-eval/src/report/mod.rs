//! Reports of runs as values: sections of text, tables, plots and questions to read.

mod model;

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
