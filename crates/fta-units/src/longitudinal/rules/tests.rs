use fta_segment::TurnSpan;
use jiff::civil::date;

use super::*;
use crate::unit::{AffectAnchor, Evidence, FactAnchor, Lifecycle, Provenance, TimeAnchor, UnitStatus};

fn unit(id: u64, claim: &str, people: &[&str], situation: SituationType) -> Unit {
    Unit {
        id: UnitId(id),
        fact: FactAnchor {
            claim: claim.to_owned(),
            situation,
            participants: people.iter().map(|p| (*p).to_owned()).collect(),
            ..FactAnchor::default()
        },
        time: TimeAnchor {
            said_at: Some(
                date(2024, 3, 1)
                    .at(12, 0, 0, 0)
                    .checked_add(jiff::Span::new().days(i64::try_from(id).unwrap()))
                    .unwrap(),
            ),
            ..TimeAnchor::default()
        },
        affect: AffectAnchor::default(),
        evidence: Evidence {
            session: "s1".into(),
            turns: TurnSpan::new(id as u32, id as u32 + 1),
            quotes: vec![],
        },
        status: UnitStatus::Complete,
        provenance: Provenance::default(),
        lifecycle: Lifecycle::default(),
    }
}

fn state(id: u64, claim: &str) -> Unit {
    unit(id, claim, &["Ines"], SituationType::CurrentState)
}

fn update(units: &[Unit], links: &[Link]) -> Longitudinal {
    RuleUpdater.apply(&Longitudinal::default(), &"s1".into(), units, links)
}

fn link(from: u64, to: u64, relation: Relation) -> Link {
    Link { from: UnitId(from), to: UnitId(to), relation, similarity: 0.7 }
}

fn texts(longitudinal: &Longitudinal) -> Vec<&str> {
    longitudinal.profile.iter().map(|e| e.text.as_str()).collect()
}

#[test]
fn topics_of_stable_facts() {
    let check = |claim: &str, expect: &[ProfileTopic]| {
        let found = update(&[state(1, claim)], &[]);
        let topics: Vec<ProfileTopic> = found.profile.iter().map(|e| e.topic).collect();
        assert_eq!(topics, expect, "{claim}");
    };
    check("Ines works as a welder.", &[ProfileTopic::Occupation]);
    check("Ines is a music teacher.", &[ProfileTopic::Occupation]);
    check("Ines lives in Porto.", &[ProfileTopic::Place]);
    check("Ines's sister works at a bank.", &[ProfileTopic::Relationship]);
    check("Ines is married to Tomas.", &[ProfileTopic::Relationship]);
    check("Ines has two older brothers.", &[ProfileTopic::Relationship]);
    check("Ines loves rainy days.", &[ProfileTopic::Preference]);
    check("Ines prefers tea to coffee.", &[ProfileTopic::Preference]);
    check("Ines is allergic to nuts.", &[ProfileTopic::Health]);
    check("Ines has an old dog.", &[ProfileTopic::Possession]);
    check("Ines wants to learn Greek.", &[ProfileTopic::Goal]);
    check("Ines sees herself as a failure.", &[ProfileTopic::Belief]);
    check("Ines lives in Porto. She has a cat.", &[ProfileTopic::Place, ProfileTopic::Possession]);
    check("I really like rain.", &[ProfileTopic::Preference]);
    check("Ines went to the market.", &[]);
    check("Ines teaches her dog tricks like rolling over, full of love.", &[]);
    check("Ines wants to go to the cinema tonight.", &[]);
    check("Ines has a shelf of kids' books.", &[]);
    check("Does Ines like rain?", &[]);
    check("Ines used to live in Porto.", &[]);
    check("Ines no longer works at the bank.", &[]);
    check("Ines might move to Porto if she lives in peace.", &[]);
}

#[test]
fn facts_name_the_person() {
    let found = update(&[state(1, "I live in Porto and I love it.")], &[]);
    assert_eq!(found.profile[0].text, "Ines: I live in Porto and I love it.");
    assert_eq!(found.profile[0].person, "Ines");
    let nobody = unit(1, "Lives in Porto.", &[], SituationType::CurrentState);
    assert_eq!(update(&[nobody], &[]), Longitudinal::default());
}

#[test]
fn the_same_fact_is_one_entry() {
    let units = [
        state(1, "Ines works as a welder in a shipyard."),
        state(2, "Ines works as a welder."),
        state(3, "Ines works in a bakery on Sundays."),
        unit(4, "Tomas works as a welder.", &["Tomas"], SituationType::CurrentState),
    ];
    let found = update(&units, &[]);
    assert_eq!(
        texts(&found),
        ["Ines works as a welder.", "Ines works in a bakery on Sundays.", "Tomas works as a welder."]
    );
    assert_eq!(found.profile[0].units, [UnitId(1), UnitId(2)]);
    assert_eq!(found.profile[0].last_said, units[1].time.said_at);
    assert_eq!(RuleUpdater.apply(&found, &"s1".into(), &units, &[]), found, "a second time changes nothing");
}

#[test]
fn an_updated_fact_is_replaced() {
    let first = update(&[state(1, "Ines lives in Porto."), state(2, "Ines has a cat.")], &[]);
    let moved = [state(3, "Ines lives in Braga.")];
    let both = RuleUpdater.apply(&first, &"s2".into(), &moved, &[]);
    assert_eq!(both.profile.len(), 3, "without a link nothing is replaced");
    let found = RuleUpdater.apply(&first, &"s2".into(), &moved, &[link(3, 1, Relation::Update)]);
    assert_eq!(texts(&found), ["Ines lives in Braga.", "Ines has a cat."]);
    let gone = [state(3, "Ines's cat ran away.")];
    let found = RuleUpdater.apply(&first, &"s2".into(), &gone, &[link(3, 2, Relation::Update)]);
    assert_eq!(texts(&found), ["Ines lives in Porto."]);
    let same = RuleUpdater.apply(&first, &"s2".into(), &gone, &[link(3, 2, Relation::FollowUp)]);
    assert_eq!(same.profile.len(), 2, "other relations replace nothing");
}

