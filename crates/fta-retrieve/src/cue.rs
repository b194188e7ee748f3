//! The cue score `c(q', m)` of Eq. 8 over time, situation type, participants and affect (spec section 9.6).

use fta_units::{DateInterval, EventTime, Granularity, SituationType, TimeBound, Unit};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use crate::{
    query::{AnswerType, Query},
    rewrite::is_name_of,
    words,
};

/// Weights of the cues; a cue that the question does not ask for has no weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CueWeights {
    /// Event time against the times of the query.
    pub time: f32,
    /// Situation type against the types that the query asks for.
    pub situation: f32,
    /// Participants and mentioned people against speakers and entities of the query.
    pub participants: f32,
    /// Emotions against those that the query names.
    pub affect: f32,
}

impl Default for CueWeights {
    fn default() -> Self {
        Self { time: 1.0, situation: 1.0, participants: 1.0, affect: 1.0 }
    }
}

/// The cues of one unit, each in `[0, 1]`, or `None` where the query does not ask.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct CueScore {
    /// Time cue.
    pub time: Option<f32>,
    /// Situation cue.
    pub situation: Option<f32>,
    /// Participants cue.
    pub participants: Option<f32>,
    /// Affect cue.
    pub affect: Option<f32>,
}

impl CueScore {
    /// Weighted mean over the cues that the query asks for, in `[0, 1]`; `None` if it asks for none.
    pub fn total(&self, weights: &CueWeights) -> Option<f32> {
        let pairs = [
            (self.time, weights.time),
            (self.situation, weights.situation),
            (self.participants, weights.participants),
            (self.affect, weights.affect),
        ];
        let (mut sum, mut mass) = (0.0, 0.0);
        for (cue, weight) in pairs {
            if let Some(cue) = cue {
                sum += cue * weight;
                mass += weight;
            }
        }
        (mass > 0.0).then(|| sum / mass)
    }
}

/// Worth of a match with the day on which something was said, when the question asks when it happened.
const SAID_WEIGHT: f32 = 0.6;
/// Worth of a match with a time that the evidence mentions but the claim does not depend on.
const MENTION_WEIGHT: f32 = 0.8;

/// Computes the cues of `unit` for `query`.
///
/// - time: nearness of the unit's event time (or, for less, its other times and the day it was said) to the times of
///   the query. For questions that want a time and state none: 1 with a resolved event time, less without.
/// - situation: 1 for a type that the query asks for, 0.5 for a neighbouring type.
/// - participants: share of the named speakers and entities that the unit is about or names.
/// - affect: share of the named emotions that the unit carries; for questions about a feeling, whether it has any.
///
/// # Source
/// Section 6 of the method; the formula is ours (spec section 9.6).
pub fn cue_score(query: &Query, unit: &Unit) -> CueScore {
    CueScore {
        time: time_cue(query, unit),
        situation: situation_cue(&query.situations, unit.fact.situation),
        participants: participants_cue(query, unit),
        affect: affect_cue(query, unit),
    }
}

fn time_cue(query: &Query, unit: &Unit) -> Option<f32> {
    let said_on = unit.time.said_at.map(jiff::civil::DateTime::date);
    let asked: Vec<(DateInterval, &EventTime)> =
        query.times.iter().filter_map(|t| Some((t.interval?, t))).collect();
    if asked.is_empty() {
        let wants_time = matches!(query.answer, AnswerType::When | AnswerType::HowLong);
        return wants_time.then(|| time_richness(unit));
    }
    let near = |interval: DateInterval| {
        asked.iter().map(|(window, time)| nearness(*window, time, interval)).fold(0.0_f32, f32::max)
    };
    let event = unit.time.event.as_ref().and_then(|e| occupied(e, said_on)).map_or(0.0, near);
    let mention = unit.time.mentions.iter().filter_map(|m| m.interval).map(near).fold(0.0_f32, f32::max);
    let said = said_on.map_or(0.0, |day| near(DateInterval::day(day)));
    Some(event.max(MENTION_WEIGHT * mention).max(SAID_WEIGHT * said))
}

/// How well a unit can answer "when" and "how long" at all.
fn time_richness(unit: &Unit) -> f32 {
    let resolved = |t: &EventTime| t.interval.is_some();
    if unit.time.event.as_ref().is_some_and(resolved) {
        1.0
    } else if unit.time.event.is_some() || unit.time.mentions.iter().any(resolved) {
        0.7
    } else if unit.time.said_at.is_some() {
        0.3
    } else {
        0.0
    }
}

