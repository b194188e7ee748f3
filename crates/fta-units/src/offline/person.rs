//! From first and second person to names: "I lost my job" said by Lena becomes "Lena lost Lena's job".

use std::{ops::Range, sync::LazyLock};

use fta_segment::Turn;
use regex::Regex;

use super::{
    lexicon::{IRREGULAR_PAST, STOPWORDS, Token, tokens},
    turns::is_speaker_name,
};

/// Who speaks and who is spoken to.
#[derive(Debug, Clone)]
pub(crate) struct Voices {
    /// The speaker as a claim names them.
    pub(crate) speaker: String,
    /// The only other speaker, if there is exactly one.
    pub(crate) addressee: Option<String>,
    /// Speaker names of the dialogue as they stand in the turns.
    pub(crate) names: Vec<String>,
}

impl Voices {
    /// The voices of a turn among the speakers `names`.
    pub(crate) fn of(turn: &Turn, names: &[&str]) -> Self {
        let others: Vec<&&str> = names.iter().filter(|n| **n != turn.speaker).collect();
        let addressee = match others.as_slice() {
            [only] => Some(display_name(only)),
            _ => None,
        };
        Self {
            speaker: display_name(&turn.speaker),
            addressee,
            names: names.iter().map(|n| (*n).to_owned()).collect(),
        }
    }
}

/// A speaker as a claim names them: a role word gets an article ("user" becomes "the user").
pub(crate) fn display_name(speaker: &str) -> String {
    let trimmed = speaker.trim();
    if trimmed.is_empty() {
        return "someone".to_owned();
    }
    if is_role_word(trimmed) { format!("the {}", trimmed.to_lowercase()) } else { trimmed.to_owned() }
}

/// Whether a speaker is called by a role and not by a name.
pub(crate) fn is_role_word(speaker: &str) -> bool {
    matches!(
        speaker.to_lowercase().as_str(),
        "user"
            | "assistant"
            | "seeker"
            | "supporter"
            | "client"
            | "counselor"
            | "counsellor"
            | "therapist"
            | "system"
            | "patient"
            | "helper"
            | "agent"
            | "customer"
    )
}

/// The text with its first letter in upper case.
pub(crate) fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}