fn help(id: u64, claim: &str) -> Unit {
    unit(id, claim, &["Tomas", "Ines"], SituationType::SupportInteraction)
}

#[test]
fn outcomes_of_support() {
    let check = |answer: &str, expect: SupportOutcome| {
        let units = [help(1, "Tomas suggests a walk before bed."), state(2, answer)];
        let found = update(&units, &[]);
        assert_eq!(found.support.len(), 1, "{answer}");
        assert_eq!(found.support[0].outcome, expect, "{answer}");
        assert_eq!(found.support[0].seeker, "Ines");
        assert_eq!(
            found.support[0].units.len(),
            1 + usize::from(expect != SupportOutcome::Unknown),
            "{answer}"
        );
    };
    check("Ines will try it tonight.", SupportOutcome::Agreed);
    check("Ines thanks Tomas for the idea.", SupportOutcome::Agreed);
    check("Ines says that walks did not help before.", SupportOutcome::DidNotHelp);
    check("Ines doesn't want to go out in the dark.", SupportOutcome::DidNotHelp);
    check("Ines feels better after talking.", SupportOutcome::Helped);
    check("Ines has an exam tomorrow.", SupportOutcome::Unknown);
    check("Ines does not agree.", SupportOutcome::Unknown);
}

#[test]
fn a_later_session_tells_how_it_went() {
    let first = update(&[help(1, "Tomas suggests a walk before bed.")], &[]);
    assert_eq!(first.support[0].outcome, SupportOutcome::Unknown);
    let check = |claim: &str, who: &str, relation: Relation, expect: SupportOutcome| {
        let units = [unit(9, claim, &[who], SituationType::Event)];
        let links = [link(9, 1, relation)];
        let found = RuleUpdater.apply(&first, &"s2".into(), &units, &links);
        assert_eq!(found.support.len(), 1);
        assert_eq!(found.support[0].outcome, expect, "{claim}");
        assert_eq!(
            RuleUpdater.apply(&found, &"s2".into(), &units, &links),
            found,
            "a second time changes nothing"
        );
    };
    check("Ines went for walks before bed.", "Ines", Relation::FollowUp, SupportOutcome::Helped);
    check("Ines tried walks, which didn't help.", "Ines", Relation::FollowUp, SupportOutcome::DidNotHelp);
    check("Tomas went for walks.", "Tomas", Relation::FollowUp, SupportOutcome::Unknown);
    check("Ines went for walks before bed.", "Ines", Relation::SameSituation, SupportOutcome::Unknown);
}

#[test]
fn support_needs_somebody_else() {
    let alone = unit(1, "Ines calms herself with tea.", &["Ines"], SituationType::SupportInteraction);
    assert_eq!(update(std::slice::from_ref(&alone), &[]).support, []);
    let with = [
        unit(1, "Tomas offers tea.", &["Tomas"], SituationType::SupportInteraction),
        state(2, "Ines is cold."),
    ];
    assert_eq!(update(&with, &[]).support[0].seeker, "Ines", "the one other person of the session");
}

#[test]
fn no_deleted_text_stays() {
    let units = [
        state(1, "Ines works as a welder in a shipyard."),
        state(2, "Ines works as a welder, her secret."),
        state(3, "Ines lives in Porto."),
        help(4, "Tomas suggests a walk."),
        state(5, "Ines will try it."),
    ];
    let all = update(&units, &[]);
    assert_eq!((all.profile.len(), all.support.len()), (2, 1));
    let gone = [UnitId(2), UnitId(5)];
    let removed = remove_units(&all, &gone);
    assert_eq!(texts(&removed), ["Ines lives in Porto."]);
    assert_eq!(removed.support, []);
    let again = RuleUpdater.reapply(&all, &gone, &units, &[]);
    assert_eq!(again, update(&[units[0].clone(), units[2].clone(), units[3].clone()], &[]));
    assert!(!format!("{again:?}").contains("secret"));
    assert_eq!(remove_units(&all, &[]), all);
    assert_eq!(RuleUpdater.reapply(&all, &[UnitId(77)], &units, &[]), all);
}

#[test]
fn wishes_of_others_and_questions_are_no_goals() {
    let check = |claim: &str| assert_eq!(update(&[state(1, claim)], &[]).profile, [], "{claim}");
    check("Ines: They want to rent out the cellar.");
    check("Ines wants to sleep on it.");
    check("Asked \"Do you want to move?\", Ines: \"No.\"");
    let known =
        update(&[state(1, "Ines joined a rowing club."), state(2, "Ines's flatmate Vera cooks.")], &[]);
    let topics: Vec<ProfileTopic> = known.profile.iter().map(|e| e.topic).collect();
    assert_eq!(topics, [ProfileTopic::Relationship, ProfileTopic::Preference]);
}

#[test]
fn an_answer_comes_first_in_what_is_said() {
    let tried = help(1, "Tomas suggests short walks after lunch.");
    let news = state(2, "Ines wrote to the agency. They refused the loan.");
    assert_eq!(update(&[tried.clone(), news], &[]).support[0].outcome, SupportOutcome::Unknown);
    let refused = state(2, "Ines refused. It is too cold for her.");
    assert_eq!(update(&[tried, refused], &[]).support[0].outcome, SupportOutcome::DidNotHelp);
    assert_eq!(update(&[help(1, "Tomas can imagine.")], &[]).support, [], "nothing is tried");
}
