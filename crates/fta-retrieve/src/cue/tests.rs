use fta_segment::TurnSpan;
use fta_units::{Evidence, TimeOrientation, UnitId};
use jiff::civil::date;
use proptest::prelude::*;

use super::*;

fn unit(claim: &str, participants: &[&str]) -> Unit {
    Unit {
        id: UnitId(1),
        fact: fta_units::FactAnchor {
            claim: claim.to_owned(),
            participants: participants.iter().map(|p| (*p).to_owned()).collect(),
            ..Default::default()
        },
        time: fta_units::TimeAnchor::default(),
        affect: fta_units::AffectAnchor::default(),
        evidence: Evidence { session: "s1".into(), turns: TurnSpan::new(0, 1), quotes: Vec::new() },
        status: fta_units::UnitStatus::Complete,
        provenance: fta_units::Provenance::default(),
        lifecycle: fta_units::Lifecycle::default(),
    }
}

fn month(year: i16, month: i8) -> EventTime {
    let first = date(year, month, 1);
    EventTime {
        text: "month".to_owned(),
        interval: Some(DateInterval::new(first, first.last_of_month())),
        granularity: Granularity::Month,
        orientation: TimeOrientation::Past,
        bound: TimeBound::Within,
    }
}

#[test]
fn nothing_asked_nothing_scored() {
    assert_eq!(cue_score(&Query::default(), &unit("Ida swims", &["Ida"])), CueScore::default());
}

#[test]
fn event_time_beats_dialogue_time() {
    let query = Query { times: vec![month(2021, 5)], ..Default::default() };
    let mut in_event = unit("Ida moved", &["Ida"]);
    in_event.time.event = Some(month(2021, 5));
    let mut in_said = unit("Ida moved", &["Ida"]);
    in_said.time.said_at = Some(date(2021, 5, 9).at(9, 0, 0, 0));
    let mut near = unit("Ida moved", &["Ida"]);
    near.time.event = Some(month(2021, 6));
    let mut far = unit("Ida moved", &["Ida"]);
    far.time.event = Some(month(2023, 6));
    let time = |u: &Unit| cue_score(&query, u).time.expect("time is asked");
    assert!((time(&in_event) - 1.0).abs() < 1e-6);
    assert!((time(&in_said) - SAID_WEIGHT).abs() < 1e-6);
    assert!(time(&near) > 0.8 && time(&near) < 1.0);
    assert!(time(&far) < 0.01);
    assert!(time(&unit("x", &[])) < 1e-6);
}

#[test]
fn bounds_reach_to_one_side() {
    let mut since = month(2020, 1);
    since.bound = TimeBound::Since;
    let mut holds = unit("Ida works here", &["Ida"]);
    holds.time.event = Some(since.clone());
    holds.time.said_at = Some(date(2022, 3, 1).at(9, 0, 0, 0));
    let inside = Query { times: vec![month(2021, 5)], ..Default::default() };
    assert_eq!(cue_score(&inside, &holds).time, Some(1.0));
    let asked_since = Query { times: vec![since], ..Default::default() };
    let mut later = unit("Ida left", &["Ida"]);
    later.time.event = Some(month(2023, 1));
    assert_eq!(cue_score(&asked_since, &later).time, Some(1.0));
}

#[test]
fn time_questions_prefer_dated_units() {
    let query = Query { answer: AnswerType::When, ..Default::default() };
    let mut dated = unit("Ida moved", &["Ida"]);
    dated.time.event = Some(month(2021, 5));
    let mut said = unit("Ida moved", &["Ida"]);
    said.time.said_at = Some(date(2021, 5, 9).at(9, 0, 0, 0));
    let time = |u: &Unit| cue_score(&query, u).time.expect("a time is wanted");
    assert!(time(&dated) > time(&said) && time(&said) > time(&unit("x", &[])));
}

