use fta_llm::{ModelError, ScriptedModel};
use jiff::civil::date;

use super::*;
use crate::{
    llm::fixture::unit,
    longitudinal::{ProfileEntry, ProfileTopic, SupportEntry, SupportOutcome},
};

fn updater(model: &Arc<ScriptedModel>, config: LlmUpdaterConfig) -> LlmUpdater {
    LlmUpdater::new(model.clone(), &PromptSource::builtin(), config).unwrap()
}

fn session() -> SessionId {
    SessionId::from("s")
}

/// The session's units, which are shown as 1, 2 and 3.
fn units() -> Vec<Unit> {
    let mut advice = unit(12, "Iris advised Paul to do his exercises in the morning; he will try.");
    advice.fact.situation = SituationType::SupportInteraction;
    advice.fact.participants.push("Iris".to_owned());
    vec![
        unit(11, "Paul left the bakery and now drives a tram."),
        advice,
        unit(13, "The breathing let Paul sleep."),
    ]
}

fn memory() -> Longitudinal {
    let profile = |topic, text: &str, id| ProfileEntry {
        person: "Paul".to_owned(),
        topic,
        text: text.to_owned(),
        units: vec![UnitId(id)],
        last_said: Some(date(2024, 3, 2).at(9, 0, 0, 0)),
    };
    Longitudinal {
        profile: vec![
            profile(ProfileTopic::Occupation, "Paul works in a bakery.", 1),
            profile(ProfileTopic::Possession, "Paul has a parrot.", 2),
        ],
        support: vec![SupportEntry {
            session: SessionId::from("r"),
            seeker: "Paul".to_owned(),
            attempt: "Iris showed him a breathing exercise.".to_owned(),
            outcome: SupportOutcome::Agreed,
            units: vec![UnitId(3)],
            said_at: None,
        }],
    }
}

async fn update(current: &Longitudinal, reply: &str) -> Longitudinal {
    let model = Arc::new(ScriptedModel::new("m").reply(BOTH.0, reply));
    updater(&model, LlmUpdaterConfig::default()).update(current, &session(), &units(), &[]).await.unwrap()
}

const GOOD: &str = r#"{"profile":[{"op":"replace","entry":1,"person":"Paul","topic":"occupation","text":"Paul drives a tram.","units":[1]}],
"support":[{"op":"add","entry":null,"seeker":"paul","attempt":"Iris advised exercises in the morning.","outcome":"agreed","units":[2]},
{"op":"replace","entry":1,"seeker":"Paul","attempt":"","outcome":"helped","units":[3]}]}"#;

#[tokio::test]
async fn changes_are_applied_and_name_their_units() {
    let after = update(&memory(), GOOD).await;
    let job = &after.profile[0];
    assert_eq!((job.text.as_str(), &*job.units), ("Paul drives a tram.", &[UnitId(1), UnitId(11)][..]));
    assert_eq!(job.last_said, Some(date(2024, 5, 8).at(10, 0, 0, 0)));
    assert_eq!(after.support.len(), 2);
    assert_eq!(after.support[0].outcome, SupportOutcome::Helped);
    assert_eq!(after.support[0].units, [UnitId(3), UnitId(13)]);
    let advice = &after.support[1];
    assert_eq!((advice.seeker.as_str(), &advice.session), ("Paul", &session()));
    assert_eq!((advice.outcome, &*advice.units), (SupportOutcome::Agreed, &[UnitId(12)][..]));
}

