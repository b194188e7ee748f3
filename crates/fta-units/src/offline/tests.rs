//! Tests of the extractor as a whole.

use fta_segment::{BoundaryCue, Fragment, Role, Session, SessionId, Turn, TurnSpan};
use proptest::prelude::*;

use super::*;
use crate::unit::{Completion, SituationType, TimeOrientation};

fn session(turns: &[(&str, &str)]) -> Session {
    let turn = |(index, (speaker, text)): (usize, &(&str, &str))| Turn {
        index: index as u32,
        source_id: format!("s:{}", index + 1),
        speaker: (*speaker).to_owned(),
        role: match *speaker {
            "seeker" | "user" => Role::Seeker,
            "supporter" | "assistant" => Role::Supporter,
            _ => Role::Peer,
        },
        at: None,
        text: (*text).to_owned(),
        caption: None,
    };
    Session {
        id: SessionId::from("s"),
        started_at: Some(jiff::civil::date(2024, 3, 8).at(9, 0, 0, 0)),
        turns: turns.iter().enumerate().map(turn).collect(),
    }
}

fn extract(session: &Session, span: (u32, u32), carried: &[CandidateUnit]) -> Extraction {
    let fragment = Fragment { span: TurnSpan::new(span.0, span.1), cue: BoundaryCue::SessionEnd };
    let parts = &[fragment];
    RuleExtractor::default().extract_now(ExtractionInput { session, fragment, parts, carried })
}

fn all(turns: &[(&str, &str)]) -> Vec<CandidateUnit> {
    let session = session(turns);
    extract(&session, (0, turns.len() as u32), &[]).units
}

fn claims(turns: &[(&str, &str)]) -> Vec<String> {
    all(turns).into_iter().map(|u| u.fact.claim).collect()
}

fn span(unit: &CandidateUnit) -> (u32, u32) {
    (unit.evidence.turns.start, unit.evidence.turns.end)
}

#[test]
fn statements_become_units_and_filler_does_not() {
    let found = claims(&[
        ("Lena", "Hey Tom! How are you?"),
        ("Tom", "Hi Lena! I'm good, thanks."),
        ("Lena", "Wow, that's great! I lost my job at the bakery last Friday."),
        ("Tom", "Oh no!"),
        ("Lena", "Thanks, bye!"),
    ]);
    assert_eq!(found, ["Lena lost Lena's job at the bakery last Friday."]);
}

#[test]
fn an_answer_keeps_its_question() {
    let units = all(&[
        ("Tom", "Did you tell anyone at work?"),
        ("Lena", "Not yet. I will ask my head of department next week."),
        ("Tom", "Do you sleep well?"),
        ("Lena", "No."),
    ]);
    assert_eq!(
        units[0].fact.claim,
        "Asked \"Did you tell anyone at work?\", Lena: \"Not yet. I will ask my head of department next week.\""
    );
    assert_eq!((span(&units[0]), span(&units[1])), ((0, 2), (2, 4)));
    assert_eq!(units[0].evidence.quotes.len(), 3);
    assert_eq!(units[0].fact.participants, ["Lena", "Tom"]);
    assert_eq!(units[0].fact.situation, SituationType::HomeworkOrPlan);
    assert_eq!((units[0].status, units[0].time.completion), (UnitStatus::Pending, Completion::Planned));
    assert_eq!(units[0].affect.intention.as_deref(), Some("will ask Lena's head of department next week"));
    assert_eq!(units[1].fact.claim, "Asked \"Do you sleep well?\", Lena: \"No.\"");
    assert_eq!(units.len(), 2, "{units:#?}");
}

#[test]
fn a_self_contained_answer_stands_alone_but_its_evidence_holds_the_question() {
    let units = all(&[
        ("Tom", "What happened at the clinic yesterday?"),
        ("Lena", "I told the nurse about my panic attacks and she gave me breathing exercises."),
    ]);
    assert_eq!(
        units[0].fact.claim,
        "Lena told the nurse about Lena's panic attacks and she gave Lena breathing exercises."
    );
    assert_eq!(span(&units[0]), (0, 2));
    assert_eq!(units[0].affect.emotions, ["anxiety"]);
    assert_eq!(units[0].time.orientation, TimeOrientation::Past);
}

