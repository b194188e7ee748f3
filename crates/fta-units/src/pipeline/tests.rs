use std::sync::Mutex;

use async_trait::async_trait;
use fta_segment::{BoundaryCue, Role, Turn};
use proptest::prelude::*;

use super::*;
use crate::unit::{AffectAnchor, Evidence, FactAnchor, Provenance, TimeAnchor};

/// Answers with what it was given, one answer a call, and keeps what it was asked.
#[derive(Default)]
struct Script {
    answers: Mutex<Vec<Result<Extraction, ExtractError>>>,
    carried: Mutex<Vec<Vec<String>>>,
}

#[async_trait]
impl UnitExtractor for Script {
    fn id(&self) -> &'static str {
        "script/1"
    }

    async fn extract(&self, input: ExtractionInput<'_>) -> Result<Extraction, ExtractError> {
        let claims = input.carried.iter().map(|u| u.fact.claim.clone()).collect();
        self.carried.lock().unwrap().push(claims);
        let mut answers = self.answers.lock().unwrap();
        if answers.is_empty() { Ok(Extraction::default()) } else { answers.remove(0) }
    }
}

const TEXTS: [&str; 6] =
    ["Olá, I was off sick.", "What happened?", "My knee — I fell.", "", "When was that?", "On Monday 🦵."];

fn session() -> Session {
    let turn = |(index, text): (usize, &&str)| Turn {
        index: index as u32,
        source_id: format!("s:{}", index + 1),
        speaker: ["Ines", "Tomas"][index % 2].to_owned(),
        role: Role::Peer,
        at: None,
        text: (*text).to_owned(),
        caption: None,
    };
    Session { id: "s".into(), started_at: None, turns: TEXTS.iter().enumerate().map(turn).collect() }
}

fn fragment(start: u32, end: u32) -> Fragment {
    Fragment { span: TurnSpan::new(start, end), cue: BoundaryCue::Unknown }
}

fn candidate(claim: &str, start: u32, end: u32, status: UnitStatus) -> CandidateUnit {
    CandidateUnit {
        fact: FactAnchor { claim: claim.to_owned(), ..FactAnchor::default() },
        time: TimeAnchor::default(),
        affect: AffectAnchor::default(),
        evidence: Evidence {
            session: "s".into(),
            turns: TurnSpan::new(start, end),
            quotes: vec![Quote { turn: start, start: 0, end: 2 }],
        },
        status,
        provenance: Provenance::default(),
    }
}

fn partial(claim: &str, start: u32, end: u32) -> CandidateUnit {
    candidate(claim, start, end, UnitStatus::Partial)
}

fn complete(claim: &str, start: u32, end: u32) -> CandidateUnit {
    candidate(claim, start, end, UnitStatus::Complete)
}

#[expect(clippy::unnecessary_wraps, reason = "a script holds failures too")]
fn answer(units: Vec<CandidateUnit>, fused: &[(usize, usize)]) -> Result<Extraction, ExtractError> {
    Ok(Extraction { units, fused: fused.to_vec() })
}

fn pipeline(answers: Vec<Result<Extraction, ExtractError>>, max_carries: u32) -> (UnitPipeline, Arc<Script>) {
    let script = Arc::new(Script { answers: Mutex::new(answers), ..Script::default() });
    (UnitPipeline::new(script.clone(), PipelineSettings { max_carries }), script)
}

fn claims(units: &[CandidateUnit]) -> Vec<&str> {
    units.iter().map(|u| u.fact.claim.as_str()).collect()
}

#[tokio::test]
async fn a_partial_unit_is_carried_and_fused() {
    let answers = vec![
        answer(vec![partial("knee", 0, 1), complete("sick", 0, 2)], &[]),
        answer(vec![complete("knee fell", 0, 3)], &[(0, 0)]),
    ];
    let (mut pipeline, script) = pipeline(answers, 2);
    let session = session();
    assert_eq!(claims(&pipeline.step(&session, fragment(0, 2)).await.unwrap()), ["sick"]);
    assert_eq!(pipeline.carried().len(), 1);
    let units = pipeline.step(&session, fragment(2, 4)).await.unwrap();
    assert_eq!(claims(&units), ["knee fell"]);
    assert_eq!(units[0].evidence.turns, TurnSpan::new(0, 3));
    assert_eq!(pipeline.finish(), []);
    assert_eq!(*script.carried.lock().unwrap(), [vec![], vec!["knee".to_owned()]]);
    assert_eq!(pipeline.take_notes(), []);
}

