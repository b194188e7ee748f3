//! Annotations never reach what feeds a memory: every one of them is changed, and the conversations stay the same.
//!
//! Each format has a list of the places that a conversation is made from; all else is an annotation. That the list is
//! no longer than it must be is tested as well: changing any place on it changes a conversation.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    data,
    esconv_questions::{forty, sample},
    *,
};

/// Places that may feed a memory, as paths: `[]` is any element of a list, `#` any number in a key.
struct Allowed(&'static [&'static str]);

const LOCOMO: Allowed = Allowed(&[
    "sample_id",
    "conversation.session_#[].speaker",
    "conversation.session_#[].dia_id",
    "conversation.session_#[].text",
    "conversation.session_#[].blip_caption",
    "conversation.session_#_date_time",
]);

const EVOEMO: Allowed = Allowed(&[
    "id",
    "basic_info.name",
    "dialog_history[].id",
    "dialog_history[].timestamp",
    "dialog_history[].dialogue[].idx",
    "dialog_history[].dialogue[].role",
    "dialog_history[].dialogue[].content",
]);

const LONGMEMEVAL: Allowed = Allowed(&[
    "question_id",
    "haystack_dates[]",
    "haystack_sessions[][].role",
    "haystack_sessions[][].content",
]);

const ESCONV: Allowed = Allowed(&["id", "dialogue[].idx", "dialogue[].role", "dialogue[].content"]);

/// Of the questions, what says which dialogues are meant, and what the file is not read without.
const ESCONV_QUESTIONS: Allowed = Allowed(&[
    "dialogues",
    "dialogues_sha#",
    "categories.single-hop",
    "categories.multi-hop",
    "categories.time",
    "categories.feeling",
    "categories.cause",
    "categories.unanswerable",
    "questions[].id",
    "questions[].dialogue",
    "questions[].evidence[]",
]);

const ESCONV_RELEASE: Allowed = Allowed(&["dialog[].speaker", "dialog[].content"]);

impl Allowed {
    /// Whether the value at this path may feed a memory, or something below it may.
    fn reaches(&self, path: &str) -> bool {
        self.0.iter().any(|allowed| {
            allowed.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        })
    }

    fn without(&self, path: &str) -> Vec<&'static str> {
        self.0.iter().copied().filter(|allowed| *allowed != path).collect()
    }
}

/// Changes annotations and counts the changed values by the annotation that they are in.
#[derive(Default)]
struct Mutator {
    changed: BTreeMap<String, usize>,
}

impl Mutator {
    /// Changes all values of a record that no allowed place reaches.
    fn annotations(&mut self, value: &mut Value, path: &str, allowed: &Allowed) {
        if !path.is_empty() && !allowed.reaches(path) {
            self.changed.entry(path.to_owned()).or_default();
            self.everything(value, path);
            return;
        }
        match value {
            Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    self.annotations(value, &below(path, key), allowed);
                }
            }
            Value::Array(items) => {
                let path = format!("{path}[]");
                for item in items {
                    self.annotations(item, &path, allowed);
                }
            }
            _ => {}
        }
    }

    /// Changes each value of a subtree into another of its kind, no two alike.
    fn everything(&mut self, value: &mut Value, annotation: &str) {
        let count: usize = self.changed.values().sum();
        match value {
            Value::Object(map) => map.values_mut().for_each(|value| self.everything(value, annotation)),
            Value::Array(items) => items.iter_mut().for_each(|item| self.everything(item, annotation)),
            Value::String(text) => *text = format!("changed {count}"),
            Value::Number(_) => *value = json!(7_000_000 + count),
            Value::Bool(truth) => *truth = !*truth,
            Value::Null => *value = json!(format!("changed {count}")),
        }
        if !value.is_object() && !value.is_array() {
            *self.changed.entry(annotation.to_owned()).or_default() += 1;
        }
    }
}

