//! A [`RelationClassifier`] without a model: rules over the two claims, their anchors and their similarity.
//!
//! The first rule that holds gives the label. All need a person in common; "about the same" is a similarity or a
//! share of stems above the thresholds of [`LinkRules`]. An unlabelled pair is better than a wrong one.
//!
//! | label | holds if |
//! | --- | --- |
//! | `follow_up` | the older unit is an open plan, task or future event, and the newer is about the same and reports in the past or asks about it |
//! | `support` | the newer is a support interaction by one person, the older an emotional state or risk of another, near in the session or about the same |
//! | `update` | same person, about the same state: words of change, a denial or opposite said on a later day, another count or another value of a single-valued slot (home, job, partner) on a later day |
//! | `contradiction` | about the same: denial, opposite, another count or another value of such a slot, without words of change and not two events at different times |
//! | `same_situation` | the same participants, nearly the same text, no denial or count between them, event times that overlap |

use async_trait::async_trait;

use super::{
    LinkError, Neighbour, RelationClassifier,
    effect::{is_open, same_subject},
};
use crate::{
    text::{Reading, same_name},
    unit::{Completion, Relation, SituationType, TimeOrientation, Unit},
};

/// Thresholds of [`RuleClassifier`].
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
}

impl Default for LinkRules {
    fn default() -> Self {
        Self {
            same_similarity: 0.75,
            same_overlap: 0.6,
            restated_similarity: 0.6,
            topic_similarity: 0.45,
            topic_overlap: 0.34,
            support_distance: 6,
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
}

#[async_trait]
impl RelationClassifier for RuleClassifier {
    fn id(&self) -> &'static str {
        "link-rules/1"
    }

    async fn classify(
        &self,
        unit: &Unit,
        neighbours: &[Neighbour<'_>],
    ) -> Result<Vec<Option<Relation>>, LinkError> {
        Ok(neighbours.iter().map(|neighbour| self.label(unit, *neighbour)).collect())
    }
}

/// Words that say by themselves that something is no longer as it was.
const CHANGE: &[&str] = &[
    "no longer",
    "not anymore",
    "anymore",
    "any more",
    "used to",
    "instead",
    "changed",
    "switched",
    "quit",
    "resigned",
    "stopped",
    "gave up",
    "broke up",
    "split up",
    "divorced",
    "moved",
    "moving",
    "relocated",
    "retired",
    "replaced",
    "sold",
    "rescheduled",
    "postponed",
    "cancelled",
    "canceled",
    "called off",
    "turned into",
    "became",
    "recovered",
];

/// Words that say so when the rest says it as well.
const NOW: &[&str] = &["now", "nowadays", "these days", "since then", "from now on", "finally", "new"];

const REPORT: &[&str] = &[
    "did",
    "went",
    "tried",
    "managed",
    "finished",
    "completed",
    "passed",
    "failed",
    "ended up",
    "turned out",
    "was",
    "were",
    "took",
    "attended",
    "got",
    "called",
    "finally",
    "cancelled",
    "canceled",
    "called off",
    "didn't",
    "wasn't",
];

const ASK: &[&str] =
    &["how did", "how was", "how were", "how is", "how are", "did you", "have you", "asks", "asked"];

/// Words that exclude each other when said of the same thing.
const OPPOSITES: &[(&[&str], &[&str])] = &[
    (
        &["like", "likes", "love", "loves", "enjoy", "enjoys"],
        &["hate", "hates", "dislike", "dislikes", "loathes"],
    ),
    (&["married", "engaged", "dating"], &["single", "divorced", "unmarried"]),
    (&["employed"], &["unemployed", "jobless"]),
    (&["alive"], &["dead", "died"]),
    (&["open"], &["closed"]),
    (&["always"], &["never", "rarely", "seldom"]),
    (&["often"], &["never", "rarely", "seldom"]),
    (&["before"], &["after"]),
    (&["older", "elder"], &["younger"]),
    (&["healthy"], &["sick", "ill"]),
    (&["good"], &["bad", "terrible"]),
    (&["cheap"], &["expensive"]),
    (&["easy"], &["hard", "difficult"]),
    (&["safe"], &["dangerous", "unsafe"]),
    (&["passed"], &["failed"]),
    (&["won"], &["lost"]),
    (&["remembers", "remember"], &["forgot", "forgets"]),
    (&["agreed", "agrees"], &["refused", "refuses"]),
];

/// Ways of stating what a person has one of at a time, and whether two at once cannot be: people have two jobs.
const SLOTS: &[(&[&str], bool)] = &[
    (&["lives in", "live in", "living in", "moved to", "based in", "resides in"], true),
    (&["married to", "engaged to"], true),
    (&["works as", "work as", "working as"], false),
];

/// A newer and an older unit with a person in common.
struct Pair<'a> {
    rules: LinkRules,
    newer: &'a Unit,
    older: &'a Unit,
    similarity: f32,
    new: Reading,
    old: Reading,
    same_subject: bool,
    later_day: bool,
}

impl<'a> Pair<'a> {
    fn new(newer: &'a Unit, neighbour: Neighbour<'a>, rules: LinkRules) -> Option<Self> {
        let older = neighbour.unit;
        let common = people(newer).any(|a| people(older).any(|b| same_name(a, b)));
        let support = newer.fact.situation == SituationType::SupportInteraction;
        if newer.id == older.id || !(common || support && newer.evidence.session == older.evidence.session) {
            return None;
        }
        // A name that one of the two mentions is no topic in the other either.
        let read = |unit: &Unit| Reading::new(&unit.fact.claim, people(newer).chain(people(older)));
        let days = [newer, older].map(|u| u.time.said_at.map(jiff::civil::DateTime::date));
        Some(Self {
            rules,
            newer,
            older,
            // NaN compares false with every threshold, so it counts as not similar.
            similarity: neighbour.similarity,
            new: read(newer),
            old: read(older),
            same_subject: same_subject(newer, older),
            later_day: matches!(days, [Some(new), Some(old)] if new > old),
        })
    }

