//! What a link does to the older unit: its validity ends, a plan is carried out (Eq. 6, spec section 9.7).

use jiff::civil::{Date, DateTime};

use crate::{
    text::{Reading, same_name, sentences},
    unit::{Completion, Lifecycle, Relation, SituationType, TimeOrientation, Unit, UnitStatus},
};

/// The fields of an older unit that a link changes; `None` leaves a field as it is.
///
/// Claim, times, affect and evidence are never changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OlderUnitChange {
    /// New status.
    pub status: Option<UnitStatus>,
    /// New completion.
    pub completion: Option<Completion>,
    /// New lifecycle.
    pub lifecycle: Option<Lifecycle>,
}

impl OlderUnitChange {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Makes the change; returns whether the unit is another than before.
    pub fn apply(self, unit: &mut Unit) -> bool {
        let before = (unit.status, unit.time.completion, unit.lifecycle.clone());
        unit.status = self.status.unwrap_or(unit.status);
        unit.time.completion = self.completion.unwrap_or(unit.time.completion);
        unit.lifecycle = self.lifecycle.unwrap_or_else(|| unit.lifecycle.clone());
        before != (unit.status, unit.time.completion, unit.lifecycle.clone())
    }
}

/// What the link `unit -> older` changes in `older`.
///
/// A follow-up that reports on a plan completes it, one that calls it off cancels it, one that only asks changes
/// nothing. Update and contradiction: see [`lifecycle`].
pub fn effect(unit: &Unit, older: &Unit, relation: Relation) -> OlderUnitChange {
    match relation {
        Relation::FollowUp => follow_up(unit, older),
        _ => OlderUnitChange { lifecycle: lifecycle(unit, older, relation), ..OlderUnitChange::default() },
    }
}

/// Validity of `older` once the link `unit -> older` is known; `None` if it does not change.
///
/// An update closes it on the first day on which `unit` holds, and names `unit` as successor. A contradiction does so
/// only if the same person says so later about the same person: of two people, neither overrules the other. A unit
/// that has a successor keeps it.
/// # Source
/// Spec section 9.7.
pub fn lifecycle(unit: &Unit, older: &Unit, relation: Relation) -> Option<Lifecycle> {
    let closes = match relation {
        Relation::Update => true,
        Relation::Contradiction => same_subject(unit, older) && is_later(unit, older),
        Relation::SameSituation | Relation::FollowUp | Relation::Support => false,
    };
    if !closes || older.lifecycle.superseded_by.is_some() || unit.id == older.id {
        return None;
    }
    let end = first_day(unit).map(|day| older.lifecycle.valid_from.map_or(day, |from| day.max(from)));
    Some(Lifecycle {
        valid_from: older.lifecycle.valid_from,
        valid_until: older.lifecycle.valid_until.or(end),
        superseded_by: Some(unit.id),
    })
}

fn first_day(unit: &Unit) -> Option<Date> {
    unit.lifecycle.valid_from.or_else(|| unit.time.said_at.map(DateTime::date))
}

fn follow_up(unit: &Unit, older: &Unit) -> OlderUnitChange {
    let words = Reading::new(&unit.fact.claim, []);
    if !is_open(older) || words.asks {
        return OlderUnitChange::default();
    }
    let called_off =
        words.has_any(&["cancelled", "canceled", "called off", "decided not", "decided against", "gave up"])
            || (unit.time.orientation == TimeOrientation::Past && denies_plan(unit, older));
    let completion = match unit.time.completion {
        _ if called_off => Completion::Cancelled,
        Completion::Completed | Completion::Cancelled => unit.time.completion,
        _ if unit.time.orientation == TimeOrientation::Past => Completion::Completed,
        _ => return OlderUnitChange::default(),
    };
    OlderUnitChange {
        status: (older.status == UnitStatus::Pending).then_some(UnitStatus::Complete),
        completion: Some(completion).filter(|c| *c != older.time.completion),
        lifecycle: None,
    }
}

/// Whether a sentence of `unit` denies something that the plan `older` is about.
fn denies_plan(unit: &Unit, older: &Unit) -> bool {
    let plan = Reading::new(&older.fact.claim, older.fact.participants.iter().map(String::as_str));
    sentences(&unit.fact.claim).any(|sentence| {
        let sentence = Reading::new(sentence, []);
        sentence.negated && !sentence.denied.is_disjoint(&plan.content)
    })
}

