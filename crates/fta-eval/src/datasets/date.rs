//! The date strings of the data sets, parsed strictly; `None` for anything else and for days that do not exist.

use jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use serde_json::Value;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Numbers at or above this are milliseconds: as seconds they would lie past the year 5100.
const MILLISECONDS_FROM: f64 = 1.0e11;

/// `h:mm am|pm on D Month, YYYY`; 12 am is 0 h.
pub(crate) fn locomo(text: &str) -> Option<DateTime> {
    let (clock, day) = text.trim().split_once(" on ")?;
    let (time, half) = clock.split_once(' ')?;
    let (hour, minute) = time.split_once(':')?;
    let hour: i8 = number(hour, 1..=2)?;
    let minute: i8 = number(minute, 2..=2)?;
    let afternoon = match half.to_ascii_lowercase().as_str() {
        "am" => false,
        "pm" => true,
        _ => return None,
    };
    if !(1..=12).contains(&hour) {
        return None;
    }
    let (month_day, year) = day.split_once(", ")?;
    let (day, month) = month_day.split_once(' ')?;
    let day: i8 = number(day, 1..=2)?;
    let year: i16 = number(year, 4..=4)?;
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? + 1;
    DateTime::new(year, month as i8, day, hour % 12 + if afternoon { 12 } else { 0 }, minute, 0, 0).ok()
}

/// `YYYY/MM/DD (Www) HH:MM`; the weekday is not compared with the day.
pub(crate) fn longmemeval(text: &str) -> Option<DateTime> {
    let mut parts = text.split_ascii_whitespace();
    let (day, weekday, clock) = (parts.next()?, parts.next()?, parts.next()?);
    let named = weekday.strip_prefix('(')?.strip_suffix(')')?;
    if parts.next().is_some() || named.is_empty() || !named.bytes().all(|b| b.is_ascii_alphabetic()) {
        return None;
    }
    join(ymd(day, '/')?, hms(clock)?)
}

/// `YYYY-MM-DD` or `YYYY/MM/DD`, alone or with `T` or a space and `HH:MM[:SS[.fraction]]`, then perhaps `Z` or `+HH:MM`.
///
/// The clock is taken as written: an offset says where the dialogue was, not when to show it.
pub(crate) fn iso(text: &str) -> Option<DateTime> {
    let text = text.trim();
    let (day, clock) = match text.find(['T', 't', ' ']) {
        Some(at) => (&text[..at], Some(text[at + 1..].trim())),
        None => (text, None),
    };
    let day = ymd(day, '-').or_else(|| ymd(day, '/'))?;
    match clock {
        None => join(day, (0, 0, 0)),
        Some(clock) => join(day, hms(without_offset(clock)?)?),
    }
}

/// A date string as in [`iso`], or seconds (or milliseconds) since 1970 in UTC, as a number or as digits.
pub(crate) fn timestamp(value: &Value) -> Option<DateTime> {
    match value {
        Value::String(text) => iso(text).or_else(|| {
            let digits = text.trim();
            let plain = digits.len() >= 9 && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.');
            if plain { unix(digits.parse().ok()?) } else { None }
        }),
        Value::Number(n) => unix(n.as_f64()?),
        _ => None,
    }
}

fn unix(seconds: f64) -> Option<DateTime> {
    let seconds = if seconds.abs() >= MILLISECONDS_FROM { seconds / 1000.0 } else { seconds };
    let at = Timestamp::from_second(seconds.floor() as i64).ok()?;
    Some(TimeZone::UTC.to_datetime(at))
}

fn without_offset(clock: &str) -> Option<&str> {
    if let Some(bare) = clock.strip_suffix(['Z', 'z']) {
        return Some(bare.trim_end());
    }
    let Some(sign) = clock.find(['+', '-']) else { return Some(clock) };
    let offset: Vec<&str> = clock[sign + 1..].split(':').collect();
    let legal = match offset[..] {
        [hours, minutes] => number::<u8>(hours, 2..=2).is_some() && number::<u8>(minutes, 2..=2).is_some(),
        [together] => number::<u16>(together, 2..=4).is_some(),
        _ => false,
    };
    legal.then(|| clock[..sign].trim_end())
}

