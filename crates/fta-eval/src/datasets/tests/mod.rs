mod esconv_questions;
mod leak;
mod longmemeval;

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{AnomalyKind as Kind, *};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(name)
}

fn read(value: &Value) -> Result<Loaded, LoadError> {
    parse(Path::new("dir/notes.json"), value.to_string().as_bytes(), None)
}

#[track_caller]
fn check_counts(report: &LoadReport, expected: &[(Kind, usize)]) {
    let found: Vec<(Kind, usize)> = report.anomalies.iter().map(|(k, a)| (*k, a.count)).collect();
    assert_eq!(found, expected, "{report}");
}

#[test]
fn locomo_dev_counts() {
    let loaded = load(&data("locomo/locomo-dev6.json"), None).unwrap();
    let report = &loaded.report;
    assert_eq!((report.format, report.detected), (Format::LocomoJson, true));
    assert_eq!((report.cases, report.sessions, report.turns, report.questions), (6, 156, 3435, 1157));
    assert_eq!(report.undated_sessions, 0);
    let by_category: Vec<(&str, usize)> =
        report.questions_by_category.iter().map(|(c, n)| (c.as_str(), *n)).collect();
    assert_eq!(
        by_category,
        [
            ("1 multi-hop", 172),
            ("2 temporal", 180),
            ("3 open-domain", 53),
            ("4 single-hop", 480),
            ("5 adversarial", 272)
        ]
    );
    check_counts(
        report,
        &[
            (Kind::DateWithoutSession, 16),
            (Kind::QuestionTwice, 1),
            (Kind::AnswerIsNumber, 6),
            (Kind::AnswerOfUnanswerable, 2),
            (Kind::OuterSpace, 2),
            (Kind::EvidenceEmpty, 2),
            (Kind::EvidenceSeveralIds, 1),
            (Kind::EvidenceRepaired, 1),
            (Kind::EvidenceBroken, 1),
            (Kind::EvidenceNoTurn, 1),
        ],
    );
    let first = &loaded.cases[0].conversation;
    assert_eq!((first.id.as_str(), first.sessions.len()), ("conv-26", 19));
    assert_eq!(first.sessions[9].id.0, "session_10");
    assert_eq!(first.sessions[0].started_at.unwrap().to_string(), "2023-05-08T13:56:00");
    assert_eq!(first.sessions[2].turns[0].source_id, "D3:1");
    let twice = &loaded.cases[0].questions[37];
    let ids: Vec<&str> = twice.evidence.iter().map(|e| e.turn.as_str()).collect();
    assert_eq!((twice.id.as_str(), ids), ("conv-26_qa37", vec!["D8:6", "D9:17"]));
    for case in &loaded.cases {
        for session in &case.conversation.sessions {
            session.validate().unwrap();
        }
    }
}

#[test]
fn longmemeval_counts() {
    let report = load(&data("longmemeval/longmemeval_evidence_turns.jsonl"), None).unwrap().report;
    assert_eq!(report.format, Format::LongMemEval);
    assert_eq!((report.cases, report.turns, report.questions), (500, 896, 500));
    assert_eq!(report.questions_by_category["temporal-reasoning"], 133);
    assert_eq!(report.count(Kind::QuestionDateMissing), 18);
    assert_eq!(report.count(Kind::NoHistory), 21);
    assert_eq!(report.count(Kind::AnswerIsNumber), 32);
    assert_eq!(report.count(Kind::DateUnreadable), 0);
    assert!(report.count(Kind::EvidenceAfterQuestion) > 0);
}

#[test]
fn esconv_counts() {
    let loaded = load(&data("esconv/esconv_v0_test.jsonl"), None).unwrap();
    let report = &loaded.report;
    assert_eq!(report.format, Format::EsConv);
    assert_eq!((report.cases, report.sessions, report.undated_sessions), (202, 202, 202));
    let session = &loaded.cases[0].conversation.sessions[0];
    assert_eq!(session.id.0, "esconv_v0_test_000");
    assert_eq!(session.turns[1].source_id, "esconv_v0_test_000:2");
    assert_eq!(session.turns[1].role, fta_segment::Role::Supporter);
}

