use scraper::{Html, Selector};
use sha2::{Digest as _, Sha256};

use super::*;
use crate::report::{PlotKind, Point, Series, testing};

fn page(report: &Report) -> Html {
    Html::parse_document(&report.html().unwrap())
}

fn count(page: &Html, selector: &str) -> usize {
    page.select(&Selector::parse(selector).unwrap()).count()
}

fn texts(page: &Html, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    let text = |element: scraper::ElementRef<'_>| {
        element.text().collect::<String>().split_whitespace().collect::<Vec<_>>().join(" ")
    };
    page.select(&selector).map(text).collect()
}

fn one_block(block: Block) -> Report {
    Report { sections: vec![Section { title: "s".to_owned(), blocks: vec![block] }], ..Report::default() }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0_u32, |bits, i| bits << 8 | u32::from(*chunk.get(i).unwrap_or(&0)));
        for i in 0..4 {
            out.push(if i <= chunk.len() {
                char::from(DIGITS[(bits >> (18 - 6 * i)) as usize & 63])
            } else {
                '='
            });
        }
    }
    out
}

#[test]
fn the_policy_lets_just_our_script_run() {
    assert_eq!(base64(b"fta"), "ZnRh");
    assert_eq!(base64(b"ft"), "ZnQ=");
    assert_eq!(SCRIPT_HASH, base64(&Sha256::digest(SCRIPT.as_bytes())));
    let page = page(&testing::report());
    let script = page.select(&Selector::parse("script").unwrap()).next().unwrap();
    assert_eq!(script.text().collect::<String>(), SCRIPT);
    let policy = page.select(&Selector::parse("meta[http-equiv]").unwrap()).next().unwrap();
    assert!(policy.value().attr("content").unwrap().contains(&format!("script-src 'sha256-{SCRIPT_HASH}'")));
}

#[test]
fn a_page_has_everything() {
    let page = page(&testing::report());
    assert_eq!(texts(&page, "h1"), ["Harbour dialogues: units against turns"]);
    assert_eq!(texts(&page, "nav a"), ["Scores", "Cost", "Questions to read"]);
    assert_eq!(count(&page, "main > section[id]"), 3);
    assert_eq!(count(&page, ".facts > div"), 4);
    assert_eq!(count(&page, "svg[role=img]"), 3);
    assert_eq!(count(&page, ".plot .points table"), 3);
    assert_eq!(texts(&page, "figure:not(.plot) tbody tr:first-child td strong"), ["0.620", "0.810", "0.04"]);
    assert_eq!(count(&page, "figure:not(.plot) .range"), 8);
    assert_eq!(count(&page, "[src], link, img, iframe"), 0, "nothing is fetched");
}

#[test]
fn cards_show_evidence_and_what_is_missing() {
    let page = page(&testing::report());
    assert_eq!(count(&page, "details.card"), 2);
    assert_eq!(count(&page, "details.card[open]"), 0);
    let first = "details.card:first-child";
    assert_eq!(count(&page, &format!("{first} .arm")), 2);
    assert_eq!(texts(&page, &format!("{first} .gold mark")), ["session_2 / D2:4", "session_5 / D5:1"]);
    assert_eq!(texts(&page, &format!("{first} .arm:first-child .items .hit mark")), ["session_2 / D2:4"]);
    assert_eq!(count(&page, &format!("{first} .arm:first-child .items li")), 3);
    assert_eq!(texts(&page, &format!("{first} .missing .chip")), ["session_5 / D5:1"; 2]);
    assert_eq!(texts(&page, &format!("{first} .state")), ["answered", "refused"]);
    assert_eq!(texts(&page, ".cards > details:last-child .missing"), Vec::<String>::new());
}

#[test]
fn hostile_text_is_inert() {
    let clean = page(&with_texts("plain words"));
    let long = "x\" onload='a' ".repeat(1_000);
    for bad in [
        "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
        "\"><svg onload=alert(1)>",
        "' style='position:fixed' onclick='x",
        "</style></title></textarea></bdi></details>--><b>{{ title }}{% for %}",
        "\u{202e}txet\u{2066}\u{200f}",
        "\0\u{1b}\u{feff}",
        long.as_str(),
    ] {
        let page = page(&with_texts(bad));
        for selector in
            ["*", "script", "style", "svg", "img", "b", "details", "tr", "[onclick], [onload], [onerror]"]
        {
            assert_eq!(count(&page, selector), count(&clean, selector), "{selector} of {bad:.80}");
        }
        let kept: String = bad.chars().filter(|c| *c != '\0').collect();
        let answer = page.select(&Selector::parse(".answer").unwrap()).next().unwrap();
        let answer: String = answer.text().filter(|text| !text.is_empty()).collect();
        assert_eq!(answer.replace('\u{fffd}', "").trim_end(), kept.trim_end());
        assert_eq!(answer_dir(&page), Some("auto".to_owned()));
    }
}

fn answer_dir(page: &Html) -> Option<String> {
    let answer = page.select(&Selector::parse(".answer").unwrap()).next()?;
    answer.value().attr("dir").map(str::to_owned)
}

