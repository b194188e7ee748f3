//! Dates and event times as people write them.

use fta_mem::units::{DateInterval, EventTime, TimeBound};
use jiff::civil::{Date, DateTime};

/// `Fri 3 May 2024`.
pub(crate) fn day(date: Date) -> String {
    date.strftime("%a %-d %b %Y").to_string()
}

/// `Fri 3 May 2024, 18:30`; the time is left out at midnight, which stands for "not known" in most sources.
pub(crate) fn moment(at: DateTime) -> String {
    if at.hour() == 0 && at.minute() == 0 {
        day(at.date())
    } else {
        format!("{}, {}", day(at.date()), at.strftime("%H:%M"))
    }
}

/// `2024-05-03`, for tables; `-` where there is none.
pub(crate) fn short(at: Option<DateTime>) -> String {
    at.map_or_else(|| "-".to_owned(), |at| at.date().to_string())
}

/// Days in the shortest words that name them: a day, a month, a year, or from one day to another.
pub(crate) fn interval(interval: DateInterval) -> String {
    let DateInterval { first, last } = interval;
    let whole_months = first == first.first_of_month() && last == last.last_of_month();
    if first == last {
        day(first)
    } else if first == first.first_of_year() && last == last.last_of_year() {
        if first.year() == last.year() {
            first.year().to_string()
        } else {
            format!("{} to {}", first.year(), last.year())
        }
    } else if whole_months && first.year() == last.year() && first.month() == last.month() {
        first.strftime("%B %Y").to_string()
    } else {
        format!("{} to {}", day(first), day(last))
    }
}

/// When something happened, without the words that were said: `Fri 3 May 2024`, `since March 2016`.
pub(crate) fn event_days(time: &EventTime) -> Option<String> {
    let days = interval(time.interval?);
    Some(match time.bound {
        TimeBound::Within => days,
        TimeBound::Since => format!("since {days}"),
        TimeBound::Until => format!("until {days}"),
        TimeBound::Before => format!("before {days}"),
        TimeBound::After => format!("after {days}"),
    })
}

/// When something happened and how that was said: `Fri 3 May 2024 ("yesterday")`.
pub(crate) fn event(time: &EventTime) -> String {
    match event_days(time) {
        Some(days) => format!("{days} (\"{}\")", time.text),
        None => format!("\"{}\", not resolved", time.text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(first: &str, last: &str, expected: &str) {
        let parse = |s: &str| s.parse::<Date>().unwrap();
        assert_eq!(interval(DateInterval { first: parse(first), last: parse(last) }), expected);
    }

    #[test]
    fn intervals() {
        check("2024-05-03", "2024-05-03", "Fri 3 May 2024");
        check("2024-05-01", "2024-05-31", "May 2024");
        check("2024-01-01", "2024-12-31", "2024");
        check("2019-01-01", "2021-12-31", "2019 to 2021");
        check("2024-04-29", "2024-05-05", "Mon 29 Apr 2024 to Sun 5 May 2024");
        check("2024-02-01", "2024-02-29", "February 2024");
        check("2024-02-01", "2024-02-28", "Thu 1 Feb 2024 to Wed 28 Feb 2024");
    }

    #[test]
    fn midnight_is_no_time() {
        assert_eq!(moment("2024-05-03T00:00:00".parse().unwrap()), "Fri 3 May 2024");
        assert_eq!(moment("2024-05-03T18:30:00".parse().unwrap()), "Fri 3 May 2024, 18:30");
    }
}
