//! Expressions and their meaning are data: `tests/expressions.txt`, one a line, and `tests/no_times.txt`.

use jiff::civil::date;
use proptest::prelude::*;

use super::*;

mod questions;

fn day(text: &str) -> Date {
    text.trim().parse().expect("the table holds ISO dates")
}

fn mentions(text: &str, said_on: &str) -> Vec<TimeMention> {
    find_times(text, &TimeContext::on(day(said_on)))
}

fn days(time: &EventTime) -> String {
    match time.interval {
        None => "-".to_owned(),
        Some(interval) if interval.first == interval.last => interval.first.to_string(),
        Some(interval) => format!("{}..{}", interval.first, interval.last),
    }
}

fn kind(time: &EventTime) -> String {
    format!("{:?} {:?} {:?}", time.granularity, time.orientation, time.bound).to_lowercase()
}

/// One mention as a row of the table.
fn row(said_on: &str, text: &str, mention: &TimeMention) -> String {
    format!("{said_on} | {text} | {} | {} | {}", mention.time.text, days(&mention.time), kind(&mention.time))
}

#[test]
fn expressions_of_the_table_resolve() {
    let table = include_str!("tests/expressions.txt");
    let mut n_rows = 0;
    let mut wrong = Vec::new();
    for line in table.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        n_rows += 1;
        let fields: Vec<&str> = line.split(" | ").collect();
        let (said_on, text) = (fields[0], fields[1]);
        let found: Vec<String> =
            mentions(text, said_on).iter().map(|mention| row(said_on, text, mention)).collect();
        if found != [line] {
            wrong.push(format!("expected {line}\n   found {}", found.join("\n         ")));
        }
    }
    assert!(n_rows >= 340, "the table has {n_rows} rows");
    assert!(wrong.is_empty(), "{} of {n_rows} rows differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn false_friends_give_no_times() {
    let table = include_str!("tests/no_times.txt");
    let lines: Vec<&str> = table.lines().filter(|line| !line.is_empty()).collect();
    assert!(lines.len() >= 100);
    for text in lines {
        let found = mentions(text, "2023-06-07");
        assert!(found.is_empty(), "{text:?} gives {found:?}");
    }
}

fn check_days(text: &str, said_on: &str, expected: &[&str]) {
    let found: Vec<String> = mentions(text, said_on).iter().map(|mention| days(&mention.time)).collect();
    assert_eq!(found, expected, "{text:?}");
}

#[test]
fn later_expressions_continue_earlier_ones() {
    let said_on = "2023-06-07";
    check_days("On June 1 we arrived, and the next day it rained.", said_on, &["2023-06-01", "2023-06-02"]);
    check_days("We arrived on Friday. The previous night was bad.", said_on, &["2023-06-02", "2023-06-01"]);
    check_days(
        "I saw her on 3 March 2022. That weekend she moved.",
        said_on,
        &["2022-03-03", "2022-03-05..2022-03-06"],
    );
    check_days("In 2019 I moved. That year I met Tom.", said_on, &["2019-01-01..2019-12-31"; 2]);
    check_days(
        "We met in May 2021 and married two months later.",
        said_on,
        &["2021-05-01..2021-05-31", "2021-07-01..2021-07-31"],
    );
    check_days("We met in 2020 and have been close since then.", said_on, &["2020-01-01..2020-12-31"; 2]);
}

#[test]
fn tense_decides_where_bare_names_lie() {
    let said_on = "2023-06-07";
    check_days("I saw her on Friday and I will see him on Sunday.", said_on, &["2023-06-02", "2023-06-11"]);
    check_days(
        "We moved in May, and in July we will marry.",
        said_on,
        &["2023-05-01..2023-05-31", "2023-07-01..2023-07-31"],
    );
    check_days("We leave Friday morning and come back Sunday.", said_on, &["2023-06-09", "2023-06-11"]);
}

#[test]
fn ages_need_the_year_of_birth_of_the_speaker() {
    let born = TimeContext { said_on: date(2023, 6, 7), birth_year: Some(1990) };
    let resolve = |text: &str| {
        let found = find_times(text, &born);
        assert_eq!(found.len(), 1, "{text:?}");
        (days(&found[0].time), kind(&found[0].time))
    };
    let expect = |days: &str, kind: &str| (days.to_owned(), kind.to_owned());
    assert_eq!(
        resolve("I have sung since I was ten."),
        expect("2000-01-01..2000-12-31", "year present since")
    );
    assert_eq!(resolve("When I was 12 we moved."), expect("2002-01-01..2002-12-31", "year past within"));
    assert_eq!(resolve("In my twenties I was shy."), expect("2010-01-01..2019-12-31", "years past within"));
    assert_eq!(resolve("When she was ten we met."), expect("-", "years past within"));
    assert_eq!(resolve("When I was a kid we moved."), expect("-", "years past within"));
}

#[test]
fn resolution_moves_with_the_dialogue_date() {
    for said_on in ["1999-12-31", "2020-02-29", "2023-05-08", "2031-10-01"] {
        let today = day(said_on);
        let found = mentions("It broke yesterday and again three days ago.", said_on);
        let back = |n: i64| Some(DateInterval::day(calendar::plus_days(today, -n).expect("in range")));
        assert_eq!(found.iter().map(|mention| mention.time.interval).collect::<Vec<_>>(), [back(1), back(3)]);
    }
}