/// The sample report with all its texts replaced.
fn with_texts(text: &str) -> Report {
    let mut report = testing::report();
    let all = |texts: Vec<&mut String>| texts.into_iter().for_each(|t| text.clone_into(t));
    all(vec![&mut report.title, &mut report.lead]);
    for (name, value) in &mut report.facts {
        all(vec![name, value]);
    }
    for section in &mut report.sections {
        all(vec![&mut section.title]);
        for block in &mut section.blocks {
            match block {
                Block::Text(t) => all(vec![t]),
                Block::Table(table) => {
                    all(vec![&mut table.caption]);
                    all(table.header.iter_mut().collect());
                    for cell in table.rows.iter_mut().flatten() {
                        if let Cell::Text(t) = cell {
                            all(vec![t]);
                        }
                    }
                }
                Block::Plot(plot) => {
                    all(vec![&mut plot.caption, &mut plot.x, &mut plot.y]);
                    all(plot.series.iter_mut().map(|series| &mut series.name).collect());
                }
                Block::Questions(cards) => {
                    for card in cards {
                        all(vec![&mut card.note]);
                        for record in &mut card.records {
                            all(vec![&mut record.arm, &mut record.conversation, &mut record.question]);
                            all(vec![&mut record.category, &mut record.text, &mut record.gold]);
                            all(record.answer.iter_mut().collect());
                            all(record.context.iter_mut().filter_map(|item| item.text.as_mut()).collect());
                        }
                    }
                }
            }
        }
    }
    report
}

#[test]
fn ranges_are_shares_of_their_column() {
    let mut table = Table::new("", ["arm", "score"]);
    for (value, lower, upper) in [(0.5, 0.0, 1.0), (0.75, 0.5, 0.75)] {
        table.push([Cell::text("a"), Cell::with_interval(Some(value), Some((lower, upper)), 2)]);
    }
    table.push([Cell::text("a"), Cell::with_interval(Some(0.5), Some((f64::NAN, 1.0)), 2)]);
    let rows = rows(&table);
    let range = |row: usize| {
        rows[row][1].range.as_ref().map(|r| [r.from.as_str(), &r.width, &r.at].map(str::to_owned))
    };
    assert_eq!(range(0), Some(["0.0", "100.0", "50.0"].map(str::to_owned)));
    assert_eq!(range(1), Some(["50.0", "25.0", "75.0"].map(str::to_owned)));
    assert_eq!(range(2), None);
    assert!(rows[0][1].range.as_ref().is_some_and(|range| range.zero.is_none()));
    table.push([Cell::text("a"), Cell::with_interval(Some(-0.5), Some((-1.0, 0.0)), 2)]);
    let rows = super::rows(&table);
    assert_eq!(rows[0][1].range.as_ref().and_then(|range| range.zero.as_deref()), Some("50.0"));
    table.rows.truncate(1);
    assert!(super::rows(&table)[0][1].range.is_none(), "one interval compares with nothing");
}

#[test]
fn empty_reports_are_pages() {
    let empty = page(&Report::default());
    assert_eq!(count(&empty, "nav"), 0);
    for block in [
        Block::Table(Table::default()),
        Block::Questions(Vec::new()),
        Block::Questions(vec![QuestionCard { note: String::new(), records: Vec::new() }]),
    ] {
        assert_eq!(count(&page(&one_block(block)), "h2"), 1);
    }
    let point = Point { y: f64::NAN, ..Point::default() };
    let series = vec![Series { name: "a".to_owned(), points: vec![point] }];
    let plot =
        Plot { caption: String::new(), kind: PlotKind::Lines, x: String::new(), y: String::new(), series };
    let page = page(&one_block(Block::Plot(plot)));
    assert_eq!(texts(&page, ".plot"), ["Nothing to draw."]);
}

#[test]
fn what_is_not_known_is_not_said() {
    let mut record = testing::record("a", None, 0.0);
    record.abstained = None;
    record.answerable = false;
    record.context.clear();
    record.evidence.clear();
    let page =
        page(&one_block(Block::Questions(vec![QuestionCard { note: String::new(), records: vec![record] }])));
    assert_eq!(texts(&page, ".answer"), ["not asked for an answer"]);
    assert_eq!(count(&page, ".state"), 0);
    assert!(texts(&page, ".gold dd")[0].starts_with("The conversation holds no answer."));
    assert!(texts(&page, ".arm .meta").contains(&"nothing retrieved".to_owned()));
}

#[test]
fn equal_reports_give_equal_pages() {
    let html = testing::report().html().unwrap();
    // To look at: write the page to this path.
    if let Some(path) = std::env::var_os("FTA_EVAL_SAMPLE_PAGE") {
        std::fs::write(path, &html).unwrap();
    }
    assert_eq!(html, testing::report().html().unwrap());
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(24))]

    #[test]
    fn no_text_changes_the_page(text in "[<>&\"'/={}%#!$a-z \\-\u{0}-\u{1f}\u{202a}-\u{202e}]{1,60}|\\PC{1,40}") {
        let (page, clean) = (page(&with_texts(&text)), page(&with_texts("plain words")));
        for selector in ["*", "script", "tr", "details", "svg"] {
            proptest::prop_assert_eq!(count(&page, selector), count(&clean, selector), "{}", selector);
        }
    }
}