#[test]
fn evoemo_counts() {
    let loaded = load(&data("es-memeval/sample-synthetic.json"), None).unwrap();
    let report = &loaded.report;
    assert_eq!((report.format, report.cases, report.sessions, report.questions), (Format::EvoEmo, 2, 7, 12));
    check_counts(
        report,
        &[
            (Kind::SessionsOutOfOrder, 1),
            (Kind::EvidenceMissing, 1),
            (Kind::EvidenceEmpty, 1),
            (Kind::EvidenceIsEvent, 2),
            (Kind::ListAnnotation, 2),
            (Kind::IndexIsText, 2),
            (Kind::GroupWithoutSession, 1),
        ],
    );
    let first = &loaded.cases[0];
    let ids: Vec<&str> = first.conversation.sessions.iter().map(|s| s.id.0.as_str()).collect();
    assert_eq!(ids, ["p1_conv_1", "p1_conv_2", "p1_conv_3", "p1_conv_4", "p1_conv_5"]);
    assert_eq!(first.conversation.sessions[0].speakers().into_iter().filter(|s| *s == "Lena").count(), 1);
    assert_eq!(first.questions.iter().filter(|q| !q.answerable).count(), 2);
}

#[test]
fn the_picture_search_words_are_not_read() {
    let turn = json!({"speaker": "Ann", "dia_id": "D1:1", "text": "look", "query": "secret", "blip_caption": "a tree"});
    let sample = json!([{"sample_id": "s", "qa": [], "conversation": {
        "speaker_a": "Ann", "speaker_b": "Bo", "session_1": [turn], "session_1_date_time": "1:00 pm on 30 February, 2023"}}]);
    let loaded = read(&sample).unwrap();
    let session = &loaded.cases[0].conversation.sessions[0];
    assert_eq!(session.turns[0].caption.as_deref(), Some("a tree"));
    assert_eq!(session.started_at, None);
    assert_eq!(loaded.report.captions, 1);
    check_counts(&loaded.report, &[(Kind::DateUnreadable, 1)]);
    assert!(!serde_json::to_string(&loaded.cases).unwrap().contains("secret"));
}

#[test]
fn odd_locomo_evidence() {
    let turns: Vec<Value> =
        (1..=5).map(|n| json!({"speaker": "Ann", "dia_id": format!("D1:{n}"), "text": "hm"})).collect();
    let question = json!({"question": "\u{200b}who? ", "category": 1, "answer": 3,
        "evidence": ["D1:04", "D:1:5", "D1:4", "D", "D9:9", "D1:1; D1:2"]});
    let sample = json!([{"sample_id": "s", "qa": [question], "conversation":
        {"session_1": turns, "session_2": [], "session_1_date_time": "1:00 pm on 3 May, 2023"}}]);
    let loaded = read(&sample).unwrap();
    let evidence: Vec<&str> = loaded.cases[0].questions[0].evidence.iter().map(|e| e.turn.as_str()).collect();
    assert_eq!(evidence, ["D1:4", "D1:5", "D1:1", "D1:2"]);
    assert_eq!(loaded.cases[0].questions[0].gold, "3");
    assert_eq!(loaded.cases[0].questions[0].evidence_raw.len(), 6);
    check_counts(
        &loaded.report,
        &[
            (Kind::SessionWithoutDate, 1),
            (Kind::SessionWithoutTurns, 1),
            (Kind::AnswerIsNumber, 1),
            (Kind::OuterSpace, 1),
            (Kind::ZeroWidthSpace, 1),
            (Kind::EvidenceSeveralIds, 1),
            (Kind::EvidenceRepaired, 2),
            (Kind::EvidenceBroken, 1),
            (Kind::EvidenceNoTurn, 1),
            (Kind::EvidenceTwice, 1),
        ],
    );
}