#[test]
fn a_dangling_question_is_carried_and_fused_with_its_answer() {
    let talk = session(&[
        ("Lena", "My sister moved in with me on Sunday."),
        ("Tom", "Did she bring the dog along?"),
        ("Lena", "Yes"),
        ("Lena", "The dog barks all night and I feel exhausted."),
    ]);
    let first = extract(&talk, (0, 2), &[]);
    let carried: Vec<CandidateUnit> =
        first.units.into_iter().filter(|u| u.status == UnitStatus::Partial).collect();
    assert_eq!(carried.len(), 1);
    assert_eq!(carried[0].fact.claim, "Tom asks Lena: \"Did she bring the dog along?\"");
    let second = extract(&talk, (2, 4), &carried);
    assert_eq!(second.fused, [(0, 0)]);
    assert_eq!(second.units[0].evidence.turns.start, 1);
    assert!(
        second.units[0].fact.claim.starts_with("Tom asks Lena: \"Did she bring the dog along?\" Lena: Yes")
    );
    assert_ne!(second.units[0].status, UnitStatus::Partial);
    // Without the carried question the bare answer is no unit.
    let alone = extract(&talk, (2, 3), &[]);
    assert_eq!((alone.units.len(), alone.fused.len()), (0, 0));
}

#[test]
fn an_announcement_is_completed_by_what_follows() {
    let units = all(&[
        ("Lena", "Something terrible happened at work."),
        ("Tom", "Oh no!"),
        ("Lena", "My manager accused me of theft in front of everybody."),
    ]);
    assert_eq!(units.len(), 1);
    assert_eq!(span(&units[0]), (0, 3));
    assert!(
        units[0].fact.claim.contains("happened at work")
            && units[0].fact.claim.contains("Lena's manager accused Lena")
    );
    assert_eq!(all(&[("Lena", "Something terrible happened at work.")])[0].status, UnitStatus::Partial);
}

#[test]
fn situations_are_told_apart() {
    let situation = |speaker: &str, text: &str| all(&[(speaker, text)])[0].fact.situation;
    assert_eq!(situation("Lena", "Some nights I just want to die."), SituationType::RiskSignal);
    assert_eq!(situation("Lena", "This heat is killing me and the garden."), SituationType::CurrentState);
    assert_eq!(
        situation("supporter", "Have you tried a short walk before breakfast? You should rest more."),
        SituationType::SupportInteraction
    );
    assert_eq!(situation("Lena", "I am going to paint the kitchen."), SituationType::HomeworkOrPlan);
    assert_eq!(
        situation("Lena", "My husband and I had an argument about rent."),
        SituationType::RelationshipEvent
    );
    assert_eq!(situation("Lena", "I feel like nobody needs me."), SituationType::BeliefCandidate);
    assert_eq!(situation("Lena", "I baked bread and sold twelve loaves."), SituationType::Event);
    assert_eq!(situation("Lena", "I live near the harbour."), SituationType::CurrentState);
}

#[test]
fn a_cancelled_plan_and_people_are_seen() {
    let units = all(&[("Lena", "The trip with Mara and my older brother fell through.")]);
    assert_eq!(units[0].time.completion, Completion::Cancelled);
    assert_eq!(units[0].fact.mentioned, ["Mara", "Lena's older brother"]);
}

#[test]
fn long_turns_give_several_units_and_pictures_are_kept() {
    let long = "My sister called about the garden again. ".repeat(30) + "By the way, I sold the car.";
    let units = all(&[("Lena", &long)]);
    assert!((3..=5).contains(&units.len()), "{}", units.len());
    let mut talk = session(&[("Lena", "Look!"), ("Tom", "")]);
    talk.turns[0].caption = Some("a red bicycle".into());
    talk.turns[1].caption = Some("a dog".into());
    let units = extract(&talk, (0, 2), &[]).units;
    let found: Vec<&str> = units.iter().map(|u| u.fact.claim.as_str()).collect();
    assert_eq!(found, ["Lena: Look! [shares a picture: a red bicycle]", "Tom [shares a picture: a dog]"]);
    assert!(units.iter().all(|u| !u.evidence.quotes.is_empty()));
}

