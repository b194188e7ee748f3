use super::*;
use crate::report::{Block, testing};

const F1: &str = "set_f1_simple";

fn record(conversation: &str, question: &str, category: &str, score: f64) -> QuestionRecord {
    let mut record = testing::record("arm", Some("words"), score);
    record.abstained = Some(false);
    record.scores.retain(|metric, _| metric == F1);
    (record.conversation, record.question) = (conversation.to_owned(), question.to_owned());
    category.clone_into(&mut record.category);
    record
}

fn quick() -> CompareOptions {
    let resampling = Resampling { rounds: 200, ..Resampling::default() };
    CompareOptions { resampling, ..CompareOptions::default() }
}

/// Three conversations of two questions; the second run is better by 0.25 in each of the first questions.
fn runs() -> (Vec<QuestionRecord>, Vec<QuestionRecord>) {
    let run = |gain: f64| {
        ["c1", "c2", "c3"]
            .iter()
            .flat_map(|c| [record(c, "q1", "easy", 0.5 + gain), record(c, "q2", "hard", 0.25)])
            .collect::<Vec<_>>()
    };
    (run(0.0), run(0.25))
}

#[test]
fn differences_are_paired_by_question() {
    let (a, mut b) = runs();
    b.reverse();
    let comparison = compare(&a, &b, &quick()).unwrap();
    let pair = &comparison.pairs[0];
    assert_eq!((pair.n_shared, pair.n_flips, pair.unlike.len()), (6, 0, 0));
    let rows: Vec<(Option<&str>, usize, f64, f64)> = pair
        .rows
        .iter()
        .map(|row| (row.category.as_deref(), row.n_questions, row.mean_a, row.difference))
        .collect();
    assert_eq!(rows, [(None, 6, 0.375, 0.125), (Some("easy"), 3, 0.5, 0.25), (Some("hard"), 3, 0.25, 0.0)]);
    let pooled = &pair.rows[0];
    // All conversations gain the same, so every draw does; two of the eight signs are as far from 0.
    let interval = pooled.interval.unwrap();
    assert_eq!((interval.lower, interval.upper), (0.125, 0.125));
    let p = pooled.p.unwrap();
    assert_eq!((p.at_least, p.arrangements), (2, 8));
    b.reverse();
    assert_eq!(comparison, compare(&a, &b, &quick()).unwrap());
}

#[test]
fn swapped_runs_have_the_other_sign() {
    let (a, b) = runs();
    let (there, back) = (compare(&a, &b, &quick()).unwrap(), compare(&b, &a, &quick()).unwrap());
    for (one, other) in there.pairs[0].rows.iter().zip(&back.pairs[0].rows) {
        assert!((one.difference + other.difference).abs() < 1e-12);
        assert_eq!((one.mean_a, one.mean_b), (other.mean_b, other.mean_a));
        assert_eq!(one.p, other.p);
    }
}

#[test]
fn questions_of_one_run_alone_are_listed() {
    let (mut a, b) = runs();
    let moved = a.pop().unwrap();
    a.push(record("c9", &moved.question, "hard", 1.0));
    let comparison = compare(&a, &b, &quick()).unwrap();
    let key = |c: &str| vec![QuestionKey { conversation: c.to_owned(), question: "q2".to_owned() }];
    let pair = &comparison.pairs[0];
    assert_eq!((pair.n_shared, &pair.only_a, &pair.only_b), (5, &key("c9"), &key("c3")));
    let text = comparison.report().markdown();
    assert!(text.contains("1 are in a alone: c9 / q2. 1 are in b alone: c3 / q2."), "{text}");
}

#[test]
fn one_conversation_has_no_interval_and_the_report_says_so() {
    let (mut a, mut b) = runs();
    a.retain(|record| record.conversation == "c1");
    b.retain(|record| record.conversation == "c1");
    let comparison = compare(&a, &b, &quick()).unwrap();
    assert!(comparison.pairs[0].rows.iter().all(|row| row.interval.is_none() && row.p.is_none()));
    let sentence = "there is no interval and no p";
    assert!(comparison.report().markdown().contains(sentence));
    let (a, b) = runs();
    assert!(!compare(&a, &b, &quick()).unwrap().report().markdown().contains(sentence));
}

