//! LongMemEval's files: the oracle's odd places, and the shape of S.

use serde_json::{Value, json};

use super::{check_counts, read, *};

fn said(role: &str, content: &str, has_answer: Option<bool>) -> Value {
    let mut turn = json!({"role": role, "content": content});
    if let Some(has_answer) = has_answer {
        turn["has_answer"] = json!(has_answer);
    }
    turn
}

/// A record of the oracle file: two evidence sessions, not in time order, the first dated after the question.
fn oracle(id: &str, answer: &Value) -> Value {
    json!({
        "question_id": id, "question_type": "temporal-reasoning", "question": "How many boats did I mend?", "answer": answer,
        "question_date": "2023/05/20 (Sat) 02:21",
        "haystack_session_ids": ["answer_7_2", "answer_7_1"],
        "haystack_dates": ["2023/05/21 (Sun) 09:00", "2023/05/18 (Thu) 23:05"],
        "haystack_sessions": [
            [said("user", "I mended the second boat today.", Some(true)), said("assistant", "Well done.", Some(false))],
            [said("user", "Hello there.", Some(false)), said("assistant", "Hello.", Some(false)),
                said("user", "The first boat is mended.", Some(true)), said("assistant", "One boat, then.", Some(true))]],
        "answer_session_ids": ["answer_7_2", "answer_7_1"],
    })
}

#[test]
fn odd_places_of_the_oracle_file() {
    let mut abstention = oracle("q2_abs", &json!("No boat was ever painted."));
    abstention["question_date"] = Value::Null;
    let loaded = read(&json!([oracle("q1", &json!(2)), abstention, oracle("q1", &json!("two"))])).unwrap();
    assert_eq!(
        (loaded.report.format, loaded.report.cases, loaded.report.sessions),
        (Format::LongMemEval, 3, 6)
    );
    check_counts(
        &loaded.report,
        &[
            (Kind::SessionsOutOfOrder, 3),
            (Kind::CaseIdTwice, 1),
            (Kind::QuestionDateMissing, 1),
            (Kind::AnswerIsNumber, 1),
            (Kind::EvidenceAfterQuestion, 2),
        ],
    );
    let case = &loaded.cases[0];
    // Sessions are called by their place in the file and stand in time order.
    let sessions: Vec<(&str, String)> = case
        .conversation
        .sessions
        .iter()
        .map(|session| (session.id.0.as_str(), session.started_at.unwrap().to_string()))
        .collect();
    let expected = [("session_2", "2023-05-18T23:05:00"), ("session_1", "2023-05-21T09:00:00")];
    assert_eq!(sessions, expected.map(|(id, at)| (id, at.to_owned())));
    let question = &case.questions[0];
    assert_eq!((question.gold.as_str(), question.answerable), ("2", true));
    assert_eq!(question.asked_at.unwrap().to_string(), "2023-05-20T02:21:00");
    assert_eq!(question.evidence_raw, ["answer_7_2", "answer_7_1"]);
    let evidence: Vec<&str> = question.evidence.iter().map(|turn| turn.turn.as_str()).collect();
    assert_eq!(evidence, ["session_1:1", "session_2:3", "session_2:4"]);
    assert!(!loaded.cases[1].questions[0].answerable);
    assert_eq!(loaded.cases[2].conversation.id, "q1-2");
}

#[test]
fn the_ids_of_evidence_sessions_are_not_given_to_the_memory() {
    let loaded = read(&json!([oracle("q1", &json!("two"))])).unwrap();
    let conversation = serde_json::to_string(&loaded.cases[0].conversation).unwrap();
    assert!(!conversation.contains("answer"), "{conversation}");
}

#[test]
fn a_haystack_as_large_as_that_of_s() {
    let filler = |n: usize| {
        let turns: Vec<Value> = (0..10)
            .map(|turn| {
                said(if turn % 2 == 0 { "user" } else { "assistant" }, &format!("Filler {n} {turn}."), None)
            })
            .collect();
        (format!("filler_{n}"), format!("2023/05/{:02} (Mon) 10:00", n % 28 + 1), Value::from(turns))
    };
    let record = |id: usize| {
        let mut record = oracle(&format!("q{id}"), &json!("two"));
        for n in 0..48 {
            let (id, date, turns) = filler(n);
            record["haystack_session_ids"].as_array_mut().unwrap().push(json!(id));
            record["haystack_dates"].as_array_mut().unwrap().push(json!(date));
            record["haystack_sessions"].as_array_mut().unwrap().push(turns);
        }
        record
    };
    let loaded = read(&Value::from((0..20).map(record).collect::<Vec<_>>())).unwrap();
    assert_eq!((loaded.report.cases, loaded.report.sessions), (20, 1000));
    assert_eq!(loaded.report.turns, 20 * (48 * 10 + 6));
    let dates: Vec<_> = loaded.cases[7].conversation.sessions.iter().map(|s| s.started_at).collect();
    assert!(dates.is_sorted() && dates.len() == 50);
    assert_eq!(loaded.cases[7].questions[0].evidence.len(), 3);
    for kind in [Kind::ListsDiffer, Kind::EvidenceNoSession, Kind::UnknownRole, Kind::DateUnreadable] {
        assert_eq!(loaded.report.count(kind), 0);
    }
}

#[test]
fn lists_of_different_length() {
    let mut record = oracle("q1", &json!("two"));
    record["haystack_dates"].as_array_mut().unwrap().pop();
    record["answer_session_ids"].as_array_mut().unwrap().push(json!("answer_7_9"));
    let loaded = read(&json!([record])).unwrap();
    check_counts(
        &loaded.report,
        &[
            (Kind::SessionWithoutDate, 1),
            (Kind::EvidenceNoSession, 1),
            (Kind::EvidenceAfterQuestion, 1),
            (Kind::ListsDiffer, 1),
        ],
    );
}
