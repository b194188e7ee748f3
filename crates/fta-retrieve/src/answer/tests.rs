//! Small packets of everyday talk, one helper per kind of question.

use fta_segment::{Role, SessionId, Turn, TurnSpan};
use fta_units::{
    AffectAnchor, DateInterval, EventTime, Evidence, FactAnchor, Granularity, Lifecycle, Provenance, Quote,
    TimeAnchor, TimeBound, TimeOrientation, Unit, UnitId, UnitStatus,
};
use jiff::civil::{Date, date};

use super::*;
use crate::{
    packet::{PrimaryUnit, SourceSpan, UnitScore},
    query::Question,
    rewrite::RuleRewriter,
};

/// Speakers of all packets: Irina seeks help, Paul listens.
const SPEAKERS: [&str; 2] = ["Irina", "Paul"];

/// A packet of one session per group of `(speaker, text)` turns. Each turn is the quote of a unit of its own that holds
/// the turn before as well; ranks follow the order of the turns.
fn packet(question: &str, sessions: &[(Date, &[(&str, &str)])]) -> Packet {
    let speakers: Vec<String> = SPEAKERS.iter().map(|s| (*s).to_owned()).collect();
    let query = RuleRewriter
        .rewrite_now(Question { text: question, asked_at: None, speakers: &speakers })
        .expect("question has text");
    let mut packet = Packet { query, ..Packet::default() };
    for (number, (day, lines)) in sessions.iter().enumerate() {
        let session = SessionId(format!("s{}", number + 1));
        let at = day.at(18, 0, 0, 0);
        let turns: Vec<Turn> = lines
            .iter()
            .zip(0_u32..)
            .map(|((speaker, text), index)| Turn {
                index,
                source_id: format!("{session}:{}", index + 1),
                speaker: (*speaker).to_owned(),
                role: Role::Peer,
                at: None,
                text: (*text).to_owned(),
                caption: None,
            })
            .collect();
        for turn in &turns {
            let rank = packet.primary.len();
            let unit = unit_of(rank, &session, turn, at);
            let score = UnitScore { total: 0.6, ..UnitScore::default() };
            packet.primary.push(PrimaryUnit { unit, score, rank });
        }
        let span = TurnSpan::new(0, turns.len() as u32);
        packet.spans.push(SourceSpan { session, started_at: Some(at), span, turns });
    }
    packet
}

fn unit_of(rank: usize, session: &SessionId, turn: &Turn, at: jiff::civil::DateTime) -> Unit {
    Unit {
        id: UnitId(rank as u64 + 1),
        fact: FactAnchor {
            claim: format!("{}: {}", turn.speaker, turn.text),
            participants: vec![turn.speaker.clone()],
            ..FactAnchor::default()
        },
        time: TimeAnchor { said_at: Some(at), ..TimeAnchor::default() },
        affect: AffectAnchor::default(),
        evidence: Evidence {
            session: session.clone(),
            turns: TurnSpan::new(turn.index.saturating_sub(1), turn.index + 1),
            quotes: vec![Quote { turn: turn.index, start: 0, end: turn.text.len() as u32 }],
        },
        status: UnitStatus::Complete,
        provenance: Provenance::default(),
        lifecycle: Lifecycle::default(),
    }
}

fn time(text: &str, first: Date, last: Date, granularity: Granularity, bound: TimeBound) -> EventTime {
    let interval = Some(DateInterval::new(first, last));
    EventTime { text: text.to_owned(), interval, granularity, orientation: TimeOrientation::Past, bound }
}

fn answer(packet: &Packet) -> Answer {
    ExtractiveAnswerer::new(ExtractiveConfig::default(), None)
        .answer_now(packet)
        .expect("no embedder can fail")
}

const DAY: Date = date(2022, 9, 14);

/// Lines that every packet carries besides those that answer.
const NOISE: [(&str, &str); 3] = [
    ("Paul", "Hi Irina, good to hear from you!"),
    ("Irina", "The weather has been awful, it rains and rains."),
    ("Paul", "I spent the whole evening repairing my old radio."),
];

fn ask(question: &str, lines: &[(&str, &str)]) -> Answer {
    let all: Vec<(&str, &str)> = NOISE.iter().chain(lines).copied().collect();
    answer(&packet(question, &[(DAY, &all)]))
}

fn check(question: &str, lines: &[(&str, &str)], expect: &str) {
    let got = ask(question, lines);
    assert_eq!(got.text, expect, "{question}");
    assert!(!got.abstained && !got.units.is_empty() && !got.evidence.is_empty(), "{question}");
}

