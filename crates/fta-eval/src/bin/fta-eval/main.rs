//! `fta-eval`: runs experiments and measures memories on data sets. Tables on standard output, progress on a terminal's standard error.
#![expect(clippy::print_stdout, reason = "tables are the output of the program")]

mod experiment;

use std::{
    fs::File,
    io::{BufWriter, IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use fta_eval::{
    bench::{Selection, Step, cached_embedder, cost, coverage, embedder, growth, temporal},
    datasets::{self, Format, Loaded},
    run::analysis::agreement,
};
use fta_mem::{
    index::{Embedder, IndexSpec},
    llm::candle::GgufTokenizer,
    profile::{LocalConfig, Profile},
};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

/// Measures dialogue memories on data sets.
#[derive(Debug, Parser)]
#[command(name = "fta-eval", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// The experiments, systems, metrics and data sets that there are.
    List,
    /// Run an experiment, or go on with it where it stopped.
    Run(Box<experiment::RunArguments>),
    /// What changed between two runs: paired tests, and the questions that flipped.
    Compare(experiment::CompareArguments),
    /// Make the report of a finished run anew.
    Report {
        /// Directory of the run.
        run: PathBuf,
    },
    /// Means and agreement of two filled sheets of the experiment `audit`.
    Agreement {
        /// Sheet of the first person.
        first: PathBuf,
        /// Sheet of the second person.
        second: PathBuf,
    },
    /// Event times: is the gold date of a "when" question the event time of a retrieved unit?
    Temporal {
        #[command(flatten)]
        common: Common,
    },
    /// Units per session and the share of turns they hold, for any format.
    Coverage {
        #[command(flatten)]
        common: Common,
    },
    /// Calls and tokens of a build by model, as the paper asks and leanly, counted without a model.
    Cost {
        #[command(flatten)]
        common: Common,
        /// Whose tokenizer counts: a GGUF file, or the name of a model that `fta setup --model` fetched.
        #[arg(long, default_value = "qwen2.5-coder-0.5b", value_name = "FILE|NAME")]
        tokenizer: String,
    },
    /// What a memory costs as it grows: bytes of a unit on disk and in memory, time to open and to search.
    Growth {
        /// Numbers of units.
        #[arg(long, value_delimiter = ',', default_value = "1000,100000", value_name = "NUMBERS")]
        units: Vec<usize>,
        /// The vector index.
        #[arg(long, default_value = "auto", value_name = "INDEX")]
        index: IndexSpec,
        /// Where memories are made, and removed again; a million units take 14 GB.
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
        /// Write one JSON object per size to this file.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Only open the memory in this directory, and say what that takes.
        #[arg(long, hide = true, value_name = "DIR")]
        open: Option<PathBuf>,
    },
    /// What is in a data file, and what is odd about it.
    Inspect {
        #[command(flatten)]
        common: Common,
    },
}

#[derive(Debug, Args)]
struct Common {
    /// The data file.
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Its format: locomo, evoemo, longmemeval, esconv, esconv-questions or chat; found by looking at it where this is not given.
    #[arg(long)]
    format: Option<Format>,
    /// Folder with the embedding model's files, instead of the cache or a download.
    #[arg(long, value_name = "DIR")]
    model_dir: Option<PathBuf>,
    /// Keep vectors in this file, so that the next run embeds no text again; times of embedding mean nothing then.
    #[arg(long, value_name = "FILE")]
    embedding_cache: Option<PathBuf>,
    /// At most so many questions of each conversation (coverage: so many conversations).
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Conversations by id.
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    conversations: Vec<String>,
    /// Write one JSON object per question (or conversation) to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

impl Common {
    fn load(&self) -> anyhow::Result<Loaded> {
        let loaded = datasets::load(&self.data, self.format)?;
        Ok(loaded)
    }

    fn embedder(&self) -> anyhow::Result<Arc<dyn Embedder>> {
        let model_dir = self.model_dir.as_deref();
        Ok(match &self.embedding_cache {
            Some(file) => cached_embedder(model_dir, file)?,
            None => embedder(model_dir)?,
        })
    }

    fn selection(&self) -> Selection {
        Selection { conversations: self.conversations.clone(), limit: self.limit }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Cli::parse().command).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::from(2)
        }
    }
}

