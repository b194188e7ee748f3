//! Tense of the words around an expression: does the clause speak of the past or of the future?
//!
//! Not a parser: the nearest word that shows tense decides. Sentence ends stop the search, commas and conjunctions
//! count as extra distance.
#![expect(clippy::match_same_arms, reason = "one arm per phrase reads better than one per outcome")]

use super::calendar::Direction;
use super::tokens::{Kind, Token};

/// How far the search goes, in words.
const REACH: usize = 20;

/// Direction of the clause around tokens `start..end`.
pub(super) fn direction(tokens: &[Token], start: usize, end: usize) -> Option<Direction> {
    let before = nearest(tokens, (start.saturating_sub(REACH)..start).rev());
    let after = nearest(tokens, end..(end + REACH).min(tokens.len()));
    match (before, after) {
        (Some((left, direction)), Some((right, other))) => {
            Some(if left <= right { direction } else { other })
        }
        (found, other) => found.or(other).map(|(_, direction)| direction),
    }
}

fn nearest(tokens: &[Token], places: impl Iterator<Item = usize>) -> Option<(usize, Direction)> {
    let mut distance = 0;
    for place in places {
        match tokens[place].lower.as_str() {
            "." | "!" | "?" | ";" | "\n" | "…" => return None,
            // "..., and I want": another clause, which speaks for itself.
            "," | "and" | "but" | "so" | "because" | "which" if begins_clause(tokens, place + 1) => {
                distance += 7;
            }
            "," | ":" | "-" | "—" | "(" | ")" => distance += 3,
            "and" | "but" | "so" | "because" => distance += 2,
            _ => distance += 1,
        }
        if let Some(direction) = tense(tokens, place) {
            return Some((distance, direction));
        }
    }
    None
}

/// Whether a progressive tells of an arrangement ("meeting", "actually flying"), not of a state or pastime.
fn is_arranged(tokens: &[Token], at: usize) -> bool {
    let word = |at: usize| tokens.get(at).map_or("", |token| token.lower.as_str());
    let is_adverb =
        word(at).ends_with("ly") || matches!(word(at), "just" | "also" | "still" | "not" | "all" | "both");
    let verb = word(if is_adverb { at + 1 } else { at });
    verb.ends_with("ing")
        && verb.len() > 4
        && !matches!(
            verb,
            "loving"
                | "enjoying"
                | "feeling"
                | "liking"
                | "wondering"
                | "doing"
                | "living"
                | "working"
                | "using"
                | "learning"
                | "being"
                | "amazing"
                | "interesting"
                | "exciting"
                | "boring"
                | "tiring"
                | "something"
                | "nothing"
                | "everything"
                | "anything"
                | "reading"
                | "dealing"
                | "struggling"
                | "hearing"
        )
}

fn begins_clause(tokens: &[Token], at: usize) -> bool {
    tokens.get(at).is_some_and(|token| {
        let subject = token.lower.split('\'').next().unwrap_or_default();
        matches!(subject, "i" | "we" | "he" | "she" | "they" | "it" | "you" | "that" | "there")
    })
}

fn tense(tokens: &[Token], at: usize) -> Option<Direction> {
    if tokens[at].kind != Kind::Word {
        return None;
    }
    let word = tokens[at].lower.as_str();
    let next = tokens.get(at + 1).map_or("", |token| token.lower.as_str());
    let future = match word {
        "will" | "won't" | "gonna" | "wanna" | "shall" | "plan" | "plans" | "planning" | "upcoming"
        | "hope" | "hopes" | "hoping" | "can" | "could" | "would" | "due" | "starts" | "begins" | "ends"
        | "expires" | "opens" | "closes" | "arrives" | "might" | "let's" | "should" | "supposed"
        | "scheduled" | "must" => true,
        "have" | "has" if matches!(next, "a" | "an" | "my" | "our" | "another") => true,
        "going" | "want" | "wants" | "need" | "needs" | "have" | "has" | "about" | "excited" | "ready"
        | "try" | "able" => next == "to",
        // An appointment told in the present: "it is on Friday", "we leave on Monday", "I have a call".
        "is" | "are" | "it's" | "that's" if matches!(next, "on" | "at" | "in") => true,
        "leave" | "leaves" | "fly" | "flies" | "arrive" => true,
        "looking" | "look" => next == "forward",
        "can't" | "cannot" => next == "wait",
        "coming" => next == "up",
        "am" | "are" | "is" | "i'm" => next == "off" || is_arranged(tokens, at + 1),
        _ => word.ends_with("'ll") || (word.ends_with("'re") && is_arranged(tokens, at + 1)),
    };
    if future {
        return Some(Direction::Future);
    }
    // "I was wondering if you could" is a polite present.
    let is_polite = matches!(word, "was" | "were") && matches!(next, "wondering" | "hoping");
    if shows_past(word) && !is_polite && !is_governed(tokens, at) {
        return Some(Direction::Past);
    }
    None
}