#[test]
fn a_new_matter_is_a_unit_of_its_own() {
    let found = claims(&[(
        "user",
        "I'm planning a week of hiking in the Alps, can you suggest huts? By the way, I bought my boots in May.",
    )]);
    assert_eq!(
        found,
        [
            "The user is planning a week of hiking in the Alps, can you suggest huts?",
            "The user bought the user's boots in May."
        ]
    );
}

#[test]
fn other_scripts_are_kept_verbatim() {
    assert_eq!(claims(&[("小梅", "我昨天丢了工作。我很难过！😢")]), ["小梅: 我昨天丢了工作。 我很难过！😢"]);
    assert_eq!(claims(&[("Nour", "أشعر بالحزن منذ أسبوع")]), ["Nour: أشعر بالحزن منذ أسبوع"]);
    assert_eq!(all(&[("Lena", "The exam is over 😊")])[0].affect.emotions, ["joy"]);
}

#[test]
fn long_input_is_handled() {
    let text = "i lost the keys, then we looked for them ".repeat(5_000);
    let units = all(&[("Lena", &text)]);
    assert!(units.len() > 300);
    let whole = session(&[("Lena", &text)]);
    let counts = coverage(&whole, units.iter().map(|u| &u.evidence));
    assert_eq!((counts.content_turns, counts.quoted_turns), (1, 1));
}

#[test]
fn a_fragment_past_the_session_is_cut() {
    let talk = session(&[("Lena", "I moved to Bern.")]);
    assert_eq!(extract(&talk, (0, 9), &[]).units.len(), 1);
    assert!(extract(&talk, (5, 9), &[]).units.is_empty());
}

#[tokio::test]
async fn the_port_gives_the_same() {
    let talk = session(&[("Lena", "I moved to Bern.")]);
    let fragment = Fragment { span: TurnSpan::new(0, 1), cue: BoundaryCue::SessionEnd };
    let extractor: Box<dyn UnitExtractor> = Box::new(RuleExtractor::default());
    let input = ExtractionInput { session: &talk, fragment, parts: &[fragment], carried: &[] };
    let found = extractor.extract(input).await.unwrap();
    assert_eq!(found, extract(&talk, (0, 1), &[]));
    assert_eq!((extractor.id(), found.units[0].provenance.extractor.as_str()), ("rules/1", "rules/1"));
}

/// The development conversations, where they are at hand: no turn that says something is lost.
#[test]
fn long_conversations_are_covered() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/locomo/locomo-dev6.json");
    let Ok(text) = std::fs::read_to_string(path) else { return };
    let data: serde_json::Value = serde_json::from_str(&text).unwrap();
    let (mut n_units, mut total) = (0, Coverage::default());
    for case in data.as_array().unwrap() {
        for n in 1..60 {
            let Some(turns) = case["conversation"][format!("session_{n}")].as_array() else { continue };
            let said: Vec<(&str, &str)> =
                turns.iter().map(|t| (t["speaker"].as_str().unwrap(), t["text"].as_str().unwrap())).collect();
            let mut talk = session(&said);
            for (turn, source) in talk.turns.iter_mut().zip(turns) {
                turn.caption = source["blip_caption"].as_str().map(str::to_owned);
            }
            let units = extract(&talk, (0, turns.len() as u32), &[]).units;
            n_units += units.len();
            total = total.plus(coverage(&talk, units.iter().map(|u| &u.evidence)));
        }
    }
    assert_eq!((total.covered_turns, total.quoted_turns), (total.content_turns, total.content_turns));
    let per_turn = n_units as f64 / total.content_turns as f64;
    assert!((0.8..1.1).contains(&per_turn), "{per_turn}");
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "\\PC{0,60}",
        prop::collection::vec(
            prop::sample::select(vec![
                "I",
                "you",
                "my",
                "sister",
                "lost",
                "going to",
                "Did",
                "Yes",
                "no",
                ".",
                "?",
                "!",
                ",",
                "😢",
                "\n",
                "Wow",
                "garden",
                "don't",
                "happy",
                "Thanks",
                "By the way",
                "Mara",
                "我很难过",
                "。",
                "it",
                "something happened",
                "…",
                "\"",
            ]),
            0..25
        )
        .prop_map(|words| words.join(" ")),
    ]
}

