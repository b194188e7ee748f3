//! `cargo xtask`: set-up, demo, tests, benchmarks and the checks of continuous integration.
//!
//! Needs cargo and, where the Hugging Face hub is out of reach, Python with pip. Every step prints the command it runs.

mod ci;
mod native;
mod steps;
mod tidy;
mod workspace;

use std::{path::PathBuf, process::ExitCode};

use anyhow::{Result, bail};
use clap::{Parser, Subcommand, ValueEnum};

use crate::workspace::Workspace;

/// Set-up, demo, tests, benchmarks and checks of the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Build the binaries; for `--features faiss`, check first that what its C++ needs is installed
    Build {
        /// Features of the crates, separated by commas
        #[arg(long, value_name = "FEATURES", value_delimiter = ',')]
        features: Vec<String>,
        /// Optimised, as for a release
        #[arg(long)]
        release: bool,
        /// Install what is missing with apt-get
        #[arg(long)]
        install: bool,
    },
    /// Fetch and verify the embedding model
    Setup {
        /// Fetch this language model too: a name, `small` for all that are known, or `list`
        #[arg(long, value_name = "NAME")]
        model: Option<String>,
    },
    /// Set up, then run the demo and check its answers
    Demo,
    /// Set up, then run all tests and doctests
    Test {
        /// Passed on to the test runner, for example a part of a test's name
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run a benchmark in the release profile
    Bench {
        /// What to measure
        #[arg(value_enum)]
        what: Benchmark,
        /// Data set [default: the six LoCoMo conversations in ../shared/data]
        #[arg(long, value_name = "FILE")]
        data: Option<PathBuf>,
        /// Passed on to what measures
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<String>,
    },
    /// Run every check that a change must pass
    Ci,
    /// Check the rules of the workspace that no other tool knows
    Tidy,
    /// Build the book, if mdbook is installed
    Docs,
}

#[derive(Clone, Copy, ValueEnum)]
enum Benchmark {
    Retrieval,
    Temporal,
    Answers,
    Coverage,
    Cost,
    /// What a memory costs as it grows: bytes of a unit, time to open and to search
    Growth,
    /// Speed and recall of the vector indexes, beside other programs
    Index,
    /// Speed of the embedding model, beside other programs that run it
    Embed,
}

/// Where the benchmarks look for data, from the root of the workspace.
const DEFAULT_DATA: &str = "../shared/data/locomo/locomo-dev6.json";

fn main() -> ExitCode {
    match run(Cli::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            steps::say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<()> {
    let workspace = Workspace::read()?;
    match task {
        Task::Build { features, release, install } => native::build(&workspace, &features, release, install),
        Task::Setup { model } => steps::setup(&workspace, model.as_deref()),
        Task::Demo => steps::demo(&workspace),
        Task::Test { arguments } => steps::test(&workspace, &arguments),
        Task::Bench { what, data, arguments } => bench(&workspace, what, data, &arguments),
        Task::Ci => ci::run(&workspace),
        Task::Tidy => tidy::run(&workspace),
        Task::Docs => steps::docs(&workspace).map(|_| ()),
    }
}

fn bench(workspace: &Workspace, what: Benchmark, data: Option<PathBuf>, arguments: &[String]) -> Result<()> {
    let name = match what {
        Benchmark::Retrieval => "retrieval",
        Benchmark::Temporal => "temporal",
        Benchmark::Answers => "answers",
        Benchmark::Coverage => "coverage",
        Benchmark::Cost => "cost",
        Benchmark::Growth => "growth",
        Benchmark::Embed => "embed",
        Benchmark::Index => return native::bench_index(workspace, arguments),
    };
    let arguments = steps::words(arguments);
    let evaluate = ["run", "--release", "--package", "fta-eval", "--", name];
    if matches!(what, Benchmark::Growth) {
        return steps::cargo(workspace, &[&evaluate, &arguments[..]].concat(), &[]);
    }
    let data = data.unwrap_or_else(|| workspace.root.join(DEFAULT_DATA));
    if !data.is_file() {
        bail!(
            "there is no data set `{}`; name one with `--data FILE` (LoCoMo is not part of this repository: its licence \
             is non-commercial, get it from its authors)",
            data.display()
        );
    }
    // Tokens are counted with the tokenizer of a real model.
    let model = matches!(what, Benchmark::Cost).then_some("qwen2.5-coder-0.5b");
    steps::setup(workspace, model)?;
    // Cargo runs benchmarks in the folder of their package.
    let data = std::path::absolute(data)?.display().to_string();
    let data = ["--data", &data];
    let embed = ["bench", "--package", "fta-index", "--features", "candle", "--bench", name, "--"];
    let command: &[&str] = if matches!(what, Benchmark::Embed) { &embed } else { &evaluate };
    steps::cargo(workspace, &[command, &data, &arguments].concat(), &[])
}