fn check_time(question: &str, line: &str, time: EventTime, expect: &str) {
    let all: Vec<(&str, &str)> = NOISE.into_iter().chain([("Irina", line)]).collect();
    let mut packet = packet(question, &[(DAY, &all)]);
    let last = packet.primary.last_mut().expect("the packet has units");
    last.unit.time.event = Some(time.clone());
    last.unit.time.mentions = vec![time];
    let got = answer(&packet);
    assert_eq!(got.text, expect, "{question}");
    assert!(got.time.is_some());
}

#[test]
fn when_takes_the_event_time() {
    let within = TimeBound::Within;
    let day = time("yesterday", date(2022, 9, 13), date(2022, 9, 13), Granularity::Day, within);
    check_time("When did Irina see the doctor?", "I saw the doctor yesterday.", day, "13 September 2022");
    let week = time("last week", date(2022, 9, 5), date(2022, 9, 11), Granularity::Week, within);
    check_time(
        "When did Irina quit her job?",
        "Last week was wild: I quit my job last week.",
        week,
        "the week before 14 September 2022",
    );
    let year = time("last year", date(2021, 1, 1), date(2021, 12, 31), Granularity::Year, within);
    check_time(
        "When did Irina lose her father?",
        "My father died last year, losing him was hard.",
        year,
        "2021",
    );
    let month = time("in May", date(2022, 5, 1), date(2022, 5, 31), Granularity::Month, within);
    check_time("Which month did Irina move house?", "We moved house in May.", month.clone(), "May 2022");
    check_time("What year did Irina move house?", "We moved house in May.", month, "2022");
    let ago = time("ten years ago", date(2012, 1, 1), date(2012, 12, 31), Granularity::Year, within);
    check_time("How long ago did Irina marry?", "I married ten years ago.", ago, "ten years ago");
}

#[test]
fn when_falls_back_to_the_day_it_was_told() {
    let got = ask("When did Irina adopt the puppy?", &[("Irina", "Guess what, I adopted the puppy!")]);
    assert_eq!(got.text, "14 September 2022");
    let dated = time("yesterday", date(2022, 9, 13), date(2022, 9, 13), Granularity::Day, TimeBound::Within);
    let lines = [("Irina", "Guess what, I adopted the puppy yesterday!")];
    let mut packet = packet("When did Irina adopt the puppy?", &[(DAY, &lines)]);
    packet.primary[0].unit.time.mentions = vec![dated];
    assert!(answer(&packet).confidence > got.confidence);
}

#[test]
fn how_long_takes_a_duration_or_a_beginning() {
    check(
        "How long has Irina been married?",
        &[("Irina", "I have been married for four years now.")],
        "four years",
    );
    check(
        "How long has Irina been married?",
        &[("Paul", "Are you married?"), ("Irina", "Yes, almost ten years!")],
        "almost ten years",
    );
    let since = time("since 2016", date(2016, 1, 1), date(2016, 12, 31), Granularity::Year, TimeBound::Since);
    check_time(
        "How long has Irina played the cello?",
        "I have played the cello since 2016.",
        since,
        "since 2016",
    );
}

#[test]
fn who_takes_names_and_relatives() {
    check(
        "Who helped Irina move house?",
        &[("Irina", "My brother helped me move house.")],
        "Irina's brother",
    );
    check(
        "Who did Irina call after the exam?",
        &[("Irina", "After the exam I called Marek at once.")],
        "Marek",
    );
    check(
        "Who visited Irina in hospital?",
        &[("Irina", "In hospital my aunt and my cousin visited me.")],
        "Irina's aunt and Irina's cousin",
    );
    check("Who lost a parrot?", &[("Irina", "I lost my parrot on the way.")], "Irina");
}

#[test]
fn where_takes_places() {
    check("Where did Irina grow up?", &[("Irina", "I grew up in Lisbon with two brothers.")], "Lisbon");
    check(
        "Where does Irina walk the dog?",
        &[("Irina", "I always walk the dog near the old harbour.")],
        "near the old harbour",
    );
    check("Which country does Irina come from?", &[("Irina", "I come from Portugal.")], "Portugal");
}

#[test]
fn how_many_takes_numbers() {
    check("How many cats does Irina have?", &[("Irina", "I have three cats at home.")], "three");
    check(
        "How often does Irina see her therapist?",
        &[("Irina", "I see my therapist twice a week.")],
        "twice a week",
    );
    check(
        "How much did the course cost Irina?",
        &[("Irina", "The course cost me $450, far too much.")],
        "$450",
    );
    check("How old is Irina's son?", &[("Irina", "My son is six years old.")], "six years");
    check("How many brothers does Irina have?", &[("Irina", "I only have a brother.")], "one");
}