#[tokio::test]
async fn a_partial_unit_is_carried_a_limited_way() {
    for max_carries in 0..4 {
        let (mut pipeline, script) = pipeline(vec![answer(vec![partial("knee", 0, 1)], &[])], max_carries);
        let session = session();
        let mut emitted = None;
        for step in 0..6 {
            let units = pipeline.step(&session, fragment(step, step + 1)).await.unwrap();
            if !units.is_empty() {
                assert_eq!(units[0].status, UnitStatus::Partial);
                assert_eq!(emitted.replace(step), None);
            }
        }
        assert_eq!(emitted, Some(max_carries));
        let seen = script.carried.lock().unwrap().iter().filter(|c| !c.is_empty()).count();
        assert_eq!(seen, max_carries as usize);
    }
}

#[tokio::test]
async fn fusing_again_and_again_comes_to_an_end() {
    let mut answers = vec![answer(vec![partial("knee 0", 0, 1)], &[])];
    answers.extend((1..6).map(|i| answer(vec![partial(&format!("knee {i}"), 0, i + 1)], &[(0, 0)])));
    let (mut pipeline, _) = pipeline(answers, 2);
    let mut emitted = Vec::new();
    for step in 0..3 {
        emitted.extend(pipeline.step(&session(), fragment(step, step + 1)).await.unwrap());
    }
    assert_eq!(claims(&emitted), ["knee 2"]);
}

#[tokio::test]
async fn what_is_left_becomes_final_at_the_end() {
    let (mut pipeline, _) = pipeline(vec![answer(vec![partial("b", 1, 2), partial("a", 0, 1)], &[])], 2);
    assert_eq!(pipeline.step(&session(), fragment(0, 2)).await.unwrap(), []);
    let rest = pipeline.finish();
    assert_eq!(claims(&rest), ["a", "b"], "in text order");
    assert!(rest.iter().all(|u| u.status == UnitStatus::Partial));
    assert_eq!(pipeline.finish(), []);
}

#[tokio::test]
async fn another_session_finishes_the_one_before() {
    let (mut pipeline, script) = pipeline(vec![answer(vec![partial("a", 0, 1)], &[])], 2);
    pipeline.step(&session(), fragment(0, 2)).await.unwrap();
    let other = Session { id: "t".into(), ..session() };
    assert_eq!(claims(&pipeline.step(&other, fragment(0, 2)).await.unwrap()), ["a"]);
    assert_eq!(*script.carried.lock().unwrap(), [Vec::<String>::new(), vec![]], "sessions are kept apart");
}

#[tokio::test]
async fn a_failed_step_changes_nothing() {
    let failure = || ExtractError::Failed { extractor: "script/1".to_owned(), message: "no".to_owned() };
    let answers = vec![answer(vec![partial("a", 0, 1)], &[]), Err(failure()), Err(failure()), Err(failure())];
    let (mut pipeline, _) = pipeline(answers, 2);
    let session = session();
    pipeline.step(&session, fragment(0, 2)).await.unwrap();
    for _ in 0..3 {
        assert!(pipeline.step(&session, fragment(2, 4)).await.is_err());
        assert_eq!(pipeline.carried().len(), 1);
    }
    assert_eq!(pipeline.step(&session, fragment(2, 4)).await.unwrap(), [], "and it can be tried again");
    assert_eq!(claims(&pipeline.finish()), ["a"]);
}

/// One bad unit in fragment `2..6`: what comes out of it, and the notes.
async fn repaired(change: impl FnOnce(&mut CandidateUnit)) -> (Vec<CandidateUnit>, Vec<Repair>) {
    let mut unit = complete("knee", 2, 3);
    change(&mut unit);
    let (mut pipeline, _) = pipeline(vec![answer(vec![unit], &[])], 2);
    let units = pipeline.step(&session(), fragment(2, 6)).await.unwrap();
    let notes = pipeline.take_notes();
    assert!(notes.iter().all(|n| n.unit == Some(0) && n.fragment == TurnSpan::new(2, 6)));
    (units, notes.into_iter().map(|n| n.repair).collect())
}

