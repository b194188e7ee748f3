//! A [`RelationClassifier`] without a model: rules over the two claims, their anchors and their similarity.
//!
//! Claims are compared sentence by sentence. The first rule that holds gives the label. All need a person in common and
//! a topic in common: stems that say what a claim is about ("choir", not "good"). An unlabelled pair is better than a
//! wrong one.
//!
//! | label | holds if |
//! | --- | --- |
//! | `follow_up` | the older unit is an open plan or advice, and the newer reports in the past about the same, or at the time that was planned, or asks about it |
//! | `support` | the newer comforts or advises, the older is an emotional state or risk of another, near in the session or about the same |
//! | `update` | about the same on a later day: words of change, a denial or opposite, another count or another value of a single-valued slot (home, job, partner); a job given up; a decision reversed |
//! | `contradiction` | about the same: denial, opposite, another count or another value of such a slot, without words of change and not two events at different times; what was never to be done is done |
//! | `same_situation` | the same person, nearly the same text, or an event that the newer takes as known ("the fight"), no denial or count between them, event times that do not exclude each other |

use async_trait::async_trait;

use super::{LinkError, Neighbour, RelationClassifier, pair::Pair};
use crate::unit::{Relation, Unit};

/// Thresholds of [`RuleClassifier`], for similarities of all-MiniLM-L6-v2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LinkRules {
    /// Similarity from which two claims may tell the same.
    pub same_similarity: f32,
    /// Share of the shorter claim's stems from which two claims may tell the same.
    pub same_overlap: f32,
    /// Similarity from which two claims in the same words may tell the same.
    pub restated_similarity: f32,
    /// Similarity from which two claims may be about the same.
    pub topic_similarity: f32,
    /// Share of the shorter claim's stems from which two claims may be about the same.
    pub topic_overlap: f32,
    /// Turns of one session between a feeling and the support for it.
    pub support_distance: u32,
    /// Links of one label from one unit.
    pub links_per_label: usize,
}

impl Default for LinkRules {
    fn default() -> Self {
        Self {
            same_similarity: 0.7,
            same_overlap: 0.6,
            restated_similarity: 0.6,
            topic_similarity: 0.45,
            topic_overlap: 0.34,
            support_distance: 2,
            links_per_label: 2,
        }
    }
}

/// Labels pairs by the rules of this module; needs no model and waits for nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct RuleClassifier {
    rules: LinkRules,
}

impl RuleClassifier {
    /// A classifier with these thresholds.
    pub fn new(rules: LinkRules) -> Self {
        Self { rules }
    }

    /// Label of one pair.
    pub fn label(&self, unit: &Unit, neighbour: Neighbour<'_>) -> Option<Relation> {
        let pair = Pair::new(unit, neighbour, self.rules)?;
        if pair.follows_up() {
            Some(Relation::FollowUp)
        } else if pair.supports() {
            Some(Relation::Support)
        } else if pair.updates() {
            Some(Relation::Update)
        } else if pair.contradicts() {
            Some(Relation::Contradiction)
        } else if pair.tells_the_same() {
            Some(Relation::SameSituation)
        } else {
            None
        }
    }

    /// Labels of all pairs, the best of each label alone: the nearest text, and for support the nearest turn.
    fn labels(&self, unit: &Unit, neighbours: &[Neighbour<'_>]) -> Vec<Option<Relation>> {
        let mut labels: Vec<Option<Relation>> = neighbours.iter().map(|n| self.label(unit, *n)).collect();
        let mut order: Vec<usize> = (0..neighbours.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&neighbours[a], &neighbours[b]);
            b.similarity.total_cmp(&a.similarity).then(b.unit.id.cmp(&a.unit.id))
        });
        for relation in
            [Relation::FollowUp, Relation::Update, Relation::Contradiction, Relation::SameSituation]
        {
            let surplus =
                order.iter().filter(|&&at| labels[at] == Some(relation)).skip(self.rules.links_per_label);
            for at in surplus.copied().collect::<Vec<_>>() {
                labels[at] = None;
            }
        }
        // Comfort answers what was said last.
        order.sort_by_key(|&at| {
            let older = neighbours[at].unit;
            let here = older.evidence.session == unit.evidence.session;
            std::cmp::Reverse((here, older.evidence.turns.start, older.id))
        });
        let surplus = order.iter().filter(|&&at| labels[at] == Some(Relation::Support)).skip(1);
        for at in surplus.copied().collect::<Vec<_>>() {
            labels[at] = None;
        }
        labels
    }
}

#[async_trait]
impl RelationClassifier for RuleClassifier {
    fn id(&self) -> &'static str {
        "link-rules/2"
    }

    async fn classify(
        &self,
        unit: &Unit,
        neighbours: &[Neighbour<'_>],
    ) -> Result<Vec<Option<Relation>>, LinkError> {
        Ok(self.labels(unit, neighbours))
    }
}

#[cfg(test)]
pub(super) mod tests;
