use fta_segment::TurnSpan;
use jiff::civil::date;

use super::*;
use crate::{
    time::{DateInterval, EventTime, Granularity, TimeBound},
    unit::{
        AffectAnchor, Completion, Evidence, FactAnchor, Lifecycle, Provenance, SituationType, TimeAnchor,
        TimeOrientation, UnitId, UnitStatus,
    },
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
    check("Ines lives in Porto with her aunt.", "Ines lives in Braga with her aunt.", Said::Later, 0.8, yes);
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
    check("Ines can sleep through the night.", "Ines can't sleep through the night.", Said::Later, 0.8, yes);
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
    check("Ines plans to try a breathing exercise.", "Ines tried the breathing exercise twice.", 0.8, yes);
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
        feeling.affect.emotions = Some(emotion.to_owned()).filter(|e| !e.is_empty()).into_iter().collect();
        let mut help = newer(new, giver, Said::SameDay);
        help.fact.situation = SituationType::SupportInteraction;
        help.fact.participants.push("Ines".to_owned());
        assert_eq!(label(&help, &feeling, 0.3), expect, "`{older}` then `{new}`");
    };
    let yes = Some(Relation::Support);
    check("Ines is afraid of the exam.", "fear", "Tomas suggests short breaks while learning.", "Tomas", yes);
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
    check("Ines is renovating her kitchen.", "Ines is busy renovating the kitchen.", Said::Later, 0.85, yes);
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
    check(
        "Ines cheers Tomas on to keep rowing.",
        "Ines cheers Tomas on to keep rowing, not to give up.",
        Said::Later,
        0.5,
        None,
    );
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

fn at(mut unit: Unit, first: jiff::civil::Date, last: jiff::civil::Date) -> Unit {
    unit.time.event = Some(EventTime {
        text: String::new(),
        interval: Some(DateInterval::new(first, last)),
        granularity: Granularity::Day,
        orientation: TimeOrientation::Past,
        bound: TimeBound::Within,
    });
    unit
}

fn report(claim: &str) -> Unit {
    let mut report = newer(claim, "Ines", Said::Later);
    report.fact.situation = SituationType::Event;
    report.time.orientation = TimeOrientation::Past;
    report
}

#[test]
fn a_report_at_the_planned_time_follows_up() {
    let (first, last) = (date(2024, 3, 9), date(2024, 3, 9));
    let mut older = at(plan("Ines is going to ask the landlord for a new stove."), first, last);
    older.fact.mentioned = vec!["Ines's landlord".to_owned()];
    let told = |claim: &str, day| label(&at(report(claim), day, day), &older, 0.5);
    assert_eq!(told("Ines talked to the landlord about her kitchen floor.", first), Some(Relation::FollowUp));
    assert_eq!(told("Ines talked to the landlord about her kitchen floor.", date(2024, 3, 20)), None);
    assert_eq!(
        told("Ines asked the landlord for a new stove.", date(2024, 2, 2)),
        None,
        "before it was planned"
    );
}

#[test]
fn a_question_about_a_plan_follows_up() {
    let mut answer = report("Asked \"How was the regatta?\", Ines: \"Windy. We came in last.\"");
    answer.time.orientation = TimeOrientation::Past;
    let older = plan("Ines is going to row in the regatta in May.");
    assert_eq!(label(&answer, &older, 0.6), Some(Relation::FollowUp));
    answer.fact.claim = "Asked \"How long have you been rowing?\", Ines: \"Since school.\"".to_owned();
    assert_eq!(label(&answer, &older, 0.6), None);
}

#[test]
fn taken_advice_is_followed_up() {
    let mut advice = unit(1, "Tomas: A pottery class would be a good idea.", "Tomas");
    advice.fact.situation = SituationType::SupportInteraction;
    advice.fact.participants.push("Ines".to_owned());
    let mut done = report("Ines joined a pottery class two weeks ago.");
    done.fact.participants.push("Tomas".to_owned());
    assert_eq!(label(&done, &advice, 0.6), Some(Relation::FollowUp));
    done.fact.claim = "Ines repaired the garden fence.".to_owned();
    assert_eq!(label(&done, &advice, 0.6), None);
}

#[test]
fn comfort_without_its_own_kind_is_support() {
    let mut feeling = unit(1, "Ines felt ashamed and cried.", "Ines");
    feeling.affect.emotions = vec!["shame".to_owned()];
    let mut comfort = newer("Tomas: That sounds really painful.", "Tomas", Said::SameDay);
    comfort.fact.situation = SituationType::GeneralFact;
    assert_eq!(label(&comfort, &feeling, 0.3), Some(Relation::Support));
    comfort.fact.claim = "Tomas: It rains in Faro.".to_owned();
    assert_eq!(label(&comfort, &feeling, 0.3), None);
    comfort.fact.claim = "Tomas: That sounds really good.".to_owned();
    feeling.affect.emotions = vec!["joy".to_owned()];
    assert_eq!(label(&comfort, &feeling, 0.3), None, "joy needs no comfort");
}

