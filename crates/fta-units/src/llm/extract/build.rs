//! From a unit of a reply to a candidate unit: names, times, feelings and quotes are read off the evidence.

use std::collections::BTreeSet;

use fta_segment::{Fragment, Role, Session, Turn, TurnSpan};

use super::wire::{Orientation, WireUnit};
use crate::{
    llm::{name_among, said},
    offline::{
        affect,
        build::shortened,
        emotions,
        fuse::content_stems,
        lexicon::tokens,
        people::{mentioned, names_inside},
        person::Voices,
        sentences, turn_kind,
        turns::{ReadTurn, TurnKind},
    },
    time::{DateInterval, EventTime, TimeContext, find_times},
    unit::{
        AffectAnchor, CandidateUnit, Completion, Evidence, FactAnchor, Provenance, Quote, TimeAnchor,
        TimeOrientation, UnitStatus,
    },
};

/// Longest summary in characters, and most emotions of a unit.
const SUMMARY_CHARS: usize = 90;
const MAX_EMOTIONS: usize = 4;
/// Words shared with the claim from which on another place may be meant.
const FAR_MORE: usize = 3;

/// The fragments, as units of a reply are seen against them.
pub(super) struct Scene<'a> {
    pub(super) session: &'a Session,
    /// The fragments; they tile what the model was shown.
    pub(super) parts: &'a [Fragment],
    /// Speakers up to the end of the fragments.
    pub(super) speakers: Vec<&'a str>,
    pub(super) provenance: Provenance,
}

impl<'a> Scene<'a> {
    pub(super) fn new(session: &'a Session, parts: &'a [Fragment], provenance: Provenance) -> Self {
        let end = parts.last().map_or(0, |part| part.span.end) as usize;
        let mut speakers: Vec<&str> = Vec::new();
        for turn in session.turns.iter().take(end).filter(|turn| turn.role != Role::System) {
            if !speakers.contains(&turn.speaker.as_str()) {
                speakers.push(&turn.speaker);
            }
        }
        Self { session, parts, speakers, provenance }
    }

    /// The turns of a unit's evidence within the fragment that holds most of them; `None` if none does.
    ///
    /// The reply names the first and the last turn, in any order.
    pub(super) fn evidence_span(&self, [a, b]: [u32; 2]) -> Option<TurnSpan> {
        let given = TurnSpan::new(a.min(b), a.max(b).saturating_add(1));
        let inside = self
            .parts
            .iter()
            .map(|part| TurnSpan::new(given.start.max(part.span.start), given.end.min(part.span.end)));
        // The first of several that hold as many.
        inside.rev().max_by_key(|span| span.len()).filter(|span| !span.is_empty())
    }

    /// The unit of a reply; `None` if it claims nothing or rests on no turn that was shown.
    pub(super) fn unit(&self, wire: &WireUnit) -> Option<CandidateUnit> {
        let claim = said(&wire.content.text)?.split_whitespace().collect::<Vec<_>>().join(" ");
        let span = self.grounded(&claim, self.evidence_span(wire.evidence_turn_span)?);
        let turns = self.session.span(span);
        let (participants, mut others) = self.people(wire, &claim, turns);
        for person in self.mentioned(turns) {
            if !others.contains(&person) {
                others.push(person);
            }
        }
        let quotes = self.quotes(&claim, &participants, turns);
        let words: Vec<_> = turns.iter().map(|turn| tokens(&turn.text)).collect();
        let status = wire.status.into();
        let time = self.time(wire, &claim, span, status);
        Some(CandidateUnit {
            fact: FactAnchor {
                summary: shortened(said(&wire.summary).unwrap_or(&claim), SUMMARY_CHARS),
                claim,
                situation: wire.content_type.into(),
                participants,
                mentioned: others,
            },
            time,
            affect: AffectAnchor {
                emotions: emotion_nouns(&wire.content.emotion_or_state),
                intention: said(&wire.content.intention_or_plan).map(str::to_owned),
                relation_cues: affect::relation_cues(words.iter().map(Vec::as_slice)),
            },
            evidence: Evidence { session: self.session.id.clone(), turns: span, quotes },
            status,
            provenance: self.provenance.clone(),
        })
    }

