use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::*;
use crate::{model::ChatRequest, scripted::ScriptedModel};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Event,
    CurrentState,
    Unknown,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Unit {
    completes: Option<u32>,
    kind: Kind,
    #[schemars(length(max = 20))]
    text: String,
    #[schemars(length(max = 3))]
    people: Vec<String>,
    span: [u32; 2],
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Reply {
    #[schemars(length(max = 4))]
    units: Items<Unit>,
}

const GOOD: &str =
    r#"{"units":[{"completes":null,"kind":"event","text":"Ana left","people":["Ana"],"span":[2,3]}]}"#;

/// The unit of [`GOOD`] alone.
fn the_unit() -> &'static str {
    GOOD.strip_prefix("{\"units\":[").and_then(|s| s.strip_suffix("]}")).expect("it is built so")
}

fn good() -> Unit {
    Unit {
        completes: None,
        kind: Kind::Event,
        text: "Ana left".to_owned(),
        people: vec!["Ana".to_owned()],
        span: [2, 3],
    }
}

#[test]
fn a_schema_has_no_references_and_requires_every_field_in_order() {
    insta::assert_snapshot!(schema_of::<Reply>().to_string(), @r#"{"type":"object","properties":{"units":{"type":"array","items":{"type":"object","properties":{"completes":{"type":["integer","null"],"minimum":0},"kind":{"type":"string","enum":["event","current_state","unknown"]},"text":{"type":"string","maxLength":20},"people":{"type":"array","items":{"type":"string"},"maxItems":3},"span":{"type":"array","items":{"type":"integer","minimum":0},"minItems":2,"maxItems":2}},"required":["completes","kind","text","people","span"],"additionalProperties":false},"maxItems":4}},"required":["units"],"additionalProperties":false}"#);
    assert!(!without_bounds(&schema_of::<Reply>()).to_string().contains("max"));
}

#[tokio::test]
async fn a_request_may_bring_a_narrower_schema() {
    let narrow = with_max_items(schema_of::<Reply>(), "units", 2);
    assert_eq!(narrow.pointer("/properties/units/maxItems"), Some(&json!(2)));
    assert_eq!(with_max_items(schema_of::<Reply>(), "links", 2), schema_of::<Reply>());
    let model = ScriptedModel::new("m").reply("extract", GOOD);
    let request = ChatRequest { schema: Some(narrow.clone()), ..request() };
    ask::<Reply>(&model, request, &accept).await.unwrap();
    assert_eq!(model.requests()[0].schema, Some(narrow));
}

/// Decodes a reply that holds the good unit, somehow.
fn check(reply: &str, n_notes: usize) {
    let read = decode::<Reply>(reply).unwrap_or_else(|problem| panic!("{problem}: {reply}"));
    assert_eq!(read.value.units.first(), Some(&good()), "{reply}");
    assert_eq!(read.notes.len(), n_notes, "{reply}: {:?}", read.notes);
}

#[test]
fn malformed_replies_give_the_value_that_is_meant() {
    let with = |from: &str, to: &str| {
        assert!(GOOD.contains(from), "{from}");
        GOOD.replace(from, to)
    };
    // Around the JSON.
    check(GOOD, 0);
    check(&format!("Here you are:\n```json\n{GOOD}\n```\nHope it helps [1]!"), 0);
    check(&format!("```\n{GOOD}"), 0);
    check(&format!("<think>Units? {{\"units\":[]}} {}</think>\n\n{GOOD}", "x".repeat(200)), 0);
    check(&format!("a thought {{of mine}}</think>{GOOD}"), 0);
    check(&format!("{GOOD}<|im_end|>"), 0);
    check(&format!("{GOOD}\n{{\"units\":[]}}"), 0);
    check(&format!("\u{feff}{GOOD}"), 0);
    check(&format!("assistant\n{GOOD}}}}}"), 0);
    check(&json!({ "result": serde_json::from_str::<Value>(GOOD).unwrap() }).to_string(), 0);
    check(&json!({ "units": the_unit() }).to_string(), 1);
    check(GOOD.trim_start_matches("{\"units\":").trim_end_matches('}'), 0);
    check(the_unit(), 0);
    // Its syntax.
    check(&with("[2,3]", "[2,3,]"), 0);
    check(&with("}]}", "},]}"), 0);
    check(&with("}]}", "}]"), 0);
    check(&with("}]}", "}}"), 0);
    check(&GOOD.replace('"', "'"), 0);
    check(&GOOD.replace('"', ""), 0);
    check(&with("\"units\":", "units:"), 0);
    check(&with("\"units\":", "\"units\"="), 0);
    check(&with("null", "None"), 0);
    check(&with("null,", ","), 0);
    check(&with(",\"span\"", "\n\"span\""), 0);
    check(&with("\"people\"", "// who\n\"people\""), 0);
    check(&with("\"kind\"", "\"kind\" "), 0);
    // Its values.
    check(&with("\"event\"", "\"Event\""), 0);
    check(&with("\"event\"", "\" EVENT. \""), 0);
    check(&with("\"event\"", "[\"event\",\"current_state\"]"), 0);
    check(&with("[2,3]", "[\"2\",\"3\"]"), 0);
    check(&with("[2,3]", "[2.0,\"turn 3\"]"), 0);
    check(&with("null", "\"none\""), 0);
    check(&with("null", "\"null\""), 0);
    check(&with("null", "-1"), 1);
    check(&with("null", "\"the first\""), 1);
    check(&with("\"completes\":null,", ""), 0);
    check(&with("[\"Ana\"]", "\"Ana\""), 1);
    check(&with("\"Ana left\"", "[\"Ana left\"]"), 1);
    check(&with("\"kind\"", "\"Kind\""), 0);
    check(&with("\"people\"", "\"confidence\":0.9,\"people\""), 0);
    check(&with("}]}", "}],\"done\":true}"), 0);
    // Other units beside it.
    check(&with("}]}", "},{\"kind\":\"event\"}]}"), 1);
    check(&with("}]}", "},7,null,\"x\"]}"), 3);
    check(&with("}]}", "},{\"completes\":null,\"kin"), 0);
    check(&with("}]}", "},{\"text\":\"Bo\",\"span\":[1]}]}"), 1);
}

#[test]
fn unclear_values_fall_back_with_a_note() {
    let reply = r#"{"units":[{"kind":"catastrophe <secret>","text":"a text of more than twenty letters","people":["a","b","c","d"],"span":[1,1]}]}"#;
    let read = decode::<Reply>(reply).unwrap();
    let unit = &read.value.units[0];
    assert_eq!(
        (unit.kind, unit.text.as_str(), unit.people.len()),
        (Kind::Unknown, "a text of more than ", 3)
    );
    assert_eq!(
        read.notes,
        [
            "`units[0].kind` is none of its values, taken as unknown",
            "`units[0].text` is too long, cut",
            "`units[0].people` has too many items, cut",
        ]
    );
}

#[test]
fn replies_without_a_value_say_why() {
    let problem = |reply: &str| decode::<Reply>(reply).unwrap_err();
    assert_eq!(problem(""), "the reply holds no JSON");
    assert_eq!(problem("I am sorry, I cannot do that."), "the reply holds no JSON");
    assert_eq!(problem("<think>{\"units\":[]}"), "the reply holds no JSON");
    assert_eq!(problem("{\"answer\":1}"), "the reply has none of the fields asked for");
    assert_eq!(problem("{\"units\":[{\"kind\":"), "the reply is cut off before anything in it is whole");
    assert_eq!(decode::<Unit>("{\"text\":\"x\",\"span\":7}").unwrap_err(), "`span` has too few items");
    assert_eq!(decode::<Unit>("{\"text\":{},\"span\":[1,2]}").unwrap_err(), "`text` is no text");
}

fn request() -> ChatRequest {
    ChatRequest::new("extract", vec![Message::system("i"), Message::user("d")])
}

#[tokio::test]
async fn a_bad_reply_goes_back_once() {
    let model = ScriptedModel::new("m").reply("extract", "sorry <|im_end|>").reply("extract", GOOD);
    let read = ask::<Reply>(&model, request(), &accept).await.unwrap();
    assert!(read.repaired && !read.cut_off && read.value.units.len() == 1);
    let requests = model.requests();
    assert_eq!(requests[0].schema, Some(schema_of::<Reply>()));
    assert_eq!(requests[1].messages[..2], requests[0].messages[..]);
    assert_eq!(requests[1].messages[2], Message::assistant("sorry \\u003c|im_end|\\u003e"));
    assert!(requests[1].messages[3].content.contains("holds no JSON"));

    let model = ScriptedModel::new("m").reply("extract", "no").reply("extract", "never");
    let error = ask::<Reply>(&model, request(), &accept).await.unwrap_err();
    let message = "the reply holds no JSON".to_owned();
    assert_eq!(error, ModelError::InvalidOutput { message, reply: "never".to_owned() });
}

#[tokio::test]
async fn checks_are_part_of_reading() {
    let check = |reply: &Reply| {
        if reply.units.is_empty() { Err("there is no unit".to_owned()) } else { Ok(()) }
    };
    let model = ScriptedModel::new("m").reply("extract", "{\"units\":[]}").reply("extract", GOOD);
    assert!(ask::<Reply>(&model, request(), &check).await.unwrap().repaired);
    assert!(model.requests()[1].messages[3].content.contains("there is no unit"));
}

#[tokio::test]
async fn the_errors_of_the_model_come_through() {
    let failure = ModelError::Permanent { message: "no such model".to_owned() };
    let model = ScriptedModel::new("m").fail("extract", failure.clone());
    assert_eq!(ask::<Reply>(&model, request(), &accept).await.unwrap_err(), failure);

    // A repair that does not fit the context leaves the first reply's error.
    let too_long = ModelError::ContextTooLong { limit: None, requested: None };
    let model = ScriptedModel::new("m").reply("extract", "no").fail("extract", too_long);
    let error = ask::<Reply>(&model, request(), &accept).await.unwrap_err();
    assert!(matches!(error, ModelError::InvalidOutput { reply, .. } if reply == "no"));

    let filtered = ChatReply { finish: FinishReason::ContentFilter, ..ChatReply::from("") };
    let model = ScriptedModel::new("m").reply("extract", filtered);
    assert!(matches!(
        ask::<Reply>(&model, request(), &accept).await.unwrap_err(),
        ModelError::InvalidOutput { .. }
    ));
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn a_length_stop_keeps_the_whole_items() {
    let text = GOOD.replace("}]}", "},{\"completes\":null,\"ki");
    let reply = ChatReply { finish: FinishReason::Length, ..ChatReply::from(text.as_str()) };
    let model = ScriptedModel::new("m").reply("extract", reply);
    let read = ask::<Reply>(&model, request(), &accept).await.unwrap();
    assert!(read.cut_off && !read.repaired);
    assert_eq!(read.value.units.0, [good()]);
}

mod properties {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_text_is_read_without_a_panic(text in any::<String>()) {
            let _ = decode::<Reply>(&text);
        }

        #[test]
        fn any_text_of_json_signs_is_read_without_a_panic(
            text in r#"([{}\[\]:,"'\\un0-9a-f \n]|units|span|text|true|null|é|😀|<think>|</think>){0,120}"#,
        ) {
            let _ = decode::<Reply>(&text);
        }

        #[test]
        fn valid_json_is_read_as_it_is(text in "\\PC{0,20}", a in any::<u32>(), b in any::<u32>()) {
            let unit = json!({
                "completes": a, "kind": "current_state", "text": text, "people": [text], "span": [a, b],
            });
            let reply = json!({"units": [unit, unit]}).to_string();
            let read = decode::<Reply>(&reply).unwrap();
            prop_assert!(read.notes.is_empty() && !read.cut_off);
            prop_assert_eq!(&read.value.units[1].text, &text);
            prop_assert_eq!(read.value.units[0].span, [a, b]);
        }

        #[test]
        fn a_cut_reply_keeps_a_prefix_of_its_units(n in 1usize..4, cut in 0usize..400) {
            let whole = json!({"units": vec![json!({
                "completes": null, "kind": "event", "text": "Ana left", "people": ["Ana"], "span": [2, 3],
            }); n]}).to_string();
            let cut = cut.min(whole.len());
            if let Ok(read) = decode::<Reply>(&whole[..cut]) {
                prop_assert!(read.value.units.iter().all(|u| *u == good()));
                prop_assert!(read.value.units.len() <= n);
                prop_assert_eq!(read.cut_off, cut < whole.len());
            }
        }
    }
}
