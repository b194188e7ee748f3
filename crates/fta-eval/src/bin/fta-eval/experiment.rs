//! `list`, `run`, `compare` and `report`.

use std::{
    fmt::Write as _,
    io::{IsTerminal as _, Write as _},
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use fta_eval::{
    bench::{cached_embedder, embedder},
    datasets::Case,
    judges::{EsMemEvalJudge, LocomoJudge, LongMemEvalJudge},
    metrics::{BertScore, BertScoreConfig, GoldAudit, Metric, Scorer},
    report::Report,
    run::{
        Analysis, ArmPair, CompareOptions, EXPERIMENTS, FORMAT, FinishedRun, Machine, Manifest,
        NamedExperiment, Program, Progress, Registry, RunDirectory, RunError, RunSettings, RunSummary,
        Runner, Watcher,
        analysis::{Density, Findings, audit_items, audit_sheet, densities},
        compare, sha256,
    },
    stats::Resampling,
    systems::{ByModel, FtaSettings, Parts},
};
use fta_mem::{
    index::Embedder,
    llm::{CallConfig, LanguageModel, PromptSource},
    profile::{AnswerForm, Profile},
};
use indicatif::{ProgressBar, ProgressStyle};

/// How conversations are annotated for density, beside the records of the run.
const DENSITY: &str = "density.json";
const SUMMARY: &str = "summary.json";

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// A name that `list` shows, or an experiment's file.
    experiment: String,
    /// The data file.
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Its data set, as `list` shows; found by looking at the file where this is not given.
    #[arg(long, value_name = "NAME")]
    data_set: Option<String>,
    /// Findings about wrong gold answers; `audit-errors.json` beside the data file, if it is there.
    #[arg(long, value_name = "FILE")]
    audit: Option<PathBuf>,
    /// Conversations by id.
    #[arg(long, value_delimiter = ',', value_name = "IDS")]
    conversations: Vec<String>,
    /// At most so many conversations.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// At most so many questions of each conversation.
    #[arg(long, value_name = "N")]
    questions: Option<usize>,
    /// Arms by name, instead of all.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    arms: Vec<String>,
    /// Metrics besides those of the experiment.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    metrics: Vec<String>,
    /// Seed of all draws.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Draws of the bootstrap.
    #[arg(long, default_value_t = 10_000, value_name = "N")]
    rounds: u32,
    /// Conversations at the same time [default: as many as the machine has threads].
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,
    /// Settings file (`fta.toml`) that names a language model and its steps; without it all is done by rules.
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Settings file that names the model which judges; adds the judges' metrics.
    #[arg(long, value_name = "FILE")]
    judge: Option<PathBuf>,
    /// Directory of a BERT or RoBERTa for BERTScore; adds that metric.
    #[arg(long, value_name = "DIR")]
    bert: Option<PathBuf>,
    /// Layer of that model whose states are compared.
    #[arg(long, default_value_t = 9, value_name = "N")]
    bert_layer: usize,
    /// Folder with the embedding model's files, instead of the cache or a download.
    #[arg(long, value_name = "DIR")]
    model_dir: Option<PathBuf>,
    /// Where runs are kept.
    #[arg(long, default_value = "target/bench", value_name = "DIR")]
    runs: PathBuf,
    /// Directory of this run [default: named after experiment and settings, in `--runs`].
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Begin the run anew if its directory holds one.
    #[arg(long)]
    restart: bool,
    /// Embed every text anew, as for measuring times; else vectors are kept beside the runs.
    #[arg(long)]
    no_embedding_cache: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// Directory of the first run.
    first: PathBuf,
    /// Directory of the second run.
    second: PathBuf,
    /// Arms of both, as `ours` or, where their names differ, `ours=theirs` [default: those that both have].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    arms: Vec<String>,
    /// Metrics [default: those that both have].
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    metrics: Vec<String>,
    /// Questions that flipped, at most, of each pair of arms.
    #[arg(long, default_value_t = 20, value_name = "N")]
    most: usize,
    /// Write the comparison as HTML to this file.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// What `list` prints.
pub(crate) fn list() -> Result<String> {
    let registry = Registry::builtin();
    let mut text = "Experiments\n".to_owned();
    for (name, _) in EXPERIMENTS {
        let experiment = NamedExperiment::find(name)?.experiment;
        let paper = experiment.paper.join(", ");
        let _ = writeln!(text, "  {name:<14} {:<46} {paper}", experiment.title);
    }
    text.push_str("\nSystems\n");
    for (name, about) in registry.systems() {
        let _ = writeln!(text, "  {name:<14} {about}");
    }
    text.push_str("\nMetrics\n");
    for form in Metric::forms() {
        let _ = writeln!(text, "  {form}");
    }
    text.push_str("\nData sets\n");
    for name in registry.data_sets() {
        let _ = writeln!(text, "  {name}");
    }
    Ok(text)
}

/// What is read before a run can begin.
struct Prepared {
    runner: Runner,
    manifest: Manifest,
    audit: Option<GoldAudit>,
    directory: PathBuf,
}

impl RunArguments {
    pub(crate) async fn run(self) -> Result<()> {
        let prepared = self.prepare()?;
        let scorers = prepared.runner.check()?;
        let directory = RunDirectory::open(&prepared.directory, prepared.manifest, self.restart)?;
        let (cases, embedder) = (prepared.runner.cases.clone(), prepared.runner.embedder.clone());
        let model = prepared.runner.model.clone();
        let directory = if directory.is_finished() {
            say(&format!(
                "the run in `{}` is at its end already; its report is made anew",
                directory.path().display()
            ));
            directory
        } else {
            let bar = progress();
            let watched = bar.clone();
            let watcher: Watcher = Arc::new(move |step: &Progress| {
                watched.set_length(step.total as u64);
                watched.set_position(step.done as u64);
                watched.set_message(step.doing.clone());
            });
            let directory = prepared.runner.run(directory, watcher).await?;
            bar.finish_and_clear();
            directory
        };
        let parts = |case: &Case| Parts {
            conversation: case.conversation.id.clone(),
            embedder: embedder.clone(),
            by_model: model.clone().map(|(profile, model)| ByModel { profile, model }),
        };
        let settings = directory.manifest().settings.clone();
        for analysis in &settings.experiment.analyses {
            match analysis {
                Analysis::Density { .. } if !directory.path().join(DENSITY).is_file() => {
                    let found = densities(&cases, &parts).await?;
                    directory.write(DENSITY, &serde_json::to_string_pretty(&found)?)?;
                }
                Analysis::Audit { settings: table, sample } => {
                    let of_memory: FtaSettings = table.clone().try_into()?;
                    let items = audit_items(&cases, &of_memory, &parts, (*sample, settings.seed)).await?;
                    directory.write("audit.csv", &audit_sheet(&items))?;
                }
                _ => {}
            }
        }
        let report = write_report(&directory, &scorers, prepared.audit.as_ref())?;
        print_report(&report, directory.path())
    }

    fn prepare(&self) -> Result<Prepared> {
        let NamedExperiment { name, mut experiment } = NamedExperiment::find(&self.experiment)?;
        let mut registry = Registry::builtin();
        let bytes = std::fs::read(&self.data)
            .map_err(|source| RunError::ReadData { path: self.data.clone(), source })?;
        let data_set =
            registry.data_set(self.data_set.as_deref(), &self.data, &bytes).map_err(RunError::Data)?;
        let (all, odd) = data_set.load(&self.data, &bytes).map_err(RunError::Data)?;
        let audit = self.gold_audit(&all)?;
        if !self.arms.is_empty() {
            if let Some(missing) =
                self.arms.iter().find(|name| experiment.arms.iter().all(|a| a.name != **name))
            {
                let known: Vec<&str> = experiment.arms.iter().map(|arm| arm.name.as_str()).collect();
                bail!("experiment `{name}` has no arm `{missing}`; it has {}", known.join(", "));
            }
            experiment.arms.retain(|arm| self.arms.contains(&arm.name));
            experiment.keep_analyses_of_arms();
        }
        let cases = self.select(all, experiment.with_evidence_only)?;
        let profile = self.profile.as_deref().map(open_profile).transpose()?;
        let judge = self.judge.as_deref().map(open_profile).transpose()?;
        let mut added = self.metrics.clone();
        if let Some(judge) = &judge {
            let asked;
            (registry, asked) = with_judges(registry, data_set.name(), judge)?;
            added.push(asked);
        }
        if let Some(directory) = &self.bert {
            let config = BertScoreConfig { layer: self.bert_layer, ..BertScoreConfig::default() };
            let scorer = BertScore::load(directory, config)?;
            added.push(scorer.name());
            registry = registry.with_metric(scorer);
        }
        for metric in added {
            if !experiment.metrics.contains(&metric) {
                experiment.metrics.push(metric);
            }
        }
        let embedder = self.embedder()?;
        let settings = RunSettings {
            name: name.clone(),
            experiment: experiment.clone(),
            data_set: data_set.name().to_owned(),
            data_file: self.data.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            data_sha256: sha256(&bytes),
            conversations: self.conversations.clone(),
            limit: self.limit,
            questions: self.questions,
            seed: self.seed,
            rounds: self.rounds,
            embedder: embedder.model_id().to_owned(),
            model: profile.as_ref().map(|(_, _, model)| model.model_id().to_owned()),
            profile: profile.as_ref().map(|(_, shown, _)| shown.clone()),
            judge: judge.as_ref().map(|(_, _, model)| model.model_id().to_owned()),
            bert_score: self.bert.as_ref().map(|dir| format!("{}, layer {}", dir.display(), self.bert_layer)),
        };
        let directory =
            self.out.clone().unwrap_or_else(|| self.runs.join(format!("{name}-{}", settings.digest())));
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let manifest = Manifest {
            format: FORMAT,
            settings,
            program: program()?,
            machine: machine(threads),
            odd,
            begun_at: jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M").to_string(),
        };
        let model = profile.map(|(profile, _, model)| (profile, model));
        let runner =
            Runner { registry, experiment, cases, embedder, model, jobs: self.jobs.unwrap_or(threads) };
        Ok(Prepared { runner, manifest, audit, directory })
    }

    /// Conversations and questions of the run.
    fn select(&self, all: Vec<Case>, with_evidence_only: bool) -> Result<Vec<Case>> {
        let known = || all.iter().take(12).map(|c| format!("`{}`", c.conversation.id)).collect::<Vec<_>>();
        for id in &self.conversations {
            if all.iter().all(|case| case.conversation.id != *id) {
                return Err(RunError::NoConversation { id: id.clone(), known: known().join(", ") }.into());
            }
        }
        let is_wanted =
            |case: &Case| self.conversations.is_empty() || self.conversations.contains(&case.conversation.id);
        let mut cases: Vec<Case> =
            all.into_iter().filter(is_wanted).take(self.limit.unwrap_or(usize::MAX)).collect();
        for case in &mut cases {
            if with_evidence_only {
                case.questions.retain(|q| q.answerable && !q.evidence.is_empty());
            }
            case.questions.truncate(self.questions.unwrap_or(usize::MAX));
        }
        Ok(cases)
    }

    fn gold_audit(&self, cases: &[Case]) -> Result<Option<GoldAudit>> {
        let beside = self.data.with_file_name("audit-errors.json");
        let path = match &self.audit {
            Some(path) => path.clone(),
            None if beside.is_file() => beside,
            None => return Ok(None),
        };
        let audit = GoldAudit::load(&path, cases)?;
        Ok((!audit.is_empty()).then_some(audit))
    }

    fn embedder(&self) -> Result<Arc<dyn Embedder>> {
        let model_dir = self.model_dir.as_deref();
        if self.no_embedding_cache {
            return Ok(embedder(model_dir)?);
        }
        std::fs::create_dir_all(&self.runs)
            .map_err(|source| RunError::Write { path: self.runs.clone(), source })?;
        // The model is loaded first, so that a missing one is not taken for a cache that is in use.
        match cached_embedder(model_dir, &self.runs.join("embeddings.redb")) {
            Ok(embedder) => Ok(embedder),
            Err(error @ fta_eval::bench::BenchError::Cache(_)) => {
                say(&format!("{:#}; going without it", anyhow::Error::from(error)));
                Ok(embedder(model_dir)?)
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// A profile, what of it may be shown, and its model.
type OpenProfile = (Profile, serde_json::Value, Arc<dyn LanguageModel>);

/// Opens the model that a settings file names. Keys of the file that are not about models are left alone.
fn open_profile(path: &Path) -> Result<OpenProfile> {
    const KEYS: [&str; 7] = ["profile", "construction", "llm", "local", "steps", "prompts", "answers"];

    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| format!("`{shown}` cannot be read"))?;
    let mut table: toml::Table =
        toml::from_str(&text).with_context(|| format!("`{shown}` is no settings file"))?;
    table.retain(|key, _| KEYS.contains(&key));
    let says_form = table.contains_key("answers");
    let mut profile: Profile =
        table.try_into().with_context(|| format!("`{shown}` has settings that cannot be used"))?;
    if !says_form {
        // Scores compare words with short gold answers.
        profile.answers = AnswerForm::Short;
    }
    let open = profile.open_model(None, &|name| std::env::var(name).ok(), None)?;
    let Some(open) = open else {
        bail!("`{shown}` names no model: set `profile` to `llm` or `local`, or leave the option out");
    };
    // A profile holds names of variables and files, never a key.
    Ok((profile.clone(), serde_json::to_value(&profile)?, open.query))
}

/// Adds the judges; the one of the data set is asked.
fn with_judges(
    registry: Registry,
    data_set: &str,
    (profile, _, model): &OpenProfile,
) -> Result<(Registry, String)> {
    let prompts = profile.prompts.as_ref().map_or_else(PromptSource::builtin, PromptSource::directory);
    let call = CallConfig::default();
    let locomo = LocomoJudge::new(model.clone(), &prompts, call)?;
    let es_memeval = EsMemEvalJudge::new(model.clone(), &prompts, call)?;
    let longmemeval = LongMemEvalJudge::new(model.clone(), &prompts, call)?;
    let asked = match data_set {
        "evoemo" => es_memeval.name(),
        "longmemeval" => longmemeval.name(),
        _ => locomo.name(),
    };
    Ok((registry.with_metric(locomo).with_metric(es_memeval).with_metric(longmemeval), asked))
}

/// Summary, Markdown and HTML of a finished run, in its directory.
fn write_report(
    directory: &RunDirectory,
    scorers: &[Arc<dyn Scorer>],
    audit: Option<&GoldAudit>,
) -> Result<Report> {
    let run = FinishedRun::read(directory.path())?;
    let summary = RunSummary::new(&run, scorers, audit)?;
    directory.write(SUMMARY, &serde_json::to_string_pretty(&summary)?)?;
    let report = made(&run, &summary, directory.path())?;
    directory.write("report.md", &report.markdown())?;
    directory.write("report.html", &report.html()?)?;
    Ok(report)
}

fn made(run: &FinishedRun, summary: &RunSummary, path: &Path) -> Result<Report> {
    let densities: Vec<Density> = match std::fs::read_to_string(path.join(DENSITY)) {
        Ok(text) => serde_json::from_str(&text).with_context(|| format!("`{DENSITY}` is damaged"))?,
        Err(_) => Vec::new(),
    };
    Ok(Findings { run, summary, densities: &densities }.report()?)
}

/// Makes the report of a finished run anew, from its records and its summary.
pub(crate) fn report(path: &Path) -> Result<()> {
    let run = FinishedRun::read(path)?;
    let text = std::fs::read_to_string(path.join(SUMMARY))
        .map_err(|source| RunError::Read { path: path.join(SUMMARY), source })?;
    let summary: RunSummary =
        serde_json::from_str(&text).with_context(|| format!("`{SUMMARY}` is damaged"))?;
    let directory = RunDirectory::open(path, run.manifest.clone(), false)?;
    let report = made(&run, &summary, path)?;
    directory.write("report.md", &report.markdown())?;
    directory.write("report.html", &report.html()?)?;
    print_report(&report, path)
}

#[expect(clippy::print_stdout, reason = "tables are the output of the program")]
fn print_report(report: &Report, path: &Path) -> Result<()> {
    print!("{}", report.tables().markdown());
    say(&format!("report: {}", std::path::absolute(path.join("report.html"))?.display()));
    Ok(())
}

impl CompareArguments {
    #[expect(clippy::print_stdout, reason = "tables are the output of the program")]
    pub(crate) fn run(self) -> Result<()> {
        let (a, b) = (FinishedRun::read(&self.first)?, FinishedRun::read(&self.second)?);
        let (left, right) = (&a.manifest.settings, &b.manifest.settings);
        if left.data_sha256 != right.data_sha256 {
            say("the runs are on different data: only questions that both have are compared");
        }
        let pair = |name: &String| match name.split_once('=') {
            Some((a, b)) => ArmPair { a: a.to_owned(), b: b.to_owned() },
            None => ArmPair { a: name.clone(), b: name.clone() },
        };
        let options = CompareOptions {
            names: [&self.first, &self.second].map(|path| path.display().to_string()),
            arms: self.arms.iter().map(pair).collect(),
            metrics: self.metrics.clone(),
            resampling: Resampling { seed: left.seed, rounds: left.rounds, ..Resampling::default() },
            most: self.most,
        };
        let report = compare(&a.questions, &b.questions, &options)?.report();
        print!("{}", report.markdown());
        if let Some(path) = &self.html {
            let page = report.html()?;
            std::fs::write(path, page).map_err(|source| RunError::Write { path: path.clone(), source })?;
        }
        Ok(())
    }
}

fn program() -> Result<Program> {
    let executable = std::env::current_exe().context("this program cannot be found")?;
    let bytes = std::fs::read(&executable).context("this program cannot be read")?;
    let git = |arguments: &[&str]| {
        let output = std::process::Command::new("git").args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changed = git(&["status", "--porcelain"]).is_some_and(|status| !status.is_empty());
    let revision = git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_default();
    Ok(Program {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        revision: if changed { format!("{revision}+") } else { revision },
        sha256: sha256(&bytes),
    })
}

fn machine(threads: usize) -> Machine {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = information.lines().find(|line| line.starts_with("model name"));
    let processor = name.and_then(|line| line.split_once(':')).map_or("", |(_, name)| name.trim());
    Machine {
        system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        processor: processor.to_owned(),
        threads,
    }
}

fn progress() -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg} ({elapsed}, {eta} left)")
        .expect("the template is legal");
    ProgressBar::new(0).with_style(style)
}

/// Tells people something, apart from the tables.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