fn ymd(text: &str, separator: char) -> Option<(i16, i8, i8)> {
    let mut parts = text.split(separator);
    let day = (number(parts.next()?, 4..=4)?, number(parts.next()?, 1..=2)?, number(parts.next()?, 1..=2)?);
    parts.next().is_none().then_some(day)
}

fn hms(text: &str) -> Option<(i8, i8, i8)> {
    let mut parts = text.split(':');
    let hour = number(parts.next()?, 1..=2)?;
    let minute = number(parts.next()?, 2..=2)?;
    let second = match parts.next() {
        None => 0,
        Some(second) => {
            let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
            if fraction.is_empty() || !fraction.bytes().all(|b| b.is_ascii_digit()) {
                return None;
            }
            number(whole, 2..=2)?
        }
    };
    parts.next().is_none().then_some((hour, minute, second))
}

fn join((year, month, day): (i16, i8, i8), (hour, minute, second): (i8, i8, i8)) -> Option<DateTime> {
    DateTime::new(year, month, day, hour, minute, second, 0).ok()
}

fn number<N: std::str::FromStr>(text: &str, digits: std::ops::RangeInclusive<usize>) -> Option<N> {
    let legal = digits.contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
    if legal { text.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(parse: impl Fn(&str) -> Option<DateTime>, text: &str, expected: &str) {
        let found = parse(text).map_or_else(|| "none".to_owned(), |d| d.to_string());
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn locomo_dates() {
        check(locomo, "2:05 pm on 3 June, 2021", "2021-06-03T14:05:00");
        check(locomo, "12:30 am on 1 January, 2022", "2022-01-01T00:30:00");
        check(locomo, "12:00 pm on 29 February, 2024", "2024-02-29T12:00:00");
        for bad in [
            "2:05 pm on 31 June, 2021",
            "29 February, 2024",
            "13:00 pm on 3 June, 2021",
            "0:10 am on 3 June, 2021",
            "2:5 pm on 3 June, 2021",
            "2:05 pm on 3 Juin, 2021",
            "2:05 pm on 3 June 2021",
            "2:05 pm on 3 June, 21",
            "",
        ] {
            check(locomo, bad, "none");
        }
    }

    #[test]
    fn longmemeval_dates() {
        check(longmemeval, "2023/05/20 (Sat) 02:21", "2023-05-20T02:21:00");
        for bad in
            ["2023/02/30 (Thu) 02:21", "2023/05/20 02:21", "2023/05/20 (Sat)", "2023-05-20 (Sat) 02:21"]
        {
            check(longmemeval, bad, "none");
        }
    }

    #[test]
    fn iso_dates() {
        check(iso, "2024-03-01", "2024-03-01T00:00:00");
        check(iso, "2024-03-01 7:30", "2024-03-01T07:30:00");
        check(iso, "2024-03-01T07:30:15.250Z", "2024-03-01T07:30:15");
        check(iso, "2024-03-01T23:30:00+09:00", "2024-03-01T23:30:00");
        check(iso, "2024-03-01T23:30:00 -0500", "2024-03-01T23:30:00");
        for bad in
            ["2024-02-30", "2024-03-01T25:00", "2024-03-01T07:30:00+xx", "yesterday", "2024", "2024-03-01T"]
        {
            check(iso, bad, "none");
        }
    }

    #[test]
    fn unix_seconds_and_milliseconds() {
        let of = |value: Value| timestamp(&value).map(|d| d.to_string());
        assert_eq!(of(Value::from(1_700_000_000)), Some("2023-11-14T22:13:20".to_owned()));
        assert_eq!(of(Value::from(1_700_000_000_000_i64)), Some("2023-11-14T22:13:20".to_owned()));
        assert_eq!(of(Value::from("1700000000")), Some("2023-11-14T22:13:20".to_owned()));
        assert_eq!(of(Value::from(1.0e300)), None);
        assert_eq!(of(Value::Null), None);
    }
}
