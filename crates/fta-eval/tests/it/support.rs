//! An invented data file, and the program to run on it.

use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::{Map, Value, json};

/// A folder with a data file and room for runs.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
}

impl Bench {
    /// `conversations` with `questions` each, in the format of LoCoMo.
    pub(crate) fn new(conversations: usize, questions: usize) -> Self {
        let folder = tempfile::tempdir().expect("a folder can be made");
        let samples: Vec<Value> = (0..conversations).map(|number| sample(number, questions)).collect();
        std::fs::write(folder.path().join("data.json"), Value::Array(samples).to_string())
            .expect("it can be written");
        Self { folder }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `fta-eval run EXPERIMENT` into the directory `out`, without a cache so that runs can stand beside each other.
    pub(crate) fn run(&self, experiment: &str, out: &str) -> Command {
        let mut command = self.run_with_cache(experiment, out);
        command.arg("--no-embedding-cache");
        command
    }

    /// The same with a cache of vectors, which one run at a time can use.
    pub(crate) fn run_with_cache(&self, experiment: &str, out: &str) -> Command {
        let mut command = program();
        command.args(["run", experiment, "--rounds", "200", "--data"]).arg(self.path("data.json"));
        command.arg("--runs").arg(self.path("runs")).arg("--out").arg(self.path(out));
        command
    }

    /// An experiment's file with a few quick arms.
    pub(crate) fn experiment(&self) -> String {
        let text = r#"
            title = "Small"
            asks = "Does it run?"
            metrics = ["set_f1_simple", "evidence_recall@200t", "refusal", "false_refusal", "ndcg@10", "bleu1"]
            tokens = [200]

            [[arms]]
            name = "bm25"
            system = "bm25"

            [[arms]]
            name = "fta"
            system = "fta"

            [[arms]]
            name = "by-stand-in"
            system = "fta"
            model = "stand_in"

            [[analyses]]
            kind = "gain"
            baseline = "bm25"

            [[analyses]]
            kind = "cost"
        "#;
        let path = self.path("small.toml");
        std::fs::write(&path, text).expect("it can be written");
        path.display().to_string()
    }
}

/// `fta-eval`.
pub(crate) fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fta-eval"))
}

/// Runs a command that must go well; returns its output.
pub(crate) fn good(command: &mut Command) -> Output {
    let output = command.output().expect("it can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Runs a command that must fail with code 2; returns what it says.
pub(crate) fn refused(command: &mut Command) -> String {
    let output = command.output().expect("it can be run");
    let said = String::from_utf8(output.stderr).expect("it is text");
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.starts_with("error: "), "{said}");
    said
}

/// The files of a run that must be the same for the same settings.
pub(crate) fn records(run: &Path) -> [Vec<u8>; 2] {
    ["questions.jsonl", "cases.jsonl"]
        .map(|name| std::fs::read(run.join(name)).expect("the run is at its end"))
}

const SESSIONS: usize = 3;
const THINGS: [&str; 8] = [
    "a kayak",
    "a sewing machine",
    "two goats",
    "a telescope",
    "an accordion",
    "a greenhouse",
    "a tent",
    "a map",
];
const PLACES: [&str; 6] = ["Porto", "Bergen", "Ghent", "Izmir", "Tartu", "Galway"];

fn sample(number: usize, questions: usize) -> Value {
    let mut conversation = Map::new();
    conversation.insert("speaker_a".to_owned(), json!("Ada"));
    conversation.insert("speaker_b".to_owned(), json!("Ben"));
    for session in 1..=SESSIONS {
        let date = format!("{}:00 pm on {} June, 2021", session % 9 + 1, session * 3 + number);
        conversation.insert(format!("session_{session}_date_time"), json!(date));
        let turns: Vec<Value> = (0..8_usize)
            .map(|turn| {
                let thing = THINGS[(session * 3 + turn + number) % THINGS.len()];
                let place = PLACES[(session + turn * 2 + number) % PLACES.len()];
                let text = match turn % 4 {
                    0 => format!("Yesterday I bought {thing} in {place}."),
                    1 => format!("Lovely! I am so happy for you. My brother moved to {place} last week."),
                    2 => format!(
                        "I am worried about the exam, but I will visit {place} with {thing} next month."
                    ),
                    _ => format!("My grandmother taught me to repair {thing} when I was a child."),
                };
                let speaker = if turn % 2 == 0 { "Ada" } else { "Ben" };
                json!({"speaker": speaker, "dia_id": format!("D{session}:{}", turn + 1), "text": text})
            })
            .collect();
        conversation.insert(format!("session_{session}"), Value::Array(turns));
    }
    let asked: Vec<Value> = (0..questions)
        .map(|question| {
            let (session, turn) = (question % SESSIONS + 1, question % 8);
            let thing = THINGS[(session * 3 + turn + number) % THINGS.len()];
            let category = [4, 2, 1, 5][question % 4];
            let text = format!("Where or when was there talk of {thing}, time {question}?");
            let evidence = format!("D{session}:{}", turn + 1);
            let place = PLACES[(session + turn * 2 + number) % PLACES.len()];
            match category {
                5 => json!({"question": text, "category": 5, "evidence": [evidence], "adversarial_answer": "no"}),
                _ => json!({"question": text, "category": category, "evidence": [evidence], "answer": place}),
            }
        })
        .collect();
    json!({"sample_id": format!("made-{number}"), "conversation": conversation, "qa": asked})
}