#[test]
fn yes_no_follows_polarity() {
    check("Did Irina sleep well?", &[("Irina", "I slept really well.")], "Yes");
    check("Did Irina sleep well?", &[("Irina", "I did not sleep well at all.")], "No");
    check(
        "Does Irina trust her boss?",
        &[("Paul", "Do you trust your boss?"), ("Irina", "No, I don't trust my boss.")],
        "No",
    );
    check("Didn't Irina finish the course?", &[("Irina", "I never finished the course.")], "Yes");
}

#[test]
fn what_keeps_the_object() {
    check(
        "What did Irina buy for her garden?",
        &[("Irina", "I bought a rose bush for my garden.")],
        "rose bush",
    );
    check("What did Irina study?", &[("Irina", "I studied marine biology.")], "marine biology");
    check("What is Irina's favourite hobby?", &[("Irina", "Pottery is my favourite hobby.")], "Pottery");
    check("What kind of tea does Irina drink?", &[("Irina", "I drink green tea all day.")], "green tea");
    check(
        "Which book did Irina finish?",
        &[("Irina", "I finished \"The Quiet Year\" and cried.")],
        "\"The Quiet Year\"",
    );
    check("What is the name of Irina's dog?", &[("Irina", "Our dog is called Biscuit.")], "Biscuit");
    check(
        "What did Irina lose?",
        &[("Paul", "What did you lose?"), ("Irina", "My wedding ring.")],
        "wedding ring",
    );
}

#[test]
fn lists_join_items_over_sessions() {
    check(
        "What hobbies does Irina enjoy?",
        &[("Irina", "I enjoy hobbies like chess, pottery and swimming.")],
        "chess, pottery, swimming",
    );
    let packet = packet(
        "What instruments does Irina play?",
        &[
            (DAY, &[("Irina", "I play the cello.")]),
            (date(2022, 10, 2), &[("Paul", "Nice day."), ("Irina", "At home I play the piano.")]),
        ],
    );
    let got = answer(&packet);
    assert_eq!(got.text, "cello, piano");
    assert_eq!(got.evidence.len(), 2);
}

#[test]
fn why_takes_the_reason() {
    check(
        "Why did Irina cancel the trip?",
        &[("Irina", "I cancelled the trip because my mother fell ill.")],
        "my mother fell ill",
    );
    check(
        "Why did Irina join a choir?",
        &[("Irina", "I joined a choir to meet new people.")],
        "to meet new people",
    );
    check(
        "Why did Irina move house?",
        &[("Irina", "The street was too loud, so I moved house.")],
        "The street was too loud",
    );
}

#[test]
fn feelings_are_named() {
    check(
        "How did Irina feel after the exam?",
        &[("Irina", "After the exam I felt empty and tired.")],
        "empty and tired",
    );
    check(
        "How does Irina feel about the divorce?",
        &[("Irina", "I am ashamed and sad about the divorce.")],
        "ashamed and sad",
    );
}

#[test]
fn abstains_without_evidence() {
    let got = ask("What did Irina cook for the wedding?", &[]);
    assert!(got.abstained && got.units.is_empty() && got.evidence.is_empty() && got.time.is_none());
    assert_eq!(got.text, NOT_MENTIONED);
    assert!(answer(&Packet::default()).abstained);
}

#[test]
fn abstains_when_only_the_other_said_so() {
    let lines = [("Paul", "I bought a blue sailing boat in spring."), ("Irina", "How lovely!")];
    assert!(ask("What boat did Irina buy in spring?", &lines).abstained);
    assert!(!ask("What boat did Paul buy in spring?", &lines).abstained);
}

#[test]
fn the_clause_that_tells_is_cut_out_of_a_sentence() {
    check("What is Irina's favourite soup?", &[("Irina", "My favourite soup is borscht.")], "borscht");
    let line = [("Irina", "So I recently joined a rowing club to meet people.")];
    check("What did Irina do to meet people?", &line, "joined a rowing club");
    check("Which birds mesmerize Irina?", &[("Irina", "Owls have always mesmerized me.")], "Owls");
}

