//! Carry-over and fusion (Eq. 4-5): when a candidate completes a partial unit, and what the two make together.

use std::{cell::RefCell, collections::BTreeSet};

use fta_segment::Session;
use rust_stemmers::{Algorithm, Stemmer};

use super::{
    RuleConfig,
    build::shortened,
    lexicon::{FILLER_WORDS, STOPWORDS, VAGUE, tokens},
};
use crate::unit::{CandidateUnit, Quote, SituationType, TimeOrientation, UnitStatus};

thread_local! {
    // The stemmer is not shared between threads.
    static STEMMER: RefCell<Stemmer> = RefCell::new(Stemmer::create(Algorithm::English));
}

/// Fuses a carried partial unit and the candidate that completes or refines it into one candidate.
///
/// The claim says both, the carried part first; time and affect are the candidate's where it has them; the evidence span
/// covers both spans and every quote of either is kept, in text order, once. The status is the candidate's. Units of
/// different sessions cannot be fused: the candidate comes back unchanged.
/// # Source
/// Eq. 5.
pub fn fuse(carried: &CandidateUnit, candidate: CandidateUnit) -> CandidateUnit {
    if carried.evidence.session != candidate.evidence.session {
        return candidate;
    }
    let mut fused = candidate;
    fused.fact.claim = joined_claims(&carried.fact.claim, &fused.fact.claim);
    fused.fact.summary = shortened(&fused.fact.claim, 90);
    fused.fact.situation = match (carried.fact.situation, fused.fact.situation) {
        (SituationType::RiskSignal, _) => SituationType::RiskSignal,
        (older, SituationType::GeneralFact) => older,
        (_, newer) => newer,
    };
    fused.fact.participants = union(&carried.fact.participants, &fused.fact.participants);
    fused.fact.mentioned = union(&carried.fact.mentioned, &fused.fact.mentioned);
    fused.time.said_at = match (carried.time.said_at, fused.time.said_at) {
        (Some(older), Some(newer)) => Some(older.min(newer)),
        (older, newer) => older.or(newer),
    };
    fused.time.event = fused.time.event.or_else(|| carried.time.event.clone());
    fused.time.mentions = union(&carried.time.mentions, &fused.time.mentions);
    if fused.time.orientation == TimeOrientation::Unknown {
        fused.time.orientation = carried.time.orientation;
    }
    if fused.time.completion == crate::unit::Completion::Unknown {
        fused.time.completion = carried.time.completion;
    }
    fused.affect.emotions = union(&fused.affect.emotions, &carried.affect.emotions);
    fused.affect.intention = fused.affect.intention.or_else(|| carried.affect.intention.clone());
    fused.affect.relation_cues = union(&carried.affect.relation_cues, &fused.affect.relation_cues);
    fused.evidence.turns = carried.evidence.turns.cover(fused.evidence.turns);
    let mut quotes: Vec<Quote> =
        carried.evidence.quotes.iter().chain(&fused.evidence.quotes).copied().collect();
    quotes.sort_by_key(|q| (q.turn, q.start, q.end));
    quotes.dedup();
    fused.evidence.quotes = quotes;
    if fused.status == UnitStatus::Unknown {
        fused.status = carried.status;
    }
    fused
}

fn joined_claims(older: &str, newer: &str) -> String {
    let (older, newer) = (older.trim(), newer.trim());
    if older.is_empty() || newer.contains(older) {
        newer.to_owned()
    } else if newer.is_empty() || older.contains(newer) {
        older.to_owned()
    } else {
        format!("{older} {newer}")
    }
}

fn union<T: Clone + PartialEq>(first: &[T], second: &[T]) -> Vec<T> {
    let mut all = first.to_vec();
    for item in second {
        if !all.contains(item) {
            all.push(item.clone());
        }
    }
    all
}

/// Who asked, when the carried unit ends with a question: the speaker of its last quote.
pub(crate) fn asker<'a>(carried: &CandidateUnit, session: &'a Session) -> Option<&'a str> {
    let quote = carried.evidence.quotes.last()?;
    let turn = session.turns.get(quote.turn as usize)?;
    let text = turn.text.get(quote.start as usize..quote.end as usize)?;
    text.trim_end_matches(|c: char| !c.is_alphanumeric() && !matches!(c, '?' | '？' | '؟'))
        .ends_with(['?', '？', '؟'])
        .then_some(turn.speaker.as_str())
}

/// Whether the candidate goes on with a carried unit that is no question: the same speaker, soon after, fills in what was
/// announced, or says more in the same words.
pub(crate) fn continues(
    carried: &CandidateUnit,
    candidate: &CandidateUnit,
    session: &Session,
    config: &RuleConfig,
) -> bool {
    let (older, newer) = (&carried.evidence, &candidate.evidence);
    let gap = newer.turns.start.saturating_sub(older.turns.end);
    let speaks = |quotes: &[Quote]| {
        quotes.last().and_then(|q| session.turns.get(q.turn as usize)).map(|t| t.speaker.clone())
    };
    if older.session != newer.session
        || newer.turns.start < older.turns.start
        || gap > config.fusion_gap
        || speaks(&older.quotes) != speaks(&newer.quotes)
        || asker(carried, session).is_some()
        || asker(candidate, session).is_some() && candidate.status == UnitStatus::Partial
    {
        return false;
    }
    let announced =
        VAGUE.any(&tokens(&carried.fact.claim)) || carried.fact.claim.split_whitespace().count() <= 4;
    if announced && gap <= config.announcement_gap {
        return true;
    }
    let a = content_stems(&carried.fact.claim, &carried.fact.participants);
    let b = content_stems(&candidate.fact.claim, &candidate.fact.participants);
    let shared = a.intersection(&b).count();
    shared >= 2 && shared as f32 >= config.fusion_overlap * a.len().min(b.len()) as f32
}

/// Stems of the content words of a text, without the people in `without`.
pub(crate) fn content_stems(text: &str, without: &[String]) -> BTreeSet<String> {
    let people: BTreeSet<String> = without.iter().flat_map(|p| tokens(p)).map(|t| t.lower).collect();
    STEMMER.with_borrow(|stemmer| {
        tokens(text)
            .into_iter()
            .map(|t| t.lower.strip_suffix("'s").map(str::to_owned).unwrap_or(t.lower))
            .filter(|w| {
                !STOPWORDS.contains(w.as_str())
                    && !FILLER_WORDS.contains(w.as_str())
                    && !people.contains(w)
                    && !matches!(w.as_str(), "asked" | "asks" | "shares")
            })
            .map(|w| stemmer.stem(&w).into_owned())
            .collect()
    })
}
