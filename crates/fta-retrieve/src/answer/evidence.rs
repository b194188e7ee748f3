//! How likely it is that the evidence answers: what abstention is decided by.

use serde::{Deserialize, Serialize};

use super::{asked::Asked, kinds::Extracted, score::Scored};

/// Weights of the logistic model of the probability that the packet answers the question.
///
/// The defaults were fitted on questions of LoCoMo that have and that have no answer, with all-MiniLM-L6-v2; how well
/// they hold on other conversations is in decision 18.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EvidenceWeights {
    /// How far the sentences used speak to the question, about the person asked about.
    pub used: f32,
    /// The same of the sentence that does so most: that others do better than those used speaks against the answer.
    pub best: f32,
    /// Most of the question's content repeated by a sentence by or about the person asked about.
    pub own_covered: f32,
    /// The same by a sentence of others about themselves.
    pub foreign_covered: f32,
    /// Greatest similarity of a sentence by or about the person asked about.
    pub own_similarity: f32,
    /// The same of others.
    pub foreign_similarity: f32,
    /// Score of the reading that was chosen.
    pub choice: f32,
    /// What is added.
    pub bias: f32,
}

impl Default for EvidenceWeights {
    fn default() -> Self {
        Self {
            used: 3.07,
            best: -2.45,
            own_covered: 4.41,
            foreign_covered: -3.56,
            own_similarity: 5.18,
            foreign_similarity: -2.67,
            choice: 0.59,
            bias: -3.69,
        }
    }
}

/// Probability that the packet answers, in `[0, 1]`; 0 for an answer whose form, or whose sentence, rules it out.
pub(super) fn confidence(
    asked: &Asked<'_>,
    scored: &[Scored<'_>],
    (extracted, choice): (&Extracted, f32),
    weights: &EvidenceWeights,
) -> f32 {
    let used = || extracted.used.iter().filter_map(|&i| scored.get(i));
    // A name tells nothing where nobody speaks of what bears it.
    let nameless = asked.wants_name() && used().all(|s| s.covered < 0.1);
    if extracted.certainty <= 0.0 || nameless {
        return 0.0;
    }
    let used = used().map(|s| support(asked, s)).fold(0.0_f32, f32::max);
    // Names or things of the question that occur nowhere near the evidence.
    let unknown = asked.unknown(scored.iter().map(|s| &s.candidate));
    let used = (used * (1.0 - 0.6 * unknown)).clamp(0.0, 1.0);
    let best = scored.iter().map(|s| support(asked, s)).fold(0.0_f32, f32::max);
    let most = |own: bool, value: &dyn Fn(&Scored<'_>) -> f32| {
        scored
            .iter()
            .filter(|s| (s.speaker >= 0.5) == own && !s.candidate.is_question())
            .map(value)
            .fold(0.0_f32, f32::max)
    };
    let sum = weights.used * used
        + weights.best * best
        + weights.own_covered * most(true, &|s| s.covered)
        + weights.foreign_covered * most(false, &|s| s.covered)
        + weights.own_similarity * most(true, &similarity)
        + weights.foreign_similarity * most(false, &similarity)
        + weights.choice * choice
        + weights.bias;
    let probability = 1.0 / (1.0 + (-sum).exp());
    // LoCoMo asks about what was talked of; a thing that nobody ever named was too seldom there to be learned from.
    if unknown >= ALL_UNKNOWN { probability * (1.0 - unknown) } else { probability }
}

/// [`Asked::unknown`] of a question none of whose things, or none of whose names, occurs.
const ALL_UNKNOWN: f32 = 0.6;

/// Similarity with the question; without an embedder what it repeats stands in.
fn similarity(scored: &Scored<'_>) -> f32 {
    scored.similarity.unwrap_or(0.6 * scored.covered)
}

/// How far a sentence speaks to the question and about the person asked about.
fn support(asked: &Asked<'_>, scored: &Scored<'_>) -> f32 {
    let similar = scored.similarity.map_or(0.6 * scored.covered, |x| (x - 0.2).max(0.0));
    // A sentence that repeats nothing must be very near.
    let similar = if scored.covered < 0.1 { 0.6 * similar } else { similar };
    let about = if asked.query.speakers.is_empty() { 0.9 } else { 0.4 + 0.6 * scored.speaker };
    let told = if scored.reply { 0.6 } else { 1.0 };
    (0.55 * scored.covered + 0.9 * similar) * about * told
}