    /// About the same thing.
    fn same_topic(&self) -> bool {
        let shared = self.new.shared(&self.old);
        let overlap = self.new.overlap(&self.old);
        (shared >= 1 && overlap >= self.rules.topic_overlap && self.similarity >= self.rules.topic_similarity)
            || (shared >= 2 && overlap >= self.rules.same_overlap)
    }

    /// Nearly the same words.
    fn same_words(&self) -> bool {
        self.new.shared(&self.old) >= 2 && self.new.jaccard(&self.old) >= 0.5
    }

    fn follows_up(&self) -> bool {
        if !is_open(self.older) || !self.same_topic() || is_open(self.newer) && !self.new.asks {
            return false;
        }
        let reports = self.newer.time.orientation == TimeOrientation::Past
            || matches!(self.newer.time.completion, Completion::Completed | Completion::Cancelled)
            || self.new.has_any(REPORT);
        let asks = self.new.asks || self.new.has_any(ASK);
        (reports || asks) && self.newer.time.orientation != TimeOrientation::Future
    }

    fn supports(&self) -> bool {
        let needs = self.older.fact.situation == SituationType::RiskSignal
            || self.older.fact.situation != SituationType::SupportInteraction
                && !self.older.affect.emotions.is_empty();
        if self.newer.fact.situation != SituationType::SupportInteraction || !needs || self.same_subject {
            return false;
        }
        // Without a named person it is not known whom the support is for.
        let Some(seeker) = self.older.fact.participants.first() else { return false };
        let for_them = self.newer.fact.participants.iter().any(|p| same_name(p, seeker));
        let near = self.newer.evidence.session == self.older.evidence.session && {
            let (new, old) = (self.newer.evidence.turns, self.older.evidence.turns);
            new.start.saturating_sub(old.end.saturating_sub(1)) <= self.rules.support_distance
                && new.end >= old.start
        };
        (for_them || self.newer.fact.participants.len() < 2) && (near || self.same_topic())
    }

    fn updates(&self) -> bool {
        if !self.same_subject || !self.same_topic() || !is_state(self.older) {
            return false;
        }
        // Both with words of change: two changes, or one told twice.
        if self.new.has_any(CHANGE) && !self.old.has_any(CHANGE) {
            return true;
        }
        let differs = self.denies() || self.opposes() || self.other_count() || self.other_value(false);
        differs && (self.later_day || self.new.has_any(NOW)) && is_state(self.newer)
    }

    fn contradicts(&self) -> bool {
        // Past events at different times do not exclude each other, nor do plans; a change is none either.
        if self.new.has_any(CHANGE)
            || self.old.has_any(CHANGE)
            || self.new.asks
            || self.old.asks
            || self.times_apart()
        {
            return false;
        }
        let events = [self.newer, self.older].iter().any(|u| u.fact.situation == SituationType::Event);
        if events && !self.times_meet() {
            return false;
        }
        self.same_topic()
            && (self.denies()
                || self.opposes()
                || self.other_count()
                || self.same_subject && self.other_value(true))
    }