proptest! {
    #[test]
    fn evidence_is_sound_and_nothing_is_lost(
        turns in prop::collection::vec((0..3_usize, any_text(), any::<bool>()), 1..9),
        cut in 0..9_usize,
    ) {
        let texts: Vec<(&str, &str)> =
            turns.iter().map(|(who, text, _)| (["Lena", "Tom", "user"][*who], text.as_str())).collect();
        let mut talk = session(&texts);
        for (turn, (_, _, picture)) in talk.turns.iter_mut().zip(&turns) {
            turn.caption = picture.then(|| "a lake".to_owned());
        }
        let cut = (cut.min(turns.len())) as u32;
        let first = extract(&talk, (0, cut), &[]);
        prop_assert_eq!(&first, &extract(&talk, (0, cut), &[]));
        let (carried, mut units): (Vec<_>, Vec<_>) =
            first.units.into_iter().partition(|u| u.status == UnitStatus::Partial);
        let second = extract(&talk, (cut, turns.len() as u32), &carried);
        let fused: Vec<usize> = second.fused.iter().map(|f| f.0).collect();
        for (index, unit) in second.units.iter().enumerate() {
            let olders: Vec<_> = second.fused.iter().filter(|f| f.1 == index).map(|f| &carried[f.0]).collect();
            let start = olders.iter().map(|c| c.evidence.turns.start).min().unwrap_or(cut);
            prop_assert!(unit.evidence.turns.start >= start);
            for older in olders {
                prop_assert!(older.evidence.quotes.iter().all(|q| unit.evidence.quotes.contains(q)));
            }
        }
        units.extend(second.units);
        units.extend(carried.into_iter().enumerate().filter(|(i, _)| !fused.contains(i)).map(|(_, c)| c));
        for unit in &units {
            let evidence = &unit.evidence;
            prop_assert!(!evidence.turns.is_empty() && evidence.turns.end as usize <= turns.len());
            prop_assert!(!evidence.quotes.is_empty() && !unit.fact.claim.is_empty());
            prop_assert!(unit.fact.summary.chars().count() <= 90);
            for quote in &evidence.quotes {
                prop_assert!(evidence.turns.contains(quote.turn));
                let text = &talk.turns[quote.turn as usize].text;
                prop_assert!(text.get(quote.start as usize..quote.end as usize).is_some());
            }
            let sorted = evidence.quotes.windows(2).all(|w| (w[0].turn, w[0].start) < (w[1].turn, w[1].start));
            prop_assert!(sorted);
        }
        let counts = coverage(&talk, units.iter().map(|u| &u.evidence));
        prop_assert_eq!(counts.covered_turns, counts.content_turns);
        prop_assert_eq!(counts.quoted_turns, counts.content_turns);
    }

    #[test]
    fn fusion_loses_no_quote(texts in prop::collection::vec(any_text(), 2..6), a in 0..9_usize, b in 0..9_usize) {
        let turns: Vec<(&str, &str)> = texts.iter().enumerate().map(|(i, t)| (["Lena", "Tom"][i % 2], t.as_str())).collect();
        let units = all(&turns);
        prop_assume!(!units.is_empty());
        let (older, newer) = (&units[a % units.len()], &units[b % units.len()]);
        let fused = fuse(older, newer.clone());
        prop_assert_eq!(fused.evidence.turns, older.evidence.turns.cover(newer.evidence.turns));
        for quote in older.evidence.quotes.iter().chain(&newer.evidence.quotes) {
            prop_assert!(fused.evidence.quotes.contains(quote));
        }
        prop_assert_eq!(&fused, &fuse(older, newer.clone()));
        prop_assert_eq!(fused.status, newer.status);
    }
}