#[test]
fn flips_are_sorted_and_cut() {
    let (mut a, mut b) = runs();
    b[1].scores.insert(F1.to_owned(), 0.75);
    b[2].scores.insert(F1.to_owned(), 0.0);
    // Refused in the first by its words, in the second not.
    a[5].abstained = None;
    a[5].answer = Some("I don't know".to_owned());
    let comparison = compare(&a, &b, &quick()).unwrap();
    let flips: Vec<_> = comparison.pairs[0]
        .flips
        .iter()
        .map(|flip| (flip.records[0].conversation.as_str(), flip.scores, flip.refused, flip.size))
        .collect();
    let expected = [
        ("c3", None, Some([true, false]), 1.0),
        ("c1", Some([0.25, 0.75]), None, 0.5),
        ("c2", Some([0.5, 0.0]), None, 0.5),
    ];
    assert_eq!(flips, expected);
    let cut = compare(&a, &b, &CompareOptions { most: 1, ..quick() }).unwrap();
    assert_eq!((cut.pairs[0].flips.len(), cut.pairs[0].n_flips), (1, 3));
    let text = cut.report().markdown();
    assert!(text.contains("3 questions flipped; the 1 largest changes are shown"), "{text}");
    assert!(text.contains("no longer refused"), "{text}");
    assert!(text.contains("  - b: arm: words"), "{text}");
}

#[test]
fn arms_are_paired_as_asked() {
    let (mut a, b) = runs();
    for record in &mut a {
        "old".clone_into(&mut record.arm);
    }
    assert_eq!(equal_arms(&a, &b), []);
    let error = compare(&a, &b, &quick()).unwrap_err();
    assert_eq!(error, CompareError::NoArms { a: vec!["old".to_owned()], b: vec!["arm".to_owned()] });
    let arms = ArmPair { a: "old".to_owned(), b: "arm".to_owned() };
    let comparison = compare(&a, &b, &CompareOptions { arms: vec![arms], ..quick() }).unwrap();
    assert_eq!(comparison.pairs[0].n_shared, 6);
    assert_eq!(comparison.report().sections[0].title, "arm against old: scores");
    let arms = ArmPair { a: "old".to_owned(), b: "none".to_owned() };
    let error = compare(&a, &b, &CompareOptions { arms: vec![arms], ..quick() }).unwrap_err();
    assert!(matches!(&error, CompareError::UnknownArm { run, .. } if run == "b"), "{error}");
    assert_eq!(equal_arms(&b, &b), [ArmPair { a: "arm".to_owned(), b: "arm".to_owned() }]);
}

#[test]
fn what_does_not_compare_is_an_error() {
    let (mut a, b) = runs();
    let missing = CompareOptions { metrics: vec!["bleu1".to_owned()], ..quick() };
    assert!(matches!(compare(&a, &b, &missing), Err(CompareError::NoMetric { .. })));
    let other = [record("c7", "q1", "easy", 1.0)];
    assert!(matches!(compare(&a, &other, &quick()), Err(CompareError::NothingShared { .. })));
    a.push(a[0].clone());
    let error = compare(&a, &b, &quick()).unwrap_err();
    assert_eq!(error.to_string(), "run `a` has question `q1` of conversation `c1` twice in arm `arm`");
    a.pop();
    a[0].scores.insert(F1.to_owned(), f64::NAN);
    assert!(matches!(compare(&a, &b, &quick()), Err(CompareError::Stats { .. })));
}

#[test]
fn other_gold_answers_are_told() {
    let (mut a, b) = runs();
    a[3].gold.push_str(", or so");
    let comparison = compare(&a, &b, &quick()).unwrap();
    assert_eq!(comparison.pairs[0].unlike.len(), 1);
    assert!(comparison.report().markdown().contains("gold answer, category or evidence of 1 differ"));
}