    /// The evidence, or another exchange of the fragments if that shares far more words with the claim: models count badly.
    fn grounded(&self, claim: &str, span: TurnSpan) -> TurnSpan {
        let names: Vec<String> = self.speakers.iter().map(|s| (*s).to_owned()).collect();
        let wanted = content_stems(claim, &names);
        let shared = |turn: &Turn| content_stems(&turn.text, &names).intersection(&wanted).count();
        let here = self.session.span(span).iter().map(shared).max().unwrap_or(0);
        let elsewhere =
            self.parts.iter().flat_map(|part| self.session.span(part.span).iter().map(move |t| (part, t)));
        // The first of several that share as many.
        let best = elsewhere.map(|(part, turn)| (shared(turn), part, turn)).rev().max_by_key(|(n, ..)| *n);
        match best {
            Some((n, part, turn)) if n >= FAR_MORE.max(here * 3) && !span.contains(turn.index) => {
                let before = turn.index.saturating_sub(1);
                let asked = part.span.contains(before)
                    && self.session.span(TurnSpan::new(before, turn.index)).iter().any(|question| {
                        question.speaker != turn.speaker
                            && matches!(
                                turn_kind(question, &self.speakers),
                                TurnKind::Question | TurnKind::Mixed
                            )
                    });
                TurnSpan::new(if asked { before } else { turn.index }, turn.index + 1)
            }
            _ => span,
        }
    }

    /// The speakers among the participants, and the other people. Without a speaker, those whom the claim names, else the
    /// first to speak.
    fn people(&self, wire: &WireUnit, claim: &str, turns: &[Turn]) -> (Vec<String>, Vec<String>) {
        let (mut speakers, mut others): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        let names = wire.content.participants.iter().flat_map(|names| names.split([',', ';']));
        for name in names.filter_map(said) {
            match name_among(name, &self.speakers) {
                Some(speaker) if !speakers.iter().any(|s| s == speaker) => speakers.push(speaker.to_owned()),
                None if !others.iter().any(|o| o == name) => others.push(name.to_owned()),
                _ => {}
            }
        }
        if speakers.is_empty() {
            let claim = claim.to_lowercase();
            let named = self.speakers.iter().filter(|s| claim.contains(&s.trim().to_lowercase()));
            speakers.extend(named.map(|s| (*s).to_owned()));
        }
        if speakers.is_empty() {
            let first = turns.iter().find(|t| turn_kind(t, &self.speakers) != TurnKind::Filler);
            speakers.extend(first.or(turns.first()).map(|t| t.speaker.clone()));
        }
        speakers.retain(|s| !s.trim().is_empty());
        (speakers, others)
    }

    /// People whom the evidence mentions.
    fn mentioned(&self, turns: &[Turn]) -> Vec<String> {
        let read: Vec<ReadTurn<'_>> = turns.iter().map(|t| ReadTurn::new(t, &self.speakers)).collect();
        let names = names_inside(&read, &self.speakers);
        let mut people: Vec<String> = Vec::new();
        for turn in &read {
            let voices = Voices::of(turn.turn, &self.speakers);
            for sentence in &turn.sentences {
                let text = &turn.turn.text[sentence.range.clone()];
                for person in mentioned(text, &sentence.tokens, &voices, &names) {
                    if !people.contains(&person) {
                        people.push(person);
                    }
                }
            }
        }
        people
    }

