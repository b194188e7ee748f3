//! A data set, a metric and a system of one's own in an experiment: one trait and one line for each.
//!
//! `cargo run --package fta-eval --example own_parts`

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use fta_eval::{
    datasets::{Case, CaseQuestion, EvidenceRef},
    metrics::{Observation, ScoreError, Scorer},
    run::{
        DataSet, FinishedRun, LoadFailure, Machine, Manifest, NamedExperiment, Program, Registry,
        RunDirectory, RunSettings, RunSummary, Runner, analysis::Findings,
    },
    systems::{Asked, Budget, Context, ContextItem, Kept, MemorySystem, Reply, SystemError, tokens},
};
use fta_mem::{
    index::hash::HashEmbedder,
    segment::{Conversation, Role, Session, Turn},
};

// ANCHOR: data_set
/// Diaries: `> question | answer` asks, every other line was written, a blank line ends a day.
struct Diary;

impl DataSet for Diary {
    fn name(&self) -> &'static str {
        "diary"
    }

    fn detects(&self, path: &Path, _bytes: &[u8]) -> bool {
        path.extension().is_some_and(|extension| extension == "diary")
    }

    fn load(&self, path: &Path, bytes: &[u8]) -> Result<(Vec<Case>, Vec<String>), LoadFailure> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            format!("`{}`: not UTF-8 after byte {}; save it as UTF-8", path.display(), error.valid_up_to())
        })?;
        let (mut sessions, mut questions) = (Vec::new(), Vec::new());
        for (day, page) in text.split("\n\n").enumerate() {
            let mut turns = Vec::new();
            for line in page.lines() {
                match line.strip_prefix("> ").and_then(|line| line.split_once(" | ")) {
                    Some((question, answer)) => questions.push(asked(questions.len(), question, answer)),
                    None => turns.push(written(day, turns.len(), line)),
                }
            }
            let id = format!("day {day}").as_str().into();
            sessions.push(Session { id, started_at: None, turns });
        }
        let conversation = Conversation { id: "diary".to_owned(), sessions };
        Ok((vec![Case { conversation, questions }], Vec::new()))
    }
}
// ANCHOR_END: data_set

fn written(day: usize, index: usize, text: &str) -> Turn {
    Turn {
        index: index as u32,
        source_id: format!("{day}:{index}"),
        speaker: "Writer".to_owned(),
        role: Role::Peer,
        at: None,
        text: text.to_owned(),
        caption: None,
    }
}

fn asked(number: usize, question: &str, answer: &str) -> CaseQuestion {
    CaseQuestion {
        id: number.to_string(),
        category: None,
        category_name: "diary".to_owned(),
        text: question.to_owned(),
        gold: answer.to_owned(),
        answerable: true,
        evidence_raw: Vec::new(),
        evidence: Vec::new(),
        asked_at: None,
    }
}

// ANCHOR: metric
/// Whether the answer holds the gold answer word for word.
struct HoldsGold;

#[async_trait]
impl Scorer for HoldsGold {
    fn name(&self) -> String {
        "holds_gold".to_owned()
    }

    async fn score(&self, observation: &Observation<'_>) -> Result<Option<f64>, ScoreError> {
        let (Some(answer), gold) = (observation.answer, &observation.question.gold) else { return Ok(None) };
        let holds = answer.to_lowercase().contains(&gold.to_lowercase());
        Ok(observation.question.answerable.then_some(f64::from(u8::from(holds))))
    }
}
// ANCHOR_END: metric

// ANCHOR: system
/// Remembers everything and answers with the turn that shares most words with the question.
#[derive(Default)]
struct SharedWords {
    turns: Vec<(EvidenceRef, String)>,
}

impl SharedWords {
    fn best(&self, question: &str) -> Option<&(EvidenceRef, String)> {
        let asked = words(question);
        self.turns.iter().max_by_key(|(_, text)| words(text).iter().filter(|w| asked.contains(w)).count())
    }
}

#[async_trait]
impl MemorySystem for SharedWords {
    async fn ingest(&mut self, session: &Session) -> Result<(), SystemError> {
        for turn in &session.turns {
            let place = EvidenceRef { session: session.id.clone(), turn: turn.source_id.clone() };
            self.turns.push((place, turn.text.clone()));
        }
        Ok(())
    }

