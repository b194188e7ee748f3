//! Durations.

use std::sync::LazyLock;

use fta_units::TimeBound;
use regex::Regex;

use super::{Extracted, Input};
use crate::answer::date_text;

static DURATION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix)\b(?:(?:about|around|almost|nearly|over|more\ than|less\ than|at\ least|roughly)\s+)?
        (?:(?:a\ couple\ of|a\ few|several|many|half\ an|half\ a|\d+(?:\.\d+)?(?:\s*(?:-|to|or)\s*\d+)?|an?|one|two|three|four
        |five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty
        |thirty|forty|fifty)(?:\s+or\s+(?:two|three|four|five|six|so))?)[\s-]+
        (?:whole\s+|full\s+|good\s+|long\s+|more\s+)?
        (?:second|minute|hour|day|night|week|weekend|month|year|decade)s?(?:\s+and\s+a\s+half)?\b",
    )
    .expect("the pattern is valid")
});

/// The first duration of a sentence that is neither a point in the past ("ago") nor a rate ("once a week").
pub(in crate::answer) fn duration_in(text: &str) -> Option<&str> {
    DURATION.find_iter(text).find_map(|m| {
        let after = text[m.end()..].trim_start();
        let before = text[..m.start()].trim_end();
        let point = ["ago", "back", "later", "old"].iter().any(|w| after.starts_with(w));
        let rate = ["once", "twice", "times", "time", "many", "every", "day", "days", "hour", "hours"]
            .iter()
            .any(|w| {
                before
                    .rsplit(|c: char| !c.is_alphanumeric())
                    .next()
                    .is_some_and(|last| last.eq_ignore_ascii_case(w))
            });
        (!point && !rate).then(|| m.as_str())
    })
}

pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    for (position, scored) in input.leading() {
        if let Some(duration) = duration_in(scored.candidate.text) {
            return Some(Extracted::one(duration.to_owned(), 1.0, position));
        }
        let open = scored.candidate.times.iter().find(|t| t.bound == TimeBound::Since);
        if let Some(time) = open {
            let text = date_text::date_answer(time, scored.candidate.said_at, input.config.dates);
            return Some(Extracted { text, time: Some(time.clone()), certainty: 0.9, used: vec![position] });
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::duration_in;

    #[test]
    fn durations_and_what_only_looks_like_them() {
        for (text, expect) in [
            ("We have been together for four years now.", Some("four years")),
            ("It took about an hour.", Some("about an hour")),
            ("A year and a half of therapy.", Some("A year and a half")),
            ("Five years already!", Some("Five years")),
            ("That was two weeks ago.", None),
            ("I see her once a week.", None),
            ("My son is six years old.", None),
            ("no time at all", None),
        ] {
            assert_eq!(duration_in(text), expect, "{text}");
        }
    }
}