    /// The sentences that share words with the claim: the only one of a turn, or the whole turn if there are several. If no
    /// turn shares a word, all turns that say something are quoted.
    fn quotes(&self, claim: &str, participants: &[String], turns: &[Turn]) -> Vec<Quote> {
        let wanted = content_stems(claim, participants);
        let whole = |turn: &Turn| Quote { turn: turn.index, start: 0, end: turn.text.len() as u32 };
        let shared = |text: &str| content_stems(text, &[]).iter().any(|stem| wanted.contains(stem));
        let mut quotes: Vec<Quote> = Vec::new();
        for turn in turns {
            let mut hits =
                sentences(&turn.text).into_iter().filter(|range| shared(&turn.text[range.clone()]));
            match (hits.next(), hits.next()) {
                (Some(one), None) => {
                    quotes.push(Quote { turn: turn.index, start: one.start as u32, end: one.end as u32 });
                }
                (Some(_), Some(_)) => quotes.push(whole(turn)),
                (None, _) => {}
            }
        }
        if quotes.is_empty() {
            let says = |turn: &&Turn| turn_kind(turn, &self.speakers) != TurnKind::Filler;
            quotes.extend(turns.iter().filter(says).map(whole).filter(|q| q.end > 0));
        }
        if quotes.is_empty() {
            quotes.extend(turns.iter().map(whole).filter(|q| q.end > 0));
        }
        quotes
    }

    fn time(&self, wire: &WireUnit, claim: &str, span: TurnSpan, status: UnitStatus) -> TimeAnchor {
        let said_at = self.session.said_at(span.start);
        let mut found: Vec<EventTime> = Vec::new();
        for turn in self.session.span(span) {
            let Some(at) = self.session.said_at(turn.index) else { continue };
            for mention in find_times(&turn.text, &TimeContext::on(at.date())) {
                if !found.contains(&mention.time) {
                    found.push(mention.time);
                }
            }
        }
        let context = said_at.map(|at| TimeContext::on(at.date()));
        let mut orientation = TimeOrientation::from(wire.time_orientation);
        let event = event_time(said(&wire.event_time), claim, &found, context.as_ref())
            .map(|event| turned(event, orientation, context.as_ref()));
        if orientation == TimeOrientation::Unknown {
            orientation = event.as_ref().map_or(orientation, |e| e.orientation);
        }
        let completion = match (status, wire.time_orientation) {
            (UnitStatus::Pending, _) | (_, Orientation::Future) => Completion::Planned,
            (_, Orientation::Past) => Completion::Completed,
            (_, Orientation::Present) => Completion::Ongoing,
            _ => Completion::Unknown,
        };
        found.retain(|time| time.interval.is_some());
        TimeAnchor { said_at, event, mentions: found, orientation, completion }
    }
}

/// When a unit happens: the expression of the evidence that the reply means, else what the reply's own words resolve to.
///
/// Models like to give the day of the dialogue for want of a better one: it counts only if the evidence says it.
fn event_time(
    phrase: Option<&str>,
    claim: &str,
    found: &[EventTime],
    context: Option<&TimeContext>,
) -> Option<EventTime> {
    let claim = claim.to_lowercase();
    let Some(phrase) = phrase else {
        let mut in_claim = found.iter().filter(|time| claim.contains(&time.text.to_lowercase()));
        return in_claim.next().cloned();
    };
    let lower = phrase.to_lowercase();
    let same = found.iter().find(|time| {
        let text = time.text.to_lowercase();
        text == lower || lower.contains(&text) || text.contains(&lower)
    });
    if let Some(same) = same {
        return Some(same.clone());
    }
    let context = context?;
    let own = find_times(phrase, context).into_iter().map(|m| m.time).find(|t| t.interval.is_some())?;
    let agrees = |time: &&EventTime| match (time.interval, own.interval) {
        (Some(theirs), Some(mine)) => theirs.covers(mine) || mine.covers(theirs),
        _ => false,
    };
    if let Some(grounded) = found.iter().find(agrees) {
        return Some(grounded.clone());
    }
    (own.interval != Some(DateInterval::day(context.said_on))).then_some(own)
}

