//! Runs whose steps, answers and judgements come from a model on a server.

use std::{collections::BTreeMap, fs, process::Stdio, time::Duration};

use fta_eval::{run::QuestionRecord, systems::stand_in};
use fta_mem::llm::testing::{ChatServer, ReceivedChat, Said};

use crate::support::{Bench, good};

const KEY: &str = "sk-a-key-that-nobody-may-see";

/// Steps are answered by rules; whoever asks without a schema is a judge.
fn say(received: &ReceivedChat) -> Said {
    let reply = match &received.schema {
        Some(schema) => stand_in::reply(&received.messages, Some(schema)),
        None => "correct".to_owned(),
    };
    Said::Reply(reply.as_str().into())
}

fn settings(bench: &Bench, server: &ChatServer) -> String {
    let text = format!(
        "profile = \"llm\"\nconstruction = \"paper\"\n[retrieval]\nk = 5\n[llm]\nbase_url = \"{}\"\nmodel = \
         \"stand-in\"\nkey_env = \"FTA_TEST_KEY\"\nattempts = 1\nconcurrency = 1\n",
        server.base_url()
    );
    let path = bench.path("fta.toml");
    fs::write(&path, text).expect("it can be written");
    path.display().to_string()
}

fn questions(bench: &Bench, run: &str) -> Vec<QuestionRecord> {
    let text = fs::read_to_string(bench.path(run).join("questions.jsonl"));
    let text = text.expect("the run is at its end");
    text.lines().map(|line| serde_json::from_str(line).expect("a record")).collect()
}

#[test]
fn a_model_builds_answers_and_judges_and_a_killed_run_pays_nothing_twice() {
    let bench = Bench::new(1, 6);
    let experiment = bench.experiment();
    let server = ChatServer::start(|_, received| say(received)).unwrap();
    let settings = settings(&bench, &server);
    let command = |out: &str| {
        let mut command = bench.run(&experiment, out);
        command.args(["--arms", "fta,bm25", "--jobs", "1", "--profile", &settings, "--judge", &settings]);
        command.env("FTA_TEST_KEY", KEY);
        command
    };
    good(&mut command("whole"));
    let whole = questions(&bench, "whole");
    assert_eq!(whole.len(), 12);
    for record in &whole {
        assert!(record.calls["answer"].calls == 1, "{record:?}");
        assert_eq!(record.calls.contains_key("rewrite"), record.arm == "fta", "{record:?}");
        if record.answerable {
            assert!(record.scores.contains_key("judge_locomo"), "{record:?}");
        }
    }
    let cases = fs::read_to_string(bench.path("whole").join("cases.jsonl")).unwrap();
    assert!(cases.contains("\"extract\"") && cases.contains("\"relations\""), "{cases}");
    let manifest = fs::read_to_string(bench.path("whole").join("manifest.json")).unwrap();
    assert!(manifest.contains("stand-in") && !manifest.contains(KEY), "{manifest}");

    let asked = server.received().len();
    let killed_at = |more: usize| {
        let mut child = command("killed").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while server.received().len() < asked + more && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    };
    for more in [4, 12, 25] {
        killed_at(more);
    }
    good(&mut command("killed"));
    assert_eq!(questions(&bench, "killed"), whole);
    // Each request of a step once, but for those that were under way when the run was killed.
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    for received in server.received().into_iter().skip(asked).filter(|r| r.schema.is_some()) {
        *times.entry(format!("{:?}", received.messages)).or_default() += 1;
    }
    let twice = times.values().filter(|&&n| n > 1).count();
    assert!(twice <= 3, "{twice} requests were made again, 3 kills were there");
}
