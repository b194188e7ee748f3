//! `cargo xtask`: set-up, demo, tests, benchmarks and the checks of continuous integration.
//!
//! Needs cargo and, where the Hugging Face hub is out of reach, Python with pip. Every step prints the command it runs.

mod bench;
mod ci;
mod native;
mod steps;
mod tidy;
mod workspace;

use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

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
    /// Run an experiment or a benchmark in the release profile
    Bench {
        #[command(subcommand)]
        what: bench::Benchmark,
    },
    /// Run every check that a change must pass
    Ci,
    /// Check the rules of the workspace that no other tool knows
    Tidy,
    /// Build the book, if mdbook is installed
    Docs,
}

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
        Task::Bench { what } => bench::run(&workspace, what),
        Task::Ci => ci::run(&workspace),
        Task::Tidy => tidy::run(&workspace),
        Task::Docs => steps::docs(&workspace).map(|_| ()),
    }
}
