//! Experiments and benchmarks: all in the release profile, on the development data unless told otherwise.

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::{Args, Subcommand};

use crate::{native, steps, workspace::Workspace};

/// What to run.
#[derive(Subcommand)]
pub(crate) enum Benchmark {
    /// The experiments, systems, metrics and data sets that there are
    List,
    /// Run an experiment, or go on with it where it stopped; `run NAME --help` shows its options
    Run(Experiment),
    /// What changed between two runs: paired tests, and the questions that flipped
    Compare(Passed),
    /// Make the report of a finished run anew
    Report(Passed),
    /// Means and agreement of two filled sheets of the experiment `audit`
    Agreement(Passed),
    /// The experiment `retrieval`: evidence recall beside the yardsticks
    Retrieval(OnData),
    /// The experiment `main`: answers beside the yardsticks
    Answers(OnData),
    /// Event times of "when" questions
    Temporal(OnData),
    /// Units per session and the share of turns they hold
    Coverage(OnData),
    /// Calls and tokens of a build by model
    Cost(OnData),
    /// What a memory costs as it grows: bytes of a unit, time to open and to search
    Growth(Passed),
    /// Speed and recall of the vector indexes, beside other programs
    Index(Passed),
    /// Speed of the embedding model, beside other programs that run it
    Embed(OnData),
}

/// An experiment and what is passed on.
#[derive(Args)]
pub(crate) struct Experiment {
    /// A name that `list` shows, or an experiment's file
    name: String,
    #[command(flatten)]
    on_data: OnData,
}

/// Arguments that are passed on.
#[derive(Args)]
pub(crate) struct Passed {
    /// Passed on to what measures
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Data, and arguments that are passed on.
#[derive(Args)]
pub(crate) struct OnData {
    /// Data set [default: the six LoCoMo conversations in ../shared/data]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Passed on to what measures
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

/// Where the benchmarks look for data, from the root of the workspace.
const DEFAULT_DATA: &str = "../shared/data/locomo/locomo-dev6.json";

/// Runs a benchmark.
pub(crate) fn run(workspace: &Workspace, what: Benchmark) -> Result<()> {
    match what {
        Benchmark::List => evaluate(workspace, &["list"], &[]),
        Benchmark::Run(Experiment { name, on_data }) => measure(workspace, &["run", &name], on_data),
        Benchmark::Retrieval(on_data) => measure(workspace, &["run", "retrieval"], on_data),
        Benchmark::Answers(on_data) => measure(workspace, &["run", "main"], on_data),
        Benchmark::Temporal(on_data) => measure(workspace, &["temporal"], on_data),
        Benchmark::Coverage(on_data) => measure(workspace, &["coverage"], on_data),
        Benchmark::Compare(passed) => evaluate(workspace, &["compare"], &passed.arguments),
        Benchmark::Report(passed) => evaluate(workspace, &["report"], &passed.arguments),
        Benchmark::Agreement(passed) => evaluate(workspace, &["agreement"], &passed.arguments),
        Benchmark::Growth(passed) => evaluate(workspace, &["growth"], &passed.arguments),
        Benchmark::Index(passed) => native::bench_index(workspace, &passed.arguments),
        Benchmark::Cost(on_data) => {
            // Tokens are counted with the tokenizer of a real model.
            steps::setup(workspace, Some("qwen2.5-coder-0.5b"))?;
            measure(workspace, &["cost"], on_data)
        }
        Benchmark::Embed(OnData { data, arguments }) => {
            steps::setup(workspace, None)?;
            let data = existing(workspace, data)?;
            let command =
                ["bench", "--package", "fta-index", "--features", "candle", "--bench", "embed", "--"];
            let data = ["--data", &data];
            steps::cargo(workspace, &[&command, &data[..], &steps::words(&arguments)].concat(), &[])
        }
    }
}

/// Runs `fta-eval` on a data set; it fetches the embedding model itself if need be.
fn measure(workspace: &Workspace, command: &[&str], on_data: OnData) -> Result<()> {
    let asks_for_help = on_data.arguments.iter().any(|argument| argument == "--help" || argument == "-h");
    if asks_for_help {
        return evaluate(workspace, command, &on_data.arguments);
    }
    let data = existing(workspace, on_data.data)?;
    evaluate(workspace, &[command, &["--data", &data]].concat(), &on_data.arguments)
}

/// Runs `fta-eval`.
fn evaluate(workspace: &Workspace, command: &[&str], arguments: &[String]) -> Result<()> {
    let run = ["run", "--release", "--package", "fta-eval", "--"];
    steps::cargo(workspace, &[&run, command, &steps::words(arguments)].concat(), &[])
}

/// The data set as an absolute path: cargo runs benchmarks in the folder of their package.
fn existing(workspace: &Workspace, data: Option<PathBuf>) -> Result<String> {
    let data = data.unwrap_or_else(|| workspace.root.join(DEFAULT_DATA));
    if !data.is_file() {
        bail!(
            "there is no data set `{}`; name one with `--data FILE` (LoCoMo is not part of this repository: its licence \
             is non-commercial, get it from its authors)",
            data.display()
        );
    }
    Ok(std::path::absolute(data)?.display().to_string())
}