/// Path of a key: numbers in it become `#`.
fn below(path: &str, key: &str) -> String {
    let mut shown = String::new();
    for character in key.chars() {
        match character {
            '0'..='9' if shown.ends_with('#') => {}
            '0'..='9' => shown.push('#'),
            other => shown.push(other),
        }
    }
    if path.is_empty() { shown } else { format!("{path}.{shown}") }
}

/// The conversations as JSON.
fn conversations(records: &[Value], format: Format) -> Vec<String> {
    let bytes = serde_json::to_vec(records).unwrap();
    let loaded = parse(Path::new("in.json"), &bytes, Some(format)).unwrap();
    loaded.cases.iter().map(|case| serde_json::to_string(&case.conversation).unwrap()).collect()
}

fn questions(records: &[Value], format: Format) -> Vec<Vec<CaseQuestion>> {
    let bytes = serde_json::to_vec(records).unwrap();
    let loaded = parse(Path::new("in.json"), &bytes, Some(format)).unwrap();
    loaded.cases.into_iter().map(|case| case.questions).collect()
}

/// Changes all annotations, or takes them away, and expects the same conversations; `annotations` are those of the file.
#[track_caller]
fn check(records: &[Value], format: Format, allowed: &Allowed, annotations: &[&str]) {
    let before = conversations(records, format);
    let mut mutator = Mutator::default();
    let mut changed = records.to_vec();
    for record in &mut changed {
        mutator.annotations(record, "", allowed);
    }
    let found: Vec<&str> = mutator.changed.keys().map(String::as_str).collect();
    assert_eq!(found, annotations);
    for (annotation, count) in &mutator.changed {
        assert!(*count > 0, "no value of `{annotation}` was changed");
    }
    for (before, after) in before.iter().zip(conversations(&changed, format)) {
        assert_eq!(*before, after);
    }
    let mut bare = records.to_vec();
    for record in &mut bare {
        remove(record, "", allowed);
    }
    assert_eq!(conversations(&bare, format), before, "without annotations");
    assert_eq!(conversations(&changed, format).len(), before.len());
}

/// Takes annotations away.
fn remove(value: &mut Value, path: &str, allowed: &Allowed) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| allowed.reaches(&below(path, key)));
            map.iter_mut().for_each(|(key, value)| remove(value, &below(path, key), allowed));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| remove(item, &format!("{path}[]"), allowed)),
        _ => {}
    }
}

/// Changing any allowed place changes a conversation: the mutator works, and nothing is allowed in vain.
#[track_caller]
fn check_needed(records: &[Value], format: Format, allowed: &Allowed) {
    let before = conversations(records, format);
    for path in allowed.0 {
        let fewer = Allowed(Box::leak(allowed.without(path).into_boxed_slice()));
        let mut changed = records.to_vec();
        let mut mutator = Mutator::default();
        for record in &mut changed {
            mutator.annotations(record, "", &fewer);
        }
        assert!(mutator.changed.keys().any(|changed| path.starts_with(changed.as_str())), "{path}");
        assert_ne!(
            conversations(&changed, format),
            before,
            "`{path}` is allowed and reaches no conversation"
        );
    }
}

fn records_of(name: &str) -> Vec<Value> {
    let bytes = std::fs::read(data(name)).unwrap();
    let mut all = Vec::new();
    records::each(Path::new(name), std::str::from_utf8(&bytes).unwrap(), |_, value| {
        all.push(value);
        Ok(())
    })
    .unwrap();
    all
}

