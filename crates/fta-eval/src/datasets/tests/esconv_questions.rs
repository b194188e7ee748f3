//! Questions about dialogues of another file: an invented sample, and the forty that come with the workspace.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{check_counts, data, *};
use crate::digest::sha256;

/// Dialogues made up for tests, in the shape of ESConv.
fn dialogues() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src/datasets/tests/dialogues.jsonl")
}

/// Questions about them.
pub(super) fn sample() -> Value {
    let path = dialogues();
    json!({
        "about": "an example",
        "rule": "the first and the last",
        "dialogues": path,
        "dialogues_sha256": sha256(&std::fs::read(&path).unwrap()),
        "dialogues_source": "the tests",
        "categories": {"single-hop": 4, "multi-hop": 1, "unanswerable": 5},
        "questions": [
            {"id": "c1", "dialogue": "talk_3", "category": "single-hop", "question": "Where does the seeker live now?",
                "answer": "at the coast", "evidence": [1], "answerable": true},
            {"id": "a1", "dialogue": "talk_1", "category": "multi-hop", "question": "What did the fire take?",
                "answer": "greenhouse, lemon trees", "evidence": [4, 2]},
            {"id": "c2", "dialogue": "talk_3", "category": "unanswerable", "question": "Which part does the seeker sing?",
                "evidence": [], "answerable": false},
        ],
    })
}

fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut value = sample();
    change(&mut value);
    value
}

#[track_caller]
fn check_refused(value: &Value, expected: &str) -> LoadError {
    let error = read(value).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
    error
}

#[test]
fn each_dialogue_that_is_asked_about_is_a_case() {
    let Loaded { cases, report } = read(&sample()).unwrap();
    assert_eq!((report.format, report.detected), (Format::EsConvQuestions, true));
    assert_eq!((report.cases, report.sessions, report.undated_sessions, report.turns), (2, 2, 2, 5));
    assert_eq!((report.questions, report.questions_with_evidence), (3, 2));
    check_counts(&report, &[(Kind::TurnWithoutText, 1)]);
    let of_cases: Vec<(&str, Vec<&str>)> = cases
        .iter()
        .map(|c| (c.conversation.id.as_str(), c.questions.iter().map(|q| q.id.as_str()).collect()))
        .collect();
    assert_eq!(of_cases, [("talk_3", vec!["c1", "c2"]), ("talk_1", vec!["a1"])]);
    let several = &cases[1].questions[0];
    assert_eq!(several.category_label(), "1 multi-hop");
    assert_eq!(several.gold, "greenhouse, lemon trees");
    assert_eq!(several.evidence_raw, ["talk_1:4", "talk_1:2"]);
    let turn = |turn: &str| EvidenceRef { session: "talk_1".into(), turn: turn.to_owned() };
    assert_eq!(several.evidence, [turn("talk_1:4"), turn("talk_1:2")]);
    assert!(several.answerable);
    let without = &cases[0].questions[1];
    assert_eq!((without.answerable, without.gold.as_str(), without.category), (false, "", Some(5)));
}

#[test]
fn conversations_are_those_of_the_dialogues_alone() {
    let mut plain = load(&dialogues(), Some(Format::EsConv)).unwrap().cases;
    let found = read(&sample()).unwrap().cases;
    for case in &found {
        let position = plain.iter().position(|p| p.conversation.id == case.conversation.id).unwrap();
        assert_eq!(plain.remove(position).conversation, case.conversation);
    }
    let others = read(&changed(|value| {
        value["categories"] = json!({"single-hop": 2});
        for (position, question) in value["questions"].as_array_mut().unwrap().iter_mut().enumerate() {
            question["id"] = json!(position);
            question["evidence"] = json!([1, 1]);
        }
    }))
    .unwrap();
    for (one, other) in found.iter().zip(&others.cases) {
        assert_eq!(one.conversation, other.conversation);
        assert_ne!(one.questions, other.questions);
    }
    check_counts(
        &others.report,
        &[(Kind::TurnWithoutText, 1), (Kind::CategoryUnknown, 2), (Kind::EvidenceTwice, 2)],
    );
}

#[test]
fn dialogues_are_looked_up_beside_the_questions() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("questions")).unwrap();
    std::fs::copy(dialogues(), folder.path().join("talks.jsonl")).unwrap();
    let file = folder.path().join("questions/mine.json");
    std::fs::write(&file, changed(|value| value["dialogues"] = json!("../talks.jsonl")).to_string()).unwrap();
    assert_eq!(load(&file, None).unwrap().cases, read(&sample()).unwrap().cases);
}

#[test]
fn missing_and_other_dialogues_are_refused() {
    let missing = check_refused(
        &changed(|value| value["dialogues"] = json!("nowhere/talks.jsonl")),
        "`dir/notes.json` asks about dialogues in `dir/nowhere/talks.jsonl`, which cannot be read; get it from: the tests",
    );
    assert!(matches!(missing, LoadError::Dialogues { .. }), "{missing:?}");
    let nameless = changed(|value| {
        value["dialogues"] = json!("nowhere");
        value.as_object_mut().unwrap().remove("dialogues_source");
    });
    check_refused(&nameless, "correct `dialogues`, a path from the folder of the questions");
    let other = check_refused(
        &changed(|value| value["dialogues_sha256"] = json!("00ff")),
        "and should be `00ff`; get it from: the tests",
    );
    assert!(matches!(other, LoadError::DialoguesDiffer { .. }), "{other:?}");
    let upper = sample()["dialogues_sha256"].as_str().unwrap().to_uppercase();
    read(&changed(|value| value["dialogues_sha256"] = json!(upper))).unwrap();
    let unchecked = changed(|value| drop(value.as_object_mut().unwrap().remove("dialogues_sha256")));
    check_refused(&unchecked, "`dialogues_sha256`: is missing");
}

