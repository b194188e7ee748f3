//! `fta` with a model on a server: doctor, building, questions, what happens when the server fails, settings.

use std::{
    path::Path,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use fta_eval::systems::stand_in;
use fta_mem::llm::testing::{ChatServer, Said};

use crate::{Ran, command, memory::CHAT};

const KEY: &str = "sk-a-key-that-nobody-may-see";

/// A server that works while the switch is on.
fn server(works: &Arc<AtomicBool>) -> ChatServer {
    let works = works.clone();
    ChatServer::start(move |_, received| {
        if received.authorization.as_deref() != Some("Bearer sk-a-key-that-nobody-may-see") {
            return Said::Status(401, "no such key".to_owned());
        }
        if !works.load(Ordering::Relaxed) {
            return Said::Status(400, "the model is broken".to_owned());
        }
        let schema = received.schema.as_ref();
        if schema.is_some_and(|s| s["properties"]["wet"].is_object()) {
            return Said::Reply("{\"wet\":true}".into());
        }
        Said::Reply(stand_in::reply(&received.messages, schema).as_str().into())
    })
    .expect("a port is free")
}

fn fta(data: &Path, server: &ChatServer, key: &str, arguments: &[&str]) -> Ran {
    let mut command = command(data);
    command.env("FTA_PROFILE", "llm").env("FTA_LLM_URL", server.base_url()).env("FTA_LLM_MODEL", "stand-in");
    command.env("FTA_LLM_KEY", key).args(arguments).stdin(Stdio::null());
    let output = command.output().expect("fta is built");
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("data is UTF-8"),
        err: String::from_utf8(output.stderr).expect("remarks are UTF-8"),
    }
}

#[test]
fn a_memory_is_built_and_asked_by_the_server_and_the_key_is_told_nobody() {
    let server = server(&Arc::new(AtomicBool::new(true)));
    let directory = tempfile::tempdir().unwrap();
    let chat = directory.path().join("ines.json");
    std::fs::write(&chat, CHAT).unwrap();
    let data = directory.path().join("memory");
    let run = |arguments: &[&str]| {
        let ran = fta(&data, &server, KEY, arguments);
        assert!(!ran.out.contains(KEY) && !ran.err.contains(KEY), "{}{}", ran.out, ran.err);
        ran
    };
    let doctor = run(&["doctor", "--json"]);
    assert_eq!(doctor.code, Some(0), "{}{}", doctor.out, doctor.err);
    let json = doctor.json();
    let checks = json["checks"].as_array().unwrap();
    let names: Vec<_> = checks.iter().map(|c| c["what"].as_str().unwrap()).collect();
    assert_eq!(names, ["settings", "memory", "embedder", "model", "schema"]);

    let ingested = run(&["ingest", chat.to_str().unwrap()]);
    assert_eq!(ingested.code, Some(0), "{}", ingested.err);
    for step in ["boundaries", "extract", "longitudinal"] {
        assert!(ingested.err.contains(&format!("model, {step}:")), "{}", ingested.err);
    }
    let n_calls = server.received().len();
    let again = run(&["ingest", chat.to_str().unwrap()]);
    assert!(again.out.contains("2 unchanged"), "{}", again.out);
    assert_eq!(server.received().len(), n_calls, "an unchanged session asks the model");

    assert_eq!(run(&["list"]).code, Some(0));
    assert_eq!(server.received().len(), n_calls, "looking asks the model");
    let asked = run(&["ask", "--steps", "rewrite=offline", "--json", "Who called?"]);
    assert_eq!(asked.code, Some(0), "{}{}", asked.out, asked.err);
    assert_eq!(server.received().len(), n_calls + 1);
    assert!(asked.json()["notes"].is_null());
}

#[test]
fn what_a_server_cannot_do_is_said_with_a_remedy() {
    let works = Arc::new(AtomicBool::new(true));
    let server = server(&works);
    let directory = tempfile::tempdir().unwrap();
    let ran = fta(directory.path(), &server, "another-key", &["doctor"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("no such key") && ran.out.contains("FTA_LLM_KEY"), "{}", ran.out);

    let ran = fta(directory.path(), &server, KEY, &["--llm-url", "http://127.0.0.1:9/v1", "doctor"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("see that a server listens"), "{}", ran.out);

    let ran = fta(directory.path(), &server, KEY, &["--llm-url", "localhost", "doctor"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.out.contains("address"), "{}", ran.out);

    // A server that refuses for good stops the run, and nothing is stored.
    works.store(false, Ordering::Relaxed);
    let chat = directory.path().join("ines.json");
    std::fs::write(&chat, CHAT).unwrap();
    let data = directory.path().join("memory");
    let ran = fta(&data, &server, KEY, &["ingest", chat.to_str().unwrap()]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("the model is broken"), "{}", ran.err);
    let listed = fta(&data, &server, KEY, &["list"]);
    assert!(listed.err.contains("empty"), "{}", listed.err);
}

#[test]
fn settings_are_read_shown_and_checked() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("fta.toml");
    std::fs::write(&file, "profile = 'llm'\nconstruction = 'paper'\n[llm]\nmodel = 'from-the-file'\n")
        .unwrap();
    let run = |arguments: &[&str]| {
        let mut command = command(directory.path());
        let output = command.env("FTA_CONFIG", &file).args(arguments).output().expect("fta is built");
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    };
    let shown = run(&["config", "--json", "--llm-url", "http://localhost:1/v1"]).json();
    assert_eq!(shown["settings"]["llm"]["model"], "from-the-file");
    assert_eq!(shown["settings"]["llm"]["base_url"], "http://localhost:1/v1");
    assert_eq!(shown["settings"]["construction"], "paper");
    let ran = run(&["ask", "Who?"]);
    assert_eq!(ran.code, Some(2));
    std::fs::write(&file, "profile = 'llm'\n[lml]\nmodel = 'x'\n").unwrap();
    let ran = run(&["config"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("lml") && ran.err.contains("fta.toml"), "{}", ran.err);
    let ran = run(&["--config", "/nowhere/fta.toml", "config"]);
    assert!(ran.err.contains("/nowhere/fta.toml"), "{}", ran.err);
}