#[test]
fn chat_messages_split_at_a_long_silence() {
    let lines = [
        json!({"role": "system", "content": "Be kind."}),
        json!({"role": "user", "content": "Morning", "timestamp": "2024-05-01T08:00:00Z", "name": "Ann"}),
        json!({"role": "assistant", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url"}], "timestamp": "2024-05-01 14:00"}),
        json!({"role": "assistant", "content": null, "tool_calls": []}),
        json!({"role": "user", "content": "Evening", "timestamp": 1_714_593_601}),
        json!({"role": "wizard", "content": "Boo", "timestamp": "2024-13-01"}),
    ];
    let text = lines.map(|l| l.to_string()).join("\n");
    let loaded = parse(Path::new("dir/notes.jsonl"), text.as_bytes(), None).unwrap();
    let conversation = &loaded.cases[0].conversation;
    assert_eq!(conversation.id, "notes");
    let shape: Vec<(&str, usize)> =
        conversation.sessions.iter().map(|s| (s.id.0.as_str(), s.turns.len())).collect();
    assert_eq!(shape, [("notes-1", 3), ("notes-2", 2)]);
    assert_eq!(conversation.sessions[0].turns[1].speaker, "Ann");
    assert_eq!(conversation.sessions[0].started_at.unwrap().to_string(), "2024-05-01T08:00:00");
    assert_eq!(conversation.sessions[1].started_at.unwrap().to_string(), "2024-05-01T20:00:01");
    check_counts(
        &loaded.report,
        &[
            (Kind::DateUnreadable, 1),
            (Kind::TurnWithoutText, 1),
            (Kind::UnknownRole, 1),
            (Kind::ContentPartSkipped, 1),
        ],
    );
}

#[test]
fn chat_sessions_keep_their_ids() {
    let messages = json!([{"role": "user", "content": "a"}]);
    let loaded = read(&json!([
        {"id": "x", "timestamp": "2024-02-02", "messages": messages},
        {"session_id": "y", "timestamp": "2024-01-01", "messages": messages},
        {"id": "x", "messages": messages},
        {"messages": []},
    ]))
    .unwrap();
    let ids: Vec<&str> = loaded.cases[0].conversation.sessions.iter().map(|s| s.id.0.as_str()).collect();
    assert_eq!(ids, ["y", "x-2", "x"]);
    check_counts(
        &loaded.report,
        &[
            (Kind::SessionWithoutDate, 2),
            (Kind::SessionWithoutTurns, 1),
            (Kind::SessionsOutOfOrder, 1),
            (Kind::SessionIdTwice, 1),
        ],
    );
}

#[test]
fn messages_of_named_sessions_are_grouped() {
    let of = |session: &str, text: &str| json!({"role": "user", "content": text, "session_id": session});
    let loaded = read(&json!([of("a", "1"), of("b", "2"), of("a", "3")])).unwrap();
    let sessions = &loaded.cases[0].conversation.sessions;
    assert_eq!(sessions.len(), 2);
    assert_eq!(sessions[0].turns[1].text, "3");
}

#[track_caller]
fn check_error(bytes: &[u8], format: Option<Format>, expected: &str) {
    let error = parse(Path::new("in.json"), bytes, format).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn bad_files_say_what_and_where() {
    check_error(b" \n", None, "`in.json` is empty");
    check_error(b"\xef\xbb\xbf", None, "`in.json` is empty");
    check_error(b"[{\"a\":\n \"\xff\"}]", None, "line 2, column 3: not UTF-8");
    check_error(b"[{\"role\": \"user\",\n oops}]", None, "line 2, column 2: not JSON");
    check_error(
        b"{\"role\": \"user\", \"content\": \"x\"}\n{\"role\": \n",
        None,
        "line 3, column 0: not JSON (EOF",
    );
    check_error(b"[]", None, "its first record is not there");
    check_error(b"[1]", None, "its first record is a number");
    check_error(b"{\"colour\": 1, \"size\": 2}", None, "its first record has `colour`, `size`; expected are");
    check_error(
        b"[{\"messages\": []}]",
        None,
        "holds no turn that says something (1 records of format chat)",
    );
    check_error(
        b"[{\"role\": \"user\", \"content\": \"x\"}, {\"content\": \"y\"}]",
        None,
        "record 1 (from 0), `role`: is missing",
    );
    check_error(
        b"[{\"conversation\": {\"session_1\": [{\"speaker\": \"A\", \"text\": 3}]}}]",
        None,
        "record 0 (from 0), `conversation.session_1[0].text`: is a number and should be a text",
    );
    check_error(
        b"[{\"colour\": 1}]",
        Some(Format::EvoEmo),
        "`dialog_history`: is missing, as format evoemo needs",
    );
    check_error(
        b"[{\"questions\": []}]",
        Some(Format::EsConvQuestions),
        "`dialogues`: is missing, as format esconv-questions needs",
    );
    check_error(b"[3]", Some(Format::LongMemEval), "`record`: is a number and should be an object");
    let missing = load(Path::new("no/such/file.json"), None).unwrap_err();
    assert!(missing.to_string().contains("`no/such/file.json` cannot be read"), "{missing}");
}

#[test]
fn formats_have_names() {
    for format in Format::ALL {
        assert_eq!(format.name().parse(), Ok(format));
        assert_eq!(serde_json::to_value(format).unwrap(), format.name());
    }
    assert!("xml".parse::<Format>().unwrap_err().contains("`locomo`"));
}

#[test]
fn the_report_shows_and_serialises() {
    let report = load(&data("es-memeval/sample-synthetic.json"), None).unwrap().report;
    let shown = report.to_string();
    assert!(
        shown.contains("2 cases, 7 sessions") && shown.contains("sessions not in time order, sorted (p1)"),
        "{shown}"
    );
    let value = serde_json::to_value(&report).unwrap();
    assert_eq!(value["anomalies"]["evidence_is_event"]["count"], 2);
}

/// JSON of the keys that loaders look for, in any wrong shape.
fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "D1:1",
            "D:0:07; D",
            "2024-02-30",
            "1:00 pm on 3 May, 2023",
            "user",
            "p1:1",
            ""
        ])
        .prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "conversation",
        "session_1",
        "session_2",
        "session_1_date_time",
        "session_3_date_time",
        "qa",
        "question",
        "answer",
        "category",
        "evidence",
        "speaker",
        "text",
        "dia_id",
        "dialog_history",
        "id",
        "timestamp",
        "dialogue",
        "idx",
        "role",
        "content",
        "questions",
        "capability",
        "haystack_sessions",
        "haystack_dates",
        "question_id",
        "haystack_session_ids",
        "answer_session_ids",
        "has_answer",
        "messages",
        "session_id",
        "name",
        "sample_id",
        "dialogues",
        "dialogues_sha256",
        "categories",
    ]);
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

