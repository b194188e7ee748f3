//! Ranking: `R(q', m)` of Eq. 8, threshold and top-`K` of Eq. 9, linked neighbours of Eq. 10.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use fta_index::{IndexError, VectorIndex};
use fta_segment::SessionId;
use fta_units::{Unit, UnitId};

use crate::{
    config::{Boosts, RetrievalConfig},
    corpus::Corpus,
    cue::{CueScore, cue_score},
    packet::UnitScore,
    query::Query,
    views::{FIRST_SENTENCE, RHO, View, claim_turn, most_views, unit_view, vector_id},
};

/// A unit and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    /// The unit.
    pub id: UnitId,
    /// Its score.
    pub score: UnitScore,
}

/// Similarities of a unit's views with the query; absent views are `None`.
#[derive(Debug, Clone, Copy, Default)]
struct ViewScores {
    rho: Option<f32>,
    sentence: Option<f32>,
}

/// Scores every candidate unit and sorts them, best first; equal scores by rising id. Units below `tau` are left out.
///
/// `query_vector`: `[dim]`, the embedding of [`Query::text`]. Deterministic for an exact index.
///
/// # Errors
/// [`IndexError`] if the index refuses the query.
///
/// # Source
/// Eq. 8-9. Differs: a query without cues has `R = s_emb` (spec section 9.6 gives an unasked cue no weight); the terms
/// of [`crate::Boosts`] are added, all zero in the paper's presets.
pub fn rank(
    query: &Query,
    query_vector: &[f32],
    corpus: &Corpus,
    index: &dyn VectorIndex,
    config: &RetrievalConfig,
) -> Result<Vec<Ranked>, IndexError> {
    let (words, window_words) = corpus.lexical(&query.text);
    let similarities = similarities(query_vector, corpus, index, (config, &words))?;
    let boosts = &config.boosts;
    let mut scored: Vec<(&Unit, UnitScore)> = Vec::with_capacity(similarities.len());
    for (id, views) in &similarities {
        let Some(unit) = corpus.unit(*id) else { continue };
        let cues = cue_score(query, unit);
        let embedding = blend(views, config);
        let relevance = match cues.total(&config.cues) {
            Some(cue) => config.lambda * embedding + (1.0 - config.lambda) * cue,
            None => embedding,
        };
        let lexical = boosts.lexical * words.get(id).copied().unwrap_or(0.0)
            + boosts.lexical_window * window_words.get(id).copied().unwrap_or(0.0);
        let total = relevance + lexical + asked_for(query, unit, &cues, boosts);
        scored.push((unit, UnitScore { total, embedding, lexical, cues }));
    }
    add_surroundings(&mut scored, boosts);
    let mut ranked: Vec<Ranked> = scored
        .into_iter()
        .filter(|(_, score)| score.total >= config.tau)
        .map(|(unit, score)| Ranked { id: unit.id, score })
        .collect();
    ranked.sort_by(|a, b| b.score.total.total_cmp(&a.score.total).then(a.id.cmp(&b.id)));
    Ok(ranked)
}

/// What a unit gains by being of the time, the kind and the speaker that the question asks for.
fn asked_for(query: &Query, unit: &Unit, cues: &CueScore, boosts: &Boosts) -> f32 {
    let names_speaker = unit.fact.participants.first().is_some_and(|p| query.speakers.contains(p));
    boosts.time * cues.time.unwrap_or(0.0)
        + boosts.situation * cues.situation.unwrap_or(0.0)
        + if names_speaker { boosts.speaker } else { 0.0 }
}

