//! Reports of runs as values: sections of text, tables, plots and questions to read.

mod model;

pub use model::{Block, Cell, Plot, PlotKind, Point, QuestionCard, Report, Section, Series, Table};
