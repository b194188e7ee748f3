//! Event times in the words that people use for them.

use fta_units::{DateInterval, EventTime, Granularity, TimeBound};
use jiff::civil::{Date, DateTime};
use serde::{Deserialize, Serialize};

use crate::words;

/// How a time that was said relative to the dialogue is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateStyle {
    /// Keeps the exactness of what was said: "last week", said on 9 June, is "the week before 9 June 2023".
    #[default]
    Anchored,
    /// Calendar days only: "the week of 29 May 2023".
    Calendar,
}

/// Writes an event time out, seen from the day on which it was said; the expression itself where it did not resolve.
pub fn date_answer(time: &EventTime, said_at: Option<DateTime>, style: DateStyle) -> String {
    let Some(interval) = time.interval else {
        return time.text.clone();
    };
    let said_on = said_at.map(DateTime::date);
    let body = match (style, said_on) {
        (DateStyle::Anchored, Some(day)) => anchored(time, interval, day),
        _ => None,
    };
    let body = body.unwrap_or_else(|| calendar(time, interval));
    match time.bound {
        TimeBound::Within => body,
        TimeBound::Since => format!("since {}", calendar_start(time, interval)),
        TimeBound::Until => format!("until {body}"),
        TimeBound::Before => format!("before {body}"),
        TimeBound::After => format!("after {body}"),
    }
}

/// "7 May 2023".
pub(super) fn day_text(date: Date) -> String {
    date.strftime("%-d %B %-Y").to_string()
}

/// "May 2023".
pub(super) fn month_text(date: Date) -> String {
    date.strftime("%B %-Y").to_string()
}

/// Forms that lean on the dialogue day; `None` where the calendar form is as good.
fn anchored(time: &EventTime, interval: DateInterval, said_on: Date) -> Option<String> {
    let said = day_text(said_on);
    let text = words::lower(&time.text);
    // "This weekend" is the weekend of the day, even when it lies ahead.
    let side = if interval.contains(said_on) || text.starts_with("this ") {
        "of"
    } else if interval.last < said_on {
        "before"
    } else {
        "after"
    };
    match time.granularity {
        Granularity::Day => {
            let weekday = weekday_in(&text)?;
            let near = DateInterval::new(interval.first, said_on).days() <= 8;
            (near && side != "of").then(|| format!("the {weekday} {side} {said}"))
        }
        Granularity::Weekend | Granularity::Week => {
            if let Some(amount) = amount_ago(&text) {
                return Some(format!("{amount} before {said}"));
            }
            // "The first week of May" names its month and needs no anchor.
            let names_month =
                words::tokens(&text).iter().any(|t| words::is_month(&t.norm()) && t.norm() != "may")
                    || text.chars().any(|c| c.is_ascii_digit());
            let near = DateInterval::new(interval.first, said_on).days() <= 16;
            let unit = if time.granularity == Granularity::Week { "week" } else { "weekend" };
            (near && !names_month).then(|| format!("the {unit} {side} {said}"))
        }
        Granularity::Month => {
            let amount = amount_ago(&text)?;
            amount.ends_with("weeks").then(|| format!("{amount} before {said}"))
        }
        _ => None,
    }
}

/// "two weeks" of "two weeks ago"; `None` for other expressions.
fn amount_ago(text: &str) -> Option<String> {
    let amount = text.strip_suffix(" ago").or_else(|| text.strip_suffix(" back"))?;
    (!amount.ends_with(" day")).then(|| amount.trim().to_owned())
}

fn weekday_in(text: &str) -> Option<&'static str> {
    const DAYS: [(&str, &str); 7] = [
        ("mon", "Monday"),
        ("tue", "Tuesday"),
        ("wed", "Wednesday"),
        ("thu", "Thursday"),
        ("fri", "Friday"),
        ("sat", "Saturday"),
        ("sun", "Sunday"),
    ];
    words::tokens(text).iter().find_map(|token| {
        let norm = token.norm();
        DAYS.iter().find(|(short, long)| norm == *short || norm == long.to_lowercase()).map(|(_, long)| *long)
    })
}

