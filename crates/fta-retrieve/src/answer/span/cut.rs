//! Trimming spans and sentences at their ends.

use super::Marked;
use crate::{answer::candidate::Candidate, words};

/// Leaves out function words at both ends of a token range.
pub(super) fn trim(marked: &Marked<'_>, mut range: (usize, usize)) -> (usize, usize) {
    let lead = |w: &str| {
        words::listed(
            "a an the some to that of about is are was were it it's been be i i'm i've we he she \
            they and or so just also really very as well yeah yes oh do did have has had am this \
            wow hey thanks then you will would can could",
            w,
        )
    };
    // "hobbies like chess": what is repeated before the examples goes with the word that introduces them.
    let introduces = |i: usize| matches!(marked.norms[i].as_str(), "like" | "including" | "such");
    if let Some(at) = (range.0..range.1.min(range.0 + 4)).find(|&i| introduces(i))
        && (range.0..at).all(|i| marked.matched[i] || words::is_stop(&marked.norms[i]))
        && at + 1 < range.1
    {
        range.0 = at + 1;
    }
    while range.0 < range.1 && lead(&marked.norms[range.0]) {
        range.0 += 1;
    }
    let determiner = |i: usize| matches!(marked.norms[i].as_str(), "my" | "our" | "your");
    let kin_follows = (range.0..range.1).skip(1).take(2).any(|i| words::is_kin(&marked.norms[i]));
    if range.0 < range.1 && determiner(range.0) && !kin_follows {
        range.0 += 1;
    }
    while range.0 < range.1 {
        let last = marked.norms[range.1 - 1].as_str();
        let dangling = words::is_stop(last)
            && !matches!(last, "him" | "her" | "them" | "me" | "us" | "it" | "you" | "mine")
            || matches!(last, "too" | "recently" | "lately" | "though" | "anyway");
        if !dangling {
            break;
        }
        range.1 -= 1;
    }
    range
}

/// Takes time expressions off both ends of a span, with the preposition that a cut leaves at the end.
pub(in crate::answer) fn strip_times<'t>(span: &'t str, candidate: &Candidate<'_>) -> &'t str {
    let mut span = span.trim();
    for time in &candidate.times {
        if span.len() > time.text.len() && !time.text.is_empty() {
            if let Some(rest) = span.strip_suffix(time.text.as_str()) {
                span = trim_tail(rest);
            } else if let Some(rest) = span.strip_prefix(time.text.as_str()) {
                span = rest.trim_start_matches([' ', ',']);
            }
        }
    }
    span
}

/// Takes a duration and what follows it off the end of a span ("the cello for an hour").
pub(super) fn strip_duration(span: &str) -> &str {
    match crate::answer::kinds::how_long::duration_in(span).and_then(|d| span.find(d)) {
        Some(at) if at > 0 && span[..at].trim_end().ends_with(" for") => trim_tail(&span[..at]),
        _ => span,
    }
}

fn trim_tail(span: &str) -> &str {
    let mut span = span.trim_end_matches([' ', ',', '-']);
    for word in [" in", " on", " at", " since", " during", " for", " from", " the"] {
        span = span.strip_suffix(word).unwrap_or(span);
    }
    span.trim_end_matches([' ', ','])
}

/// "my sister" becomes "Nora's sister"; other text stays.
pub(in crate::answer) fn owned_by_speaker(span: &str, speaker: &str) -> String {
    let tokens = words::tokens(span);
    let kin_soon = tokens.iter().skip(1).take(2).any(|t| words::is_kin(&t.norm()));
    match tokens.first() {
        Some(first) if first.norm() == "my" && kin_soon && !speaker.is_empty() => {
            format!("{speaker}'s{}", &span[first.end..])
        }
        _ => span.to_owned(),
    }
}

/// The sentence without interjection and address at its start, `max_words` words at most.
pub(in crate::answer) fn shortened(sentence: &str, max_words: usize) -> String {
    let mut start = 0;
    let tokens = words::tokens(sentence);
    for token in &tokens {
        let norm = token.norm();
        let gap_end = tokens.iter().find(|t| t.start > token.start).map_or(sentence.len(), |t| t.start);
        let set_off = sentence[token.end..gap_end].contains([',', '!', '.', '-', '\u{2014}']);
        let opener = words::listed(
            "yeah yes yep no nope oh wow well thanks hey hi sure absolutely definitely totally aw \
            aww haha ok okay so honestly actually",
            &norm,
        );
        // "Thanks, Lou!": a name right after an opener is an address.
        let address = start > 0 && token.capitalised() && set_off && !words::is_stop(&norm);
        if token.start == start && set_off && (opener || address) {
            start = gap_end;
        } else {
            break;
        }
    }
    if start >= sentence.len() {
        start = 0;
    }
    let rest = &sentence[start..];
    let tokens = words::tokens(rest);
    let cut = match tokens.get(max_words) {
        Some(_) => &rest[..tokens[max_words - 1].end],
        None => rest,
    };
    cut.trim().trim_end_matches(['.', '!', ',', ';', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openers_and_addresses_go() {
        assert_eq!(shortened("Yeah, Lou, it was a hard week.", 25), "it was a hard week");
        assert_eq!(shortened("Thanks!", 25), "Thanks");
        assert_eq!(shortened("one two three four", 2), "one two");
    }

    #[test]
    fn kin_is_owned() {
        assert_eq!(owned_by_speaker("my little sister", "Nora"), "Nora's little sister");
        assert_eq!(owned_by_speaker("my old bike", "Nora"), "my old bike");
    }
}