/// Whether a report on the unit can still come: an open plan, task or future event.
pub fn is_open(unit: &Unit) -> bool {
    !matches!(unit.time.completion, Completion::Completed | Completion::Cancelled)
        && (unit.status == UnitStatus::Pending
            || unit.time.completion == Completion::Planned
            || unit.fact.situation == SituationType::HomeworkOrPlan
            || unit.time.orientation == TimeOrientation::Future)
}

/// Whether both are first of all about the same person.
pub(super) fn same_subject(a: &Unit, b: &Unit) -> bool {
    matches!((a.fact.participants.first(), b.fact.participants.first()), (Some(a), Some(b)) if same_name(a, b))
}

fn is_later(unit: &Unit, older: &Unit) -> bool {
    match (unit.time.said_at, older.time.said_at) {
        (Some(new), Some(old)) if new != old => new > old,
        _ if unit.evidence.session == older.evidence.session => {
            unit.evidence.turns.start > older.evidence.turns.start
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::{super::rules::tests::unit, *};

    #[test]
    fn an_update_closes_the_older_unit() {
        let older = unit(1, "Ines lives in Porto.", "Ines");
        let mut newer = unit(2, "Ines moved to Braga.", "Ines");
        newer.time.said_at = Some(date(2024, 5, 2).at(9, 0, 0, 0));
        let closed = lifecycle(&newer, &older, Relation::Update).unwrap();
        assert_eq!(closed.valid_until, Some(date(2024, 5, 2)));
        assert_eq!(closed.superseded_by, Some(newer.id));
        newer.lifecycle.valid_from = Some(date(2024, 4, 28));
        assert_eq!(lifecycle(&newer, &older, Relation::Update).unwrap().valid_until, Some(date(2024, 4, 28)));
        let mut changed = older.clone();
        assert!(effect(&newer, &older, Relation::Update).apply(&mut changed));
        assert_eq!((&changed.fact, &changed.evidence), (&older.fact, &older.evidence));
        assert_eq!(lifecycle(&newer, &changed, Relation::Update), None, "the first successor stays");
    }

    #[test]
    fn an_end_never_precedes_the_start() {
        let mut older = unit(1, "Ines lives in Porto.", "Ines");
        older.lifecycle.valid_from = Some(date(2024, 6, 1));
        let mut newer = unit(2, "Ines lives in Braga now.", "Ines");
        newer.lifecycle.valid_from = Some(date(2024, 1, 1));
        assert_eq!(lifecycle(&newer, &older, Relation::Update).unwrap().valid_until, Some(date(2024, 6, 1)));
    }

    #[test]
    fn only_the_person_themselves_can_contradict_for_good() {
        let older = unit(1, "Ines has two brothers.", "Ines");
        let mut newer = unit(2, "Ines has three brothers.", "Ines");
        assert!(lifecycle(&newer, &older, Relation::Contradiction).is_some(), "later in the session");
        newer.evidence.turns = older.evidence.turns;
        assert_eq!(lifecycle(&newer, &older, Relation::Contradiction), None, "said at the same time");
        newer.time.said_at = Some(date(2024, 5, 2).at(9, 0, 0, 0));
        assert!(lifecycle(&newer, &older, Relation::Contradiction).is_some());
        newer.fact.participants = vec!["Tomas".to_owned(), "Ines".to_owned()];
        assert_eq!(lifecycle(&newer, &older, Relation::Contradiction), None, "said of somebody else");
        assert_eq!(lifecycle(&newer, &older, Relation::Support), None);
    }

    #[test]
    fn a_report_settles_a_plan() {
        let check = |claim: &str, expect: Option<Completion>| {
            let mut older = unit(1, "Ines will run the race.", "Ines");
            older.status = UnitStatus::Pending;
            older.time.completion = Completion::Planned;
            let mut newer = unit(2, claim, "Ines");
            newer.time.orientation = TimeOrientation::Past;
            let change = effect(&newer, &older, Relation::FollowUp);
            assert_eq!(change.completion, expect, "{claim}");
            assert_eq!(change.status, expect.map(|_| UnitStatus::Complete), "{claim}");
            assert_eq!(change.lifecycle, None);
        };
        check("Ines ran the race.", Some(Completion::Completed));
        check("Ines called off the race.", Some(Completion::Cancelled));
        check("Ines didn't run the race.", Some(Completion::Cancelled));
        check("How did the race go?", None);
        check("Ines ran the race. She wasn't tired at all.", Some(Completion::Completed));
    }
}
