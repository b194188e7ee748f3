//! `cargo xtask tidy`: rules of the workspace that no other tool knows.

mod dependencies;
mod docs;
mod files;

use anyhow::{Result, bail};

use crate::{steps::say, workspace::Workspace};

/// Runs every rule; prints all that is wrong, not only the first.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    let mut wrong: Vec<String> = dependencies::check(&workspace.packages);
    wrong.extend(files::lints(workspace)?);
    wrong.extend(files::check(&workspace.root)?);
    wrong.extend(docs::code_map(workspace)?);
    wrong.extend(docs::summary(&workspace.root)?);
    for line in &wrong {
        say(&format!("tidy: {line}"));
    }
    if !wrong.is_empty() {
        bail!("{} rules are broken", wrong.len());
    }
    say("tidy: dependencies, lints, files, code map and book are in order");
    Ok(())
}