/// Whether the participle at `at` hangs on a verb that is not past ("will get married", "to be done").
fn is_governed(tokens: &[Token], at: usize) -> bool {
    (1..=2).any(|back| {
        let word = at.checked_sub(back).map_or("", |place| tokens[place].lower.as_str());
        matches!(
            word,
            "be" | "being" | "get" | "gets" | "getting" | "will" | "can" | "should" | "might" | "must" | "am"
        ) || word.ends_with("'ll")
    })
}

/// Whether the sentence around tokens `start..end` tells a habit ("we usually go in the summer").
pub(super) fn is_habit(tokens: &[Token], start: usize, end: usize) -> bool {
    let tells = |place: usize| {
        matches!(
            tokens[place].lower.as_str(),
            "usually" | "always" | "typically" | "often" | "generally" | "normally"
        )
    };
    let goes_on =
        |place: &usize| !matches!(tokens[*place].lower.as_str(), "." | "!" | "?" | ";" | "\n" | "…");
    (start.saturating_sub(REACH)..start).rev().take_while(goes_on).any(tells)
        || (end..(end + REACH).min(tokens.len())).take_while(goes_on).any(tells)
}

/// Whether the clause before `at` is negated, or tells of a first time.
pub(super) fn is_negated(tokens: &[Token], at: usize) -> bool {
    (at.saturating_sub(REACH)..at)
        .rev()
        .map(|place| tokens[place].lower.as_str())
        .take_while(|word| !matches!(*word, "." | "!" | "?" | ";" | "\n" | "…"))
        .any(|word| word.ends_with("n't") || matches!(word, "not" | "never" | "first" | "nothing" | "nobody"))
}

/// Whether the clause before `at` is in the present perfect ("have known", "she's been", "haven't seen").
pub(super) fn is_perfect(tokens: &[Token], at: usize) -> bool {
    let mut found = false;
    for place in (at.saturating_sub(REACH)..at).rev() {
        let word = tokens[place].lower.as_str();
        match word {
            "." | "!" | "?" | ";" | "\n" | "…" => break,
            // "I've had it for years" is perfect, "I had it for years" is not.
            "had" if is_have(tokens, place) => return true,
            "had" | "hadn't" | "will" | "would" => return false,
            "was" | "were" => return found,
            "been" => found = true,
            "have" | "has" | "haven't" | "hasn't" => {
                return tokens.get(place + 1).is_none_or(|token| token.lower != "to");
            }
            _ if word.ends_with("'ve") => return true,
            _ if word.ends_with("'d") && found => return false,
            _ => {}
        }
    }
    found
}

fn is_have(tokens: &[Token], at: usize) -> bool {
    (1..=2).any(|back| {
        let word = at.checked_sub(back).map_or("", |place| tokens[place].lower.as_str());
        matches!(word, "have" | "has" | "haven't" | "hasn't") || word.ends_with("'ve")
    })
}

fn shows_past(word: &str) -> bool {
    if matches!(
        word,
        "recently"
            | "was"
            | "wasn't"
            | "were"
            | "weren't"
            | "did"
            | "didn't"
            | "had"
            | "hadn't"
            | "'ve"
            | "been"
    ) || word.ends_with("'ve")
        || is_irregular_past(word)
    {
        return true;
    }
    word.len() > 4
        && word.ends_with("ed")
        && !word.ends_with("eed")
        && !matches!(
            word,
            "excited"
                | "interested"
                | "tired"
                | "sacred"
                | "wicked"
                | "hundred"
                | "naked"
                | "supposed"
                | "scheduled"
        )
}

fn is_irregular_past(word: &str) -> bool {
    matches!(
        word,
        "went"
            | "got"
            | "saw"
            | "took"
            | "made"
            | "met"
            | "came"
            | "bought"
            | "gave"
            | "found"
            | "told"
            | "said"
            | "thought"
            | "felt"
            | "left"
            | "began"
            | "ran"
            | "won"
            | "lost"
            | "brought"
            | "taught"
            | "caught"
            | "spoke"
            | "wrote"
            | "drove"
            | "flew"
            | "broke"
            | "chose"
            | "fell"
            | "grew"
            | "knew"
            | "ate"
            | "drank"
            | "sang"
            | "swam"
            | "slept"
            | "spent"
            | "sent"
            | "built"
            | "kept"
            | "held"
            | "heard"
            | "stood"
            | "understood"
            | "became"
            | "forgot"
            | "paid"
            | "sold"
            | "threw"
            | "woke"
            | "wore"
            | "rode"
            | "hung"
            | "fought"
            | "sat"
            | "led"
            | "gone"
            | "done"
            | "seen"
            | "taken"
            | "given"
            | "hit"
            | "hurt"
            | "ended"
            | "quit"
            | "stuck"
            | "dealt"
            | "dug"
            | "fed"
            | "lent"
            | "meant"
            | "struck"
            | "stole"
            | "drew"
            | "shot"
    )
}