#[test]
fn unknown_dialogues_and_turns_are_named_with_their_question() {
    let dialogue = check_refused(
        &changed(|value| value["questions"][1]["dialogue"] = json!("talk_9")),
        "`dir/notes.json`, question `a1`: there is no dialogue `talk_9` in",
    );
    assert!(matches!(dialogue, LoadError::NoSuchDialogue { .. }), "{dialogue:?}");
    // Turn 3 is there and says nothing; turn 5 is not there.
    for idx in [3, 5] {
        let turn = check_refused(
            &changed(|value| value["questions"][1]["evidence"] = json!([2, idx])),
            &format!("question `a1`: dialogue `talk_1` has no turn `{idx}` that says something"),
        );
        assert!(matches!(turn, LoadError::NoSuchTurn { .. }), "{turn:?}");
    }
}

#[test]
fn questions_that_are_not_in_order_are_refused_or_counted() {
    check_refused(
        &changed(|value| value["questions"][2]["id"] = json!("c1")),
        "`questions[2].id`: `c1` is the id of two",
    );
    check_refused(
        &changed(|value| value["questions"][2]["id"] = json!(null)),
        "`questions[2].id`: is missing",
    );
    check_refused(
        &changed(|value| value["questions"][0]["answerable"] = json!("no")),
        "question `c1`, answerable",
    );
    check_refused(
        &changed(|value| value["categories"]["single-hop"] = json!(6)),
        "`categories.single-hop`: should be the number of a LoCoMo category, 1 to 5",
    );
    let odd = read(&changed(|value| {
        value["questions"][0]["question"] = json!("");
        value["questions"][1]["category"] = json!("other");
        value["questions"][2]["answer"] = json!("alto");
    }));
    check_counts(
        &odd.unwrap().report,
        &[
            (Kind::TurnWithoutText, 1),
            (Kind::QuestionWithoutText, 1),
            (Kind::CategoryUnknown, 1),
            (Kind::AnswerOfUnanswerable, 1),
        ],
    );
}

#[test]
fn a_dialogue_that_is_there_twice_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let text = std::fs::read_to_string(dialogues()).unwrap();
    let twice = format!("{text}{}", text.replace("Good evening", "Good morning"));
    std::fs::write(folder.path().join("talks.jsonl"), &twice).unwrap();
    let loaded = read(&changed(|value| {
        value["dialogues"] = json!(folder.path().join("talks.jsonl"));
        value["dialogues_sha256"] = json!(sha256(twice.as_bytes()));
    }))
    .unwrap();
    assert_eq!(loaded.cases, read(&sample()).unwrap().cases);
    check_counts(&loaded.report, &[(Kind::TurnWithoutText, 1), (Kind::DialogueIdTwice, 2)]);
}

/// The questions that come with the workspace.
pub(super) fn forty() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/esconv-questions.json")
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    lower.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

#[test]
fn forty_questions_about_ten_dialogues() {
    let Loaded { cases, report } = load(&forty(), None).unwrap();
    assert_eq!((report.format, report.cases, report.questions), (Format::EsConvQuestions, 10, 40));
    assert_eq!((report.questions_with_evidence, report.turns, report.undated_sessions), (36, 373, 10));
    check_counts(&report, &[]);
    let by_category: Vec<(&str, usize)> =
        report.questions_by_category.iter().map(|(c, n)| (c.as_str(), *n)).collect();
    assert_eq!(
        by_category,
        [
            ("1 multi-hop", 8),
            ("2 time", 5),
            ("4 cause", 4),
            ("4 feeling", 5),
            ("4 single-hop", 14),
            ("5 unanswerable", 4)
        ]
    );
    for case in &cases {
        assert_eq!(case.questions.len(), 4, "{}", case.conversation.id);
        for question in &case.questions {
            let several = question.evidence.len() > 1;
            assert_eq!(several, question.category_name == "multi-hop", "{}", question.id);
            assert_eq!(question.answerable, !question.gold.is_empty(), "{}", question.id);
            assert_eq!(question.answerable, question.category_name != "unanswerable", "{}", question.id);
            assert!(words(&question.gold).len() <= 8, "{}", question.id);
        }
    }
}

#[test]
fn the_dialogues_of_the_forty_questions_follow_the_rule() {
    let all = load(&data("esconv/esconv_v0_test.jsonl"), None).unwrap().cases;
    let number = |id: &str| id.rsplit('_').next().unwrap().parse::<u32>().unwrap();
    let chosen: BTreeSet<String> = (10..200)
        .step_by(20)
        .map(|from| {
            let first = all.iter().map(|case| &case.conversation).find(|conversation| {
                number(&conversation.id) >= from && conversation.sessions[0].turns.len() >= 30
            });
            first.unwrap().id.clone()
        })
        .collect();
    let asked: BTreeSet<String> =
        load(&forty(), None).unwrap().cases.into_iter().map(|case| case.conversation.id).collect();
    assert_eq!(asked, chosen);
}

#[test]
fn the_forty_questions_copy_no_dialogue() {
    for case in load(&forty(), None).unwrap().cases {
        let turns: Vec<Vec<String>> =
            case.conversation.sessions[0].turns.iter().map(|turn| words(&turn.text)).collect();
        for question in &case.questions {
            for text in [&question.text, &question.gold] {
                for run in words(text).windows(5) {
                    let copied = turns.iter().any(|turn| turn.windows(5).any(|said| said == run));
                    assert!(!copied, "{}: {run:?}", question.id);
                }
            }
        }
    }
}
