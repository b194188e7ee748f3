//! What a report is made of; how it looks is elsewhere.

use serde::{Deserialize, Serialize};

use crate::run::QuestionRecord;

/// A report: a title, some facts, and sections.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Report {
    /// Its title.
    pub title: String,
    /// One paragraph that says what was asked.
    pub lead: String,
    /// Names and values of what the run was made with, in order.
    pub facts: Vec<(String, String)>,
    /// Its sections, in order.
    pub sections: Vec<Section>,
}

/// A part of a report under a heading.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What is in it, in order.
    pub blocks: Vec<Block>,
}

/// A piece of a section.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Block {
    /// A paragraph of plain text.
    Text(String),
    /// A table.
    Table(Table),
    /// A plot.
    Plot(Plot),
    /// Questions to read.
    Questions(Vec<QuestionCard>),
}

/// A table; the first column names rows and stands to the left, the others to the right.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Table {
    /// What it shows.
    pub caption: String,
    /// Heads of the columns.
    pub header: Vec<String>,
    /// Rows, each as long as the header.
    pub rows: Vec<Vec<Cell>>,
}

/// A cell of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// Words.
    Text(String),
    /// A whole number.
    Count(u64),
    /// A number with so many decimals.
    Number {
        /// The number.
        value: f64,
        /// Decimals.
        decimals: usize,
        /// Interval around it.
        interval: Option<(f64, f64)>,
        /// Whether it is the best of its column.
        best: bool,
    },
}

/// A plot.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plot {
    /// What it shows.
    pub caption: String,
    /// How it is drawn.
    pub kind: PlotKind,
    /// Name of the horizontal axis.
    pub x: String,
    /// Name of the vertical axis.
    pub y: String,
    /// What is drawn, each in a colour of its own.
    pub series: Vec<Series>,
}

/// How a plot is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PlotKind {
    /// Groups of bars: [`Point::label`] names the group.
    Bars,
    /// Lines through points in the order of `x`.
    Lines,
    /// Single points; [`Point::label`] stands beside each.
    Scatter,
}

/// Points that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// Its points.
    pub points: Vec<Point>,
}

/// A point of a plot.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Point {
    /// Its name; may be empty.
    pub label: String,
    /// Where it stands on the horizontal axis; bars stand in order.
    pub x: f64,
    /// Its value.
    pub y: f64,
    /// Interval around the value.
    pub interval: Option<(f64, f64)>,
}

/// A question to read, with what each arm made of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct QuestionCard {
    /// Why it is shown, as `set_f1_simple 0.12`.
    pub note: String,
    /// The same question in one or more arms; never empty.
    pub records: Vec<QuestionRecord>,
}
