//! Several things, gathered over sentences and sessions.

use std::collections::BTreeSet;

use super::{Extracted, Input};
use crate::{answer::span, words};

pub(super) fn extract(input: Input<'_, '_>) -> Option<Extracted> {
    let best = input.scored.first()?;
    let floor = best.score - input.config.list_margin;
    let mut items: Vec<String> = Vec::new();
    let mut seen: Vec<BTreeSet<String>> = Vec::new();
    let mut used = Vec::new();
    let eligible = input.scored.iter().enumerate().take_while(|(_, s)| s.score >= floor);
    for (position, scored) in eligible.filter(|(_, s)| !s.candidate.is_question()) {
        // One speaker's list is not filled up with the other's things.
        let foreign = scored.speaker < best.speaker.min(0.7);
        let unrelated = position > 0 && scored.matched.is_empty();
        if foreign || unrelated || items.len() >= input.config.max_items {
            continue;
        }
        let Some(text) = span::object_span(input.asked, &scored.candidate) else { continue };
        let mut gave = false;
        for item in split_items(&text).into_iter().filter(|i| is_thing(i)) {
            let key: BTreeSet<String> = words::content_stems(&item).into_iter().collect();
            let known = key.is_empty() || seen.iter().any(|s| key.is_subset(s) || s.is_subset(&key));
            if !known && items.len() < input.config.max_items {
                items.push(item);
                seen.push(key);
                gave = true;
            }
        }
        if gave {
            used.push(position);
        }
    }
    if items.is_empty() {
        return super::what::extract(input);
    }
    let certainty = if items.len() > 1 { 0.9 } else { 0.7 };
    Some(Extracted { text: items.join(", "), time: None, certainty, used })
}

/// Whether an item reads as a thing and not as a clause.
fn is_thing(item: &str) -> bool {
    let norms: Vec<String> = words::tokens(item).iter().map(words::Token::norm).collect();
    let clause =
        norms.first().is_some_and(|w| words::is_first_person_any(w) || words::listed(CLAUSE_STARTS, w));
    let inner = norms
        .iter()
        .skip(1)
        .any(|w| matches!(w.as_str(), "i" | "we" | "i'm" | "i've" | "is" | "are" | "was" | "that's"));
    !clause && !inner && norms.len() <= 6
}

const CLAUSE_STARTS: &str = "it it's that that's this there he she they you you're since when if but so who which been was \
    is are were for from great awesome amazing good nice sure happy glad can could will would";

/// The items of an enumeration ("a, b and c"); a text without one is one item.
pub(super) fn split_items(text: &str) -> Vec<String> {
    let mut pieces: Vec<&str> = text.split([',', ';']).collect();
    pieces = pieces.into_iter().flat_map(|p| p.split(" and ")).flat_map(|p| p.split(" & ")).collect();
    pieces
        .into_iter()
        .map(|p| {
            let mut p = p.trim();
            for lead in
                ["and ", "or ", "also ", "a ", "an ", "the ", "some ", "my ", "even ", "maybe ", "like "]
            {
                p = p.strip_prefix(lead).unwrap_or(p).trim_start();
            }
            span::shortened(p, 8)
        })
        .filter(|p| words::tokens(p).iter().any(|t| !words::is_stop(&t.norm())))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::split_items;

    #[test]
    fn enumerations_split() {
        assert_eq!(split_items("a kettle, some mugs, and tea towels"), ["kettle", "mugs", "tea towels"]);
        assert_eq!(split_items("chess and long walks"), ["chess", "long walks"]);
        assert_eq!(split_items("painting"), ["painting"]);
    }
}
