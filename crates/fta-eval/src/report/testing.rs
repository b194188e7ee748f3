//! A made-up report for tests.

use std::collections::BTreeMap;

use super::{Block, Cell, Plot, PlotKind, Point, QuestionCard, Report, Section, Series, Table};
use crate::{
    datasets::EvidenceRef,
    run::{ItemRecord, QuestionRecord},
    stats::Direction,
};

pub(crate) fn turn(session: &str, turn: &str) -> EvidenceRef {
    EvidenceRef { session: session.into(), turn: turn.to_owned() }
}

/// A question about a lost kite: gold turns are `D2:4` and `D5:1`, of which the context holds the first.
pub(crate) fn record(arm: &str, answer: Option<&str>, score: f64) -> QuestionRecord {
    let item = |id: &str, turns: &[&str], text: Option<&str>| ItemRecord {
        id: id.to_owned(),
        turns: turns.iter().map(|t| turn(&format!("session_{}", &t[1..2]), t)).collect(),
        text: text.map(str::to_owned),
    };
    QuestionRecord {
        arm: arm.to_owned(),
        conversation: "harbour-1".to_owned(),
        question: "q17".to_owned(),
        category: "multi-hop".to_owned(),
        answerable: true,
        text: "Where did Marta find the kite that she lost in spring?".to_owned(),
        gold: "In her neighbour's apple tree".to_owned(),
        evidence: vec![turn("session_2", "D2:4"), turn("session_5", "D5:1")],
        answer: answer.map(str::to_owned),
        abstained: Some(answer.is_none_or(|a| a.starts_with("I don't know"))),
        context: vec![
            item(
                "u12",
                &["D2:3", "D2:4"],
                Some("Marta's kite flew away over the gardens in April; she looked for it for two days."),
            ),
            item("u3", &["D1:9"], Some("Marta likes windy afternoons at the harbour.")),
            item("u40", &["D7:2"], Some("The neighbour's apple tree was cut back in the autumn.")),
            item("u41", &["D7:5"], None),
        ],
        context_tokens: 412,
        within: Vec::new(),
        calls: BTreeMap::new(),
        scores: [("set_f1_simple".to_owned(), score), ("evidence_recall".to_owned(), 0.5)].into(),
    }
}

fn point(label: &str, x: f64, y: f64, half: f64) -> Point {
    Point { label: label.to_owned(), x, y, interval: (half > 0.0).then_some((y - half, y + half)) }
}

const ARMS: [&str; 4] = ["fta-units", "bm25-turn", "vector-session", "whole-dialogue"];

const CATEGORIES: [&str; 5] = ["single-hop", "multi-hop", "temporal", "open-domain", "unanswerable"];

fn score(a: usize, c: usize) -> f64 {
    0.62 - 0.07 * a as f64 - 0.06 * ((c * 3 + a) % 5) as f64
}

fn table() -> Table {
    let mut table = Table::new(
        "Scores of all questions that have an answer, with 95% intervals over conversations.",
        [
            "arm",
            "questions",
            "set_f1_simple",
            "evidence_recall@1000t",
            "false_refusal",
            "context tokens",
            "note",
        ],
    );
    for (a, arm) in ARMS.iter().enumerate() {
        let (f1, recall) = (score(a, 0), 0.81 - 0.13 * a as f64);
        table.push([
            Cell::text(*arm),
            Cell::count(1_540 - a),
            Cell::with_interval(Some(f1), Some((f1 - 0.03 - 0.01 * a as f64, f1 + 0.04)), 3),
            Cell::with_interval(Some(recall), Some((recall - 0.05, recall + 0.03)), 3),
            Cell::number(0.04 + 0.02 * a as f64, 2),
            if a == 3 { Cell::Empty } else { Cell::number(812.4 + 90.0 * a as f64, 1) },
            if a == 3 { Cell::text("does not fit into the model | cut") } else { Cell::Empty },
        ]);
    }
    for (column, direction) in [(2, Direction::Higher), (3, Direction::Higher), (4, Direction::Lower)] {
        table.mark_best(column, direction);
    }
    table
}

fn bars() -> Plot {
    Plot {
        caption: "F1 by category".to_owned(),
        kind: PlotKind::Bars,
        x: "category".to_owned(),
        y: "set_f1_simple".to_owned(),
        series: ARMS
            .iter()
            .enumerate()
            .map(|(a, arm)| Series {
                name: (*arm).to_owned(),
                points: CATEGORIES
                    .iter()
                    .enumerate()
                    .filter(|(c, _)| a + c != 7)
                    .map(|(c, name)| point(name, c as f64, score(a, c), 0.03 + 0.005 * c as f64))
                    .collect(),
            })
            .collect(),
    }
}

fn lines() -> Plot {
    let budgets = [250.0, 500.0, 1_000.0, 2_000.0, 4_000.0, 8_000.0];
    Plot {
        caption: "Evidence within a token budget".to_owned(),
        kind: PlotKind::Lines,
        x: "budget (tokens)".to_owned(),
        y: "evidence recall".to_owned(),
        series: ARMS[..3]
            .iter()
            .enumerate()
            .map(|(a, arm)| Series {
                name: (*arm).to_owned(),
                points: budgets
                    .iter()
                    .map(|&x| {
                        let y = 1.0 - (-(x / (700.0 + 500.0 * a as f64))).exp();
                        point("", x, y, 0.04)
                    })
                    .collect(),
            })
            .collect(),
    }
}

fn scatter() -> Plot {
    Plot {
        caption: "Quality against cost".to_owned(),
        kind: PlotKind::Scatter,
        x: "tokens per question".to_owned(),
        y: "set_f1_simple".to_owned(),
        series: vec![Series {
            name: "arms".to_owned(),
            points: ARMS
                .iter()
                .enumerate()
                .map(|(a, arm)| point(arm, 600.0 + 900.0 * a as f64, score(a, 0), 0.0))
                .collect(),
        }],
    }
}

fn cards() -> Vec<QuestionCard> {
    let card = QuestionCard {
        note: "set_f1_simple 0.71 against 0.00".to_owned(),
        records: vec![
            record("fta-units", Some("In the apple tree of her neighbour"), 0.71),
            record("bm25-turn", Some("I don't know."), 0.0),
        ],
    };
    let mut second = record("fta-units", Some("Two days"), 0.4);
    second.question = "q18".to_owned();
    second.text = "For how long did Marta look for the kite?".to_owned();
    second.gold = "Two days, in April".to_owned();
    second.evidence.truncate(1);
    vec![card, QuestionCard { note: String::new(), records: vec![second] }]
}

/// A report with one of everything.
pub(crate) fn report() -> Report {
    let section = |title: &str, blocks| Section { title: title.to_owned(), blocks };
    Report {
        title: "Harbour dialogues: units against turns".to_owned(),
        lead: "Do units answer better than turns within the same token budget, and where do they not?"
            .to_owned(),
        facts: [
            ("data set", "harbour, 10 conversations, 1,540 questions"),
            ("embedder", "a small encoder, 384 dimensions"),
            ("answerer", "a 4B instruction model, temperature 0"),
            ("seed", "0"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into(),
        sections: vec![
            section(
                "Scores",
                vec![
                    Block::Text(
                        "Intervals draw whole conversations. The best of a column is in bold.".to_owned(),
                    ),
                    Block::Table(table()),
                    Block::Plot(bars()),
                ],
            ),
            section("Cost", vec![Block::Plot(lines()), Block::Plot(scatter())]),
            section("Questions to read", vec![Block::Questions(cards())]),
        ],
    }
}