/// Similarities of the views of all candidates, by rising id: in a small memory of every unit, else of those with a near
/// vector or a shared word.
fn similarities(
    query_vector: &[f32],
    corpus: &Corpus,
    index: &dyn VectorIndex,
    (config, words): (&RetrievalConfig, &BTreeMap<UnitId, f32>),
) -> Result<Vec<(UnitId, ViewScores)>, IndexError> {
    let hits = if index.len() <= config.candidates {
        index.search(query_vector, index.len(), None)?
    } else {
        let near = index.search(query_vector, config.candidates, None)?;
        let mut units: BTreeSet<UnitId> = near.iter().map(|hit| unit_view(hit.id).0).collect();
        let mut by_words: Vec<(&UnitId, &f32)> = words.iter().collect();
        let n_by_words = config.candidates / 4;
        if by_words.len() > n_by_words {
            by_words.select_nth_unstable_by(n_by_words, |a, b| b.1.total_cmp(a.1).then(a.0.cmp(b.0)));
            by_words.truncate(n_by_words);
        }
        units.extend(by_words.into_iter().map(|(id, _)| *id));
        // The units around a candidate get a score of their own, so that adjacency does not depend on the bound.
        let around: Vec<UnitId> = units.iter().flat_map(|&id| near_by(corpus, id)).collect();
        units.extend(around);
        let views = |&id: &UnitId| {
            let n_views = corpus.unit(id).map_or(0, most_views);
            (0..n_views).map(move |view| vector_id(id, view))
        };
        let ids: Vec<u64> = units.iter().flat_map(views).collect();
        index.search_among(query_vector, ids.len(), &ids)?
    };
    let mut similarities: HashMap<UnitId, ViewScores> = HashMap::new();
    for hit in hits {
        let (id, view) = unit_view(hit.id);
        let scores = similarities.entry(id).or_default();
        let slot = match view {
            RHO => &mut scores.rho,
            sentence if corpus.unit(id).is_some_and(|unit| is_claim_view(unit, sentence)) => {
                &mut scores.sentence
            }
            _ => continue,
        };
        // Hits come best first, so the first of a kind is the best.
        slot.get_or_insert(hit.score);
    }
    let mut similarities: Vec<(UnitId, ViewScores)> = similarities.into_iter().collect();
    similarities.sort_unstable_by_key(|(id, _)| *id);
    Ok(similarities)
}

/// Whether a view is of a sentence or picture of the turn in which the claim was said; older memories hold others too.
fn is_claim_view(unit: &Unit, view: View) -> bool {
    let Some(place) = view.checked_sub(FIRST_SENTENCE) else { return false };
    let quote = unit.evidence.quotes.get(usize::from(place));
    quote.is_none_or(|quote| quote.turn == claim_turn(unit))
}

/// `s_emb`: the views that the unit has, weighted; a missing view leaves its weight to the others.
fn blend(views: &ViewScores, config: &RetrievalConfig) -> f32 {
    let weights = &config.views;
    let pairs = [(views.rho, weights.rho), (views.sentence, weights.sentence)];
    let (mut sum, mut mass) = (0.0, 0.0);
    for (score, weight) in pairs {
        if let Some(score) = score {
            sum += score * weight;
            mass += weight;
        }
    }
    if mass > 0.0 { sum / mass } else { 0.0 }
}

/// The units said at most two turns before or after a unit.
fn near_by(corpus: &Corpus, id: UnitId) -> impl Iterator<Item = UnitId> {
    let of = corpus.unit(id);
    let in_session = of.map_or(&[][..], |unit| corpus.units_of(&unit.evidence.session));
    let turn = of.map_or(0, claim_turn);
    let is_near = move |other: &UnitId| {
        corpus.unit(*other).is_some_and(|unit| (1..=2).contains(&claim_turn(unit).abs_diff(turn)))
    };
    in_session.iter().copied().filter(is_near)
}

