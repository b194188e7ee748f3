//! Rules of single files: length, words that must not occur, inherited lints.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context as _, Result};

use crate::workspace::Workspace;

/// No Rust file is longer.
const LONGEST: usize = 800;

/// Words of one machine that have no place in the project. Split, so that this file does not hold them.
const FORBIDDEN: [&str; 3] = [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/")];

/// Files that are read by people.
const TEXT: [&str; 9] = ["rs", "toml", "md", "json", "jsonl", "sh", "yml", "txt", "snap"];

/// Directories that hold what was made, for the case that there is no git to ask.
const SKIPPED: [&str; 3] = ["target", ".git", "book"];

/// Every crate takes the lints of the workspace.
pub(super) fn lints(workspace: &Workspace) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for package in &workspace.packages {
        let manifest = &package.manifest;
        let text = fs::read_to_string(manifest).with_context(|| format!("`{}`", manifest.display()))?;
        if !inherits_lints(&text) {
            wrong.push(format!("`{}` lacks `[lints]` with `workspace = true`", package.name));
        }
    }
    Ok(wrong)
}

fn inherits_lints(manifest: &str) -> bool {
    manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[lints]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .any(|line| line.replace(' ', "") == "workspace=true")
}

/// Checks every file of the project.
pub(super) fn check(root: &Path) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    for path in files(root)? {
        let is_text =
            path.extension().is_some_and(|e| TEXT.iter().any(|t| e == *t)) || path.starts_with(".ci");
        // Files that git knows and that are gone are none of ours.
        let Ok(text) = fs::read_to_string(root.join(&path)) else { continue };
        if is_text {
            wrong.extend(check_text(&path, &text));
        }
    }
    Ok(wrong)
}

fn check_text(path: &Path, text: &str) -> Vec<String> {
    let name = path.display();
    let mut wrong = Vec::new();
    let lines = text.lines().count();
    if path.extension().is_some_and(|e| e == "rs") && lines > LONGEST {
        wrong.push(format!("{name}: {lines} lines, at most {LONGEST} are allowed: split it"));
    }
    for (position, line) in text.lines().enumerate() {
        for word in FORBIDDEN.iter().filter(|word| line.contains(**word)) {
            wrong.push(format!("{name}:{}: `{word}` is a path of one machine", position + 1));
        }
    }
    wrong
}

/// Files of the project: those that git tracks or would track, else all but what was made.
fn files(root: &Path) -> Result<Vec<PathBuf>> {
    let git = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root)
        .output();
    let mut files = Vec::new();
    match git {
        Ok(output) if output.status.success() => {
            let names = String::from_utf8_lossy(&output.stdout).into_owned();
            files.extend(names.split('\0').filter(|name| !name.is_empty()).map(PathBuf::from));
        }
        _ => walk(root, root, &mut files)?,
    }
    files.sort();
    Ok(files)
}

fn walk(directory: &Path, root: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(directory).with_context(|| format!("`{}`", directory.display()))? {
        let entry = entry?;
        let path = entry.path();
        if path.is_dir() {
            if !SKIPPED.iter().any(|name| entry.file_name() == *name) {
                walk(&path, root, files)?;
            }
        } else if let Ok(relative) = path.strip_prefix(root) {
            files.push(relative.to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_must_be_inherited_in_their_section() {
        assert!(inherits_lints("[package]\n[lints]\nworkspace = true\n"));
        assert!(!inherits_lints("[package]\nworkspace = true\n[lints]\n[features]\nworkspace = true\n"));
        assert!(!inherits_lints(""));
    }

    #[test]
    fn long_files_and_machine_paths_are_found() {
        let long = "//\n".repeat(LONGEST + 1);
        assert_eq!(check_text(Path::new("a.rs"), &long).len(), 1);
        assert!(check_text(Path::new("a.md"), &long).is_empty());
        let line = format!("ok\nsee {}x", FORBIDDEN[0]);
        assert!(check_text(Path::new("a.md"), &line)[0].starts_with("a.md:2:"));
    }
}
