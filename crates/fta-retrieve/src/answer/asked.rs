//! What a question asks, as far as its words tell: the words to look for, the thing wanted, whom it is about.

use std::collections::BTreeSet;

use super::candidate::Candidate;
use crate::{
    query::{AnswerType, Query},
    rewrite::is_name_of,
    words,
};

/// A question, read for answering.
#[derive(Debug, Clone)]
pub(super) struct Asked<'a> {
    /// The query.
    pub(super) query: &'a Query,
    /// Kind of answer wanted.
    pub(super) kind: AnswerType,
    /// Lower-case words of the question in order.
    pub(super) words: Vec<String>,
    /// Distinct stems to look for in the evidence, in order: no speakers, no words that only ask.
    pub(super) stems: Vec<String>,
    /// Stems of the thing asked for ("what activities", "how many dogs"): the answer may be one of them without naming it.
    pub(super) wanted: Vec<String>,
    verb: Option<String>,
    /// Whether the thing asked for is the subject of that verb ("which bird mesmerizes").
    pub(super) subject: bool,
    /// Whether the question asks how things were before they changed.
    pub(super) past: bool,
    /// Whether the question asks about something done, by its auxiliary ("did", "was").
    pub(super) done: bool,
    /// Whether the question says that it is about the present ("now").
    pub(super) now: bool,
    /// Whether the question is put in the present tense.
    pub(super) present: bool,
    /// Whether the question is negated.
    pub(super) negated: bool,
}

impl<'a> Asked<'a> {
    pub(super) fn new(query: &'a Query) -> Self {
        let tokens = words::tokens(&query.question);
        let in_time =
            |word: &str| query.times.iter().any(|t| words::tokens(&t.text).iter().any(|w| w.text == word));
        let mut stems: Vec<String> = Vec::new();
        for (i, token) in tokens.iter().enumerate() {
            let norm = token.norm();
            // "At first" asks about a time and not for a first one.
            if norm == "first" && i.checked_sub(1).is_some_and(|b| tokens[b].norm() == "at") {
                continue;
            }
            let speaker = query.speakers.iter().any(|s| is_name_of(&norm, s));
            if speaker || words::is_stop(&norm) || only_asks(&norm) || in_time(token.text) {
                continue;
            }
            let stem = words::stem(&norm);
            if !stems.contains(&stem) {
                stems.push(stem);
            }
        }
        let words: Vec<String> = tokens.iter().map(words::Token::norm).collect();
        Self {
            query,
            kind: query.answer,
            wanted: wanted_stems(&words, &query.speakers),
            verb: verb_stem(&words, &query.speakers),
            subject: !words.iter().any(|w| words::is_auxiliary(w)),
            past: asks_past(&words),
            done: words
                .iter()
                .find(|w| words::is_auxiliary(w))
                .is_some_and(|w| words::listed("did was were had", w)),
            now: asks_now(&words),
            present: in_present(&words) && !asks_past(&words),
            negated: words.iter().any(|w| words::is_negation(w)),
            words,
            stems,
        }
    }

    /// Whether the question has this word, in lower case.
    pub(super) fn has(&self, word: &str) -> bool {
        self.words.iter().any(|w| w == word)
    }

    /// Whether the question has one of these words.
    pub(super) fn has_any(&self, words: &[&str]) -> bool {
        words.iter().any(|w| self.has(w))
    }

    /// Stem of the verb whose object or complement is asked for ("buy" of "what did Nora buy").
    pub(super) fn main_verb(&self) -> Option<&String> {
        self.verb.as_ref()
    }

    /// Whether the question asks what something or somebody is called.
    pub(super) fn wants_name(&self) -> bool {
        self.has_any(&["name", "names", "named", "called"])
    }

    /// Whether the question asks for somebody's occupation.
    pub(super) fn wants_occupation(&self) -> bool {
        self.has("do") && (self.has("living") || self.words.ends_with(&["for".to_owned(), "work".to_owned()]))
            || self.kind == AnswerType::What
                && self.has_any(&["profession", "occupation", "job", "career"])
                && self.words.get(1).is_some_and(|w| matches!(w.as_str(), "is" | "was"))
    }

    /// Whether the question looks for a word with this stem.
    pub(super) fn looks_for(&self, stem: &str) -> bool {
        self.stems.iter().any(|s| s == stem)
    }
}

impl Asked<'_> {
    /// Share of what the question names that no candidate speaks of, in `[0, 1]`: of its names (but the speakers'),
    /// else of its things, the verb and the kind of thing asked for left out.
    pub(super) fn unknown<'c, 't: 'c>(&self, candidates: impl Iterator<Item = &'c Candidate<'t>>) -> f32 {
        let known: BTreeSet<String> = candidates
            .flat_map(|c| words::content_stems(c.text).into_iter().chain(words::content_stems(&c.context)))
            .collect();
        let share = |stems: &[&String]| {
            let unknown = stems.iter().filter(|s| !known.iter().any(|k| words::are_related(s, k))).count();
            if stems.is_empty() { 0.0 } else { unknown as f32 / stems.len() as f32 }
        };
        let names: Vec<String> = self.query.entities.iter().flat_map(|n| words::content_stems(n)).collect();
        let things: Vec<&String> = self
            .stems
            .iter()
            .filter(|s| Some(*s) != self.main_verb() && !self.wanted.contains(s) && !names.contains(s))
            .collect();
        // Nobody says "for a living" of what they live on.
        let things = if self.wants_occupation() { 0.0 } else { share(&things) };
        share(&names.iter().collect::<Vec<_>>()).max(0.6 * things)
    }
}