/// Adds shares of what was said around each unit and elsewhere in its session.
fn add_surroundings(scored: &mut [(&Unit, UnitScore)], boosts: &Boosts) {
    if boosts.adjacency == 0.0 && boosts.second_adjacency == 0.0 && boosts.session == 0.0 {
        return;
    }
    // The best of each turn, by session.
    let mut alone: HashMap<&SessionId, Vec<f32>> = HashMap::new();
    for (unit, score) in &*scored {
        let turns = alone.entry(&unit.evidence.session).or_default();
        let turn = claim_turn(unit) as usize;
        if turns.len() <= turn {
            turns.resize(turn + 1, 0.0);
        }
        turns[turn] = turns[turn].max(score.total);
    }
    let best: HashMap<&SessionId, f32> =
        alone.iter().map(|(&session, turns)| (session, turns.iter().copied().fold(0.0, f32::max))).collect();
    for (unit, score) in scored {
        let session = &unit.evidence.session;
        let turns = &alone[session];
        let turn = claim_turn(unit) as usize;
        let at = |turn: Option<usize>| turn.and_then(|t| turns.get(t)).copied().unwrap_or(0.0);
        let around = |distance: usize| at(turn.checked_sub(distance)).max(at(turn.checked_add(distance)));
        score.total += boosts.adjacency * around(1)
            + boosts.second_adjacency * around(2)
            + boosts.session * best[session];
    }
}

#[cfg(test)]
mod tests {
    use fta_index::ExactIndex;
    use fta_units::Unit;

    use super::*;
    use crate::{
        AnswerType,
        fixture::{corpus, session, unit},
    };

    /// Four units of one session with the given vectors: `(unit, view, [x, y])`.
    fn memory(vectors: &[(u64, View, [f32; 2])]) -> (Corpus, ExactIndex) {
        let stored = session("s1", 1, &["I row.", "You row.", "I swim.", "You swim."]);
        let units: Vec<Unit> = (0..4).map(|turn| unit(u64::from(turn) + 1, &stored, turn)).collect();
        let mut index = ExactIndex::new(2).unwrap();
        let ids: Vec<u64> = vectors.iter().map(|(id, view, _)| vector_id(UnitId(*id), *view)).collect();
        let values: Vec<f32> = vectors.iter().flat_map(|(.., values)| *values).collect();
        index.add(&ids, &values).unwrap();
        (corpus(vec![stored], units, Vec::new()), index)
    }

    fn totals(query: &Query, memory: &(Corpus, ExactIndex), config: &RetrievalConfig) -> Vec<(u64, f32)> {
        let ranked = rank(query, &[1.0, 0.0], &memory.0, &memory.1, config).unwrap();
        ranked.into_iter().map(|r| (r.id.0, (r.score.total * 1e4).round() / 1e4)).collect()
    }

    #[test]
    fn the_paper_weighs_similarity_and_cues() {
        // Units 1 and 3 are Ada's, whom the question names: c = 1 for them, 0 for Bo's.
        let memory = memory(&[
            (1, RHO, [0.6, 0.8]),
            (2, RHO, [0.8, 0.6]),
            (3, RHO, [0.28, 0.96]),
            (4, RHO, [0.28, 0.96]),
            (2, FIRST_SENTENCE, [1.0, 0.0]),
        ]);
        let named = Query { speakers: vec!["Ada".to_owned()], ..Query::default() };
        let config = RetrievalConfig::es_memeval();
        // 0.8 * 0.6 + 0.2, 0.8 * 0.8, 0.8 * 0.28 + 0.2; the fourth has 0.224 < tau.
        assert_eq!(totals(&named, &memory, &config), [(1, 0.68), (2, 0.64), (3, 0.424)]);
        // Without cues the similarity alone counts.
        assert_eq!(totals(&Query::default(), &memory, &config), [(2, 0.8), (1, 0.6)]);
        let half = RetrievalConfig { lambda: 0.5, tau: 0.0, ..config };
        assert_eq!(totals(&named, &memory, &half), [(1, 0.8), (3, 0.64), (2, 0.4), (4, 0.14)]);
    }

    #[test]
    fn equal_scores_go_by_id() {
        let memory = memory(&[(4, RHO, [0.6, 0.8]), (2, RHO, [0.6, 0.8]), (3, RHO, [0.6, 0.8])]);
        let config = RetrievalConfig::es_memeval();
        assert_eq!(totals(&Query::default(), &memory, &config), [(2, 0.6), (3, 0.6), (4, 0.6)]);
    }