#[test]
fn ends_of_the_calendar_do_not_panic() {
    let texts = [
        "yesterday, tomorrow, last week, next year, two centuries ago, in 9 decades, last summer, next Easter",
        "the day before the day before the day before the day before the day before yesterday",
        "99999999999999999999 years ago and in 88888888888888888888 weeks, on May 31 and 2/30/2023",
        "the first weekend of February 1800, the end of 2199, from December to January, the 22nd century",
    ];
    for said_on in [Date::MIN, Date::MAX, date(0, 2, 28), date(-4, 2, 29)] {
        for text in texts {
            assert!(!find_times(text, &TimeContext { said_on, birth_year: Some(i16::MAX) }).is_empty());
        }
    }
}

#[test]
fn long_texts_are_read_to_the_end() {
    let nested = "the day before ".repeat(20_000) + "yesterday";
    assert_eq!(mentions(&nested, "2023-06-07").last().map(|mention| mention.range.end), Some(nested.len()));
    let plain = "I met her last Friday at the lake, which was nice. ".repeat(4_000);
    assert_eq!(mentions(&plain, "2023-06-07").len(), 4_000);
}

#[test]
fn event_times_are_described_in_words() {
    let cases = [
        ("I saw it yesterday.", "7 May 2023"),
        ("I saw it last week.", "the week of 1 May 2023"),
        ("I saw it last weekend.", "the weekend of 6 May 2023"),
        ("I saw it in May 2022.", "May 2022"),
        ("I saw it last summer.", "summer 2022"),
        ("I saw it last winter.", "winter 2022/2023"),
        ("I saw it in 2019.", "2019"),
        ("I saw it in the 90s.", "the 1990s"),
        ("I've been here since 2016.", "since 2016"),
        ("I stay until June.", "until June 2023"),
        ("I was ill before Easter.", "before 9 April 2023"),
        ("I was in Rome from May 27 to May 29, 2022.", "27 to 29 May 2022"),
        ("I was in Rome from May 27 to June 3, 2022.", "27 May to 3 June 2022"),
        ("I was in Rome from December 27, 2021 to January 3, 2022.", "27 December 2021 to 3 January 2022"),
        ("I was in Rome from April to June 2021.", "April to June 2021"),
        ("I was in Rome from November to February 2021.", "November 2020 to February 2021"),
        ("I was in Rome between 2019 and 2021.", "2019 to 2021"),
        ("I was in Rome when I was a kid.", "when I was a kid"),
    ];
    for (text, expected) in cases {
        let found = mentions(text, "2023-05-08");
        assert_eq!(
            found.iter().map(|mention| mention.time.describe()).collect::<Vec<_>>(),
            [expected],
            "{text:?}"
        );
    }
}

/// Words of which the grammar is made, in any order.
fn time_like() -> impl Strategy<Value = String> {
    let words = [
        "last",
        "next",
        "this",
        "the",
        "week",
        "before",
        "after",
        "May",
        "may",
        "25",
        "2023",
        "Friday",
        "two",
        "ago",
        "in",
        "since",
        "until",
        "first",
        "of",
        "summer",
        "for",
        "years",
        "now",
        ",",
        ".",
        "-",
        "'",
        "5th",
        "90s",
        "a",
        "couple",
        "I",
        "was",
        "ten",
        "have",
        "been",
        "will",
        "from",
        "to",
        "between",
        "and",
        "Christmas",
        "every",
        "31",
        "February",
        "day",
        "weekend",
        "mid",
        "end",
        "it’s",
        "half",
        "later",
        "é",
        "日",
        "/",
        "5/25/2023",
        "on",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..24).prop_map(|words| words.join(" "))
}

fn check_shape(text: &str, said_on: Date) -> Result<(), TestCaseError> {
    let mut behind = 0;
    for mention in find_times(text, &TimeContext::on(said_on)) {
        let range = mention.range;
        prop_assert!(behind <= range.start && range.start < range.end && range.end <= text.len());
        prop_assert_eq!(text.get(range.clone()), Some(mention.time.text.as_str()));
        behind = range.end;
        if let Some(interval) = mention.time.interval {
            prop_assert!(interval.first <= interval.last);
        }
        prop_assert!(!mention.time.describe().is_empty());
    }
    Ok(())
}

fn any_day() -> impl Strategy<Value = Date> {
    (1..=9999_i16, 1..=12_i8, 1..=28_i8).prop_map(|(year, month, day)| date(year, month, day))
}

proptest! {
    #[test]
    fn any_text_gives_ordered_ranges_on_char_boundaries(text in any::<String>(), said_on in any_day()) {
        check_shape(&text, said_on)?;
    }

    #[test]
    fn any_words_give_ordered_ranges(text in time_like(), said_on in any_day()) {
        check_shape(&text, said_on)?;
    }

    #[test]
    fn weeks_later_relative_days_move_by_weeks(text in "(yesterday|last Friday|last week|two weekends ago|on Monday|3 days ago|next weekend)", said_on in any_day(), n_weeks in 1_i64..50) {
        let Some(later) = calendar::plus_days(said_on, 7 * n_weeks) else { return Ok(()) };
        let first = |said_on| find_times(&text, &TimeContext::on(said_on)).first().and_then(|mention| mention.time.interval);
        let (Some(before), Some(after)) = (first(said_on), first(later)) else { return Ok(()) };
        prop_assert_eq!(i64::from((after.first - before.first).get_days()), 7 * n_weeks);
        prop_assert_eq!(after.days(), before.days());
    }
}