/// Resolves the persons of one sentence; words in double quotes are left as they are.
pub(crate) fn resolve(text: &str, voices: &Voices) -> String {
    let words = tokens(text);
    let quoted = quoted_ranges(text);
    let mut out = String::with_capacity(text.len() + 32);
    let mut copied = 0;
    let mut agree_until = 0;
    for at in 0..words.len() {
        let token = &words[at];
        if quoted.iter().any(|q| q.contains(&token.start)) {
            continue;
        }
        let replacement = if at < agree_until { agreed(&words, at) } else { None };
        let replacement = replacement
            .or_else(|| inverted(&words, at, voices))
            .or_else(|| pronoun(text, &words, at, voices));
        if let Some(subject_end) = subject_reach(text, &words, at, voices) {
            agree_until = subject_end;
        }
        if let Some(new) = replacement {
            out.push_str(&text[copied..token.start]);
            out.push_str(&new);
            copied = token.end;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// Whether a token is the speaker or addressee as subject of what follows; then up to which token the verb may stand.
fn subject_reach(text: &str, words: &[Token], at: usize, voices: &Voices) -> Option<usize> {
    let lower = words[at].lower.as_str();
    let first = lower == "i";
    let to_be_or_have = words.get(at + 1).is_some_and(|t| {
        matches!(
            t.lower.as_str(),
            "are" | "were" | "have" | "do" | "aren't" | "weren't" | "haven't" | "don't"
        )
    });
    let second = lower == "you"
        && pronoun(text, words, at, voices).is_some()
        && (to_be_or_have || is_subject_you(text, words, at));
    if !(first || second) || (at > 0 && is_auxiliary(&words[at - 1].lower)) {
        return None;
    }
    let mut reach = at + 1;
    while reach < words.len() && is_adverb(&words[reach].lower) {
        reach += 1;
    }
    Some(reach + 1)
}

/// "you" opens a clause: it stands first, after a comma or after a word that opens clauses.
fn is_subject_you(text: &str, words: &[Token], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|b| &words[b]) else { return true };
    if text[before.end..words[at].start].contains([',', ';', ':', '-', '–', '—', '.', '(']) {
        return true;
    }
    matches!(
        before.lower.as_str(),
        "if" | "that"
            | "when"
            | "what"
            | "how"
            | "because"
            | "and"
            | "but"
            | "so"
            | "as"
            | "while"
            | "where"
            | "who"
            | "think"
            | "know"
            | "hope"
            | "say"
            | "sure"
            | "glad"
            | "since"
            | "though"
            | "whenever"
            | "wish"
            | "like"
            | "believe"
            | "or"
            | "everything"
            | "anything"
            | "why"
            | "sounds"
            | "guess"
            | "until"
            | "after"
            | "before"
            | "happy"
            | "sorry"
            | "maybe"
    )
}

/// The verb at `at`, made to agree with a third person; `None` if it stays or is no verb.
fn agreed(words: &[Token], at: usize) -> Option<String> {
    let lower = words[at].lower.as_str();
    let fixed = match lower {
        "am" | "are" => "is",
        "were" => "was",
        "have" => "has",
        "haven't" | "havent" => "hasn't",
        "do" => "does",
        "don't" | "dont" => "doesn't",
        "aren't" => "isn't",
        "weren't" => "wasn't",
        _ => "",
    };
    if !fixed.is_empty() {
        return Some(fixed.to_owned());
    }
    let is_base = lower.len() > 1
        && lower.bytes().all(|b| b.is_ascii_lowercase())
        && !STOPWORDS.contains(lower)
        && !IRREGULAR_PAST.contains(lower)
        && !is_adverb(lower)
        && !lower.ends_with("ing")
        && (!lower.ends_with("ed")
            || matches!(lower, "need" | "feed" | "bleed" | "succeed" | "proceed" | "exceed"))
        && !matches!(
            lower,
            "alone"
                | "myself"
                | "yourself"
                | "too"
                | "guys"
                | "two"
                | "else"
                | "today"
                | "yesterday"
                | "tomorrow"
                | "gotta"
                | "gonna"
                | "wanna"
                | "used"
                | "better"
                | "couldnt"
                | "didnt"
                | "wouldnt"
                | "wasnt"
                | "wont"
        );
    is_base.then(|| third_person(lower))
}

/// The `-s` form of a base verb.
fn third_person(verb: &str) -> String {
    let consonant_y = verb.ends_with('y') && !["ay", "ey", "oy", "uy"].iter().any(|end| verb.ends_with(end));
    if consonant_y {
        format!("{}ies", &verb[..verb.len() - 1])
    } else if verb.ends_with("sh") || verb.ends_with("ch") || verb.ends_with(['s', 'x', 'z', 'o']) {
        format!("{verb}es")
    } else {
        format!("{verb}s")
    }
}

/// "do I" and "are you": the auxiliary before its subject.
fn inverted(words: &[Token], at: usize, voices: &Voices) -> Option<String> {
    let next = words.get(at + 1)?.lower.as_str();
    let applies = next == "i" || (next == "you" && voices.addressee.is_some());
    if !applies {
        return None;
    }
    let new = match words[at].lower.as_str() {
        "am" | "are" => "is",
        "do" => "does",
        "have" => "has",
        "were" if next == "you" => "was",
        "don't" => "doesn't",
        "haven't" => "hasn't",
        "aren't" => "isn't",
        _ => return None,
    };
    Some(new.to_owned())
}

/// The name that a pronoun stands for, with the verb that is glued to it.
fn pronoun(text: &str, words: &[Token], at: usize, voices: &Voices) -> Option<String> {
    let token = &words[at];
    let next = words.get(at + 1).map_or("", |t| t.lower.as_str());
    let previous = at.checked_sub(1).map_or("", |b| words[b].lower.as_str());
    let me = &voices.speaker;
    let mine = || format!("{me}'s");
    let first = match token.lower.as_str() {
        "i" | "me" => Some(me.clone()),
        // "Oh my god" is nobody's god.
        "my" if !matches!(next, "god" | "goodness" | "gosh" | "lord") => Some(mine()),
        "mine" => Some(mine()),
        "myself" => Some("themselves".to_owned()),
        "i'm" | "im" => Some(format!("{me} is")),
        "i've" | "ive" => Some(format!("{me} has")),
        "i'll" => Some(format!("{me} will")),
        "i'd"
            if matches!(
                next,
                "like" | "love" | "be" | "say" | "rather" | "prefer" | "want" | "have" | "hate" | "never"
            ) =>
        {
            Some(format!("{me} would"))
        }
        "i'd" if next == "been" || next == "better" || next.ends_with("ed") => Some(format!("{me} had")),
        "i'd" => Some(format!("{me} would")),
        _ => None,
    };
    if first.is_some() {
        return first.map(|new| at_start(text, token, new));
    }
    let you = voices.addressee.as_ref()?;
    // "thank you", "you know" and "you two" name nobody in particular.
    if matches!(previous, "thank" | "thanks" | "see" | "miss")
        || matches!(next, "guys" | "all" | "both" | "two" | "know" | "folks")
    {
        return None;
    }
    let second = match token.lower.as_str() {
        "you" => you.clone(),
        "your" | "yours" => format!("{you}'s"),
        "yourself" => "themselves".to_owned(),
        "you're" => format!("{you} is"),
        "you've" => format!("{you} has"),
        "you'll" => format!("{you} will"),
        "you'd" => format!("{you} would"),
        _ => return None,
    };
    Some(at_start(text, token, second))
}

/// A name at the beginning of a sentence has a capital ("The user").
fn at_start(text: &str, token: &Token, new: String) -> String {
    if text[..token.start].chars().any(char::is_alphanumeric) { new } else { capitalised(&new) }
}

fn is_auxiliary(lower: &str) -> bool {
    matches!(
        lower,
        "do" | "does"
            | "did"
            | "should"
            | "would"
            | "could"
            | "can"
            | "will"
            | "may"
            | "might"
            | "must"
            | "am"
            | "was"
            | "are"
            | "were"
            | "have"
            | "had"
            | "don't"
            | "didn't"
            | "can't"
            | "couldn't"
            | "shouldn't"
            | "won't"
            | "aren't"
            | "haven't"
    )
}

fn is_adverb(lower: &str) -> bool {
    (lower.len() > 4
        && lower.ends_with("ly")
        && !matches!(lower, "reply" | "apply" | "supply" | "comply" | "multiply" | "rely"))
        || matches!(
            lower,
            "also"
                | "just"
                | "always"
                | "never"
                | "still"
                | "only"
                | "often"
                | "sometimes"
                | "even"
                | "already"
                | "kinda"
                | "now"
                | "then"
                | "honestly"
                | "ever"
                | "almost"
                | "rarely"
                | "once"
                | "both"
                | "sure"
                | "currently"
                | "not"
        )
}

/// Bytes inside double quotes; an unpaired mark quotes nothing.
fn quoted_ranges(text: &str) -> Vec<Range<usize>> {
    let marks: Vec<usize> =
        text.char_indices().filter(|(_, c)| matches!(c, '"' | '“' | '”')).map(|(at, _)| at).collect();
    marks.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}

static LEAD_IN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?ix) ^ (?:
            (?:(?:and|but|so|anyway|i)[,]?\ )? (?:also\ |just\ )* want(?:ed)?\ to\ (?:let\ you\ know|tell\ you|share\ with\ you) (?:\ that)? [,:]? \s
            | (?:oh,?\ )? (?:by\ the\ way|btw) [,:]? \s
            | on\ (?:a|another) (?:\ different)? \ note [,:]? \s
            | (?:and\ )? as\ for\ me [,:]? \s
            | (?:i\ know|i\ understand|i\ see|i\ mean|you\ know|guess\ what|to\ be\ honest|tbh) , \s
        )",
    )
    .expect("the pattern is well formed")
});

