//! How well a candidate sentence fits the question.

use std::collections::{BTreeMap, BTreeSet};

use fta_units::UnitId;
use jiff::civil::DateTime;
use serde::{Deserialize, Serialize};

use super::{asked::Asked, candidate::Candidate};
use crate::{cue::cue_score, query::AnswerType, rewrite::is_name_of, words};

/// Weights of the parts of a sentence's score.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ScoreWeights {
    /// Share of the question's content that the sentence, or what stands around it, repeats.
    pub coverage: f32,
    /// Embedding similarity of question and sentence; without an embedder it has no weight.
    pub similarity: f32,
    /// Score and rank of the unit.
    pub unit: f32,
    /// Whether the sentence holds something of the kind that is wanted.
    pub kind: f32,
    /// Whether the sentence is by or about the person asked about.
    pub speaker: f32,
    /// Whether it was said or happened at the time asked about.
    pub time: f32,
    /// Taken off when the unit no longer holds and the question is about now, or the other way round.
    pub outdated: f32,
    /// Whether the unit's claim rests on the sentence.
    pub quoted: f32,
    /// Whether the sentence says something, and is no mere reply.
    pub substance: f32,
    /// Taken off for sentences that ask.
    pub question: f32,
    /// Taken off for sentences that only answer what the other told.
    pub reply: f32,
    /// How late it was said, for questions about how things are.
    pub recency: f32,
}

impl Default for ScoreWeights {
    fn default() -> Self {
        Self {
            coverage: 1.0,
            similarity: 0.6,
            unit: 0.75,
            kind: 0.25,
            speaker: 0.3,
            time: 0.3,
            outdated: 0.3,
            quoted: 0.2,
            substance: 0.2,
            question: 0.5,
            reply: 0.3,
            recency: 0.1,
        }
    }
}

/// A candidate with its score.
#[derive(Debug, Clone)]
pub(super) struct Scored<'a> {
    /// The candidate.
    pub(super) candidate: Candidate<'a>,
    /// What candidates are ranked by.
    pub(super) score: f32,
    /// Share of the question's content that it repeats, in `[0, 1]`.
    pub(super) covered: f32,
    /// Cosine with the question, in `[0, 1]`, where it was compared.
    pub(super) similarity: Option<f32>,
    /// How much of the question it is about, in `[0, 1]`, whoever said it.
    pub(super) topical: f32,
    /// How it stands to the person asked about, in `[0, 1]`.
    pub(super) speaker: f32,
    /// Whether it only answers what the other told ("That sounds great!").
    pub(super) reply: bool,
    /// Question stems that the sentence itself repeats.
    pub(super) matched: BTreeSet<String>,
}

/// Scores all candidates by what costs little, best first; ties keep the packet's order.
pub(super) fn score_all<'a>(
    asked: &Asked<'_>,
    candidates: Vec<Candidate<'a>>,
    weights: &ScoreWeights,
) -> Vec<Scored<'a>> {
    let stems: Vec<BTreeSet<String>> =
        candidates.iter().map(|c| words::content_stems(c.text).into_iter().collect()).collect();
    let idf = inverse_frequencies(asked, &stems);
    let best_unit = candidates.iter().map(|c| c.unit_score).fold(f32::EPSILON, f32::max);
    let times = (
        candidates.iter().filter_map(|c| c.said_at).min(),
        candidates.iter().filter_map(|c| c.said_at).max(),
    );
    let mut out: Vec<Scored<'a>> = Vec::with_capacity(candidates.len());
    let mut claims: BTreeMap<UnitId, BTreeSet<String>> = BTreeMap::new();
    for (candidate, own_stems) in candidates.into_iter().zip(&stems) {
        let mut around_stems: BTreeSet<String> =
            words::content_stems(&candidate.context).into_iter().collect();
        let claim = claims
            .entry(candidate.unit.id)
            .or_insert_with(|| words::content_stems(&candidate.unit.fact.claim).into_iter().collect());
        around_stems.extend(claim.iter().cloned());
        let own = coverage(&idf, |s| nearness(s, own_stems));
        let around = coverage(&idf, |s| nearness(s, own_stems).max(nearness(s, &around_stems)));
        // "I'm a baker" repeats no word of "what does she do for a living".
        let told = asked.wants_occupation() && super::kinds::occupation(&candidate).is_some();
        let covered = if told { 1.0 } else { own + 0.55 * (around - own) };
        let speaker = speaker_fit(asked, &candidate);
        let unit = 0.5 * (candidate.unit_score / best_unit).clamp(0.0, 1.0)
            + 0.5 / (1.0 + candidate.rank as f32 / 3.0);
        let mut score = weights.coverage * covered
            + weights.unit * unit
            + weights.kind * kind_fit(asked, &candidate)
            + weights.speaker * speaker
            + weights.recency * recency(asked, &candidate, times);
        if !asked.query.times.is_empty() {
            score += weights.time * cue_score(asked.query, candidate.unit).time.unwrap_or(0.0);
        }
        score -= weights.outdated * outdated(asked, &candidate);
        if candidate.is_question() {
            score -= weights.question;
        }
        if candidate.quoted {
            score += weights.quoted;
        }
        score += weights.substance * substance(candidate.text, own_stems);
        let matched = asked.stems.iter().filter(|s| own_stems.contains(*s)).cloned().collect();
        let reply = is_reply(candidate.text);
        if reply {
            score -= weights.reply;
        }
        out.push(Scored {
            candidate,
            score,
            covered,
            similarity: None,
            topical: covered,
            speaker,
            reply,
            matched,
        });
    }
    out.sort_by(|a, b| b.score.total_cmp(&a.score));
    out
}