#[tokio::test]
async fn repairs() {
    let quote = |turn, start, end| Quote { turn, start, end };
    let (units, notes) = repaired(|u| u.fact.claim = " \n".to_owned()).await;
    assert_eq!((units, notes), (vec![], vec![Repair::EmptyClaim]));

    let (units, notes) = repaired(|u| u.evidence.session = "x".into()).await;
    assert_eq!(units[0].evidence.session, "s".into());
    assert_eq!(notes, [Repair::SessionSet { session: "x".into() }]);

    let (units, notes) = repaired(|u| u.evidence.turns = TurnSpan::new(4, 2)).await;
    assert_eq!(units[0].evidence.turns, TurnSpan::new(2, 4));
    assert_eq!(notes, [Repair::SpanReversed { turns: TurnSpan::new(4, 2) }]);

    let (units, notes) = repaired(|u| u.evidence.turns = TurnSpan::new(0, 99)).await;
    assert_eq!(units[0].evidence.turns, TurnSpan::new(2, 6));
    assert_eq!(notes, [Repair::SpanClamped { turns: TurnSpan::new(0, 99) }]);

    let (units, notes) = repaired(|u| u.evidence.turns = TurnSpan::new(90, 99)).await;
    assert_eq!(units[0].evidence.turns, TurnSpan::new(2, 3), "the quote says where it was");
    assert_eq!(notes, [Repair::SpanFromQuotes { turns: TurnSpan::new(90, 99) }]);

    let outside = TurnSpan::new(0, 2);
    let (units, notes) = repaired(|u| (u.evidence.turns, u.evidence.quotes) = (outside, vec![])).await;
    assert_eq!((units, notes), (vec![], vec![Repair::Ungrounded { turns: outside }]));

    let (units, notes) = repaired(|u| u.evidence.quotes = vec![quote(2, 7, 3)]).await;
    assert_eq!(units[0].evidence.quotes, [quote(2, 3, 7)]);
    assert_eq!(notes, [Repair::QuoteReversed { quote: quote(2, 7, 3) }]);

    // Out of the turn, inside the dash, in another turn, empty; then a whole turn stands in.
    let bad = [quote(2, 0, 99), quote(2, 8, 9), quote(4, 0, 3), quote(2, 5, 5)];
    let (units, notes) = repaired(|u| u.evidence.quotes = bad.to_vec()).await;
    assert_eq!(units[0].evidence.quotes, [quote(2, 0, TEXTS[2].len() as u32)]);
    let mut expect: Vec<Repair> = bad.iter().map(|q| Repair::QuoteRemoved { quote: *q }).collect();
    expect.push(Repair::QuotesFilled);
    assert_eq!(notes, expect);

    let (units, _) =
        repaired(|u| u.evidence.quotes = vec![quote(2, 3, 7), quote(2, 0, 2), quote(2, 3, 7)]).await;
    assert_eq!(units[0].evidence.quotes, [quote(2, 0, 2), quote(2, 3, 7)]);

    let (units, _) =
        repaired(|u| (u.evidence.turns, u.evidence.quotes) = (TurnSpan::new(3, 4), vec![])).await;
    assert_eq!(units[0].evidence.quotes, [quote(3, 0, 0)], "a turn without text");
}

