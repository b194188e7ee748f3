//! The affect anchor by word lists: emotions with negation and intensity, intentions, cues about relations.
//!
//! The lists are the project's own (`lexicon/emotions.txt`, `lexicon/relations.txt`); they name what was said and infer
//! nothing: "not happy" is no joy, and no sadness either.

use std::{collections::BTreeMap, sync::LazyLock};

use regex::Regex;

use super::lexicon::{EMOTIONS, RELATIONS, Token, is_negation, tokens};

/// The emotions and states that a text names, strongest first, as nouns of the lexicon.
///
/// Each word of the lexicon counts 1, more after "very" and the like, less after "a bit"; a negated one does not count.
/// Ties are in order of first mention.
pub fn emotions(text: &str) -> Vec<String> {
    let words = tokens(text);
    ranked(std::iter::once((text, words.as_slice())))
}

/// [`emotions`] over several sentences.
pub(crate) fn ranked<'a>(sentences: impl Iterator<Item = (&'a str, &'a [Token])>) -> Vec<String> {
    let mut scores: BTreeMap<&str, (u32, usize)> = BTreeMap::new();
    let mut order = 0;
    for (text, words) in sentences {
        for hit in EMOTIONS.find(words).into_iter().filter(|hit| hit.label != "-") {
            let Some(weight) = weight(text, words, hit.start) else { continue };
            let entry = scores.entry(hit.label).or_insert((0, order));
            entry.0 += weight;
            order += 1;
        }
    }
    let mut found: Vec<(&str, (u32, usize))> = scores.into_iter().collect();
    found.sort_by_key(|(_, (score, first))| (std::cmp::Reverse(*score), *first));
    found.into_iter().map(|(noun, _)| noun.to_owned()).collect()
}

/// Strength of the emotion word at `at`, 2 for a plain one; `None` when it is negated.
fn weight(text: &str, words: &[Token], at: usize) -> Option<u32> {
    let mut weight = 2;
    for back in 1..=3 {
        let Some(before) = at.checked_sub(back).map(|b| &words[b]) else { break };
        if text[before.end..words[before_next(at, back)].start].contains(['.', ',', ';', '!', '?']) {
            break;
        }
        let lower = before.lower.as_str();
        // "can't wait" and "not only" are no negations of what follows.
        let next = words[before_next(at, back)].lower.as_str();
        if is_negation(lower) && !matches!(next, "only" | "just" | "wait") {
            return None;
        }
        match lower {
            "very" | "so" | "really" | "extremely" | "super" | "incredibly" | "deeply" | "totally"
            | "completely" | "too" => weight = 3,
            "bit" | "slightly" | "somewhat" | "kinda" | "little" | "less" => weight = 1,
            _ => {}
        }
    }
    Some(weight)
}

fn before_next(at: usize, back: usize) -> usize {
    at + 1 - back
}

/// The cues about relations between people, in order of first mention.
pub(crate) fn relation_cues<'a>(sentences: impl Iterator<Item = &'a [Token]>) -> Vec<String> {
    let mut cues: Vec<String> = Vec::new();
    for words in sentences {
        for hit in RELATIONS.find(words) {
            let negated = hit.start > 0 && is_negation(&words[hit.start - 1].lower);
            if !negated && !cues.iter().any(|c| c == hit.label) {
                cues.push(hit.label.to_owned());
            }
        }
    }
    cues
}

/// How firm an intention is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Firmness {
    /// A wish: "want to", "hope to", "thinking about".
    Wish,
    /// A plan: "going to", "I'll", "decided to".
    Plan,
}

static INTENTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix) (?: \b(?:i|we) (?:['’](?:m|ve|d|re|ll)|\ am|\ are|\ have|\ was|\ were|\ had|\ will)? (?:\ \w+)?? \s | ^ )
        (?P<plan> going\ to | gonna | plan(?:ning)?\ (?:to|on) | planned\ to | intend\ to | decided\ to | promised?\ to | agreed\ to
            | signed\ up | scheduled | about\ to | preparing\ (?:to|for) | ll\ | will\ )
        (?P<rest> [^.,;:!?\n()]* )",
    )
    .expect("the pattern is well formed")
});

static WILL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(?:i|we)(?:['’]ll| will) (?P<rest>[^.,;:!?\n()]*)")
        .expect("the pattern is well formed")
});

