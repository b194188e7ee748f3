use super::*;
use crate::report::{Section, Series, testing};

#[test]
fn tables_are_aligned_and_escaped() {
    let mut table = Table::new("", ["arm", "F1", "n|m"]);
    table.push([
        Cell::text("a|b\nc"),
        Cell::with_interval(Some(0.412), Some((0.38, 0.441)), 3),
        Cell::Count(7),
    ]);
    table.push([Cell::text(""), Cell::number(0.5, 3), Cell::Empty]);
    table.mark_best(1, crate::stats::Direction::Higher);
    let expected = "\
| arm    |                   F1 | n\\|m |
| -------|---------------------:|-----:|
| a\\|b c | 0.412 [0.380, 0.441] |    7 |
| -      |            **0.500** |    - |
";
    assert_eq!(table.markdown(), expected);
    assert_eq!(Table::default().markdown(), "");
    assert_eq!(Table::new("", ["arm"]).markdown(), "| arm |\n| ----|\n");
}

#[test]
fn rows_that_are_too_long_or_short_are_shown() {
    let table = Table {
        caption: String::new(),
        header: vec!["a".to_owned()],
        rows: vec![vec![], vec![Cell::Count(1), Cell::Count(2)]],
    };
    assert_eq!(table.markdown(), "| a   |     |\n| ----|----:|\n| -   |   - |\n| 1   |   2 |\n");
}

#[test]
fn texts_are_no_markup() {
    for (text, expected) in [
        ("set_f1_simple of `a`", "set_f1_simple of \\`a\\`"),
        ("_so_ <script>", "\\_so\\_ \\<script>"),
        ("**x** [y](z) a\\b", "\\*\\*x\\*\\* \\[y\\](z) a\\\\b"),
        ("one\n\n# two", "one # two"),
    ] {
        assert_eq!(inline(text), expected);
    }
    for (text, expected) in
        [("# a", "\\# a"), ("- a", "\\- a"), ("12. a", "12\\. a"), ("12 a", "12 a"), ("=a", "\\=a"), ("", "")]
    {
        assert_eq!(paragraph(text), expected);
    }
}

#[test]
fn plots_become_tables_of_their_points() {
    let point = |label: &str, x, y, interval| Point { label: label.to_owned(), x, y, interval };
    let mut plot = Plot {
        caption: String::new(),
        kind: PlotKind::Bars,
        x: "category".to_owned(),
        y: "F1".to_owned(),
        series: vec![
            Series {
                name: "a".to_owned(),
                points: vec![point("easy", 2.0, 0.5, Some((0.4, 0.6))), point("hard", 1.0, f64::NAN, None)],
            },
            Series { name: "b".to_owned(), points: vec![point("hard", 1.0, 0.25, None)] },
        ],
    };
    let written = plot.table().markdown();
    let bars = "\
| category |                    a |     b |
| ---------|---------------------:|------:|
| easy     | 0.500 [0.400, 0.600] |     - |
| hard     |                    - | 0.250 |
";
    assert_eq!(written, bars);
    plot.kind = PlotKind::Lines;
    let written = plot.table().markdown();
    let (first, second) = (written.find("| 1 ").unwrap(), written.find("| 2 ").unwrap());
    assert!(first < second, "{written}");
    plot.kind = PlotKind::Scatter;
    assert_eq!(plot.table().rows.len(), 3);
}

#[test]
fn a_report_has_everything_in_order() {
    let written = testing::report().markdown();
    let parts = [
        "# Harbour dialogues",
        "- data set: harbour, 10 conversations, 1,540 questions",
        "- seed: 0",
        "## Scores",
        "Intervals draw whole conversations",
        "| arm ",
        "**0.620** [0.590, 0.660]",
        "does not fit into the model \\| cut",
        "F1 by category",
        "## Cost",
        "## Questions to read",
        "- **Where did Marta find the kite",
        "  - gold: In her neighbour's apple tree",
        "  - evidence: session_2 / D2:4, session_5 / D5:1",
        "  - fta-units: In the apple tree of her neighbour; evidence_recall 0.5, set_f1_simple 0.71; not retrieved: session_5 / D5:1",
        "    - u12 (gold): Marta's kite",
        "    - u3: Marta likes",
        "  - bm25-turn: I don't know. (refused)",
    ];
    let mut at = 0;
    for part in parts {
        let found = written[at..].find(part);
        at += found.unwrap_or_else(|| panic!("`{part}` is not in the rest of\n{}", &written[at..]));
    }
}

#[test]
fn nothing_makes_a_short_report() {
    assert_eq!(Report::default().markdown(), "# \n");
    let block = Block::Questions(vec![QuestionCard { note: String::new(), records: Vec::new() }]);
    let section = Section { title: "s".to_owned(), blocks: vec![block] };
    let report = Report { sections: vec![section], ..Report::default() };
    assert_eq!(report.markdown(), "# \n\n## s\n\n");
}

#[test]
fn long_texts_are_cut() {
    let mut record = testing::record("a", Some(&"x".repeat(10_000)), 0.0);
    record.context = (0..40).map(|_| record.context[0].clone()).collect();
    let written = super::card(&QuestionCard { note: String::new(), records: vec![record] });
    assert!(written.len() < 4_000, "{}", written.len());
    assert!(written.contains("30 more"), "{written}");
}

proptest::proptest! {
    #[test]
    fn any_text_stays_in_its_cell(texts in proptest::collection::vec("[|\\\\<>*_`\n\r\\[\\]a ]{0,20}|\\PC{0,20}", 1..9)) {
        let mut table = Table::new("", ["a", "b"]);
        for text in &texts {
            table.push([Cell::text(text.as_str()), Cell::text(text.as_str())]);
        }
        let written = table.markdown();
        proptest::prop_assert_eq!(written.lines().count(), texts.len() + 2);
        for line in written.lines() {
            // A bar ends a cell unless a backslash that is itself not escaped stands before it.
            let (mut bars, mut escaped) = (0, false);
            for c in line.chars() {
                bars += usize::from(c == '|' && !escaped);
                escaped = c == '\\' && !escaped;
            }
            proptest::prop_assert_eq!(bars, 3, "{}", line);
        }
    }
}
