use fta_units::{ProfileEntry, ProfileTopic, StoredSession, SupportEntry, SupportOutcome};
use jiff::civil::date;
use proptest::prelude::*;

use super::*;
use crate::{
    fixture::{event, link, quote, session, snapshot, unit},
    packet::UnitScore,
};

const RELATIONS: [Relation; 5] = [
    Relation::SameSituation,
    Relation::Update,
    Relation::Contradiction,
    Relation::FollowUp,
    Relation::Support,
];

fn ranked(ids: impl IntoIterator<Item = u64>) -> Vec<Ranked> {
    ids.into_iter().map(|id| Ranked { id: UnitId(id), score: UnitScore::default() }).collect()
}

fn text() -> impl Strategy<Value = String> {
    // A few long turns, of which only the quotes are handed back.
    prop_oneof![4 => "[a-zé .?]{0,60}", 1 => "[a-zé ]{5}(the sea was very calm that day\\. ){50,70}"]
}

prop_compose! {
    fn sessions()(
        sessions in prop::collection::vec((0_u32..30, prop::collection::vec(text(), 1..6)), 1..5),
    ) -> Vec<StoredSession> {
        let named = sessions.iter().zip(0_u32..).map(|((day, texts), number)| {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            StoredSession { ordinal: u64::from(number), ..session(&format!("s{number}"), *day, &texts) }
        });
        named.collect()
    }
}

/// What makes a unit, as fractions of what there is: session, turn, begin and end of a second quote, anything else.
type Seed = (u8, u8, u16, u16, u8);

