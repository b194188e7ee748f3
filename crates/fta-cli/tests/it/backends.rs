//! Embedder and vector index are one line of `fta.toml` each, and every pair of them gives the demo's answers.

use serde_json::Value;

use crate::{command, fta};

const EMBEDDERS: [&str; 3] = ["minilm", "minilm-int8", "hash"];

/// Answers of the demo with these settings.
fn demo(embedder: &str, index: &str) -> Value {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let settings = directory.path().join("fta.toml");
    std::fs::write(&settings, format!("embedder = \"{embedder}\"\nindex = \"{index}\"\n")).expect("writable");
    let mut command = command(&directory.path().join("memory"));
    let output = command.env("FTA_CONFIG", settings).args(["demo", "--json"]).output().expect("fta is built");
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{embedder}, {index}: {err}");
    serde_json::from_slice(&output.stdout).expect("the data is JSON")
}

#[test]
fn every_pair_of_embedder_and_index_gives_the_answers_of_the_demo() {
    let mut indexes = vec!["auto", "exact", "exact-int8"];
    if cfg!(feature = "faiss") {
        indexes.extend(["faiss:Flat", "faiss:HNSW32", "faiss:IVF4,Flat", "faiss:SQ8"]);
    }
    let mut answers: Vec<(String, Vec<String>)> = Vec::new();
    for embedder in EMBEDDERS {
        for index in &indexes {
            let outcome = demo(embedder, index);
            let questions = outcome["questions"].as_array().expect("a list");
            let of = |q: &Value| format!("{}: {}", q["question"], q["answer"]);
            answers.push((format!("{embedder}, {index}"), questions.iter().map(of).collect()));
        }
    }
    let (first, expect) = &answers[0];
    assert_eq!(expect.len(), 8);
    for (pair, answers) in &answers {
        assert_eq!(answers, expect, "{pair} answers otherwise than {first}");
    }
}

#[test]
fn another_embedder_is_refused_until_the_memory_is_embedded_anew() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let data = directory.path().join("memory");
    let chat = directory.path().join("ines.json");
    std::fs::write(&chat, crate::memory::CHAT).expect("writable");
    let chat = chat.to_str().expect("paths of tests are UTF-8");
    assert_eq!(fta(&data, &["ingest", "--user", "ines", chat]).code, Some(0));
    let refused = fta(&data, &["--embedder", "hash", "ask", "Who is Greta?"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.contains("fta reindex"), "{}", refused.err);
    let done = fta(&data, &["--embedder", "hash", "reindex", "--json"]).json();
    assert_eq!(done["users"][0]["user"], "ines");
    let vectors = done["users"][0]["vectors"].as_u64().expect("a number");
    assert!(vectors > 0);
    let asked = fta(&data, &["--embedder", "hash", "ask", "Who invited me to her wedding?"]);
    assert_eq!(asked.code, Some(0), "{}", asked.err);
    assert_eq!(fta(&data, &["--embedder", "hash", "reindex", "--json"]).json()["users"][0]["vectors"], 0);
    assert_eq!(fta(&data, &["stats"]).code, Some(2), "the old one is refused now");
}

#[test]
fn a_wrong_index_is_named() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let ran = fta(directory.path(), &["--index", "flat", "users"]);
    assert_eq!(ran.code, Some(2));
    assert!(
        ran.err.contains("`flat` names no vector index") && ran.err.contains("exact-int8"),
        "{}",
        ran.err
    );
}