#[tokio::test]
async fn the_same_session_again_changes_nothing() {
    let after = update(&memory(), GOOD).await;
    assert_eq!(update(&after, GOOD).await, after);
    assert_eq!(update(&after, r#"{"profile":[],"support":[]}"#).await, after);
}

/// A change to `U` that must come to nothing.
async fn check_refused(change: &str) {
    let reply = format!(r#"{{"profile":[{change}],"support":[]}}"#);
    assert_eq!(update(&memory(), &reply).await, memory(), "{change}");
}

#[tokio::test]
async fn what_units_do_not_bear_out_is_dropped() {
    for change in [
        // Units that were not shown, or none.
        r#"{"op":"add","entry":null,"person":"Paul","topic":"place","text":"Paul drives a tram.","units":[9]}"#,
        r#"{"op":"add","entry":null,"person":"Paul","topic":"place","text":"Paul drives a tram.","units":[1,0]}"#,
        r#"{"op":"add","entry":null,"person":"Paul","topic":"place","text":"Paul drives a tram.","units":[]}"#,
        // Nothing that the unit says, nobody whom it is about, nothing at all.
        r#"{"op":"add","entry":null,"person":"Paul","topic":"place","text":"Paul lives in Oslo.","units":[1]}"#,
        r#"{"op":"add","entry":null,"person":"Vera","topic":"place","text":"Vera drives a tram.","units":[1]}"#,
        r#"{"op":"add","entry":null,"person":"Paul","topic":"place","text":"unknown","units":[1]}"#,
        // Entries that were not shown.
        r#"{"op":"replace","entry":7,"person":"Paul","topic":"place","text":"Paul drives a tram.","units":[1]}"#,
        // An order to forget that no unit bears out.
        r#"{"op":"remove","entry":2,"person":"Paul","topic":"possession","text":"","units":[1]}"#,
        r#"{"op":"remove","entry":1,"person":"Paul","topic":"occupation","text":"","units":[1]}"#,
        r#"{"op":"replace","entry":2,"person":"Paul","topic":"possession","text":"Paul drives a tram.","units":[1]}"#,
        r#"{"op":"remove","entry":0,"person":"Paul","topic":"possession","text":"","units":[1]}"#,
        r#"{"op":"drop everything","entry":1,"person":"Paul","topic":"place","text":"x","units":[1]}"#,
    ] {
        check_refused(change).await;
    }
}

#[tokio::test]
async fn an_entry_goes_when_a_linked_unit_denies_it() {
    let reply = r#"{"profile":[{"op":"remove","entry":1,"person":"Paul","topic":"occupation","text":"","units":[1]}],"support":[]}"#;
    let model = Arc::new(ScriptedModel::new("m").reply(BOTH.0, reply));
    let link = Link { from: UnitId(11), to: UnitId(1), relation: Relation::Update, similarity: 0.8 };
    let updater = updater(&model, LlmUpdaterConfig::default());
    let after = updater.update(&memory(), &session(), &units(), &[link]).await.unwrap();
    assert_eq!(after.profile, memory().profile[1..]);
}

#[tokio::test]
async fn a_fact_that_is_there_already_gains_a_unit() {
    let reply = r#"{"profile":[{"op":"add","entry":null,"person":"Paul","topic":"occupation","text":"paul drives a tram","units":[1]}],"support":[]}"#;
    let mut current = memory();
    current.profile[0].text = "Paul drives a tram.".to_owned();
    let after = update(&current, reply).await;
    assert_eq!(after.profile.len(), 2);
    assert_eq!(after.profile[0].units, [UnitId(1), UnitId(11)]);
}

#[tokio::test]
async fn to_replace_nothing_is_to_add() {
    let reply = r#"{"profile":[{"op":"replace","entry":1,"person":"Paul","topic":"occupation","text":"Paul drives a tram.","units":[1]}],
        "support":[{"op":"replace","entry":null,"seeker":"Paul","attempt":"Iris advised exercises.","outcome":"agreed","units":[2]}]}"#;
    let after = update(&Longitudinal::default(), reply).await;
    assert_eq!((after.profile.len(), after.support.len()), (1, 1));
    let remove = reply.replace("replace", "remove");
    assert_eq!(update(&Longitudinal::default(), &remove).await, Longitudinal::default());
}

#[tokio::test]
async fn both_memories_can_be_asked_for_apart() {
    let model = Arc::new(
        ScriptedModel::new("m").reply(USER.0, "{\"profile\":[]}").reply(SUPPORT.0, "{\"support\":[]}"),
    );
    let updater = updater(&model, LlmUpdaterConfig::paper());
    updater.update(&memory(), &session(), &units(), &[]).await.unwrap();
    let requests = model.requests();
    assert_eq!(requests.len(), 2);
    let shown = |at: usize| requests[at].messages.last().unwrap().content.lines().count();
    // Three units and two entries; one unit about support and one entry; two headings each.
    assert_eq!((shown(0), shown(1)), (7, 4));
    assert!(!requests[0].messages.is_empty());
}

#[tokio::test]
async fn only_the_nearest_entries_are_shown() {
    let mut current = memory();
    current.profile.extend((0..50).map(|n| ProfileEntry {
        text: format!("Paul knows song {n}."),
        units: vec![UnitId(4 + n % 3)],
        ..memory().profile[0].clone()
    }));
    let model = Arc::new(ScriptedModel::new("m").reply(BOTH.0, "{\"profile\":[],\"support\":[]}"));
    let config = LlmUpdaterConfig { max_entries: 5, ..LlmUpdaterConfig::default() };
    updater(&model, config).update(&current, &session(), &units(), &[]).await.unwrap();
    let sent = model.requests()[0].messages.last().unwrap().content.clone();
    assert!(sent.contains("[1,\"Paul\",\"occupation\",\"Paul works in a bakery.\"]"), "{sent}");
    assert_eq!(sent.matches("knows song").count(), 4);
}

#[tokio::test]
async fn no_units_need_no_call_and_errors_are_typed() {
    let model = Arc::new(ScriptedModel::new("m").fail(BOTH.0, ModelError::Permanent { message: "x".into() }));
    let updater = updater(&model, LlmUpdaterConfig::default());
    assert_eq!(updater.update(&memory(), &session(), &[], &[]).await.unwrap(), memory());
    let error = updater.update(&memory(), &session(), &units(), &[]).await.unwrap_err();
    assert!(matches!(error, LongitudinalError::Model { .. }));
    let left = updater.rederive(&memory(), &[UnitId(1)], &[], &[]).await.unwrap();
    assert_eq!(left.profile, memory().profile[1..]);
}

#[tokio::test]
async fn the_requests_are_as_recorded() {
    let model = Arc::new(
        ScriptedModel::new("m")
            .reply(BOTH.0, "{}{\"profile\":[]}")
            .reply(USER.0, "{\"profile\":[]}")
            .reply(SUPPORT.0, "{\"support\":[]}"),
    );
    let both = updater(&model, LlmUpdaterConfig::default());
    assert_eq!(both.id(), "llm/1 longitudinal/1 m");
    both.update(&memory(), &session(), &units(), &[]).await.unwrap();
    let apart = updater(&model, LlmUpdaterConfig::paper());
    apart.update(&memory(), &session(), &units(), &[]).await.unwrap();
    let messages: Vec<_> = model.requests().into_iter().map(|r| (r.step, r.messages)).collect();
    insta::assert_json_snapshot!("longitudinal", messages);
    for (_, messages) in &messages {
        let read = structured::decode::<Both>(&messages[2].content).unwrap();
        assert!(read.notes.is_empty(), "{:?}", read.notes);
    }
}