/// The event as the reply's orientation has it: a bare "Monday" is the last or the next one, and the model read the sentence.
fn turned(event: EventTime, orientation: TimeOrientation, context: Option<&TimeContext>) -> EventTime {
    let frame = match (event.orientation, orientation) {
        (TimeOrientation::Past, TimeOrientation::Future) => "I will go",
        (TimeOrientation::Future, TimeOrientation::Past) => "I went",
        _ => return event,
    };
    let Some(context) = context else { return event };
    let found = find_times(&format!("{frame} {}", event.text), context).into_iter().map(|m| m.time);
    found
        .filter(|t| t.interval.is_some())
        .find(|t| t.orientation == orientation)
        .map_or(event.clone(), |time| EventTime { text: event.text, ..time })
}

/// The emotions of a field: the lexicon's nouns where it knows the words, else the words.
fn emotion_nouns(field: &str) -> Vec<String> {
    let mut nouns: Vec<String> = Vec::new();
    let seen: &mut BTreeSet<String> = &mut BTreeSet::new();
    let Some(field) = said(field) else { return nouns };
    let parts = field.split([',', ';', '/', '|']).flat_map(|part| part.split(" and "));
    for part in parts.filter_map(said) {
        let known = emotions(part);
        let lower = part.to_lowercase();
        let is_short =
            lower.split_whitespace().count() <= 3 && !matches!(lower.as_str(), "neutral" | "calm tone");
        let found = if known.is_empty() && is_short { vec![lower] } else { known };
        nouns.extend(found.into_iter().filter(|noun| seen.insert(noun.clone())));
    }
    nouns.truncate(MAX_EMOTIONS);
    nouns
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn emotions_are_the_lexicons_where_it_knows_them() {
        assert_eq!(emotion_nouns("very sad, Grateful and sad"), ["sadness", "gratitude"]);
        assert_eq!(emotion_nouns("wistful"), ["wistful"]);
        assert_eq!(emotion_nouns("Unknown"), [""; 0]);
        assert_eq!(emotion_nouns("she has a strange mood today; neutral"), [""; 0]);
    }

    #[test]
    fn a_bare_day_lies_where_the_reply_has_it() {
        let context = TimeContext::on(date(2024, 5, 8));
        let check = |phrase: &str, orientation: TimeOrientation, expect: &str| {
            let event = find_times(phrase, &context).remove(0).time;
            let event = turned(event, orientation, Some(&context));
            assert_eq!(event.describe(), expect, "{phrase} {orientation:?}");
        };
        check("on Monday", TimeOrientation::Past, "6 May 2024");
        check("on Monday", TimeOrientation::Future, "13 May 2024");
        check("on Monday", TimeOrientation::Unknown, "6 May 2024");
        // What the words say counts for more.
        check("last Monday", TimeOrientation::Future, "6 May 2024");
        check("next Monday", TimeOrientation::Past, "13 May 2024");
    }

    #[test]
    fn the_event_time_is_grounded_in_the_evidence() {
        let context = TimeContext::on(date(2024, 5, 8));
        let check = |phrase: Option<&str>, evidence: &str, expect: Option<&str>| {
            let found: Vec<_> = find_times(evidence, &context).into_iter().map(|m| m.time).collect();
            let event = event_time(phrase, "Paul met Vera last Friday.", &found, Some(&context));
            assert_eq!(event.map(|e| e.describe()).as_deref(), expect, "{phrase:?} in {evidence}");
        };
        check(Some("last Friday"), "I met Vera last Friday.", Some("3 May 2024"));
        check(Some("Last Friday evening"), "I met Vera last Friday.", Some("3 May 2024"));
        check(Some("3 May 2024"), "I met Vera last Friday.", Some("3 May 2024"));
        check(None, "I met Vera last Friday.", Some("3 May 2024"));
        check(None, "I met Vera.", None);
        // The day of the dialogue counts only if somebody said it.
        check(Some("8 May 2024"), "I met Vera.", None);
        check(Some("8 May 2024"), "I met Vera today.", Some("8 May 2024"));
        check(Some("2019"), "I met Vera.", Some("2019"));
        check(Some("once upon a time"), "I met Vera.", None);
    }
}