#[tokio::test]
async fn bad_fusions_lose_nothing() {
    let answers = vec![
        answer(vec![partial("a", 0, 1), partial("b", 1, 2)], &[]),
        // A dropped unit, units that are not there, a carried unit fused twice.
        answer(vec![complete(" ", 0, 3), complete("b2", 2, 3)], &[(0, 0), (9, 1), (1, 9), (1, 1), (1, 0)]),
    ];
    let (mut pipeline, _) = pipeline(answers, 2);
    let session = session();
    pipeline.step(&session, fragment(0, 2)).await.unwrap();
    let units = pipeline.step(&session, fragment(2, 4)).await.unwrap();
    assert_eq!(claims(&units), ["b2"]);
    assert_eq!(units[0].evidence.turns, TurnSpan::new(1, 3), "the evidence that was left out is joined");
    assert_eq!(units[0].evidence.quotes.iter().map(|q| q.turn).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(claims(&pipeline.finish()), ["a"], "its partner was dropped");
    let notes: Vec<Repair> = pipeline.take_notes().into_iter().map(|n| n.repair).collect();
    let ignored = |pair| Repair::FusionIgnored { pair };
    assert_eq!(
        notes,
        [ignored((9, 1)), ignored((1, 9)), ignored((1, 0)), Repair::EmptyClaim, Repair::EvidenceJoined]
    );
}

#[tokio::test]
async fn units_come_in_text_order() {
    let mut late = complete("late", 2, 4);
    late.evidence.quotes = vec![Quote { turn: 2, start: 5, end: 7 }];
    let answers = vec![answer(vec![complete("last", 4, 5), late, complete("early", 2, 5)], &[])];
    let (mut pipeline, _) = pipeline(answers, 2);
    assert_eq!(claims(&pipeline.step(&session(), fragment(2, 6)).await.unwrap()), ["early", "late", "last"]);
}

fn any_unit() -> impl Strategy<Value = CandidateUnit> {
    let number = || prop_oneof![8 => 0..9_u32, 1 => Just(u32::MAX)];
    let quote = (number(), 0..30_u32, 0..30_u32).prop_map(|(turn, start, end)| Quote { turn, start, end });
    let status =
        prop_oneof![Just(UnitStatus::Partial), Just(UnitStatus::Complete), Just(UnitStatus::Pending)];
    let session = prop_oneof![5 => Just("s"), 1 => Just("other")];
    (
        prop_oneof![5 => "[a-z]{1,4}", 1 => " ?"],
        session,
        number(),
        number(),
        prop::collection::vec(quote, 0..4),
        status,
    )
        .prop_map(|(claim, session, start, end, quotes, status)| {
            let mut unit = candidate(&claim, start, end, status);
            unit.evidence.session = session.into();
            unit.evidence.quotes = quotes;
            unit
        })
}

fn any_extraction() -> impl Strategy<Value = Extraction> {
    (prop::collection::vec(any_unit(), 0..5), prop::collection::vec((0..4_usize, 0..5_usize), 0..4))
        .prop_map(|(units, fused)| Extraction { units, fused })
}

proptest! {
    /// Whatever an extractor answers, what comes out is sound, and every carried unit comes out or is fused.
    #[test]
    fn lies_do_no_harm(answers in prop::collection::vec(any_extraction(), 0..5), max_carries in 0..3_u32,
                       cuts in prop::collection::vec((0..8_u32, 0..9_u32), 5)) {
        let given: usize = answers.iter().flat_map(|a| &a.units).count();
        let (mut pipeline, _) = pipeline(answers.into_iter().map(Ok).collect(), max_carries);
        let session = session();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut emitted = Vec::new();
        let mut said = 0;
        for (start, end) in cuts {
            said = said.max(end.min(6));
            let units = runtime.block_on(pipeline.step(&session, fragment(start, end))).unwrap();
            prop_assert!(units.is_sorted_by_key(|u| u.evidence.turns.start));
            emitted.extend(units);
        }
        emitted.extend(pipeline.finish());
        prop_assert!(emitted.len() <= given);
        for unit in emitted {
            let turns = unit.evidence.turns;
            prop_assert!(!unit.fact.claim.trim().is_empty() && unit.evidence.session == session.id);
            prop_assert!(!turns.is_empty() && turns.end <= said, "{turns} of {said}");
            prop_assert!(!unit.evidence.quotes.is_empty());
            for quote in unit.evidence.quotes {
                prop_assert!(turns.contains(quote.turn));
                let text = &session.turns[quote.turn as usize].text;
                let words = text.get(quote.start as usize..quote.end as usize);
                prop_assert!(words.is_some_and(|w| !w.is_empty()) || text.is_empty() || turns.range().all(|t| TEXTS[t as usize].is_empty()));
            }
        }
    }
}

#[test]
fn groups_tile_the_fragments_and_keep_to_the_limit() {
    let cut = |lengths: &[u32]| {
        let mut at = 0;
        let fragment = |len: &u32| {
            at += len;
            Fragment { span: TurnSpan::new(at - len, at), cue: BoundaryCue::TopicChange }
        };
        lengths.iter().map(fragment).collect::<Vec<_>>()
    };
    let check = |lengths: &[u32], max_turns, expect: &[usize]| {
        let fragments = cut(lengths);
        let groups = group(&fragments, max_turns);
        assert_eq!(groups.concat(), fragments);
        assert_eq!(groups.iter().map(|g| g.len()).collect::<Vec<_>>(), expect);
    };
    check(&[], 8, &[]);
    check(&[3, 4, 5], 0, &[1, 1, 1]);
    check(&[3, 4, 5], 7, &[2, 1]);
    check(&[3, 4, 5], 12, &[3]);
    check(&[20, 2, 2, 9], 8, &[1, 2, 1]);
}
