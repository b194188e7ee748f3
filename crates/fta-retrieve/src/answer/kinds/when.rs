//! Dates: the event time of the best sentence, or the day on which it was told.

use fta_units::{EventTime, TimeBound};

use super::{Extracted, Input};
use crate::answer::{asked::Asked, candidate::Candidate, date_text, score::Scored};

pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    for (position, scored) in input.leading() {
        if let Some(time) = best_time(scored) {
            let text = write(input.asked, &time, &scored.candidate, input);
            return Some(Extracted { text, time: Some(time), certainty: 1.0, used: vec![position] });
        }
        // A clearly better sentence without a date was told as news of that day.
        if position == 0 && !better_dated(input) {
            break;
        }
    }
    let (position, best) =
        input.leading().find(|(_, s)| !s.candidate.is_question()).or_else(|| input.leading().next())?;
    let day = best.candidate.said_at?.date();
    let time = EventTime {
        text: date_text::day_text(day),
        interval: Some(fta_units::DateInterval::day(day)),
        granularity: fta_units::Granularity::Day,
        orientation: fta_units::TimeOrientation::Present,
        bound: TimeBound::Within,
    };
    let text = write(input.asked, &time, &best.candidate, input);
    Some(Extracted { text, time: Some(time), certainty: 0.6, used: vec![position] })
}

/// Whether a dated sentence repeats as much of the question as the best one.
fn better_dated(input: Input<'_, '_>) -> bool {
    let best = input.scored.first().map_or(0.0, |s| s.topical);
    input.leading().skip(1).any(|(_, s)| best_time(s).is_some() && s.topical >= 0.75 * best)
}

/// The time that the sentence tells, else the event time of the unit that rests on it.
fn best_time(scored: &Scored<'_>) -> Option<EventTime> {
    let candidate = &scored.candidate;
    let resolved = |t: &&EventTime| t.interval.is_some();
    let event = candidate.unit.time.event.as_ref().filter(resolved);
    if let Some(event) = event
        && candidate.times.iter().any(|t| t.text == event.text)
    {
        return Some(event.clone());
    }
    // The most exact of several; the first of equals.
    let own = candidate.times.iter().filter(resolved).min_by_key(|t| t.granularity);
    own.or(event.filter(|_| candidate.quoted)).cloned()
}

/// The time as exact as the question wants it.
fn write(asked: &Asked<'_>, time: &EventTime, candidate: &Candidate<'_>, input: Input<'_, '_>) -> String {
    if asked.has("ago") && time.text.ends_with(" ago") {
        return time.text.clone();
    }
    if let Some(interval) = time.interval {
        if asked.has("year") && interval.first.year() == interval.last.year() {
            return interval.first.year().to_string();
        }
        let one_month =
            interval.first.year() == interval.last.year() && interval.first.month() == interval.last.month();
        if asked.has("month") && one_month {
            return date_text::month_text(interval.first);
        }
    }
    date_text::date_answer(time, candidate.said_at, input.config.dates)
}