fn unit_of(id: u64, sessions: &[StoredSession], (which, turn, start, end, kind): Seed) -> Unit {
    let stored = &sessions[which as usize % sessions.len()];
    let turn = u32::from(turn) % stored.session.turns.len() as u32;
    let text = &stored.session.turns[turn as usize].text;
    let mut made = unit(id, stored, turn);
    let cut = |at: u16| {
        let mut at = usize::from(at) % (text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at as u32
    };
    let (start, end) = (cut(start).min(cut(end)), cut(start).max(cut(end)));
    if kind & 1 == 1 && start < end {
        made.evidence.quotes = vec![quote(turn, start, end)];
    }
    if kind & 2 == 2 {
        made.affect.emotions = vec!["sadness".to_owned(); 9];
        made.lifecycle.valid_until = Some(date(2024, 3, 1));
    }
    if kind & 4 == 4 {
        made.time.event = Some(event("that week", ((1, 2), (1, 9))));
    }
    if kind & 8 == 8 {
        made.provenance.corrected_at = Some(date(2024, 5, 1).at(8, 0, 0, 0));
    }
    made
}

prop_compose! {
    fn memory()(
        sessions in sessions(),
        seeds in prop::collection::vec(any::<Seed>(), 1..12),
        pairs in prop::collection::vec((1_u64..12, 1_u64..12, 0_usize..5, 0_u8..5), 0..25),
    ) -> (Corpus, Vec<u64>) {
        let units: Vec<Unit> =
            seeds.iter().zip(1..).map(|(seed, id)| unit_of(id, &sessions, *seed)).collect();
        let n_units = units.len() as u64;
        let links = pairs
            .into_iter()
            .filter(|(from, to, ..)| to < from && *from <= n_units)
            .map(|(from, to, relation, near)| link(from, to, RELATIONS[relation], f32::from(near) / 4.0));
        let links = links.collect();
        let mut memory = snapshot(sessions, units, links);
        memory.longitudinal.profile.push(ProfileEntry {
            person: "Ada".to_owned(),
            topic: ProfileTopic::Preference,
            text: "Ada likes the calm sea.".to_owned(),
            units: vec![UnitId(1)],
            last_said: None,
        });
        memory.longitudinal.support.push(SupportEntry {
            session: SessionId::from("s0"),
            seeker: "Ada".to_owned(),
            attempt: "Bo suggests a swim in the calm sea.".to_owned(),
            outcome: SupportOutcome::Unknown,
            units: vec![UnitId(1)],
            said_at: None,
        });
        (Corpus::new(&memory), (1..=n_units).collect())
    }
}

fn scope() -> impl Strategy<Value = SourceScope> {
    prop::sample::select(vec![SourceScope::Exchange, SourceScope::Quoted, SourceScope::Said])
}

prop_compose! {
    fn settings()(
        token_budget in prop::option::of(0_usize..1_200),
        k in 0_usize..8,
        linked_per_unit in 0_usize..4,
        full in any::<bool>(),
        source in scope(),
        source_in_budget in scope(),
    ) -> RetrievalConfig {
        RetrievalConfig {
            token_budget,
            k,
            linked_per_unit,
            style: if full { PacketStyle::Full } else { PacketStyle::Compact },
            source,
            source_in_budget,
            ..RetrievalConfig::offline()
        }
    }
}

#[test]
fn what_is_left_of_a_budget_goes_to_the_questions_answered() {
    let stored = session("s1", 1, &["Where do you row these days?", "On the lake behind the mill."]);
    let mut answer = unit(1, &stored, 1);
    answer.evidence.quotes.insert(0, quote(0, 0, 28));
    let corpus = crate::fixture::corpus(vec![stored], vec![answer], Vec::new());
    let turns = |budget: usize| {
        let config = RetrievalConfig { token_budget: Some(budget), ..RetrievalConfig::offline() };
        let packet = assemble(Query::default(), &ranked(vec![1]), &corpus, &config);
        packet.spans.iter().flat_map(|s| s.turns.iter().map(|t| t.index)).collect::<Vec<u32>>()
    };
    assert_eq!(turns(14), [1]);
    assert_eq!(turns(40), [0, 1]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_packet_keeps_its_bounds_and_order(
        ((corpus, ids), config) in (memory(), settings()),
        shift in 0_usize..12,
    ) {
        let mut order = ids;
        let by = shift % order.len();
        order.rotate_left(by);
        let query = Query { text: "Was the sea calm?".to_owned(), ..Query::default() };
        let packet = assemble(query, &ranked(order), &corpus, &config);

        if let Some(budget) = config.token_budget {
            prop_assert!(packet.tokens() <= budget, "{} > {budget}: {}", packet.tokens(), packet.render());
        }
        prop_assert!(packet.primary.len() <= config.k);
        let primary: BTreeSet<UnitId> = packet.primary.iter().map(|p| p.unit.id).collect();
        prop_assert_eq!(primary.len(), packet.primary.len());
        let linked: BTreeSet<UnitId> = packet.linked.iter().map(|l| l.unit.id).collect();
        prop_assert_eq!(linked.len(), packet.linked.len());
        prop_assert!(primary.is_disjoint(&linked));
        for of in packet.linked.iter().map(|l| l.of) {
            prop_assert!(primary.contains(&of));
            prop_assert!(packet.linked.iter().filter(|l| l.of == of).count() <= config.linked_per_unit);
        }
        prop_assert!(packet.primary.is_sorted_by_key(|p| (p.unit.time.said_at, p.unit.id)));
        prop_assert!(packet.linked.is_sorted_by_key(|l| (l.unit.time.said_at, l.unit.id)));
        prop_assert!(packet.spans.is_sorted_by_key(|s| s.started_at));

        let turns: Vec<(&SessionId, u32)> =
            packet.spans.iter().flat_map(|s| s.turns.iter().map(move |t| (&s.session, t.index))).collect();
        prop_assert_eq!(turns.iter().collect::<BTreeSet<_>>().len(), turns.len(), "a turn is there twice");
        for unit in packet.primary.iter().map(|p| &p.unit).chain(packet.linked.iter().map(|l| &l.unit)) {
            for index in source_turns(unit, config.source_scope()) {
                prop_assert!(packet.turn(&unit.evidence.session, index).is_some(), "a unit has no source");
            }
        }
    }

    #[test]
    fn more_budget_keeps_the_best_unit((corpus, ids) in memory(), budget in 0_usize..600) {
        let with = |token_budget| {
            let config = RetrievalConfig { token_budget, ..RetrievalConfig::offline() };
            assemble(Query::default(), &ranked(ids.clone()), &corpus, &config)
        };
        let best = UnitId(ids[0]);
        let has_best = |packet: &Packet| packet.primary.iter().any(|p| p.unit.id == best);
        prop_assert!(has_best(&with(None)));
        prop_assert!(!has_best(&with(Some(budget))) || has_best(&with(Some(budget + 100))));
    }
}

#[test]
fn neighbours_come_by_relation_then_similarity() {
    let stored = session("s1", 1, &["One.", "Two.", "Three.", "Four.", "Five."]);
    let units: Vec<Unit> = (0..5).map(|turn| unit(u64::from(turn) + 1, &stored, turn)).collect();
    let links = vec![
        link(5, 1, Relation::Support, 0.9),
        link(5, 2, Relation::SameSituation, 0.5),
        link(5, 3, Relation::SameSituation, 0.8),
        link(5, 4, Relation::Update, 0.1),
    ];
    let corpus = Corpus::new(&snapshot(vec![stored], units, links));
    let linked = |linked_per_unit| {
        let config = RetrievalConfig { k: 1, linked_per_unit, ..RetrievalConfig::offline() };
        let packet = assemble(Query::default(), &ranked([5]), &corpus, &config);
        packet.linked.iter().map(|l| (l.unit.id.0, l.newer)).collect::<Vec<_>>()
    };
    assert_eq!(linked(0), []);
    assert_eq!(linked(1), [(4, false)]);
    assert_eq!(linked(2), [(3, false), (4, false)]);
    assert_eq!(linked(9), [(1, false), (2, false), (3, false), (4, false)]);
}

#[test]
fn a_smaller_unit_fits_where_a_larger_one_does_not() {
    let long = "I rowed and rowed. ".repeat(20);
    let stored = session("s1", 1, &[&long, "Where to?", "The island."]);
    let units = vec![unit(1, &stored, 0), unit(2, &stored, 2)];
    let corpus = Corpus::new(&snapshot(vec![stored], units, Vec::new()));
    let config = RetrievalConfig { token_budget: Some(25), ..RetrievalConfig::offline() };
    let packet = assemble(Query::default(), &ranked([1, 2]), &corpus, &config);
    assert_eq!(packet.primary.iter().map(|p| (p.unit.id.0, p.rank)).collect::<Vec<_>>(), [(2, 1)]);
}