/// Adds the embedding similarity of each candidate, one per candidate in order, and sorts again.
pub(super) fn add_similarities(scored: &mut [Scored<'_>], similarities: &[f32], weights: &ScoreWeights) {
    for (scored, similarity) in scored.iter_mut().zip(similarities) {
        let similarity = similarity.clamp(0.0, 1.0);
        scored.score += weights.similarity * similarity;
        scored.topical = (0.6 * scored.covered + 0.8 * similarity).min(1.0);
        scored.similarity = Some(similarity);
    }
    scored.sort_by(|a, b| b.score.total_cmp(&a.score));
}

/// How well a question stem is met by a set of stems: 1 for itself, 0.7 for a related word.
fn nearness(asked: &str, said: &BTreeSet<String>) -> f32 {
    if said.contains(asked) {
        1.0
    } else if said.iter().any(|s| words::are_related(asked, s)) {
        0.7
    } else {
        0.0
    }
}

/// Place of the candidate between the oldest and the newest, in `[0, 1]`, where the question is about how things are;
/// three times that where it says so ("now").
fn recency(
    asked: &Asked<'_>,
    candidate: &Candidate<'_>,
    (first, last): (Option<DateTime>, Option<DateTime>),
) -> f32 {
    let weight = if asked.past && asked.query.times.is_empty() {
        -2.0
    } else if asked.now {
        3.0
    } else if asked.present {
        0.5
    } else {
        return 0.0;
    };
    let (Some(at), Some(first), Some(last)) = (candidate.said_at, first, last) else { return 0.0 };
    let days = |a: DateTime, b: DateTime| (b.date() - a.date()).get_days() as f32;
    let whole = days(first, last);
    if whole > 0.0 { weight * days(first, at) / whole } else { 0.0 }
}

/// Weight of each question stem: rare in the packet counts more. Sums to 1, or is empty.
fn inverse_frequencies(asked: &Asked<'_>, sentences: &[BTreeSet<String>]) -> BTreeMap<String, f32> {
    let n = sentences.len() as f32;
    let mut idf: BTreeMap<String, f32> = asked
        .stems
        .iter()
        .map(|stem| {
            let df = sentences.iter().filter(|s| s.contains(stem)).count() as f32;
            // The noun asked for is often not said ("what instruments": "my drum kit").
            let weight = if asked.wanted.contains(stem) { 0.6 } else { 1.0 };
            (stem.clone(), weight * (1.0 + (n + 1.0) / (df + 1.0)).ln())
        })
        .collect();
    let sum: f32 = idf.values().sum();
    if sum > 0.0 {
        for weight in idf.values_mut() {
            *weight /= sum;
        }
    }
    idf
}

fn coverage(idf: &BTreeMap<String, f32>, met: impl Fn(&str) -> f32) -> f32 {
    idf.iter().map(|(stem, weight)| met(stem) * weight).sum()
}

/// 1 if said by or naming a speaker asked about, 0.8 if said to them about them, 0.5 if nobody is named, else 0.
pub(super) fn speaker_fit(asked: &Asked<'_>, candidate: &Candidate<'_>) -> f32 {
    let named = &asked.query.speakers;
    if named.is_empty() {
        return 0.5;
    }
    if named.iter().any(|s| s == candidate.speaker) {
        return 1.0;
    }
    let tokens = words::tokens(candidate.text);
    let address = vocative_only(candidate.text);
    if tokens.iter().any(|t| t.capitalised() && named.iter().any(|s| is_name_of(t.text, s))) && !address {
        return 0.8;
    }
    let norms: Vec<String> = tokens.iter().map(words::Token::norm).collect();
    let to_you = norms.iter().any(|w| matches!(w.as_str(), "you" | "your" | "you're" | "you've"));
    let of_self = norms.iter().any(|w| words::is_first_person(w));
    match (to_you, of_self) {
        (true, false) => 0.7,
        (true, true) => 0.3,
        _ => 0.0,
    }
}

/// Whether a name in the sentence can only be an address ("Thanks, Lou!"): it is set off by commas or ends it.
fn vocative_only(text: &str) -> bool {
    words::tokens(text).iter().filter(|t| t.capitalised() && t.start > 0).all(|t| {
        let before = text[..t.start].trim_end();
        let after = text[t.end..].trim_start();
        before.ends_with(',') && (after.is_empty() || after.starts_with(['!', '.', '?', ',']))
    })
}

/// 1 if the unit's validity does not fit what the question asks, else 0.
fn outdated(asked: &Asked<'_>, candidate: &Candidate<'_>) -> f32 {
    let lifecycle = &candidate.unit.lifecycle;
    let closed = lifecycle.superseded_by.is_some() || lifecycle.valid_until.is_some();
    let window = asked.query.times.iter().find_map(|t| t.interval);
    if let Some(window) = window {
        let begins_late = lifecycle.valid_from.is_some_and(|from| from > window.last);
        let ended = lifecycle.valid_until.is_some_and(|until| until < window.first);
        return f32::from(u8::from(ended || (begins_late && candidate.unit.time.event.is_some())));
    }
    f32::from(u8::from(closed != asked.past && closed)) - f32::from(u8::from(asked.past && closed))
}

/// Whether a sentence praises or comforts the other and tells nothing of its own.
fn is_reply(text: &str) -> bool {
    let norms: Vec<String> = words::tokens(text).iter().map(words::Token::norm).collect();
    if norms.iter().any(|w| words::is_first_person(w)) {
        return false;
    }
    let has = |list: &str| norms.iter().any(|w| words::listed(list, w));
    let to_you = has("you your you're you've you'll");
    let praise = has(
        "great awesome amazing inspiring glad happy proud congrats congratulations cool wonderful lovely fantastic \
        incredible nice admire impressive thoughtful beautiful special hard tough difficult painful sorry",
    );
    let seems = has("sounds looks seems sound look seem");
    (praise && (to_you || seems)) || (to_you && seems) || (seems && norms.len() < 7)
}

/// How much a sentence says, in `[0, 1]`: its content words, without thanks, praise and greetings.
fn substance(text: &str, stems: &BTreeSet<String>) -> f32 {
    const REPLIES: [&str; 24] = [
        "thanks",
        "thank",
        "glad",
        "hey",
        "hi",
        "hello",
        "wow",
        "congrats",
        "congratulations",
        "sounds",
        "awesome",
        "great",
        "cool",
        "nice",
        "bye",
        "yep",
        "yeah",
        "sure",
        "absolutely",
        "definitely",
        "good",
        "amazing",
        "sorry",
        "take",
    ];
    let first = words::tokens(text).first().map(words::Token::norm).unwrap_or_default();
    let reply = REPLIES.contains(&first.as_str());
    let amount = (stems.len() as f32 / 7.0).min(1.0);
    if reply { 0.4 * amount } else { amount }
}

/// Whether the sentence holds something of the kind that is wanted, in `[0, 1]`.
fn kind_fit(asked: &Asked<'_>, candidate: &Candidate<'_>) -> f32 {
    let tokens = words::tokens(candidate.text);
    let any = |test: &dyn Fn(&str) -> bool| tokens.iter().any(|t| test(&t.norm()));
    let holds = match asked.kind {
        AnswerType::When => return when_fit(asked, candidate),
        AnswerType::HowLong => super::kinds::how_long::duration_in(candidate.text).is_some(),
        AnswerType::HowMany => super::kinds::number::amount_in(asked, candidate.text).is_some(),
        AnswerType::Who => {
            any(&words::is_kin)
                || tokens.iter().skip(1).any(|t| t.capitalised() && !words::is_stop(&t.norm()))
        }
        AnswerType::Where => super::kinds::place::place_in(asked, candidate).is_some(),
        AnswerType::Why => {
            any(&|w| matches!(w, "because" | "since" | "so" | "cause" | "due" | "wanted" | "hoping"))
        }
        AnswerType::Feeling => {
            any(&|w| crate::emotion::emotion_of(w).is_some() || matches!(w, "felt" | "feel" | "feeling"))
        }
        AnswerType::YesNo => {
            any(&|w| matches!(w, "yes" | "yeah" | "no" | "nope" | "yep") || words::is_negation(w))
        }
        AnswerType::List => candidate.text.contains(',') || any(&|w| w == "and"),
        AnswerType::What if asked.wants_occupation() => super::kinds::occupation(candidate).is_some(),
        AnswerType::What => tokens.len() > 3,
    };
    f32::from(u8::from(holds))
}

fn when_fit(asked: &Asked<'_>, candidate: &Candidate<'_>) -> f32 {
    let said_on = candidate.said_at.map(DateTime::date);
    // What was done is not told by a plan.
    let ahead = |i: fta_units::DateInterval| asked.done && said_on.is_some_and(|day| i.first > day);
    let mut intervals = candidate.times.iter().filter_map(|t| t.interval).peekable();
    if intervals.peek().is_some() {
        if intervals.all(ahead) { -1.0 } else { 1.0 }
    } else if candidate.quoted && candidate.unit.time.event.is_some() {
        0.7
    } else {
        0.0
    }
}