fn calendar(time: &EventTime, interval: DateInterval) -> String {
    let first = interval.first;
    match time.granularity {
        Granularity::Day if interval.days() == 1 => day_text(first),
        Granularity::Day => range_text(interval),
        Granularity::Weekend => format!("the weekend of {}", day_text(first)),
        Granularity::Week => format!("the week of {}", day_text(first)),
        Granularity::Month => {
            if first.year() == interval.last.year() && first.month() == interval.last.month() {
                month_text(first)
            } else {
                format!("{} to {}", month_text(first), month_text(interval.last))
            }
        }
        Granularity::Season => match season_in(&time.text) {
            Some(season) => format!("{season} {}", interval.last.year()),
            None => format!("{} to {}", month_text(first), month_text(interval.last)),
        },
        Granularity::Year | Granularity::Years => {
            if first.year() == interval.last.year() {
                first.year().to_string()
            } else {
                format!("{} to {}", first.year(), interval.last.year())
            }
        }
    }
}

/// The point from which something holds, as exact as it was said.
fn calendar_start(time: &EventTime, interval: DateInterval) -> String {
    match time.granularity {
        Granularity::Day | Granularity::Weekend | Granularity::Week => day_text(interval.first),
        Granularity::Month => month_text(interval.first),
        Granularity::Season => calendar(time, interval),
        Granularity::Year | Granularity::Years => interval.first.year().to_string(),
    }
}

fn range_text(interval: DateInterval) -> String {
    format!("{} to {}", day_text(interval.first), day_text(interval.last))
}

fn season_in(text: &str) -> Option<&'static str> {
    let text = words::lower(text);
    ["spring", "summer", "autumn", "fall", "winter"].into_iter().find(|s| text.contains(s))
}

#[cfg(test)]
mod tests {
    use fta_units::TimeOrientation;
    use jiff::civil::date;

    use super::*;

    fn time(text: &str, from: (i16, i8, i8), to: (i16, i8, i8), granularity: Granularity) -> EventTime {
        EventTime {
            text: text.to_owned(),
            interval: Some(DateInterval::new(date(from.0, from.1, from.2), date(to.0, to.1, to.2))),
            granularity,
            orientation: TimeOrientation::Past,
            bound: TimeBound::Within,
        }
    }

    fn check(time: &EventTime, expect: &str) {
        let said = date(2022, 9, 14).at(10, 0, 0, 0);
        assert_eq!(date_answer(time, Some(said), DateStyle::Anchored), expect);
    }

    #[test]
    fn people_s_forms() {
        check(&time("yesterday", (2022, 9, 13), (2022, 9, 13), Granularity::Day), "13 September 2022");
        check(
            &time("last Friday", (2022, 9, 9), (2022, 9, 9), Granularity::Day),
            "the Friday before 14 September 2022",
        );
        check(
            &time("last week", (2022, 9, 5), (2022, 9, 11), Granularity::Week),
            "the week before 14 September 2022",
        );
        check(
            &time("this week", (2022, 9, 12), (2022, 9, 18), Granularity::Week),
            "the week of 14 September 2022",
        );
        check(
            &time("next weekend", (2022, 9, 17), (2022, 9, 18), Granularity::Weekend),
            "the weekend after 14 September 2022",
        );
        check(
            &time("two weeks ago", (2022, 8, 29), (2022, 9, 4), Granularity::Week),
            "two weeks before 14 September 2022",
        );
        check(&time("last month", (2022, 8, 1), (2022, 8, 31), Granularity::Month), "August 2022");
        check(&time("this summer", (2022, 6, 1), (2022, 8, 31), Granularity::Season), "summer 2022");
        check(&time("last year", (2021, 1, 1), (2021, 12, 31), Granularity::Year), "2021");
        check(&time("a few years ago", (2018, 1, 1), (2020, 12, 31), Granularity::Years), "2018 to 2020");
    }

    #[test]
    fn bounds_and_unresolved() {
        let mut since = time("since 2016", (2016, 1, 1), (2016, 12, 31), Granularity::Year);
        since.bound = TimeBound::Since;
        check(&since, "since 2016");
        since.interval = None;
        check(&since, "since 2016");
        let mut until = time("until June", (2023, 6, 1), (2023, 6, 30), Granularity::Month);
        until.bound = TimeBound::Until;
        check(&until, "until June 2023");
    }

    #[test]
    fn calendar_style_needs_no_anchor() {
        let week = time("last week", (2022, 9, 5), (2022, 9, 11), Granularity::Week);
        let said = date(2022, 9, 14).at(10, 0, 0, 0);
        assert_eq!(date_answer(&week, Some(said), DateStyle::Calendar), "the week of 5 September 2022");
        assert_eq!(date_answer(&week, None, DateStyle::Anchored), "the week of 5 September 2022");
    }
}
