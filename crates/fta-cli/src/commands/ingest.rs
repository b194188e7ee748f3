//! `fta ingest`.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};
use fta_eval::datasets::Case;
use fta_mem::{IngestOutcome, IngestReport, Memory, units::Namespace};
use futures_util::{StreamExt as _, stream};
use indicatif::ProgressBar;
use serde::Serialize;

use crate::{
    args::Ingest,
    context::{Context, Steps},
    exit::Exit,
    input::{self, Loaded},
};

#[derive(Serialize)]
struct FileReport {
    path: String,
    format: &'static str,
    cases: Vec<CaseReport>,
    anomalies: Vec<AnomalyReport>,
}

#[derive(Serialize)]
struct CaseReport {
    user: String,
    sessions: Vec<IngestReport>,
}

#[derive(Serialize)]
struct AnomalyReport {
    what: &'static str,
    count: usize,
    examples: Vec<String>,
}

#[derive(Serialize)]
struct Files {
    files: Vec<FileReport>,
}

/// Takes in files. All of them are read before the first is stored, so that a wrong file changes nothing.
pub(crate) async fn run(context: &Context, args: &Ingest) -> Result<Exit> {
    let mut loaded = Vec::with_capacity(args.files.len());
    for path in &args.files {
        let file = input::load(path, args.format)?;
        if let (Some(user), true) = (&context.settings.user, file.cases.len() > 1) {
            bail!(
                "`{}` holds {} conversations, `{user}` is one user; leave out `--user` to keep each under its own name",
                path.display(),
                file.cases.len()
            );
        }
        loaded.push(file);
    }
    context.embedder.load()?;
    let memory = context.memory(Steps::Profile)?;
    let mut files = Vec::with_capacity(loaded.len());
    for file in &loaded {
        files.push(store(context, &memory, file).await?);
    }
    context.report_usage();
    context.printer.data("ingest", Files { files }, String::new)?;
    Ok(Exit::Done)
}

async fn store(context: &Context, memory: &Memory, file: &Loaded) -> Result<FileReport> {
    let report = &file.report;
    let mut out = FileReport {
        path: report.path.display().to_string(),
        format: report.format.name(),
        cases: Vec::new(),
        anomalies: report
            .anomalies
            .iter()
            .map(|(kind, a)| AnomalyReport {
                what: kind.describe(),
                count: a.count,
                examples: a.examples.clone(),
            })
            .collect(),
    };
    let printer = &context.printer;
    if !printer.json() {
        printer.text(&head(&out, report.sessions, report.turns))?;
    }
    let bar = printer.bar(report.sessions as u64, "  {bar:40} {pos}/{len} sessions {msg} {eta}");
    // Users are independent: with a model, their calls are made side by side. Reports come in the file's order.
    let at_once = context.settings.profile.concurrency().get();
    let cases = file.cases.iter().map(|case| store_case(context, memory, case, &bar));
    let mut cases = stream::iter(cases).buffered(at_once);
    while let Some(done) = cases.next().await {
        let done = done?;
        if !printer.json() {
            bar.suspend(|| printer.text(&case_line(&done)))?;
        }
        out.cases.push(done);
    }
    bar.finish_and_clear();
    Ok(out)
}

/// Takes in the sessions of one user, in order.
async fn store_case(
    context: &Context,
    memory: &Memory,
    case: &Case,
    bar: &ProgressBar,
) -> Result<CaseReport> {
    let printer = &context.printer;
    let user = match &context.settings.user {
        Some(user) => user.clone(),
        None => Namespace::new(case.conversation.id.as_str())?,
    };
    let memory = memory.user(user.clone())?;
    let mut done = CaseReport { user: user.to_string(), sessions: Vec::new() };
    for session in &case.conversation.sessions {
        bar.set_message(session.id.to_string());
        let report = memory.ingest(session).await;
        let report =
            report.with_context(|| format!("session `{}` of `{user}` cannot be taken in", session.id))?;
        for mark in &report.fallbacks {
            bar.suspend(|| {
                printer.warning(&format!("session `{}`: {mark}; `fta retry` does it again", session.id));
            });
        }
        for note in &report.notes {
            bar.suspend(|| printer.warning(&format!("session `{}`: {note}", session.id)));
        }
        done.sessions.push(report);
        bar.inc(1);
    }
    Ok(done)
}

fn head(file: &FileReport, sessions: usize, turns: usize) -> String {
    let mut text =
        format!("{}: {}, {}, {}", file.path, file.format, count(sessions, "session"), count(turns, "turn"));
    for anomaly in &file.anomalies {
        let _ = write!(text, "\n  {} x {} ({})", anomaly.count, anomaly.what, anomaly.examples.join("; "));
    }
    text
}

fn case_line(case: &CaseReport) -> String {
    let of = |outcome| case.sessions.iter().filter(|s| s.outcome == outcome).count();
    let sum = |value: fn(&IngestReport) -> usize| case.sessions.iter().map(value).sum::<usize>();
    let outcomes = [
        (of(IngestOutcome::Added), "added"),
        (of(IngestOutcome::Replaced), "replaced"),
        (of(IngestOutcome::Unchanged), "unchanged"),
    ];
    let outcomes: Vec<String> =
        outcomes.iter().filter(|(n, _)| *n > 0).map(|(n, word)| format!("{n} {word}")).collect();
    format!(
        "  {}: sessions {}; {}, {}, {}, {}",
        case.user,
        if outcomes.is_empty() { "none".to_owned() } else { outcomes.join(", ") },
        count(sum(|s| s.turns), "turn"),
        count(sum(|s| s.fragments), "fragment"),
        count(sum(|s| s.units), "unit"),
        count(sum(|s| s.links), "link"),
    )
}

/// `1 turn`, `2 turns`.
pub(crate) fn count(n: usize, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_are_counted() {
        let report = |outcome| IngestReport {
            session: "s".into(),
            outcome,
            turns: 2,
            fragments: 1,
            units: 3,
            links: 0,
            content_turns: 2,
            covered_turns: 2,
            fallbacks: Vec::new(),
            notes: Vec::new(),
        };
        let sessions = vec![report(IngestOutcome::Added), report(IngestOutcome::Unchanged)];
        let line = case_line(&CaseReport { user: "ines".to_owned(), sessions });
        assert_eq!(line, "  ines: sessions 1 added, 1 unchanged; 4 turns, 2 fragments, 6 units, 0 links");
    }
}
