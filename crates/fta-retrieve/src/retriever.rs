//! Ranking: `R(q', m)` of Eq. 8, threshold and top-`K` of Eq. 9, linked neighbours of Eq. 10.

use std::collections::{BTreeMap, BTreeSet};

use fta_index::{IndexError, VectorIndex};
use fta_units::UnitId;

use crate::{
    config::RetrievalConfig,
    corpus::Corpus,
    cue::cue_score,
    packet::UnitScore,
    query::Query,
    views::{CONTEXT, RHO, most_views, unit_view, vector_id},
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
    context: Option<f32>,
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
    let mut scores: BTreeMap<UnitId, UnitScore> = BTreeMap::new();
    for (&id, views) in &similarities {
        let Some(unit) = corpus.unit(id) else { continue };
        let cues = cue_score(query, unit);
        let embedding = blend(views, config);
        let relevance = match cues.total(&config.cues) {
            Some(cue) => config.lambda * embedding + (1.0 - config.lambda) * cue,
            None => embedding,
        };
        let lexical = config.boosts.lexical * words.get(&id).copied().unwrap_or(0.0)
            + config.boosts.lexical_window * window_words.get(&id).copied().unwrap_or(0.0);
        let names_speaker = unit.fact.participants.first().is_some_and(|p| query.speakers.contains(p));
        let speaker = if names_speaker { config.boosts.speaker } else { 0.0 };
        let total = relevance + lexical + speaker;
        scores.insert(id, UnitScore { total, embedding, lexical, cues });
    }
    if config.boosts.adjacency > 0.0 {
        add_adjacency(&mut scores, corpus, config.boosts.adjacency);
    }
    let mut ranked: Vec<Ranked> = scores
        .into_iter()
        .filter(|(_, score)| score.total >= config.tau)
        .map(|(id, score)| Ranked { id, score })
        .collect();
    ranked.sort_by(|a, b| b.score.total.total_cmp(&a.score.total).then(a.id.cmp(&b.id)));
    Ok(ranked)
}

/// Similarities of the views of all candidates: in a small memory of every unit, else of those with a near vector or a
/// shared word.
fn similarities(
    query_vector: &[f32],
    corpus: &Corpus,
    index: &dyn VectorIndex,
    (config, words): (&RetrievalConfig, &BTreeMap<UnitId, f32>),
) -> Result<BTreeMap<UnitId, ViewScores>, IndexError> {
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
        // The units next to a candidate get a score of their own, so that adjacency does not depend on the bound.
        let neighbours: Vec<UnitId> = units.iter().flat_map(|&id| adjacent(corpus, id)).collect();
        units.extend(neighbours);
        let views = |&id: &UnitId| {
            let n_views = corpus.unit(id).map_or(0, most_views);
            (0..n_views).map(move |view| vector_id(id, view))
        };
        let ids: Vec<u64> = units.iter().flat_map(views).collect();
        index.search_among(query_vector, ids.len(), &ids)?
    };
    let mut similarities: BTreeMap<UnitId, ViewScores> = BTreeMap::new();
    for hit in hits {
        let (unit, view) = unit_view(hit.id);
        let scores = similarities.entry(unit).or_default();
        let slot = match view {
            RHO => &mut scores.rho,
            CONTEXT => &mut scores.context,
            _ => &mut scores.sentence,
        };
        // Hits come best first, so the first of a kind is the best.
        slot.get_or_insert(hit.score);
    }
    Ok(similarities)
}

/// `s_emb`: the views that the unit has, weighted; a missing view leaves its weight to the others.
fn blend(views: &ViewScores, config: &RetrievalConfig) -> f32 {
    let weights = &config.views;
    let pairs =
        [(views.rho, weights.rho), (views.context, weights.context), (views.sentence, weights.sentence)];
    let (mut sum, mut mass) = (0.0, 0.0);
    for (score, weight) in pairs {
        if let Some(score) = score {
            sum += score * weight;
            mass += weight;
        }
    }
    if mass > 0.0 { sum / mass } else { 0.0 }
}

/// The units just before and after a unit in its session.
fn adjacent(corpus: &Corpus, id: UnitId) -> impl Iterator<Item = UnitId> {
    let order = corpus.unit(id).map_or(&[][..], |unit| corpus.units_of(&unit.evidence.session));
    let position = order.iter().position(|&other| other == id);
    let before = position.and_then(|p| p.checked_sub(1));
    let after = position.map(|p| p + 1);
    [before, after].into_iter().flatten().filter_map(|p| order.get(p).copied())
}

fn add_adjacency(scores: &mut BTreeMap<UnitId, UnitScore>, corpus: &Corpus, share: f32) {
    let alone: BTreeMap<UnitId, f32> = scores.iter().map(|(&id, score)| (id, score.total)).collect();
    for (&id, score) in scores.iter_mut() {
        let best = adjacent(corpus, id).filter_map(|other| alone.get(&other).copied()).fold(0.0, f32::max);
        score.total += share * best;
    }
}

#[cfg(test)]
mod tests {
    use fta_index::ExactIndex;
    use fta_units::Unit;

    use super::*;
    use crate::{
        fixture::{corpus, session, unit},
        views::{FIRST_SENTENCE, View},
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
            (2, CONTEXT, [1.0, 0.0]),
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
            views: crate::ViewWeights { rho: 1.0, sentence: 3.0, context: 5.0 },
            ..RetrievalConfig::es_memeval()
        };
        // The best sentence counts: (0.6 + 3 * 0.96) / 4.
        assert_eq!(totals(&Query::default(), &memory, &config), [(1, 0.87), (2, 0.6)]);
    }

    #[test]
    fn neighbours_in_the_session_add_a_share() {
        let memory = memory(&[(1, RHO, [1.0, 0.0]), (2, RHO, [0.0, 1.0]), (4, RHO, [0.0, 1.0])]);
        let config = RetrievalConfig {
            boosts: crate::Boosts { adjacency: 0.5, ..crate::Boosts::default() },
            tau: 0.1,
            ..RetrievalConfig::es_memeval()
        };
        assert_eq!(totals(&Query::default(), &memory, &config), [(1, 1.0), (2, 0.5)]);
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
        // The nearest and what stands next to it, scored as ever.
        assert_eq!(totals(&Query::default(), &memory, &few), [(1, 1.0), (2, 0.6)]);
        assert_eq!(totals(&Query::default(), &memory, &all).len(), 4);
    }
}