/// Words that ask without naming anything in the evidence.
fn only_asks(word: &str) -> bool {
    words::listed(
        "kind kinds type types sort sorts many much long often old ago remember recall tell \
            mention mentions mentioned according name names year month date day reason thing \
            things something say said recently likely different specific certain one some time \
            times now currently nowadays today new originally previously formerly initially earlier former \
            previous",
        word,
    )
}

/// Stems of the noun phrase after "what", "which" or "how many", up to the auxiliary.
fn wanted_stems(question: &[String], speakers: &[String]) -> Vec<String> {
    let Some(at) = question.iter().position(|w| matches!(w.as_str(), "what" | "which" | "how" | "whose"))
    else {
        return Vec::new();
    };
    let rest = &question[at + 1..];
    // "What is/are the <noun>": the noun follows the copula.
    let skip = usize::from(
        matches!(rest.first().map(String::as_str), Some("is" | "are" | "was" | "were"))
            && !rest.get(1).is_some_and(|w| speakers.iter().any(|s| is_name_of(w, s))),
    );
    rest[skip..]
        .iter()
        .take(7)
        .take_while(|w| {
            !words::is_auxiliary(w) && !matches!(w.as_str(), "that" | "who" | "for" | "in" | "about" | "with")
        })
        .filter(|w| !words::is_stop(w) && !only_asks(w))
        .filter(|w| !speakers.iter().any(|s| is_name_of(w, s)))
        .map(|w| words::stem(w))
        // "Which birds sing": without an auxiliary what follows the noun is its verb.
        .take(if question.iter().any(|w| words::is_auxiliary(w)) { 7 } else { 1 })
        .collect()
}

/// The first content word after the auxiliary and the subject, or after the question word where it is the subject.
fn verb_stem(question: &[String], speakers: &[String]) -> Option<String> {
    let at = question
        .iter()
        .position(|w| matches!(w.as_str(), "what" | "which" | "how" | "who" | "why" | "where" | "when"))?;
    let auxiliary = (at + 1..question.len().min(at + 7)).find(|&i| words::is_auxiliary(&question[i]));
    let from = auxiliary.map_or(at + 1, |i| i + 1);
    let copula = auxiliary.is_some_and(|i| matches!(question[i].as_str(), "is" | "are" | "was" | "were"));
    // "What did Nora do to sleep better" asks for the deed: no verb of the question stands before it.
    let deed = |w: &String| matches!(w.as_str(), "do" | "doing" | "done");
    if question.get(at).is_some_and(|w| w == "what") && question[from..].iter().take(3).any(deed) {
        return None;
    }
    // "Which birds sing": without an auxiliary the noun asked for comes first.
    let noun_first = usize::from(auxiliary.is_none() && matches!(question[at].as_str(), "what" | "which"));
    question[from..]
        .iter()
        .filter(|w| {
            let skipped = words::is_stop(w) || only_asks(w) || speakers.iter().any(|s| is_name_of(w, s));
            // After a copula only a participle is a verb ("is Nora planning").
            let verbal = !copula || w.ends_with("ing") || w.ends_with("ed");
            !skipped && verbal
        })
        .nth(noun_first)
        .map(|w| words::stem(w))
}

fn asks_now(words: &[String]) -> bool {
    let pair = |a: &str, b: &str| words.windows(2).any(|w| w[0] == a && w[1] == b);
    words.iter().any(|w| words::listed("now currently nowadays today anymore still", w))
        || pair("these", "days")
        || pair("the", "moment")
}

/// Whether the first auxiliary is in the present tense.
fn in_present(words: &[String]) -> bool {
    words
        .iter()
        .find(|w| words::is_auxiliary(w))
        .is_some_and(|w| words::listed("is are am do does has have can will", w))
}

fn asks_past(words: &[String]) -> bool {
    let has = |w: &str| words.iter().any(|x| x == w);
    let pair = |a: &str, b: &str| words.windows(2).any(|w| w[0] == a && w[1] == b);
    pair("used", "to")
        || pair("use", "to")
        || pair("at", "first")
        || pair("as", "of")
        || pair("back", "then")
        || has("before")
        || has("originally")
        || has("previously")
        || has("formerly")
        || has("initially")
        || has("earlier")
        || has("old") && has("job")
        || has("former")
        || has("previous")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query { question: text.to_owned(), speakers: vec!["Nora".to_owned()], ..Default::default() }
    }

    #[test]
    fn stems_leave_out_speakers_and_asking_words() {
        let query = query("What kind of instruments did Nora buy?");
        let asked = Asked::new(&query);
        assert_eq!(asked.stems, ["instrument", "buy"]);
        assert_eq!(asked.wanted, ["instrument"]);
    }

    #[test]
    fn subject_and_verb_are_told_apart() {
        for (text, verb, wanted, subject) in [
            ("Which birds mesmerize Nora?", Some("mesmer"), vec!["bird"], true),
            ("Which birds does Nora feed?", Some("feed"), vec!["bird"], false),
            ("What did Nora do to sleep better?", None, vec![], false),
        ] {
            let query = query(text);
            let asked = Asked::new(&query);
            assert_eq!(asked.main_verb().map(String::as_str), verb, "{text}");
            assert_eq!(asked.wanted, wanted, "{text}");
            assert_eq!(asked.subject, subject, "{text}");
        }
    }

    #[test]
    fn past_is_seen() {
        for (text, past) in [
            ("Where did Nora use to live?", true),
            ("Where Nora used to live?", true),
            ("What was Nora's previous job?", true),
            ("Where does Nora live?", false),
        ] {
            assert_eq!(Asked::new(&query(text)).past, past, "{text}");
        }
    }
}