    async fn context(&self, question: &Asked<'_>, budget: Budget) -> Result<Context, SystemError> {
        let fits = |text: &str| budget.tokens.is_none_or(|most| tokens(text) <= most);
        let found = self.best(question.text).filter(|(_, text)| fits(text));
        let item = |(place, text): &(EvidenceRef, String)| ContextItem {
            id: place.turn.clone(),
            turns: vec![place.clone()],
            text: text.clone(),
            tokens: tokens(text),
        };
        let items: Vec<ContextItem> = found.into_iter().map(item).collect();
        Ok(Context {
            turns: items.iter().flat_map(|item| item.turns.clone()).collect(),
            tokens: items.iter().map(|item| item.tokens).sum(),
            items,
        })
    }

    async fn answer(&self, question: &Asked<'_>) -> Result<Reply, SystemError> {
        let context = self.context(question, Budget::default()).await?;
        let text = context.items.first().map_or_else(|| "unknown".to_owned(), |item| item.text.clone());
        Ok(Reply { text, abstained: None, context })
    }

    fn kept(&self) -> Kept {
        Kept { items: self.turns.len(), covered: None }
    }
}
// ANCHOR_END: system

fn words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|w| w.len() > 3).map(str::to_lowercase).collect()
}

const DATA: &str = "The heron came back to the pond.\nI planted three pear trees.\n> Which trees were planted? | pear\n\n\
                    My cousin moved to Lisbon.\n> Where did the cousin move? | Lisbon";

// ANCHOR: experiment
const EXPERIMENT: &str = r#"
title = "Diaries"
asks = "Does sharing words suffice to remember a diary?"
metrics = ["holds_gold", "set_f1_simple"]

[[arms]]
name = "shared-words"
system = "shared-words"

[[arms]]
name = "fta"
system = "fta"

[[analyses]]
kind = "gain"
baseline = "shared-words"
"#;
// ANCHOR_END: experiment

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    // ANCHOR: registration
    let registry = Registry::builtin().with_data_set(Diary).with_metric(HoldsGold).with_system(
        "shared-words",
        "the turn that shares most words",
        |_settings, _parts| Ok(Box::new(SharedWords::default())),
    );
    // ANCHOR_END: registration
    let path = Path::new("mine.diary");
    let data_set = registry.data_set(None, path, DATA.as_bytes())?;
    let (cases, odd) = data_set.load(path, DATA.as_bytes())?;
    let NamedExperiment { name, experiment } = NamedExperiment::parse("diaries", EXPERIMENT)?;
    // A real run takes `fta_eval::bench::embedder`.
    let embedder = Arc::new(HashEmbedder::default());
    let settings = RunSettings {
        name,
        experiment: experiment.clone(),
        data_set: data_set.name().to_owned(),
        data_file: path.display().to_string(),
        data_sha256: fta_eval::run::sha256(DATA.as_bytes()),
        conversations: Vec::new(),
        limit: None,
        questions: None,
        seed: 0,
        rounds: 1_000,
        embedder: "hash".to_owned(),
        model: None,
        profile: None,
        judge: None,
        bert_score: None,
    };
    let manifest = Manifest {
        format: fta_eval::run::FORMAT,
        settings,
        program: Program { version: String::new(), revision: String::new(), sha256: String::new() },
        machine: Machine { system: String::new(), processor: String::new(), threads: 1 },
        odd,
        begun_at: String::new(),
    };
    let runner = Runner { registry, experiment, cases, embedder, model: None, jobs: 1 };
    let scorers = runner.check()?;
    let folder = tempfile::tempdir()?;
    let directory = RunDirectory::open(&folder.path().join("run"), manifest, false)?;
    let directory = runner.run(directory, Arc::new(|_| {})).await?;
    let run = FinishedRun::read(directory.path())?;
    let summary = RunSummary::new(&run, &scorers, None)?;
    let mean = summary.arm("shared-words").expect("the arm ran").headline("holds_gold").mean;
    assert_eq!(mean, Some(1.0), "both answers are in the turns that share words");
    let report = Findings { run: &run, summary: &summary, densities: &[] }.report()?;
    print(&report.tables().markdown());
    Ok(())
}

#[expect(clippy::print_stdout, reason = "a program's output")]
fn print(text: &str) {
    println!("{text}");
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_example_runs() {
        super::main().unwrap();
    }
}