#[test]
fn lists_are_joined_over_sentences() {
    let lines = [
        ("Irina", "I play the cello on Sundays."),
        ("Paul", "How nice."),
        ("Irina", "And I play the flute with my niece."),
    ];
    let got = ask("Which instruments does Irina play?", &lines);
    assert!(got.text.contains("cello") && got.text.contains("flute"), "{}", got.text);
    assert!(got.evidence.len() > 1, "{:?}", got.evidence);
}

#[test]
fn the_rules_alone_decide_where_no_weights_are_given() {
    let config = ExtractiveConfig { choice: None, ..ExtractiveConfig::default() };
    let lines: Vec<(&str, &str)> = NOISE.into_iter().chain([("Irina", "I bought a kayak in May.")]).collect();
    let packet = packet("What did Irina buy?", &[(DAY, &lines)]);
    let answerer = ExtractiveAnswerer::new(config, None);
    assert_eq!(answerer.answer_now(&packet).expect("no embedder can fail").text, "kayak");
    let readings = answerer.readings(&packet).expect("no embedder can fail");
    assert!(readings.iter().any(|r| r.text == "kayak"));
    assert!(readings.iter().all(|r| r.features.iter().all(|x| x.is_finite() && x.abs() <= 2.0)));
}

#[test]
fn abstains_when_nothing_speaks_of_what_is_named() {
    let lines =
        [("Irina", "We named our boat Heron."), ("Irina", "I bought a desk for my office on Friday.")];
    for question in [
        "What is the name of Irina's parrot?",
        "When did Irina go to Peru?",
        "When did Irina buy a motorcycle?",
        "How much does Irina earn?",
    ] {
        assert!(ask(question, &lines).abstained, "{question}: {}", ask(question, &lines).text);
    }
    check("What is the name of Irina's boat?", &lines, "Heron");
}

#[test]
fn related_words_and_kinds_answer() {
    let lines = [("Irina", "I play the cello in a quartet."), ("Paul", "My sister loves the opera.")];
    check("What instrument does Irina play?", &lines, "cello");
    check("Where does Irina live?", &[("Irina", "Last year I moved to Porto.")], "Porto");
    let lines = [("Irina", "I'm a tax clerk in a small firm."), ("Irina", "My work is dull.")];
    check("What does Irina do for a living?", &lines, "tax clerk");
}

#[test]
fn who_takes_up_the_sentence_before_and_leaves_places() {
    check(
        "With whom does Irina play chess?",
        &[("Irina", "My friend Ada is back. We play chess on Mondays.")],
        "Ada",
    );
    check("Who drove Irina's van?", &[("Irina", "In Porto my brother Oskar drove the van.")], "Oskar");
}

#[test]
fn how_things_are_is_told_by_the_newest_and_how_they_were_by_the_oldest() {
    let old = date(2021, 3, 1);
    let new = date(2022, 9, 1);
    let sessions: [(Date, &[(&str, &str)]); 2] =
        [(old, &[("Irina", "I live in Porto.")]), (new, &[("Irina", "I live in Lyon.")])];
    assert_eq!(answer(&packet("Where does Irina live now?", &sessions)).text, "Lyon");
    assert_eq!(answer(&packet("Where did Irina live at first?", &sessions)).text, "Porto");
}

#[test]
fn what_was_done_is_not_told_by_a_plan() {
    let lines =
        [("Irina", "I will visit my aunt next Friday."), ("Irina", "I visited my aunt on 4 May 2020.")];
    assert!(ask("When did Irina visit her aunt?", &lines).text.contains("4 May 2020"));
}

#[test]
fn the_current_unit_wins_unless_the_past_is_asked() {
    let lines = [("Irina", "I work at the bakery."), ("Paul", "I see."), ("Irina", "I work at the library.")];
    let build = |question: &str| {
        let mut packet = packet(question, &[(DAY, &lines)]);
        packet.primary[0].unit.lifecycle.superseded_by = Some(UnitId(3));
        packet.primary[0].unit.lifecycle.valid_until = Some(DAY);
        packet
    };
    assert_eq!(answer(&build("Where does Irina work?")).text, "library");
    assert_eq!(answer(&build("Where did Irina originally work?")).text, "bakery");
}

#[test]
fn claims_stand_in_for_missing_source_text() {
    let mut packet = packet("Where does Irina work?", &[(DAY, &[("Irina", "I work at the library.")])]);
    packet.spans.clear();
    let got = answer(&packet);
    assert_eq!(got.text, "library");
    assert!(got.evidence.is_empty() && got.units == [UnitId(1)]);
}