/// The sentence without what leads up to its matter: interjections, vocatives, "just wanted to let you know that".
pub(crate) fn without_lead_in<'t>(text: &'t str, voices: &Voices) -> &'t str {
    let mut rest = without_interjections(text, voices);
    while let Some(found) = LEAD_IN.find(rest) {
        let after = &rest[found.end()..];
        // "I wanted to tell you about the flat" needs its verb.
        let first = after.split_whitespace().next().unwrap_or("").to_lowercase();
        if after.len() < 4 || matches!(first.as_str(), "about" | "how" | "something" | "this" | "of") {
            break;
        }
        rest = without_interjections(after, voices);
    }
    rest
}

/// The sentence without leading interjections and vocatives, and without a vocative at its end.
fn without_interjections<'t>(text: &'t str, voices: &Voices) -> &'t str {
    let names: Vec<&str> = voices.names.iter().map(String::as_str).collect();
    let words = tokens(text);
    let mut begin = 0;
    for (at, token) in words.iter().enumerate() {
        let Some(next) = words.get(at + 1) else { break };
        let gap = &text[token.end..next.start];
        let pause = gap.contains([',', '!', '-', '–', '—', '.', '…', ':']);
        let interjection = is_interjection(&token.lower)
            || (pause && matches!(token.lower.as_str(), "so" | "well" | "anyway" | "honestly"));
        let vocative = is_speaker_name(&text[token.start..token.end], &names);
        let thanks = matches!(token.lower.as_str(), "thanks" | "thank")
            && pause
            && !matches!(next.lower.as_str(), "for" | "to" | "you");
        if !(interjection && !vocative || thanks || vocative && pause) {
            break;
        }
        begin = next.start;
    }
    // "…, Mel!" at the end calls the listener.
    let rest = &text[begin..];
    let mut end = text.len();
    if let [.., before, last] = words.as_slice()
        && before.start >= begin
        && is_speaker_name(&text[last.start..last.end], &names)
        && text[before.end..last.start].trim() == ","
        && !last.lower.ends_with("'s")
    {
        end = before.end;
    }
    if end < text.len() { &text[begin..end] } else { rest }
}