async fn run(command: Command) -> anyhow::Result<()> {
    let bar = bar();
    let watch = |step: Step<'_>| {
        bar.set_length(step.total as u64);
        bar.set_position(step.done as u64);
        bar.set_message(format!("{} {}", step.conversation, step.doing));
    };
    match command {
        Command::List => {
            print!("{}", experiment::list()?);
            Ok(())
        }
        Command::Run(arguments) => arguments.run().await,
        Command::Compare(arguments) => arguments.run(),
        Command::Report { run } => experiment::report(&run),
        Command::Agreement { first, second } => {
            print!("{}", agreement(&first, &second)?.markdown());
            Ok(())
        }
        Command::Temporal { common } => {
            let embedder = common.embedder()?;
            let results =
                temporal::run(&common.load()?.cases, &embedder, &common.selection(), &watch).await?;
            bar.finish_and_clear();
            print!("{}", temporal::render(&results));
            write_lines(common.json.as_deref(), &results)
        }
        Command::Coverage { common } => {
            let embedder = common.embedder()?;
            let results =
                coverage::run(&common.load()?.cases, &embedder, &common.selection(), &watch).await?;
            bar.finish_and_clear();
            print!("{}", coverage::render(&results));
            write_lines(common.json.as_deref(), &results)
        }
        Command::Cost { common, tokenizer } => {
            let counter = counter(&tokenizer)?;
            let embedder = common.embedder()?;
            let cases = common.load()?.cases;
            let report = cost::run(&cases, &embedder, counter, (&common.selection(), &watch)).await?;
            bar.finish_and_clear();
            print!("{}", report.render());
            write_lines(common.json.as_deref(), &report.steps)
        }
        Command::Growth { index, open: Some(directory), .. } => {
            println!("{}", serde_json::to_string(&growth::open(&directory, index).await?)?);
            Ok(())
        }
        Command::Growth { units, index, directory, json, open: None } => {
            let rows = grow(&units, &index, directory.as_deref())?;
            print!("{}", growth::render(&rows));
            write_lines(json.as_deref(), &rows)
        }
        Command::Inspect { common } => {
            let report = common.load()?.report;
            println!("{report}");
            write_lines(common.json.as_deref(), &[report])
        }
    }
}

/// Makes and opens a memory of each size.
fn grow(units: &[usize], index: &IndexSpec, directory: Option<&Path>) -> anyhow::Result<Vec<growth::Growth>> {
    let program = std::env::current_exe()?;
    let parent = directory.map_or_else(std::env::temp_dir, Path::to_owned);
    let mut rows = Vec::with_capacity(units.len());
    for &units in units {
        let folder = parent.join(format!("fta-growth-{}-{units}", std::process::id()));
        let open = || {
            let mut command = std::process::Command::new(&program);
            command.args(["growth", "--index", &index.to_string(), "--open"]).arg(&folder);
            command
        };
        // Writing a memory makes a runtime of its own, which it may not within this one.
        let row = std::thread::scope(|scope| {
            let run = scope.spawn(|| growth::run(units, index, &folder, &open));
            run.join().expect("a run does not panic")
        });
        // What it made is of no use any more, whether it went well or not.
        let _ = std::fs::remove_dir_all(&folder);
        rows.push(row?);
    }
    Ok(rows)
}

/// Counts tokens with the tokenizer of a GGUF file.
fn counter(model: &str) -> anyhow::Result<cost::Counter> {
    let local = LocalConfig { model: model.to_owned(), ..LocalConfig::default() };
    let path = Profile { local, ..Profile::default() }.local_file()?;
    let tokenizer = GgufTokenizer::open(&path)?;
    let texts = tokenizer.clone();
    Ok(cost::Counter {
        prompt: Box::new(move |messages| Ok(tokenizer.prompt_tokens(messages)?.len() as u64)),
        text: Box::new(move |text| Ok(texts.tokens(text)?.len() as u64)),
        name: model.to_owned(),
    })
}

fn bar() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({elapsed})")
        .expect("the template is legal");
    ProgressBar::new(0).with_style(style)
}

fn write_lines<T: Serialize>(path: Option<&Path>, rows: &[T]) -> anyhow::Result<()> {
    let Some(path) = path else { return Ok(()) };
    let write = || -> anyhow::Result<()> {
        let mut out = BufWriter::new(File::create(path)?);
        for row in rows {
            serde_json::to_writer(&mut out, row)?;
            out.write_all(b"\n")?;
        }
        Ok(out.flush()?)
    };
    write().with_context(|| format!("`{}` could not be written", path.display()))
}