fn locomo_sample() -> Vec<Value> {
    let turn = json!({"speaker": "Ann", "dia_id": "D1:1", "text": "We mended the old boat.", "blip_caption": "a boat on sand",
        "img_url": ["somewhere"], "query": "boat", "re-download": true});
    let reply = json!({"speaker": "Bo", "dia_id": "D1:2", "text": "At last!"});
    vec![json!({
        "sample_id": "one",
        "conversation": {"speaker_a": "Ann", "speaker_b": "Bo", "session_1": [turn, reply],
            "session_1_date_time": "1:00 pm on 3 May, 2023", "session_2": [{"speaker": "Bo", "dia_id": "D2:1", "text": "Ahoy"}],
            "session_2_date_time": "2:00 pm on 4 May, 2023"},
        "qa": [{"question": "What was mended?", "answer": 1, "category": 4, "evidence": ["D1:1"]},
            {"question": "What sank?", "adversarial_answer": "the boat", "category": 5, "evidence": []}],
        "observation": {"session_1_observation": {"Ann": [["Ann mended a boat", "D1:1"]]}},
        "session_summary": {"session_1_summary": "A boat was mended."},
        "event_summary": {"events_session_1": {"Ann": ["mends a boat"], "date": "3 May, 2023"}},
    })]
}

fn evoemo_sample() -> Vec<Value> {
    let turn = |idx: usize, role: &str, content: &str| json!({"idx": idx, "role": role, "content": content});
    vec![json!({
        "id": "u1",
        "basic_info": {"name": "Ann", "age": 30, "gender": "female", "job": "baker", "education": "school", "nationality": "none",
            "location": "here"},
        "event_experience": [{"id": "e1", "date": "2023-05-01", "conv_id": "c1", "event": "lost a job", "influenced_by": ["e0"]}],
        "social_relationship": ["a sister"],
        "dialog_history": [
            {"id": "c1", "timestamp": "2023-05-03", "emotion": "sad", "topic": ["work"], "summary": "A job was lost.",
                "dialogue": [turn(1, "seeker", "They let me go."), turn(2, "supporter", "I am sorry.")],
                "observation": [{"idx": 1, "utt_id": [1], "content": "lost a job"}]},
            {"id": "c2", "timestamp": "2023-05-09", "emotion": ["calm"], "topic": "sleep", "summary": "Better.",
                "dialogue": [turn(1, "seeker", "I slept.")], "observation": []}],
        "questions": [{"id": "c1", "questions": [{"idx": 1, "capability": "abstention", "question": "Where?", "answer": "unknown",
            "evidence": ["c1:1"]}]}],
        "summaries": [{"idx": 1, "capability": "user modeling", "question": "How?", "answer": "So.", "evidence": [], "theme": "work",
            "group": ["c1"]}],
        "subsequent_topics": [{"idx": 1, "topic": "rest", "psychological_condition": "calm", "physical_condition": "well",
            "more_details": "none", "related_sessions": ["c2"]}],
    })]
}

fn longmemeval_sample() -> Vec<Value> {
    vec![json!({
        "question_id": "q1", "question_type": "multi-session", "question": "Which boat?", "answer": 3,
        "question_date": "2023/05/20 (Sat) 02:21", "haystack_session_ids": ["answer_1", "filler_2"],
        "haystack_dates": ["2023/05/18 (Thu) 02:21", "2023/05/19 (Fri) 02:21"],
        "haystack_sessions": [
            [{"role": "user", "content": "My boat is red.", "has_answer": true},
                {"role": "assistant", "content": "A fine colour.", "has_answer": false}],
            [{"role": "user", "content": "What is a keel?"}]],
        "answer_session_ids": ["answer_1"],
    })]
}

fn esconv_release_sample() -> Vec<Value> {
    vec![json!({
        "experience_type": "Current", "emotion_type": "sadness", "problem_type": "job", "situation": "I lost my job.",
        "survey_score": {"seeker": {"initial_emotion_intensity": "5"}}, "seeker_question1": "good", "seeker_question2": null,
        "supporter_question1": "fine", "supporter_question2": "",
        "dialog": [{"speaker": "seeker", "annotation": {}, "content": "They let me go."},
            {"speaker": "supporter", "annotation": {"strategy": "Question"}, "content": "When?"}],
    })]
}

const LOCOMO_ANNOTATIONS: [&str; 9] = [
    "conversation.session_#[].img_url",
    "conversation.session_#[].query",
    "conversation.session_#[].re-download",
    "conversation.speaker_a",
    "conversation.speaker_b",
    "event_summary",
    "observation",
    "qa",
    "session_summary",
];

