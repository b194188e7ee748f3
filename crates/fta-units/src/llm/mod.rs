//! The steps of this crate by language model: extraction, relations, longitudinal memory.
//!
//! Each asks with a prompt of its own (`prompts/*.md`), reads the reply as untrusted input, and answers with an error value
//! when there is none to use; falling back is the caller's.

mod classify;
mod extract;
#[cfg(test)]
mod fixture;
mod update;

pub use self::{
    classify::{LlmClassifier, LlmClassifierConfig},
    extract::{FusionCheck, LlmExtractor, LlmExtractorConfig},
    update::{LlmUpdater, LlmUpdaterConfig},
};
use crate::offline::build::shortened;

/// What a field says, or `None` where it says that nothing is known.
fn said(text: &str) -> Option<&str> {
    const NOTHING: [&str; 9] =
        ["", "unknown", "none", "null", "n/a", "not said", "not stated", "not mentioned", "unspecified"];
    let text = text.trim();
    let bare = text.trim_end_matches('.').to_lowercase();
    (!NOTHING.contains(&bare.as_str())).then_some(text)
}

/// The one of `names` that is meant: the same in any case, or the only one that has a word of it in common.
fn name_among<'n>(wanted: &str, names: &[&'n str]) -> Option<&'n str> {
    let lower = |name: &str| name.trim().to_lowercase();
    let wanted = lower(wanted);
    let wanted = wanted.strip_prefix("the ").unwrap_or(&wanted);
    if let Some(same) = names.iter().find(|name| lower(name) == wanted) {
        return Some(same);
    }
    let words: Vec<&str> = wanted.split_whitespace().collect();
    let mut alike = names.iter().filter(|name| {
        let name = lower(name);
        let parts: Vec<&str> = name.split_whitespace().collect();
        // "Iris" and "Iris Lund" are one person, "Iris Lund" and "Iris Berg" are two.
        (parts.len() == 1 || words.len() == 1) && parts.iter().any(|part| words.contains(part))
    });
    let first = alike.next()?;
    alike.next().is_none().then_some(first)
}

/// The text in at most `max_chars` characters; 0 leaves it whole.
fn cut(text: &str, max_chars: usize) -> String {
    if max_chars == 0 { text.to_owned() } else { shortened(text, max_chars) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_say_nothing_are_none() {
        assert_eq!(said(" Unknown. "), None);
        assert_eq!(said("N/A"), None);
        assert_eq!(said(" on Monday"), Some("on Monday"));
    }

    #[test]
    fn names_are_those_of_the_speakers() {
        let names = ["Iris Lund", "user", "Paul"];
        assert_eq!(name_among("IRIS", &names), Some("Iris Lund"));
        assert_eq!(name_among("The user", &names), Some("user"));
        assert_eq!(name_among("Paul Berg", &names), Some("Paul"));
        assert_eq!(name_among("Iris Berg", &names), None);
        assert_eq!(name_among("Lund", &["Iris Lund", "Ole Lund"]), None);
        assert_eq!(name_among("", &names), None);
    }
}
