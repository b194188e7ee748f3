//! Any reply is read without a panic, and what is read fits its bounds.
#![no_main]

use fta_llm::{Items, schemars::JsonSchema, structured};
use libfuzzer_sys::fuzz_target;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
struct Reply {
    #[schemars(length(max = 4))]
    units: Items<Unit>,
    done: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[expect(dead_code, reason = "fields are there to be read")]
struct Unit {
    completes: Option<u32>,
    span: [u32; 2],
    status: Status,
    #[schemars(length(max = 20))]
    text: String,
    people: Vec<String>,
    score: f64,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(crate = "fta_llm::schemars")]
#[serde(rename_all = "snake_case")]
enum Status {
    Complete,
    Unknown,
}

fuzz_target!(|reply: &str| {
    if let Ok(read) = structured::decode::<Reply>(reply) {
        assert!(read.value.units.len() <= 4);
        assert!(read.value.units.iter().all(|unit| unit.text.chars().count() <= 20));
        let _ = read.value.done;
    }
    let _ = structured::plain_text(reply);
});