fn is_interjection(lower: &str) -> bool {
    matches!(
        lower,
        "hey"
            | "hi"
            | "hello"
            | "hiya"
            | "wow"
            | "whoa"
            | "oh"
            | "ooh"
            | "ah"
            | "aw"
            | "aww"
            | "awww"
            | "haha"
            | "hahaha"
            | "lol"
            | "ok"
            | "okay"
            | "hmm"
            | "hm"
            | "um"
            | "uh"
            | "yeah"
            | "yep"
            | "yup"
            | "yay"
            | "ugh"
            | "omg"
            | "alright"
            | "gosh"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voices() -> Voices {
        Voices {
            speaker: "Lena".into(),
            addressee: Some("Tom".into()),
            names: vec!["Lena".into(), "Tom".into()],
        }
    }

    fn check(text: &str, expect: &str) {
        assert_eq!(resolve(without_lead_in(text, &voices()), &voices()), expect);
    }

    #[test]
    fn first_person_becomes_the_speaker() {
        check("I am tired and I have lost my keys.", "Lena is tired and Lena has lost Lena's keys.");
        check("I'm sure my boss hates me", "Lena is sure Lena's boss hates Lena");
        check("I really miss him, but I don't cry.", "Lena really misses him, but Lena doesn't cry.");
        check("I went home and I try to sleep", "Lena went home and Lena tries to sleep");
        check("I can't go. What should I do", "Lena can't go. What should Lena do");
        check("I’ve not slept since 2019", "Lena has not slept since 2019");
        check("He said \"I love you\" to me.", "He said \"I love you\" to Lena.");
    }

    #[test]
    fn second_person_becomes_the_only_listener() {
        check("You should call your sister", "Tom should call Tom's sister");
        check("I think you are brave", "Lena thinks Tom is brave");
        check("It is a lot considering you are ill", "It is a lot considering Tom is ill");
        check("Thanks, you have helped", "Thanks, you have helped");
        check("Thank you for that, I told you guys", "Thank you for that, Lena told you guys");
        let alone = Voices { addressee: None, ..voices() };
        assert_eq!(resolve("You are brave", &alone), "You are brave");
    }

    #[test]
    fn interjections_and_vocatives_go() {
        check("Hey Tom! Wow, I moved out.", "Lena moved out.");
        check("Thanks, Tom! The walk helped, Tom!", "The walk helped");
        check("Thanks for the soup, it helped.", "Thanks for the soup, it helped.");
        check("Oh, by the way, just wanted to let you know that I quit.", "Lena quit.");
        check("I wanted to tell you about my flat.", "Lena wanted to tell Tom about Lena's flat.");
        check("On a different note, I found work.", "Lena found work.");
        check("I know, my rent is due", "Lena's rent is due");
        check("No, I did not.", "No, Lena did not.");
    }

    #[test]
    fn roles_get_an_article() {
        let user = Voices {
            speaker: display_name("user"),
            addressee: Some(display_name("assistant")),
            names: vec![],
        };
        assert_eq!(
            resolve("I asked you about my car", &user),
            "The user asked the assistant about the user's car"
        );
    }
}