    fn tells_the_same(&self) -> bool {
        if !self.same_subject || self.times_apart() || self.new.negated != self.old.negated {
            return false;
        }
        if self.other_count() || self.opposes() || self.other_value(false) || self.new.asks || self.old.asks {
            return false;
        }
        let alike = self.similarity >= self.rules.same_similarity && self.new.shared(&self.old) >= 1;
        let words = self.new.overlap(&self.old) >= self.rules.same_overlap && self.new.shared(&self.old) >= 2;
        let one_session = self.newer.evidence.session == self.older.evidence.session;
        // People do the same thing again: without a time in common, an event must be the same in both ways.
        if is_state(self.older) || self.times_meet() || one_session {
            alike && (words || self.new.jaccard(&self.old) >= 0.3)
                || words && self.similarity >= self.rules.restated_similarity
        } else {
            alike && words
        }
    }

    /// One denies what the other says, in nearly the same words.
    fn denies(&self) -> bool {
        let (no, yes) = if self.new.negated { (&self.new, &self.old) } else { (&self.old, &self.new) };
        no.negated && !yes.negated && self.same_words() && !no.denied.is_disjoint(&yes.content)
    }

    /// The two use opposite words, and share the rest.
    fn opposes(&self) -> bool {
        self.new.negated == self.old.negated
            && self.new.shared(&self.old) >= 1
            && self.new.jaccard(&self.old) >= 0.25
            && OPPOSITES.iter().any(|(a, b)| {
                let only =
                    |r: &Reading, these: &[&str], those: &[&str]| r.has_any(these) && !r.has_any(those);
                (only(&self.new, a, b) && only(&self.old, b, a))
                    || (only(&self.new, b, a) && only(&self.old, a, b))
            })
    }

    fn other_count(&self) -> bool {
        self.new.counts_differ(&self.old) && (self.new.jaccard(&self.old) >= 0.5)
    }

    /// Both fill the same slot, and neither names the other's value anywhere; with `at_once`, of a slot that cannot
    /// hold both at once.
    fn other_value(&self, at_once: bool) -> bool {
        if self.new.negated || self.old.negated {
            return false;
        }
        let (new, old) = (&self.newer.fact.claim, &self.older.fact.claim);
        let absent = |value: &Reading, claim: &str| {
            !value.content.is_empty() && value.shared(&Reading::new(claim, [])) == 0
        };
        SLOTS.iter().filter(|(_, exclusive)| *exclusive || !at_once).any(|(phrases, _)| {
            matches!((value(new, phrases), value(old, phrases)), (Some(a), Some(b)) if absent(&a, old) && absent(&b, new))
        })
    }

    /// Both times are known and have no day in common.
    fn times_apart(&self) -> bool {
        self.times_overlap() == Some(false)
    }

    /// Both times are known and have a day in common.
    fn times_meet(&self) -> bool {
        self.times_overlap() == Some(true)
    }

    fn times_overlap(&self) -> Option<bool> {
        let interval = |u: &Unit| u.time.event.as_ref().and_then(|e| e.interval);
        Some(interval(self.newer)?.overlaps(interval(self.older)?))
    }
}

/// What follows one of the phrases, up to the end of the clause.
fn value(claim: &str, phrases: &[&str]) -> Option<Reading> {
    let lower = claim.to_lowercase();
    let (at, phrase) = phrases.iter().find_map(|p| lower.find(&format!(" {p} ")).map(|at| (at, p)))?;
    let rest = &lower[at + phrase.len() + 2..];
    let clause = rest.split([',', '.', ';', '!', '?']).next().unwrap_or(rest);
    let clause = [
        " and ",
        " but ",
        " because ",
        " with ",
        " since ",
        " for ",
        " in ",
        " at ",
        " near ",
        " on ",
        " now",
    ]
    .iter()
    .fold(clause, |text, stop| text.split(stop).next().unwrap_or(text));
    Some(Reading::new(clause, []))
}

fn people(unit: &Unit) -> impl Iterator<Item = &str> {
    unit.fact.participants.iter().chain(&unit.fact.mentioned).map(String::as_str)
}

/// Whether the unit says how things are, not that something happened once.
fn is_state(unit: &Unit) -> bool {
    matches!(
        unit.fact.situation,
        SituationType::CurrentState
            | SituationType::GeneralFact
            | SituationType::RelationshipEvent
            | SituationType::BeliefCandidate
            | SituationType::HomeworkOrPlan
    )
}

#[cfg(test)]
pub(super) mod tests;