/// Every loaded session keeps the promises of its type.
fn check_loaded(bytes: &[u8]) {
    for format in Format::ALL.map(Some).into_iter().chain([None]) {
        let Ok(loaded) = parse(Path::new("x.json"), bytes, format) else { continue };
        for case in &loaded.cases {
            for session in &case.conversation.sessions {
                session.validate().unwrap();
            }
            for reference in case.questions.iter().flat_map(|q| &q.evidence) {
                let session = case.conversation.sessions.iter().find(|s| s.id == reference.session);
                assert!(
                    session.unwrap().turns.iter().any(|t| t.source_id == reference.turn),
                    "{reference:?}"
                );
            }
        }
        let _ = loaded.report.to_string();
    }
}

/// A small file of each format, for mutation.
fn seeds() -> Vec<String> {
    let turn = json!({"speaker": "A", "dia_id": "D1:1", "text": "hello", "blip_caption": "c"});
    let said = json!({"role": "user", "content": "hello", "idx": 1, "has_answer": true});
    vec![
        json!([{"sample_id": "s", "conversation": {"speaker_a": "A", "session_1": [turn], "session_1_date_time": "1:00 pm on 3 May, 2023"},
            "qa": [{"question": "q", "category": 2, "answer": "a", "evidence": ["D1:1"]}]}])
        .to_string(),
        json!([{"id": "p1", "basic_info": {"name": "A"}, "dialog_history": [{"id": "c", "timestamp": "2024-01-01", "dialogue": [said]}],
            "questions": [{"id": "c", "questions": [{"idx": 1, "capability": "x", "question": "q", "answer": "a", "evidence": ["c:1"]}]}]}])
        .to_string(),
        json!({"question_id": "q", "question": "q", "question_date": "2023/05/20 (Sat) 02:21", "answer": 3,
            "haystack_dates": ["2023/05/19 (Fri) 02:21"], "haystack_session_ids": ["i"], "haystack_sessions": [[said]], "answer_session_ids": ["i"]})
        .to_string(),
        json!({"id": "e", "dialogue": [said]}).to_string(),
        esconv_questions::sample().to_string(),
        json!([{"role": "user", "content": "x", "timestamp": 1_700_000_000}, {"messages": [said], "timestamp": "2024-01-01T10:00"}]).to_string(),
    ]
}

#[test]
fn seeds_are_read() {
    let formats: Vec<Format> = seeds()
        .iter()
        .map(|s| parse(Path::new("x.json"), s.as_bytes(), None).unwrap().report.format)
        .collect();
    assert_eq!(formats, Format::ALL);
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        check_loaded(&bytes);
    }

    #[test]
    fn arbitrary_json_never_panics(value in any_json()) {
        check_loaded(value.to_string().as_bytes());
        check_loaded(json!([value]).to_string().as_bytes());
    }

    #[test]
    fn mutated_files_never_panic(seed in 0..6_usize, at in any::<prop::sample::Index>(), length in 0..6_usize, insert in "[\\[\\]{}\",:0-9a-z\\\\]{0,4}") {
        let mut bytes = seeds()[seed].clone().into_bytes();
        let start = at.index(bytes.len());
        let end = (start + length).min(bytes.len());
        bytes.splice(start..end, insert.into_bytes());
        check_loaded(&bytes);
    }
}