#[test]
fn balanced_accuracy_weighs_both_kinds_alike() {
    let metric = "abstention_balanced_accuracy";
    let run = |scores: [f64; 4]| -> Vec<QuestionRecord> {
        let one = |(i, score): (usize, f64)| {
            let mut record = record(&format!("c{}", i % 2), &format!("q{i}"), "any", 0.0);
            record.scores = [(metric.to_owned(), score)].into();
            record.answerable = i < 3;
            record
        };
        scores.into_iter().enumerate().map(one).collect()
    };
    let comparison = compare(&run([1.0, 1.0, 0.0, 0.0]), &run([1.0, 1.0, 1.0, 1.0]), &quick()).unwrap();
    let row = &comparison.pairs[0].rows[0];
    assert!((row.mean_a - 1.0 / 3.0).abs() < 1e-12, "{row:?}");
    assert!((row.mean_b - 1.0).abs() < 1e-12 && (row.difference - 2.0 / 3.0).abs() < 1e-12, "{row:?}");
    // Of questions of one kind alone it has no value.
    let only: Vec<QuestionRecord> = run([1.0; 4]).into_iter().filter(|record| record.answerable).collect();
    assert!(matches!(compare(&only, &only, &quick()), Err(CompareError::NoMetric { .. })));
}

#[test]
fn the_report_has_a_table_a_plot_and_cards() {
    let (a, mut b) = runs();
    b[1].scores.insert(F1.to_owned(), 1.0);
    let names = ["yesterday".to_owned(), "today".to_owned()];
    let report = compare(&a, &b, &CompareOptions { names, ..quick() }).unwrap().report();
    assert_eq!(report.title, "today against yesterday");
    let blocks: Vec<&Block> = report.sections.iter().flat_map(|section| &section.blocks).collect();
    let table =
        blocks.iter().find_map(|block| if let Block::Table(table) = block { Some(table) } else { None });
    assert_eq!(table.unwrap().rows.len(), 3);
    let plot = blocks.iter().find_map(|block| if let Block::Plot(plot) = block { Some(plot) } else { None });
    let names: Vec<&str> = plot.unwrap().series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["all", "easy", "hard"]);
    let cards =
        blocks.iter().find_map(|block| if let Block::Questions(cards) = block { Some(cards) } else { None });
    assert_eq!(cards.unwrap()[0].note, "set_f1_simple from 0.25 to 1.00");
    let html = report.html().unwrap();
    assert!(html.contains("today: arm"));
    // To look at: write the page to this path.
    if let Some(path) = std::env::var_os("FTA_EVAL_SAMPLE_COMPARISON") {
        std::fs::write(path, html).unwrap();
    }
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]

    #[test]
    fn differences_are_differences_of_means(
        scores in proptest::collection::vec((0..4_u8, 0..3_u8, 0.0..=1.0_f64, 0.0..=1.0_f64), 1..24)
    ) {
        let run = |second: bool| -> Vec<QuestionRecord> {
            let one = |(i, (c, category, a, b)): (usize, &(u8, u8, f64, f64))| {
                let score = if second { *b } else { *a };
                record(&format!("c{c}"), &format!("q{i}"), &format!("k{category}"), score)
            };
            scores.iter().enumerate().map(one).collect()
        };
        let comparison = compare(&run(false), &run(true), &quick()).unwrap();
        let pair = &comparison.pairs[0];
        let by_category: usize = pair.rows[1..].iter().map(|row| row.n_questions).sum();
        proptest::prop_assert_eq!(by_category, scores.len());
        for row in &pair.rows {
            proptest::prop_assert!((row.mean_b - row.mean_a - row.difference).abs() < 1e-9);
            proptest::prop_assert_eq!(row.interval.is_some(), row.n_conversations > 1);
        }
        let crossed = scores.iter().filter(|(_, _, a, b)| (*a < 0.5) != (*b < 0.5)).count();
        proptest::prop_assert_eq!(pair.n_flips, crossed);
        proptest::prop_assert!(comparison.report().html().is_ok());
    }
}