/// The days during which an event time holds: "since 2016" reaches up to the dialogue.
fn occupied(time: &EventTime, said_on: Option<Date>) -> Option<DateInterval> {
    let interval = time.interval?;
    Some(match (time.bound, said_on) {
        (TimeBound::Since | TimeBound::After, Some(day)) => {
            DateInterval::new(interval.first, interval.last.max(day))
        }
        _ => interval,
    })
}

/// 1 if `interval` meets the window, else falling with the days between them, in units of the window's exactness.
fn nearness(window: DateInterval, time: &EventTime, interval: DateInterval) -> f32 {
    let inside = match time.bound {
        TimeBound::Within => window.overlaps(interval),
        TimeBound::Since | TimeBound::After => interval.last >= window.first,
        TimeBound::Until | TimeBound::Before => interval.first <= window.last,
    };
    if inside {
        return 1.0;
    }
    let gap = if interval.first > window.last {
        DateInterval::new(window.last, interval.first).days() - 1
    } else {
        DateInterval::new(interval.last, window.first).days() - 1
    };
    (-(gap as f32) / scale_days(time.granularity)).exp() * 0.9
}

/// Days over which a near miss loses most of its worth.
fn scale_days(granularity: Granularity) -> f32 {
    match granularity {
        Granularity::Day => 4.0,
        Granularity::Weekend => 6.0,
        Granularity::Week => 8.0,
        Granularity::Month => 30.0,
        Granularity::Season => 75.0,
        Granularity::Year => 180.0,
        Granularity::Years => 500.0,
    }
}

fn situation_cue(asked: &[SituationType], found: SituationType) -> Option<f32> {
    if asked.is_empty() {
        return None;
    }
    let worth = |want: SituationType| match (want, found) {
        (a, b) if a == b => 1.0,
        (a, b) if neighbours(a, b) || neighbours(b, a) => 0.5,
        _ => 0.0,
    };
    Some(asked.iter().map(|want| worth(*want)).fold(0.0_f32, f32::max))
}

/// Types that are easily told for one another.
fn neighbours(a: SituationType, b: SituationType) -> bool {
    use SituationType::{
        BeliefCandidate, CurrentState, Event, GeneralFact, HomeworkOrPlan, RelationshipEvent, RiskSignal,
        SupportInteraction,
    };
    match a {
        Event => b == RelationshipEvent,
        CurrentState => matches!(b, BeliefCandidate | RiskSignal | GeneralFact),
        HomeworkOrPlan | RelationshipEvent => b == SupportInteraction,
        _ => false,
    }
}

fn participants_cue(query: &Query, unit: &Unit) -> Option<f32> {
    let n_asked = query.speakers.len() + query.entities.len();
    if n_asked == 0 {
        return None;
    }
    let claim: Vec<String> = words::tokens(&unit.fact.claim).iter().map(words::Token::norm).collect();
    let mut sum = 0.0;
    for speaker in &query.speakers {
        let lead = unit.fact.participants.first().is_some_and(|p| p.eq_ignore_ascii_case(speaker));
        let takes_part = unit.fact.participants.iter().any(|p| p.eq_ignore_ascii_case(speaker));
        let named = unit.fact.mentioned.iter().any(|m| m.eq_ignore_ascii_case(speaker))
            || claim.iter().any(|w| is_name_of(w, speaker));
        // The first participant is the one whom the claim is about.
        sum += match (lead, takes_part, named) {
            (true, ..) => 1.0,
            (_, true, _) => 0.7,
            (.., true) => 0.5,
            _ => 0.0,
        };
    }
    for entity in &query.entities {
        sum += entity_share(entity, &claim, unit);
    }
    Some((sum / n_asked as f32).clamp(0.0, 1.0))
}

/// Share of an entity's words in the claim or among the people mentioned.
fn entity_share(entity: &str, claim: &[String], unit: &Unit) -> f32 {
    if unit.fact.mentioned.iter().chain(&unit.fact.participants).any(|m| m.eq_ignore_ascii_case(entity)) {
        return 1.0;
    }
    let wanted: Vec<String> =
        words::tokens(entity).iter().map(words::Token::norm).filter(|w| !words::is_stop(w)).collect();
    if wanted.is_empty() {
        return 0.0;
    }
    let matched = wanted.iter().filter(|w| claim.contains(w)).count();
    matched as f32 / wanted.len() as f32
}

fn affect_cue(query: &Query, unit: &Unit) -> Option<f32> {
    if query.emotions.is_empty() {
        let wants_feeling = query.answer == AnswerType::Feeling;
        return wants_feeling.then_some(if unit.affect.emotions.is_empty() { 0.0 } else { 1.0 });
    }
    let matched = query.emotions.iter().filter(|e| unit.affect.emotions.contains(e)).count();
    Some(matched as f32 / query.emotions.len() as f32)
}

#[cfg(test)]
mod tests;
