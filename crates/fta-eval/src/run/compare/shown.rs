//! Comparisons as reports.

use std::fmt::Write as _;

use super::{Comparison, Flip, MetricRow, PairComparison, QuestionKey};
use crate::report::{Block, Cell, Plot, PlotKind, Point, QuestionCard, Report, Section, Series, Table};

/// Questions of one run alone that are named.
const MOST_NAMED: usize = 20;

/// What the pooled rows are called.
const ALL: &str = "all";

impl Comparison {
    /// The comparison as a report: for each pair of arms the metrics, their differences, and what flipped.
    pub fn report(&self) -> Report {
        let [a, b] = &self.names;
        let share = self.confidence * 100.0;
        Report {
            title: format!("{b} against {a}"),
            lead: format!(
                "Differences are {b} minus {a}, over questions that both have. Intervals hold {share}% of the draws of \
                 whole conversations; p is the share of sign changes of conversations that give as large a difference. \
                 Neither is corrected for the number of metrics and categories."
            ),
            facts: Vec::new(),
            sections: self.pairs.iter().flat_map(|pair| self.sections(pair)).collect(),
        }
    }

    fn sections(&self, pair: &PairComparison) -> Vec<Section> {
        let arms = &pair.arms;
        let name = if arms.a == arms.b { arms.a.clone() } else { format!("{} against {}", arms.b, arms.a) };
        let mut scores = vec![Block::Text(self.questions(pair))];
        if pair.rows.iter().any(|row| row.interval.is_none()) {
            scores.push(Block::Text(
                "Where there is one conversation only there is no interval and no p, since questions of a conversation \
                 are no independent draws."
                    .to_owned(),
            ));
        }
        scores.push(Block::Table(self.table(pair)));
        scores.push(Block::Plot(self.plot(pair)));
        let text = match (pair.n_flips, pair.flips.len()) {
            (0, _) => "No question flipped.".to_owned(),
            (all, shown) if shown < all => {
                format!("{all} questions flipped; the {shown} largest changes are shown.")
            }
            (all, _) => format!("{all} {} flipped.", if all == 1 { "question" } else { "questions" }),
        };
        let cards = pair.flips.iter().map(|flip| self.card(flip)).collect();
        vec![
            Section { title: format!("{name}: scores"), blocks: scores },
            Section {
                title: format!("{name}: questions that flipped"),
                blocks: vec![
                    Block::Text(format!(
                        "A question flips if a score crosses one half, or if it is refused in one run alone. {text}"
                    )),
                    Block::Questions(cards),
                ],
            },
        ]
    }

    /// Which questions are compared and which are not.
    fn questions(&self, pair: &PairComparison) -> String {
        let mut text = format!("{} questions are in both.", pair.n_shared);
        for (name, alone) in self.names.iter().zip([&pair.only_a, &pair.only_b]) {
            if !alone.is_empty() {
                let _ = write!(text, " {} are in {name} alone: {}.", alone.len(), named(alone));
            }
        }
        if !pair.unlike.is_empty() {
            let _ = write!(
                text,
                " Text, gold answer, category or evidence of {} differ between the two, so that their scores do not \
                 compare: {}.",
                pair.unlike.len(),
                named(&pair.unlike)
            );
        }
        text
    }

    fn table(&self, pair: &PairComparison) -> Table {
        let [a, b] = self.names.each_ref().map(String::as_str);
        let header = ["metric", "category", "questions", "conversations", a, b, "difference", "p"];
        let mut table = Table::new("Means and differences", header);
        for row in &pair.rows {
            let interval = row.interval.map(|interval| (interval.lower, interval.upper));
            table.push([
                Cell::text(row.metric.as_str()),
                Cell::text(category(row)),
                Cell::count(row.n_questions),
                Cell::count(row.n_conversations),
                Cell::number(row.mean_a, 3),
                Cell::number(row.mean_b, 3),
                Cell::with_interval(Some(row.difference), interval, 3),
                Cell::number(row.p.map(|p| p.p), 4),
            ]);
        }
        table
    }

    /// Differences in groups by metric, a series for all questions and for each category.
    fn plot(&self, pair: &PairComparison) -> Plot {
        let mut series: Vec<Series> = Vec::new();
        for row in &pair.rows {
            let interval = row.interval.map(|interval| (interval.lower, interval.upper));
            let point = Point { label: row.metric.clone(), x: 0.0, y: row.difference, interval };
            match series.iter_mut().find(|series| series.name == category(row)) {
                Some(series) => series.points.push(point),
                None => series.push(Series { name: category(row).to_owned(), points: vec![point] }),
            }
        }
        let [a, b] = &self.names;
        Plot {
            caption: format!("Differences, {b} minus {a}"),
            kind: PlotKind::Bars,
            x: "metric".to_owned(),
            y: "difference".to_owned(),
            series,
        }
    }

    fn card(&self, flip: &Flip) -> QuestionCard {
        let mut notes = Vec::new();
        if let (Some(metric), Some([a, b])) = (&flip.metric, flip.scores) {
            notes.push(format!("{metric} from {a:.2} to {b:.2}"));
        }
        match flip.refused {
            Some([false, true]) => notes.push("now refused".to_owned()),
            Some([true, false]) => notes.push("no longer refused".to_owned()),
            _ => {}
        }
        let mut records = flip.records.to_vec();
        for (record, name) in records.iter_mut().zip(&self.names) {
            record.arm = format!("{name}: {}", record.arm);
        }
        QuestionCard { note: notes.join(", "), records }
    }
}

fn category(row: &MetricRow) -> &str {
    row.category.as_deref().unwrap_or(ALL)
}

fn named(keys: &[QuestionKey]) -> String {
    let names = keys.iter().take(MOST_NAMED).map(|key| format!("{} / {}", key.conversation, key.question));
    let mut text = names.collect::<Vec<_>>().join(", ");
    if let Some(more) = keys.len().checked_sub(MOST_NAMED).filter(|more| *more > 0) {
        let _ = write!(text, " and {more} more");
    }
    text
}
