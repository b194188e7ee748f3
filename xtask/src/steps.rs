//! Steps that people run alone and that `ci` runs together.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use anyhow::{Context as _, Result, bail};

use crate::{
    native,
    workspace::{Package, Workspace, cargo as cargo_program},
};

/// Whether a step did its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    /// It did.
    Yes,
    /// Its tool is not installed.
    NotInstalled,
}

/// Prints a line that says what happens next.
#[expect(clippy::print_stderr, reason = "a task runner talks to people")]
pub(crate) fn say(text: &str) {
    eprintln!("{text}");
}

/// Builds the binaries as the tests need them, so that one build serves set-up, demo and tests.
pub(crate) fn build(workspace: &Workspace) -> Result<()> {
    let features = native::all_features(workspace, &workspace.packages);
    cargo(workspace, &[&["build", "--workspace", "--bins"], &words(&features)[..]].concat(), &[])
}

/// Fetches and verifies the embedding model, and the language model that is named.
pub(crate) fn setup(workspace: &Workspace, model: Option<&str>) -> Result<()> {
    build(workspace)?;
    let mut arguments = vec!["setup"];
    arguments.extend(model.iter().flat_map(|name| ["--model", name]));
    run(workspace, &workspace.binary("fta"), &arguments, &[])
}

/// Runs the demo, which fails if an answer is wrong.
pub(crate) fn demo(workspace: &Workspace) -> Result<()> {
    setup(workspace, None)?;
    run(workspace, &workspace.binary("fta"), &["demo"], &[])
}

/// Runs all tests and the doctests of published crates.
pub(crate) fn test(workspace: &Workspace, arguments: &[String]) -> Result<()> {
    // The smallest language model is enough to test that models run.
    setup(workspace, Some("smollm2-135m"))?;
    // Tests run side by side already.
    let environment = [("RAYON_NUM_THREADS", "1")];
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let features = native::all_features(workspace, &workspace.packages);
    let features = words(&features);
    let (runner, targets): (&[&str], &[&str]) = if is_installed(&["nextest", "--version"]) {
        (&["nextest", "run", "--workspace"], &[])
    } else {
        say("cargo-nextest is not installed: running `cargo test`");
        (&["test", "--workspace"], &["--lib", "--bins", "--tests", "--examples"])
    };
    cargo(workspace, &[runner, &features, targets, &arguments].concat(), &environment)?;
    if !arguments.is_empty() {
        return Ok(());
    }
    let documented: Vec<&Package> =
        workspace.packages.iter().filter(|p| p.published && p.has_library).collect();
    let features = native::all_features(workspace, documented.iter().copied());
    let mut doctests = [&["test", "--doc"], &words(&features)[..]].concat();
    doctests.extend(documented.iter().flat_map(|p| ["--package", p.name.as_str()]));
    cargo(workspace, &doctests, &environment)
}

/// Borrows the words of a command.
pub(crate) fn words(arguments: &[String]) -> Vec<&str> {
    arguments.iter().map(String::as_str).collect()
}

/// Builds the book.
pub(crate) fn docs(workspace: &Workspace) -> Result<Done> {
    if !responds("mdbook", &["--version"]) {
        say("mdbook: skipped: not installed");
        return Ok(Done::NotInstalled);
    }
    run(workspace, Path::new("mdbook"), &["build", "docs"], &[])?;
    Ok(Done::Yes)
}

/// Runs cargo in the root of the workspace.
pub(crate) fn cargo(workspace: &Workspace, arguments: &[&str], environment: &[(&str, &str)]) -> Result<()> {
    let mut environment = environment.to_vec();
    environment.extend(native::environment(arguments));
    run(workspace, Path::new(&cargo_program()), arguments, &environment)
}

/// Runs a program in the root of the workspace, after printing the command.
pub(crate) fn run(
    workspace: &Workspace,
    program: &Path,
    arguments: &[&str],
    environment: &[(&str, &str)],
) -> Result<()> {
    let name = program.file_stem().unwrap_or(program.as_os_str()).to_string_lossy();
    let mut words: Vec<String> = environment.iter().map(|(key, value)| format!("{key}={value:?}")).collect();
    words.push(name.into_owned());
    words.extend(arguments.iter().map(|&argument| argument.to_owned()));
    let line = words.join(" ");
    say(&format!("\n$ {line}"));
    let status = Command::new(program)
        .args(arguments)
        .envs(environment.iter().copied())
        .current_dir(&workspace.root)
        .status()
        .with_context(|| format!("`{}` cannot be run", program.display()))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// Whether a subcommand of cargo is installed.
pub(crate) fn is_installed(arguments: &[&str]) -> bool {
    responds(&cargo_program(), arguments)
}

/// Whether a program can be run.
pub(crate) fn responds(program: &str, arguments: &[&str]) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