const EVOEMO_ANNOTATIONS: [&str; 15] = [
    "basic_info.age",
    "basic_info.education",
    "basic_info.gender",
    "basic_info.job",
    "basic_info.location",
    "basic_info.nationality",
    "dialog_history[].emotion",
    "dialog_history[].observation",
    "dialog_history[].summary",
    "dialog_history[].topic",
    "event_experience",
    "questions",
    "social_relationship",
    "subsequent_topics",
    "summaries",
];

const LONGMEMEVAL_ANNOTATIONS: [&str; 7] = [
    "answer",
    "answer_session_ids",
    "haystack_session_ids",
    "haystack_sessions[][].has_answer",
    "question",
    "question_date",
    "question_type",
];

#[test]
fn locomo() {
    for records in [locomo_sample(), records_of("locomo/locomo-dev6.json")] {
        check(&records, Format::LocomoJson, &LOCOMO, &LOCOMO_ANNOTATIONS);
    }
    check_needed(&locomo_sample(), Format::LocomoJson, &LOCOMO);
}

#[test]
fn evoemo() {
    for records in [evoemo_sample(), records_of("es-memeval/sample-synthetic.json")] {
        check(&records, Format::EvoEmo, &EVOEMO, &EVOEMO_ANNOTATIONS);
    }
    check_needed(&evoemo_sample(), Format::EvoEmo, &EVOEMO);
}

#[test]
fn longmemeval() {
    for records in [longmemeval_sample(), records_of("longmemeval/longmemeval_evidence_turns.jsonl")] {
        check(&records, Format::LongMemEval, &LONGMEMEVAL, &LONGMEMEVAL_ANNOTATIONS);
    }
    check_needed(&longmemeval_sample(), Format::LongMemEval, &LONGMEMEVAL);
}

#[test]
fn esconv() {
    let records = records_of("esconv/esconv_v0_test.jsonl");
    check(&records, Format::EsConv, &ESCONV, &["dialogue[].strategy"]);
    check_needed(&records[..2], Format::EsConv, &ESCONV);
    let annotations = [
        "dialog[].annotation",
        "emotion_type",
        "experience_type",
        "problem_type",
        "seeker_question#",
        "situation",
        "supporter_question#",
        "survey_score",
    ];
    check(&esconv_release_sample(), Format::EsConv, &ESCONV_RELEASE, &annotations);
    check_needed(&esconv_release_sample(), Format::EsConv, &ESCONV_RELEASE);
}

#[test]
fn esconv_questions() {
    let mut forty: Value = serde_json::from_slice(&std::fs::read(forty()).unwrap()).unwrap();
    forty["dialogues"] = json!(data("esconv/esconv_v0_test.jsonl"));
    let annotations = [
        "about",
        "dialogues_source",
        "questions[].answer",
        "questions[].answerable",
        "questions[].category",
        "questions[].question",
        "rule",
    ];
    for record in [sample(), forty] {
        check(&[record], Format::EsConvQuestions, &ESCONV_QUESTIONS, &annotations);
    }
}

#[test]
fn changed_annotations_change_the_questions() {
    let samples = [
        (locomo_sample(), Format::LocomoJson, &LOCOMO),
        (evoemo_sample(), Format::EvoEmo, &EVOEMO),
        (longmemeval_sample(), Format::LongMemEval, &LONGMEMEVAL),
    ];
    for (records, format, allowed) in samples {
        let mut changed = records.clone();
        for record in &mut changed {
            Mutator::default().annotations(record, "", allowed);
        }
        let (before, after) = (questions(&records, format), questions(&changed, format));
        assert_eq!(before[0].len(), after[0].len(), "{format}");
        for (before, after) in before[0].iter().zip(&after[0]) {
            assert!(
                before.text != after.text && after.evidence != before.evidence || before.evidence.is_empty()
            );
        }
    }
}
