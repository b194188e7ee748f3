//! `cargo xtask ci`: every check that a change must pass. All of them run, even when one fails.

use std::{fmt::Write as _, path::Path, time::Instant};

use anyhow::{Result, bail};

use crate::{
    native,
    steps::{self, Done, say},
    tidy,
    workspace::Workspace,
};

type Step = (&'static str, fn(&Workspace) -> Result<Done>);

const STEPS: [Step; 10] = [
    ("fmt", |w| steps::cargo(w, &["fmt", "--all", "--check"], &[]).map(|()| Done::Yes)),
    ("tidy", |w| tidy::run(w).map(|()| Done::Yes)),
    ("test", |w| steps::test(w, &[]).map(|()| Done::Yes)),
    ("clippy", clippy),
    ("features", features),
    ("doc", doc),
    ("book", steps::docs),
    ("deny", |w| optional(w, "deny", &["deny", "check"])),
    ("machete", |w| optional(w, "machete", &["machete"])),
    ("typos", typos),
];

/// Runs every step and prints how long each took.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut rows: Vec<(&str, String, u64)> = Vec::new();
    let mut failed: Vec<&str> = Vec::new();
    for (name, step) in STEPS {
        say(&format!("\n=== {name}"));
        let start = Instant::now();
        let verdict = match step(workspace) {
            Ok(Done::Yes) => "ok".to_owned(),
            Ok(Done::NotInstalled) => "skipped: not installed".to_owned(),
            Err(error) => {
                say(&format!("{name}: {error:#}"));
                failed.push(name);
                "FAILED".to_owned()
            }
        };
        rows.push((name, verdict, start.elapsed().as_secs()));
    }
    say(&summary(&rows));
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

fn summary(rows: &[(&str, String, u64)]) -> String {
    let mut text = "\n=== summary\n".to_owned();
    for (name, verdict, seconds) in rows {
        let _ = writeln!(text, "{name:<10} {seconds:>5} s  {verdict}");
    }
    let total: u64 = rows.iter().map(|(_, _, seconds)| seconds).sum();
    let _ = write!(text, "{:<10} {total:>5} s", "total");
    text
}

fn clippy(workspace: &Workspace) -> Result<Done> {
    let features = native::all_features(workspace, &workspace.packages);
    let (before, after) = (["clippy", "--workspace", "--all-targets"], ["--", "--deny", "warnings"]);
    steps::cargo(workspace, &[&before[..], &steps::words(&features), &after].concat(), &[])?;
    Ok(Done::Yes)
}

/// Each feature alone, and none, so that no feature leans on another in silence.
fn features(workspace: &Workspace) -> Result<Done> {
    for package in workspace.packages.iter().filter(|p| !p.features.is_empty()) {
        let bare = ["check", "--package", &package.name, "--no-default-features"];
        steps::cargo(workspace, &bare, &[])?;
        for feature in native::possible(workspace, package) {
            steps::cargo(workspace, &[&bare[..], &["--features", &feature]].concat(), &[])?;
        }
    }
    Ok(Done::Yes)
}

fn doc(workspace: &Workspace) -> Result<Done> {
    let features = native::all_features(workspace, &workspace.packages);
    let (before, after) = (["doc", "--workspace"], ["--no-deps", "--document-private-items"]);
    let arguments = [&before[..], &steps::words(&features), &after].concat();
    steps::cargo(workspace, &arguments, &[("RUSTDOCFLAGS", "--deny warnings")])?;
    Ok(Done::Yes)
}

fn optional(workspace: &Workspace, tool: &str, arguments: &[&str]) -> Result<Done> {
    if !steps::is_installed(&[tool, "--version"]) {
        say(&format!("cargo-{tool}: skipped: not installed"));
        return Ok(Done::NotInstalled);
    }
    steps::cargo(workspace, arguments, &[])?;
    Ok(Done::Yes)
}

fn typos(workspace: &Workspace) -> Result<Done> {
    if !steps::responds("typos", &["--version"]) {
        say("typos: skipped: not installed");
        return Ok(Done::NotInstalled);
    }
    steps::run(workspace, Path::new("typos"), &[], &[])?;
    Ok(Done::Yes)
}
