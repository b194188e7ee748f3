//! The code map names the crates that exist, the book's summary the pages that exist.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context as _, Result};

use crate::workspace::Workspace;

const CODE_MAP: &str = "docs/src/internals/architecture.md";
const BOOK: &str = "docs/src";
const SUMMARY: &str = "SUMMARY.md";

/// Compares the code map with the crates.
pub(super) fn code_map(workspace: &Workspace) -> Result<Vec<String>> {
    let text = fs::read_to_string(workspace.root.join(CODE_MAP)).with_context(|| format!("`{CODE_MAP}`"))?;
    let crates = workspace.packages.iter().map(|p| p.name.clone()).collect();
    Ok(differences(&mapped_crates(&text), &crates, CODE_MAP, "crate"))
}

/// Compares the summary with the pages.
pub(super) fn summary(root: &Path) -> Result<Vec<String>> {
    let book = root.join(BOOK);
    let text = fs::read_to_string(book.join(SUMMARY)).with_context(|| format!("`{BOOK}/{SUMMARY}`"))?;
    let mut pages = BTreeSet::new();
    collect_pages(&book, &book, &mut pages)?;
    pages.remove(SUMMARY);
    Ok(differences(&linked_pages(&text), &pages, &format!("{BOOK}/{SUMMARY}"), "page"))
}

/// Names in the first column of the table under `## Code map`.
fn mapped_crates(text: &str) -> BTreeSet<String> {
    text.lines()
        .skip_while(|line| line.trim() != "## Code map")
        .skip(1)
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| line.trim().strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// Targets of the links of a summary.
fn linked_pages(text: &str) -> BTreeSet<String> {
    text.lines()
        .filter_map(|line| line.rsplit_once("](")?.1.split_once(')'))
        .map(|(page, _)| page.trim_start_matches("./").to_owned())
        .collect()
}

fn collect_pages(directory: &Path, book: &Path, pages: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(directory).with_context(|| format!("`{}`", directory.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect_pages(&path, book, pages)?;
        } else if path.extension().is_some_and(|e| e == "md") {
            let page = path.strip_prefix(book).expect("pages lie in the book");
            pages.insert(page.to_string_lossy().replace('\\', "/"));
        }
    }
    Ok(())
}

fn differences(listed: &BTreeSet<String>, real: &BTreeSet<String>, file: &str, what: &str) -> Vec<String> {
    let missing = real.difference(listed).map(|name| format!("{file}: {what} `{name}` is missing"));
    let gone = listed.difference(real).map(|name| format!("{file}: there is no {what} `{name}`"));
    missing.chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|n| (*n).to_owned()).collect()
    }

    #[test]
    fn the_code_map_is_the_first_column() {
        let text = "# A\n| `x` |\n## Code map\n\n| crate | what |\n| --- | --- |\n| `a` | port `P` |\n| `b` | c |\n## End\n| `y` |\n";
        assert_eq!(mapped_crates(text), set(&["a", "b"]));
    }

    #[test]
    fn the_summary_is_its_links() {
        let text = "# Summary\n\n[Start](index.md)\n\n- [One](a/one.md)\n  - [Two (2)](./a/two.md)\n";
        assert_eq!(linked_pages(text), set(&["index.md", "a/one.md", "a/two.md"]));
    }

    #[test]
    fn differences_go_both_ways() {
        let wrong = differences(&set(&["a", "b"]), &set(&["b", "c"]), "f", "page");
        assert_eq!(wrong, ["f: page `c` is missing", "f: there is no page `a`"]);
    }
}