#[test]
fn situations_have_neighbours() {
    let asked = [SituationType::HomeworkOrPlan];
    assert_eq!(situation_cue(&asked, SituationType::HomeworkOrPlan), Some(1.0));
    assert_eq!(situation_cue(&asked, SituationType::SupportInteraction), Some(0.5));
    assert_eq!(situation_cue(&asked, SituationType::RiskSignal), Some(0.0));
    assert_eq!(situation_cue(&[], SituationType::Event), None);
}

#[test]
fn the_person_a_unit_is_about_counts_most() {
    let query = Query { speakers: vec!["Ida".to_owned()], ..Default::default() };
    let score = |u: &Unit| cue_score(&query, u).participants.expect("a speaker is named");
    let lead = score(&unit("Ida swims", &["Ida"]));
    let second = score(&unit("Olaf swims with Ida", &["Olaf", "Ida"]));
    let named = score(&unit("Olaf praises Ida", &["Olaf"]));
    let absent = score(&unit("Olaf swims", &["Olaf"]));
    assert!(lead > second && second > named && named > absent && absent == 0.0);
    let entity = Query { entities: vec!["Blue Hour".to_owned()], ..Default::default() };
    assert_eq!(cue_score(&entity, &unit("Olaf saw Blue Hour", &["Olaf"])).participants, Some(1.0));
}

#[test]
fn affect_follows_the_emotions_named() {
    let mut sad = unit("Ida is sad", &["Ida"]);
    sad.affect.emotions = vec!["sadness".to_owned()];
    let named = Query { emotions: vec!["sadness".to_owned(), "anger".to_owned()], ..Default::default() };
    assert_eq!(cue_score(&named, &sad).affect, Some(0.5));
    let feeling = Query { answer: AnswerType::Feeling, ..Default::default() };
    assert_eq!(cue_score(&feeling, &sad).affect, Some(1.0));
    assert_eq!(cue_score(&feeling, &unit("x", &[])).affect, Some(0.0));
}

fn any_time() -> impl Strategy<Value = EventTime> {
    let granularity = prop::sample::select(vec![
        Granularity::Day,
        Granularity::Week,
        Granularity::Month,
        Granularity::Years,
    ]);
    let bound =
        prop::sample::select(vec![TimeBound::Within, TimeBound::Since, TimeBound::Until, TimeBound::After]);
    (prop::option::of((1_i16..9999, 1_i8..=12, 1_i16..9999)), granularity, bound).prop_map(
        |(days, granularity, bound)| EventTime {
            text: String::new(),
            interval: days.map(|(a, m, b)| DateInterval::new(date(a, m, 1), date(b, m, 2))),
            granularity,
            orientation: TimeOrientation::Unknown,
            bound,
        },
    )
}

proptest! {
    #[test]
    fn cues_lie_in_range_and_are_none_when_not_asked(
        asked in prop::collection::vec(any_time(), 0..3),
        event in prop::option::of(any_time()),
        mentions in prop::collection::vec(any_time(), 0..3),
        names in prop::collection::vec("[A-Za-z ]{0,6}", 0..3),
        emotions in prop::collection::vec("[a-c]", 0..3),
        claim in "\\PC{0,30}",
    ) {
        let mut u = unit(&claim, &["Ida"]);
        u.time.event = event;
        u.time.mentions = mentions;
        u.time.said_at = Some(date(2020, 2, 3).at(1, 0, 0, 0));
        u.affect.emotions = vec!["a".to_owned()];
        let query = Query { times: asked, speakers: names.clone(), entities: names, emotions, ..Default::default() };
        let cues = cue_score(&query, &u);
        for cue in [cues.time, cues.situation, cues.participants, cues.affect].into_iter().flatten() {
            prop_assert!((0.0..=1.0).contains(&cue), "{cue}");
        }
        prop_assert_eq!(cues.time.is_some(), query.times.iter().any(|t| t.interval.is_some()));
        prop_assert_eq!(cues.participants.is_some(), !query.speakers.is_empty());
        prop_assert_eq!(cues.affect.is_some(), !query.emotions.is_empty());
        prop_assert_eq!(cues.situation, None);
    }
}