static WISH: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix) \b(?: (?:i|we) (?:['’](?:m|ve|d|re)|\ am|\ are|\ have|\ had|\ would)? (?:\ \w+)?? \s )
        (?P<plan> want(?:ed)?\ to | wanna | hop(?:e|ing)\ to | thinking\ (?:about|of) | considering | looking\ forward\ to | like\ to
            | love\ to | need\ to | have\ to | try(?:ing)?\ to | looking\ into | aim(?:ing)?\ to | working\ on | can['’]t\ wait\ (?:to|for) )
        (?P<rest> [^.,;:!?\n()]* )",
    )
    .expect("the pattern is well formed")
});

/// What the speaker means to do, in the sentence's words ("going to call the clinic"), and how firmly.
pub(crate) fn intention(sentence: &str) -> Option<(String, Firmness)> {
    let firm = INTENTION
        .captures(sentence)
        .map(|c| phrase(&c["plan"], &c["rest"]))
        .or_else(|| WILL.captures(sentence).map(|c| phrase("will", &c["rest"])))
        .flatten()
        .map(|p| (p, Firmness::Plan));
    firm.or_else(|| {
        let found = WISH.captures(sentence)?;
        let before = &sentence[..found.get(0).map_or(0, |m| m.start())];
        // "as I like to say" and "I used to" tell habits.
        if before.trim_end().ends_with("as") {
            return None;
        }
        phrase(&found["plan"], &found["rest"]).map(|p| (p, Firmness::Wish))
    })
}

/// Cuts the phrase at the next clause; phrases that only manage the talk ("I'll tell you") are none.
fn phrase(plan: &str, rest: &str) -> Option<String> {
    let mut words: Vec<&str> = Vec::new();
    for word in rest.split_whitespace().take(16) {
        if words.len() > 1
            && matches!(
                word.to_lowercase().as_str(),
                "but" | "because" | "so" | "since" | "although" | "though" | "–" | "-"
            )
        {
            break;
        }
        words.push(word);
    }
    let first = words.first()?.to_lowercase();
    let talk = matches!(
        first.as_str(),
        "say"
            | "tell"
            | "admit"
            | "ask"
            | "thank"
            | "know"
            | "see"
            | "hear"
            | "be"
            | "never"
            | "always"
            | "say:"
            | "apologize"
            | "not"
            | "think"
            | "believe"
            | "agree"
            | "share"
            | "mention"
            | "remember"
            | "let"
    );
    if talk && words.len() < 4
        || matches!(first.as_str(), "say" | "tell" | "admit" | "thank" | "apologize" | "never" | "always")
    {
        return None;
    }
    Some(format!("{} {}", plan.trim().to_lowercase(), words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &[&str]) {
        assert_eq!(emotions(text), expect, "{text}");
    }

    #[test]
    fn emotions_are_ranked_and_negation_counts() {
        check("I'm not happy with it.", &[]);
        check("I am a bit nervous but so grateful!", &["gratitude", "anxiety"]);
        check("Sad, sad day. I feel lonely 😢", &["sadness", "loneliness"]);
        check("I can't wait, I'm thrilled", &["excitement", "joy"]);
        check("No, I am scared", &["fear"]);
        check("I was burned out and fed up", &["exhaustion", "frustration"]);
        check("The train left at nine.", &[]);
    }

    #[test]
    fn intentions_need_the_speaker() {
        let find = |t: &str| intention(t);
        assert_eq!(
            find("I'm going to call the clinic, then rest"),
            Some(("going to call the clinic".into(), Firmness::Plan))
        );
        assert_eq!(
            find("I'll see a doctor next week because it hurts"),
            Some(("will see a doctor next week".into(), Firmness::Plan))
        );
        assert_eq!(
            find("We really want to move to Bern"),
            Some(("want to move to Bern".into(), Firmness::Wish))
        );
        assert_eq!(find("You are going to be fine"), None);
        assert_eq!(find("I'll tell you later"), None);
        assert_eq!(find("He left."), None);
    }

    #[test]
    fn relation_cues_are_named_once() {
        let words = tokens("We broke up after the divorce talk and had an argument, I did not cheat");
        assert_eq!(relation_cues(std::iter::once(words.as_slice())), ["separation", "conflict"]);
    }
}
