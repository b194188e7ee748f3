//! How long a server asks to wait.

use std::time::{Duration, SystemTime};

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

/// Reads `retry-after-ms`, `retry-after` (seconds or a date) and, without those, the `x-ratelimit-reset-*` of the limits
/// that are used up.
///
/// A date is compared with the answer's own `Date`, so that no clock is read and clocks need not agree.
pub(super) fn pause(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds =
        text("retry-after-ms").and_then(|text| text.parse::<f64>().ok()).and_then(|ms| seconds(ms / 1e3));
    milliseconds.or_else(|| text(RETRY_AFTER.as_str()).and_then(|text| after(text, headers))).or_else(|| {
        let resets = ["requests", "tokens"].into_iter().filter_map(|kind| {
            let is_used_up = text(&format!("x-ratelimit-remaining-{kind}"))? == "0";
            is_used_up.then(|| span(text(&format!("x-ratelimit-reset-{kind}"))?))?
        });
        resets.max()
    })
}

fn after(text: &str, headers: &HeaderMap) -> Option<Duration> {
    if let Ok(number) = text.parse::<f64>() {
        return seconds(number);
    }
    let date = |text: &str| httpdate::parse_http_date(text).ok();
    let now: SystemTime = date(headers.get(DATE)?.to_str().ok()?)?;
    Some(date(text)?.duration_since(now).unwrap_or_default())
}

/// A number of seconds, if it is one: not negative, not beyond a `Duration`.
fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

/// A span of time such as `6m0s`, `1.5s` or `20ms`.
fn span(text: &str) -> Option<Duration> {
    let mut total = 0.0;
    let mut rest = text;
    while !rest.is_empty() {
        let n_digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..n_digits].parse().ok()?;
        rest = &rest[n_digits..];
        let n_letters = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
        let unit = match &rest[..n_letters] {
            "d" => 86_400.0,
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "µs" => 1e-6,
            _ => return None,
        };
        rest = &rest[n_letters..];
        total += number * unit;
    }
    (!text.is_empty()).then(|| seconds(total))?
}

#[cfg(test)]
mod tests {
    use reqwest::header::HeaderName;

    use super::*;

    fn check(headers: &[(&'static str, &str)], expected: Option<u64>) {
        let pairs =
            headers.iter().map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        let found = pause(&pairs.collect::<HeaderMap>());
        assert_eq!(found, expected.map(Duration::from_millis), "{headers:?}");
    }

    #[test]
    fn waits_come_in_many_forms() {
        check(&[], None);
        check(&[("retry-after", "2")], Some(2000));
        check(&[("retry-after", " 0.25 ")], Some(250));
        check(&[("retry-after-ms", "1500"), ("retry-after", "9")], Some(1500));
        let date = ("date", "Wed, 21 Oct 2015 07:28:00 GMT");
        check(&[date, ("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT")], Some(30_000));
        check(&[date, ("retry-after", "Wed, 21 Oct 2015 07:00:00 GMT")], Some(0));
        check(&[("retry-after", "Wed, 21 Oct 2015 07:28:30 GMT")], None);
    }

    #[test]
    fn nonsense_is_no_wait() {
        for text in ["-1", "soon", "NaN", "inf", "1e300", ""] {
            check(&[("retry-after", text)], None);
            check(&[("retry-after-ms", text)], None);
        }
    }

    #[test]
    fn resets_count_for_limits_that_are_used_up() {
        check(
            &[("x-ratelimit-remaining-requests", "0"), ("x-ratelimit-reset-requests", "1m1.5s")],
            Some(61_500),
        );
        check(&[("x-ratelimit-remaining-requests", "3"), ("x-ratelimit-reset-requests", "1s")], None);
        check(
            &[
                ("x-ratelimit-remaining-requests", "0"),
                ("x-ratelimit-reset-requests", "20ms"),
                ("x-ratelimit-remaining-tokens", "0"),
                ("x-ratelimit-reset-tokens", "2s"),
            ],
            Some(2000),
        );
        check(&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "5 parsecs")], None);
        check(&[("x-ratelimit-remaining-tokens", "0"), ("x-ratelimit-reset-tokens", "5")], None);
    }
}