#[test]
fn a_broken_vow_is_a_contradiction() {
    let mut vow = unit(1, "But Ines would never quit. Sewing is all that Ines is good at.", "Ines");
    vow.fact.situation = SituationType::Event;
    let quit = report("Ines did something bold. Ines handed in Ines's notice yesterday.");
    assert_eq!(label(&quit, &vow, 0.5), Some(Relation::Contradiction));
    assert_eq!(label(&report("Ines handed in the tax form."), &vow, 0.5), None);
    vow.fact.claim = "Ines works as a tailor in Faro.".to_owned();
    assert_eq!(label(&quit, &vow, 0.5), Some(Relation::Update), "a job given up");
}

#[test]
fn a_decision_reversed_is_an_update() {
    let mut older = plan("Ines: I'm not going to the reunion.");
    older.affect.intention = Some("going to the reunion".to_owned());
    let mut reversed = report("Ines changed Ines's mind. Ines is going to go after all.");
    reversed.affect.intention = Some("going to go after all".to_owned());
    reversed.time.orientation = TimeOrientation::Mixed;
    assert_eq!(label(&reversed, &older, 0.6), Some(Relation::Update));
    older.fact.claim = "Ines is going to paint the boat.".to_owned();
    assert_ne!(label(&reversed, &older, 0.6), Some(Relation::Update), "not the opposite");
}

#[test]
fn sentences_are_compared_and_not_whole_claims() {
    let mut older = unit(1, "Ines had a row with Ines's uncle Paulo. He wants to sell the old mill.", "Ines");
    older.fact.situation = SituationType::RelationshipEvent;
    let new = report(
        "Asked \"Did he write?\", Ines: \"Yes, on Monday. He doesn't want to sell the mill anymore.\"",
    );
    assert_eq!(label(&new, &older, 0.6), Some(Relation::Update));
    let few = unit(1, "Ines: Worn out. Ines sleeps five hours a night at the moment.", "Ines");
    let more = newer("Ines: Eight hours, most nights. Ines is glad.", "Ines", Said::Later);
    assert_eq!(label(&more, &few, 0.6), Some(Relation::Update));
}

#[test]
fn an_event_taken_as_known_is_the_same() {
    let mut older = unit(1, "Ines had a bad fight with Paulo last week.", "Ines");
    older.fact.mentioned = vec!["Paulo".to_owned()];
    let mut again = report("Ines keeps dreaming of Paulo. He has been silent since the fight.");
    again.fact.mentioned = vec!["Paulo".to_owned()];
    assert_eq!(label(&again, &older, 0.6), Some(Relation::SameSituation));
    again.fact.claim = "Ines had a fight with Paulo.".to_owned();
    again.time.orientation = TimeOrientation::Past;
    assert_eq!(label(&again, &older, 0.5), None, "another fight");
}

#[test]
fn pictures_and_platitudes_are_no_topic() {
    let picture = "[shares a picture: a photo of people around a table]";
    let check = |a: &str, b: &str| check(a, b, Said::Later, 0.85, None);
    check(&format!("Ines: Enjoy the trip. {picture}"), &format!("Ines likes the new library. {picture}"));
    check("Ines: That makes a difference.", "Ines: Keep making a difference.");
}

#[tokio::test]
async fn comfort_answers_what_was_said_last() {
    let mut feelings = [unit(1, "Ines is sad.", "Ines"), unit(2, "Ines is afraid.", "Ines")];
    for (feeling, emotion) in feelings.iter_mut().zip(["sadness", "fear"]) {
        feeling.affect.emotions = vec![emotion.to_owned()];
        feeling.evidence.turns = TurnSpan::new(feeling.id.0 as u32, feeling.id.0 as u32 + 1);
    }
    let mut comfort = unit(3, "Tomas: That must be hard.", "Tomas");
    comfort.evidence.turns = TurnSpan::new(3, 4);
    let neighbours = [&feelings[0], &feelings[1]].map(|unit| Neighbour { unit, similarity: 0.5 });
    let labels = RuleClassifier::default().classify(&comfort, &neighbours).await.unwrap();
    assert_eq!(labels, [None, Some(Relation::Support)]);
}

#[test]
fn a_denied_change_is_none() {
    let learns = "Ines is learning the oboe and practises.";
    check(learns, "Ines will never quit learning the oboe.", Said::Later, 0.85, None);
    let hard = "Ines: It's hard to run a bakery when nobody helps.";
    let same = Some(Relation::SameSituation);
    check(hard, "Ines: To run a bakery isn't easy.", Said::Later, 0.85, same);
}

#[test]
fn common_ground_is_no_report() {
    let older = plan("Ines is going to a bakery contest with her sourdough bread next month.");
    let new = report("Ines opened a bakery with bread for the whole quarter after losing her old job.");
    assert_eq!(label(&new, &older, 0.75), None);
}