#[tokio::test]
async fn the_port_answers_the_same() {
    let packet = packet("Where does Irina work?", &[(DAY, &[("Irina", "I work at the library.")])]);
    let answerer: Box<dyn Answerer> = Box::new(ExtractiveAnswerer::new(ExtractiveConfig::default(), None));
    assert_eq!(answerer.answer(&packet).await.expect("no embedder can fail"), answer(&packet));
}

/// Embeds a text as a pet text or another text, so that meaning can win where no word is shared.
struct PetEmbedder;

impl fta_index::Embedder for PetEmbedder {
    fn model_id(&self) -> &'static str {
        "pets"
    }

    fn dim(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<fta_index::Embeddings, fta_index::EmbedError> {
        let pet = |t: &&str| ["puppy", "dog", "Biscuit"].iter().any(|w| t.contains(w));
        let rows = texts.iter().flat_map(|t| if pet(t) { [1.0, 0.0] } else { [0.0, 1.0] }).collect();
        fta_index::Embeddings::new(2, rows)
    }
}

#[test]
fn an_embedder_finds_what_words_do_not() {
    let lines: Vec<(&str, &str)> =
        NOISE.into_iter().chain([("Irina", "Biscuit arrived here from Lisbon.")]).collect();
    let packet = packet("Where did Irina get the puppy?", &[(DAY, &lines)]);
    let with = ExtractiveAnswerer::new(ExtractiveConfig::default(), Some(std::sync::Arc::new(PetEmbedder)));
    assert_eq!(with.answer_now(&packet).expect("this embedder never fails").text, "Lisbon");
    assert!(answer(&packet).abstained);
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    fn line() -> impl Strategy<Value = (String, String)> {
        let words = prop::sample::select(vec![
            "I",
            "bought",
            "my sister",
            "because",
            "three",
            "cats,",
            "and",
            "in",
            "Lisbon",
            "felt",
            "sad.",
            "\"Blue",
            "Hour\"",
            "?",
            "since 2016",
            "yesterday",
            "\u{e9}t\u{e9}",
            "\u{1f600}",
            "No,",
            "so",
            "is",
            "a",
            "week",
            "$5",
            "to",
            "'s",
            "-",
        ]);
        let text = prop_oneof![prop::collection::vec(words, 0..14).prop_map(|w| w.join(" ")), "\\PC{0,60}"];
        (prop::sample::select(vec!["Irina", "Paul", ""]).prop_map(str::to_owned), text)
    }

    fn question() -> impl Strategy<Value = String> {
        let starts = prop::sample::select(vec![
            "When did Irina",
            "How long has Irina",
            "Who",
            "Where did Paul",
            "How many cats",
            "Did Irina",
            "What hobbies",
            "Why did Paul",
            "How did Irina feel",
            "What kind of",
            "What",
            "Which book",
        ]);
        (starts, "\\PC{0,30}").prop_map(|(start, rest)| format!("{start} {rest}"))
    }

    proptest! {
        #[test]
        fn answers_hold_their_contract(
            question in question(),
            lines in prop::collection::vec(line(), 0..8),
            quote in (0_u32..20, 0_u32..99, 0_u32..99),
            min_confidence in 0.0_f32..0.6,
        ) {
            let lines: Vec<(&str, &str)> = lines.iter().map(|(s, t)| (s.as_str(), t.as_str())).collect();
            let mut packet = packet(&question, &[(DAY, &lines)]);
            if let Some(first) = packet.primary.first_mut() {
                first.unit.evidence.quotes = vec![Quote { turn: quote.0, start: quote.1, end: quote.2 }];
                first.score.total = f32::NAN;
            }
            let config = ExtractiveConfig { min_confidence, ..ExtractiveConfig::default() };
            let answerer = ExtractiveAnswerer::new(config, None);
            let got = answerer.answer_now(&packet).expect("no embedder can fail");
            prop_assert!(!got.text.trim().is_empty());
            prop_assert!((0.0..=1.0).contains(&got.confidence), "{}", got.confidence);
            for turn in &got.evidence {
                let found = packet.turn(&turn.session, turn.turn).expect("evidence lies in the packet");
                prop_assert_eq!(&found.source_id, &turn.source_id);
            }
            for id in &got.units {
                prop_assert!(packet.primary.iter().any(|p| p.unit.id == *id));
            }
            if got.abstained {
                prop_assert!(got.units.is_empty() && got.evidence.is_empty() && got.time.is_none());
                prop_assert_eq!(got.text.as_str(), NOT_MENTIONED);
            }
            prop_assert_eq!(answerer.answer_now(&packet).expect("no embedder can fail").text, got.text);
        }
    }
}