    #[test]
    fn views_are_weighed_and_a_missing_one_leaves_its_weight() {
        let memory = memory(&[
            (1, RHO, [0.6, 0.8]),
            (1, FIRST_SENTENCE, [0.28, 0.96]),
            (1, FIRST_SENTENCE + 1, [0.96, 0.28]),
            (2, RHO, [0.6, 0.8]),
        ]);
        let config = RetrievalConfig {
            views: crate::ViewWeights { rho: 1.0, sentence: 3.0 },
            ..RetrievalConfig::es_memeval()
        };
        // The best sentence counts: (0.6 + 3 * 0.96) / 4.
        assert_eq!(totals(&Query::default(), &memory, &config), [(1, 0.87), (2, 0.6)]);
    }

    #[test]
    fn what_was_said_around_a_unit_adds_a_share() {
        let memory =
            memory(&[(1, RHO, [1.0, 0.0]), (2, RHO, [0.0, 1.0]), (3, RHO, [0.0, 1.0]), (4, RHO, [0.0, 1.0])]);
        let config = RetrievalConfig {
            boosts: crate::Boosts {
                adjacency: 0.5,
                second_adjacency: 0.25,
                session: 0.1,
                ..crate::Boosts::default()
            },
            tau: 0.15,
            ..RetrievalConfig::es_memeval()
        };
        // The fourth is three turns from the first: it has the session's share alone, which is below tau.
        assert_eq!(totals(&Query::default(), &memory, &config), [(1, 1.1), (2, 0.6), (3, 0.35)]);
    }

    #[test]
    fn who_and_when_are_asked_for_beside_the_cue_score() {
        let memory = memory(&[(1, RHO, [0.6, 0.8]), (2, RHO, [0.6, 0.8])]);
        let query = Query { speakers: vec!["Bo".to_owned()], answer: AnswerType::When, ..Query::default() };
        let boosts = crate::Boosts { time: 0.5, speaker: 0.2, ..crate::Boosts::default() };
        let config = RetrievalConfig { lambda: 1.0, boosts, ..RetrievalConfig::es_memeval() };
        let time = cue_score(&query, memory.0.unit(UnitId(1)).unwrap()).time.unwrap();
        assert!(time > 0.0);
        let expected = |speaker: f32| ((0.6 + 0.5 * time + speaker) * 1e4).round() / 1e4;
        assert_eq!(totals(&query, &memory, &config), [(2, expected(0.2)), (1, expected(0.0))]);
    }

    #[test]
    fn the_question_that_a_claim_answers_is_no_sentence_of_it() {
        let stored = session("s1", 1, &["Where do you row?", "On the lake."]);
        let mut answer = unit(1, &stored, 1);
        answer.evidence.quotes.insert(0, crate::fixture::quote(0, 0, 17));
        let corpus = corpus(vec![stored], vec![answer], Vec::new());
        let mut index = ExactIndex::new(2).unwrap();
        let ids = [RHO, FIRST_SENTENCE, FIRST_SENTENCE + 1].map(|view| vector_id(UnitId(1), view));
        index.add(&ids, &[0.0, 1.0, 1.0, 0.0, 0.6, 0.8]).unwrap();
        let views = crate::ViewWeights { rho: 1.0, sentence: 1.0 };
        let config = RetrievalConfig { views, tau: 0.0, ..RetrievalConfig::es_memeval() };
        assert_eq!(totals(&Query::default(), &(corpus, index), &config), [(1, 0.3)]);
    }

    #[test]
    fn a_large_memory_is_searched_in_two_steps() {
        let memory = memory(&[
            (1, RHO, [1.0, 0.0]),
            (2, RHO, [0.6, 0.8]),
            (3, RHO, [0.8, 0.6]),
            (4, RHO, [0.28, 0.96]),
        ]);
        let all = RetrievalConfig { tau: 0.0, ..RetrievalConfig::es_memeval() };
        let few = RetrievalConfig { candidates: 1, ..all.clone() };
        // The nearest and what was said around it, scored as ever.
        assert_eq!(totals(&Query::default(), &memory, &few), [(1, 1.0), (3, 0.8), (2, 0.6)]);
        assert_eq!(totals(&Query::default(), &memory, &all).len(), 4);
    }
}
