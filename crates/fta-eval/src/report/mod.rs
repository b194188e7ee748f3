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
