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
                || words && self.similarity >= self.rules.topic_similarity
        } else {
            alike && words
        }
    }

    /// One says what the other denies, in nearly the same words.
    fn denies(&self) -> bool {
        self.new.negated != self.old.negated && self.same_words()
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
pub(super) mod tests {
    use fta_segment::TurnSpan;
    use jiff::civil::date;

    use super::*;
    use crate::{
        time::{DateInterval, EventTime, Granularity, TimeBound},
        unit::{AffectAnchor, Evidence, FactAnchor, Lifecycle, Provenance, TimeAnchor, UnitId, UnitStatus},
    };

    pub(in crate::link) fn unit(id: u64, claim: &str, person: &str) -> Unit {
        let said_at = date(2024, 3, 1).at(12, 0, 0, 0);
        Unit {
            id: UnitId(id),
            fact: FactAnchor {
                claim: claim.to_owned(),
                situation: SituationType::CurrentState,
                participants: vec![person.to_owned()],
                ..FactAnchor::default()
            },
            time: TimeAnchor { said_at: Some(said_at), ..TimeAnchor::default() },
            affect: AffectAnchor::default(),
            evidence: Evidence {
                session: "s1".into(),
                turns: TurnSpan::new(id as u32 * 2, id as u32 * 2 + 1),
                quotes: vec![],
            },
            status: UnitStatus::Complete,
            provenance: Provenance::default(),
            lifecycle: Lifecycle::default(),
        }
    }

    /// Which session a test's newer unit is from.
    #[derive(Clone, Copy, PartialEq)]
    enum Said {
        SameDay,
        Later,
    }

    fn newer(claim: &str, person: &str, said: Said) -> Unit {
        let mut unit = unit(2, claim, person);
        if said == Said::Later {
            unit.evidence.session = "s2".into();
            unit.time.said_at = Some(date(2024, 4, 20).at(12, 0, 0, 0));
        }
        unit
    }

    fn label(newer: &Unit, older: &Unit, similarity: f32) -> Option<Relation> {
        RuleClassifier::default().label(newer, Neighbour { unit: older, similarity })
    }

    fn check(older: &str, new: &str, said: Said, similarity: f32, expect: Option<Relation>) {
        let found = label(&newer(new, "Ines", said), &unit(1, older, "Ines"), similarity);
        assert_eq!(found, expect, "`{older}` then `{new}`");
    }

    #[test]
    fn update() {
        let yes = Some(Relation::Update);
        check("Ines lives in Porto.", "Ines moved to Braga and lives in a flat.", Said::Later, 0.6, yes);
        check("Ines lives in Porto.", "Ines lives in Braga.", Said::Later, 0.7, yes);
        check("Ines works as a baker.", "Ines works as a welder.", Said::Later, 0.7, yes);
        check(
            "Ines lives in Porto with her aunt.",
            "Ines lives in Braga with her aunt.",
            Said::Later,
            0.8,
            yes,
        );
        check("Ines smokes two packs a day.", "Ines no longer smokes.", Said::Later, 0.6, yes);
        check("Ines weighs 80 kilos.", "Ines weighs 74 kilos.", Said::Later, 0.9, yes);
        check(
            "Ines plays the cello in an orchestra.",
            "Ines stopped playing the cello.",
            Said::SameDay,
            0.7,
            yes,
        );
        check("Ines hates her morning runs.", "Ines loves her morning runs now.", Said::SameDay, 0.8, yes);
        check(
            "Ines can sleep through the night.",
            "Ines can't sleep through the night.",
            Said::Later,
            0.8,
            yes,
        );
    }

    #[test]
    fn contradiction() {
        let yes = Some(Relation::Contradiction);
        check("Ines has two brothers.", "Ines has three brothers.", Said::SameDay, 0.9, yes);
        check("Ines eats meat on weekdays.", "Ines never eats meat on weekdays.", Said::SameDay, 0.8, yes);
        check("Ines likes crowded beaches.", "Ines hates crowded beaches.", Said::SameDay, 0.8, yes);
        check(
            "Ines always locks the garden gate.",
            "Ines rarely locks the garden gate.",
            Said::SameDay,
            0.8,
            yes,
        );
        check("Ines works as a baker in town.", "Ines works as a welder in town.", Said::SameDay, 0.8, None);
        check("Ines lives in Porto.", "Ines lives in Braga.", Said::SameDay, 0.7, yes);
        let mut other = newer("Tomas says Ines didn't pay the garage bill.", "Tomas", Said::SameDay);
        other.fact.participants.push("Ines".to_owned());
        assert_eq!(label(&other, &unit(1, "Ines paid the garage bill.", "Ines"), 0.8), yes, "two speakers");
    }

    fn plan(claim: &str) -> Unit {
        let mut plan = unit(1, claim, "Ines");
        plan.fact.situation = SituationType::HomeworkOrPlan;
        plan.status = UnitStatus::Pending;
        plan.time.orientation = TimeOrientation::Future;
        plan
    }

    #[test]
    fn follow_up() {
        let check = |older: &str, new: &str, similarity: f32, expect: Option<Relation>| {
            let mut new_unit = newer(new, "Ines", Said::Later);
            new_unit.fact.situation = SituationType::Event;
            assert_eq!(label(&new_unit, &plan(older), similarity), expect, "`{older}` then `{new}`");
        };
        let yes = Some(Relation::FollowUp);
        check("Ines will run a half marathon.", "Ines finished the half marathon.", 0.8, yes);
        check("Ines wants to write to her landlord.", "Ines didn't write to the landlord.", 0.7, yes);
        check("Ines has a job interview on Friday.", "How did the interview go?", 0.55, yes);
        check(
            "Ines plans to try a breathing exercise.",
            "Ines tried the breathing exercise twice.",
            0.8,
            yes,
        );
        check("Ines will visit her cousin's farm.", "Ines went to the farm of her cousin.", 0.7, yes);
        check("Ines will run a half marathon.", "Ines was late for the dentist.", 0.3, None);
    }

    #[test]
    fn a_plan_told_again_is_no_follow_up() {
        let mut again = plan("Ines is going to run the half marathon in May.");
        again.id = UnitId(2);
        let found = label(&again, &plan("Ines will run a half marathon in May."), 0.9);
        assert_eq!(found, Some(Relation::SameSituation));
        let mut done = plan("Ines will run a half marathon.");
        done.time.completion = Completion::Completed;
        let mut report = newer("Ines finished a half marathon.", "Ines", Said::Later);
        report.fact.situation = SituationType::Event;
        assert_ne!(label(&report, &done, 0.8), Some(Relation::FollowUp), "the plan is carried out already");
    }

    #[test]
    fn support() {
        let check = |older: &str, emotion: &str, new: &str, giver: &str, expect: Option<Relation>| {
            let mut feeling = unit(1, older, "Ines");
            feeling.affect.emotions =
                Some(emotion.to_owned()).filter(|e| !e.is_empty()).into_iter().collect();
            let mut help = newer(new, giver, Said::SameDay);
            help.fact.situation = SituationType::SupportInteraction;
            help.fact.participants.push("Ines".to_owned());
            assert_eq!(label(&help, &feeling, 0.3), expect, "`{older}` then `{new}`");
        };
        let yes = Some(Relation::Support);
        check(
            "Ines is afraid of the exam.",
            "fear",
            "Tomas suggests short breaks while learning.",
            "Tomas",
            yes,
        );
        check("Ines misses her grandmother.", "sadness", "Tomas says that grief takes time.", "Tomas", yes);
        check("Ines is worn out.", "exhaustion", "Tomas offers to cook for a week.", "Tomas", yes);
        check(
            "Ines is ashamed of the mistake.",
            "shame",
            "Tomas reminds Ines that everybody errs.",
            "Tomas",
            yes,
        );
        check("Ines painted the fence.", "", "Tomas says that grief takes time.", "Tomas", None);
        check("Ines is worn out.", "exhaustion", "Ines takes a bath to calm down.", "Ines", None);
    }

    #[test]
    fn support_is_near_or_about_the_same() {
        let mut feeling = unit(1, "Ines is afraid of the oral exam.", "Ines");
        feeling.affect.emotions = vec!["fear".to_owned()];
        let mut help = newer("Tomas offers to cook for a week.", "Tomas", Said::Later);
        help.fact.situation = SituationType::SupportInteraction;
        help.fact.participants.push("Ines".to_owned());
        assert_eq!(label(&help, &feeling, 0.2), None);
        help.fact.claim = "Tomas offers to rehearse the oral exam.".to_owned();
        assert_eq!(label(&help, &feeling, 0.6), Some(Relation::Support));
    }

    #[test]
    fn same_situation() {
        let yes = Some(Relation::SameSituation);
        check(
            "Ines is renovating her kitchen.",
            "Ines is busy renovating the kitchen.",
            Said::Later,
            0.85,
            yes,
        );
        check("Ines has a sister in Faro.", "The sister of Ines is in Faro.", Said::Later, 0.8, yes);
        check("Ines lives in Porto.", "Ines lives in a flat in Porto.", Said::Later, 0.7, yes);
        check("Ines studies law.", "Ines studies law at night.", Said::Later, 0.85, yes);
        check(
            "Ines grows tomatoes on the balcony.",
            "Ines grows tomatoes on her balcony.",
            Said::SameDay,
            0.6,
            yes,
        );
    }

    #[test]
    fn events_are_the_same_at_the_same_time_only() {
        let event = |mut unit: Unit, day: i8| {
            let interval = Some(DateInterval::day(date(2024, 2, day)));
            unit.fact.situation = SituationType::Event;
            unit.time.event = Some(EventTime {
                text: String::new(),
                interval,
                granularity: Granularity::Day,
                orientation: TimeOrientation::Past,
                bound: TimeBound::Within,
            });
            unit
        };
        let older = event(unit(1, "Ines swam across the lake.", "Ines"), 3);
        let new = |day| event(newer("Ines swam over the lake.", "Ines", Said::Later), day);
        assert_eq!(label(&new(3), &older, 0.7), Some(Relation::SameSituation));
        assert_eq!(label(&new(10), &older, 0.9), None);
        let denied = |day| event(newer("Ines never swam across the lake.", "Ines", Said::Later), day);
        assert_eq!(label(&denied(3), &older, 0.8), Some(Relation::Contradiction));
        assert_eq!(label(&denied(10), &older, 0.8), None);
    }

    #[test]
    fn unrelated() {
        check("Ines has a dog.", "Ines has a headache.", Said::SameDay, 0.4, None);
        check("Ines works as a baker.", "Ines baked bread for the neighbours.", Said::Later, 0.5, None);
        check("Ines likes long walks.", "Ines hates her new boss.", Said::Later, 0.2, None);
        check("Ines has two brothers.", "Ines has three cats.", Said::SameDay, 0.6, None);
        check("Ines is tired.", "Ines isn't hungry.", Said::SameDay, 0.5, None);
        check("Ines plays the cello.", "Ines moved to Braga.", Said::Later, 0.2, None);
        check("Ines was born in Faro.", "Ines's car broke down near Faro.", Said::Later, 0.4, None);
        check("Ines bought a boat.", "Ines is reading about the sea.", Said::Later, 0.55, None);
        check("Ines walked the dog.", "Ines stopped at the bakery.", Said::SameDay, 0.4, None);
        check("Ines works as a nurse.", "Ines works at a clinic.", Said::Later, 0.6, None);
        check("Ines's favourite food is rice.", "Ines's favourite colour is red.", Said::Later, 0.6, None);
        check("Ines enjoys painting.", "Ines did not sleep well.", Said::Later, f32::NAN, None);
    }

    #[test]
    fn strangers_are_not_linked() {
        let older = unit(1, "Ines lives in Porto by the sea.", "Ines");
        let other = newer("Tomas lives in Porto by the sea.", "Tomas", Said::Later);
        assert_eq!(label(&other, &older, 0.95), None);
        let both = newer("Ines lives in Porto by the sea.", "ines", Said::Later);
        assert_eq!(label(&both, &older, 0.95), Some(Relation::SameSituation), "letter case aside");
        let mut itself = older.clone();
        itself.fact.claim.push('!');
        assert_eq!(label(&itself, &older, 1.0), None);
    }

    #[tokio::test]
    async fn one_label_per_neighbour_in_order() {
        let (a, b) = (unit(1, "Ines has two brothers.", "Ines"), unit(3, "Ines is cold.", "Ines"));
        let neighbours = [&b, &a, &b].map(|unit| Neighbour { unit, similarity: 0.7 });
        let new = newer("Ines has three brothers.", "Ines", Said::SameDay);
        let classifier: Box<dyn RelationClassifier> = Box::new(RuleClassifier::default());
        let labels = classifier.classify(&new, &neighbours).await.unwrap();
        assert_eq!(labels, [None, Some(Relation::Contradiction), None]);
        assert_eq!(classifier.classify(&new, &[]).await.unwrap(), []);
    }
}
