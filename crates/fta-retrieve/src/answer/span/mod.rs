//! Cutting the answering span out of a sentence: what the question repeats is left out, the rest is kept.

mod cut;
mod essence;

use super::{asked::Asked, candidate::Candidate};
use crate::{
    rewrite::{entities, is_name_of, quoted},
    words::{self, Token},
};

use cut::trim;
pub(super) use cut::{owned_by_speaker, shortened, strip_times};
use essence::ADVERBS;
pub(super) use essence::essence;

/// A sentence, word by word, as seen from a question.
#[derive(Debug)]
pub(super) struct Marked<'a> {
    text: &'a str,
    tokens: Vec<Token<'a>>,
    norms: Vec<String>,
    stems: Vec<String>,
    matched: Vec<bool>,
    muted: Vec<bool>,
}

impl<'a> Marked<'a> {
    pub(super) fn new(asked: &Asked<'_>, text: &'a str) -> Self {
        let tokens = words::tokens(text);
        let norms: Vec<String> = tokens.iter().map(Token::norm).collect();
        let stems: Vec<String> = norms.iter().map(|n| words::stem(n)).collect();
        let matched = norms
            .iter()
            .zip(&stems)
            .map(|(norm, stem)| {
                !words::is_stop(norm) && asked.looks_for(stem) || is_asked_speaker(asked, norm)
            })
            .collect();
        let muted = vec![false; tokens.len()];
        Self { text, tokens, norms, stems, matched, muted }
    }

    /// Takes the words of time expressions and openers out of the content.
    fn mute(&mut self, candidate: &Candidate<'_>) {
        for time in &candidate.times {
            for (at, _) in self.text.match_indices(time.text.as_str()).take(2) {
                let end = at + time.text.len();
                for (token, muted) in self.tokens.iter().zip(&mut self.muted) {
                    *muted |= at <= token.start && token.end <= end;
                }
            }
        }
    }

    fn content(&self, i: usize) -> bool {
        !self.muted[i] && !words::is_stop(&self.norms[i]) && !self.matched[i]
    }

    fn n_content(&self, range: (usize, usize)) -> usize {
        (range.0..range.1).filter(|&i| self.content(i)).count()
    }

    /// Text between token `i` and the one after it.
    fn gap(&self, i: usize) -> &'a str {
        let end = self.tokens.get(i + 1).map_or(self.text.len(), |t| t.start);
        &self.text[self.tokens[i].end..end]
    }

    /// Whether any word repeats the question.
    pub(super) fn repeats_anything(&self) -> bool {
        self.matched.contains(&true)
    }

    /// Whether a new clause begins after token `i`.
    fn breaks_after(&self, i: usize) -> bool {
        let gap = self.gap(i);
        if i + 1 >= self.tokens.len()
            || gap.contains([';', ':', '\u{2014}', '\u{2013}', '(', ')', '!', '?'])
            || gap.contains(" - ")
            || gap.contains("--")
            || gap.contains("..")
        {
            return true;
        }
        let next = self.norms[i + 1].as_str();
        let after = self.norms.get(i + 2).map_or("", String::as_str);
        match next {
            "because" | "but" | "although" | "though" | "while" | "whereas" | "which" => true,
            "so" => gap.contains(',') || subject(after),
            "and" | "or" | "then" => subject(after),
            "when" | "since" | "if" | "after" | "before" | "until" => subject(after) || gap.contains(','),
            _ => gap.contains(',') && (subject(next) || matches!(next, "who" | "where")),
        }
    }

    /// End of the phrase that begins at token `from`: one past its last token, `limit` tokens at most.
    pub(super) fn phrase_end(&self, from: usize, limit: usize) -> usize {
        let mut end = from;
        while end < self.tokens.len() {
            end += 1;
            if end - from >= limit || self.breaks_after(end - 1) {
                break;
            }
        }
        end
    }

    /// Start of the clause that holds token `at`.
    fn clause_start(&self, at: usize) -> usize {
        (0..at).rev().find(|&i| self.breaks_after(i)).map_or(0, |i| i + 1)
    }

    /// The text of tokens `range`, half open.
    pub(super) fn slice(&self, range: (usize, usize)) -> &'a str {
        if range.0 >= range.1 || range.1 > self.tokens.len() {
            return "";
        }
        &self.text[self.tokens[range.0].start..self.tokens[range.1 - 1].end]
    }
}

fn subject(word: &str) -> bool {
    words::listed(
        "i we he she it they you i'm we're he's she's it's they're i've we've i'd i'll there \
            that's you're they've we'll",
        word,
    )
}

fn is_asked_speaker(asked: &Asked<'_>, norm: &str) -> bool {
    asked.query.speakers.iter().any(|s| is_name_of(norm, s))
}

/// The shortest span of the sentence that answers a "what" question; `None` if no such span stands out.
pub(super) fn object_span(asked: &Asked<'_>, candidate: &Candidate<'_>) -> Option<String> {
    if wants_title(asked)
        && let Some(title) = title_in(asked, candidate)
    {
        return Some(title);
    }
    let mut marked = Marked::new(asked, candidate.text);
    marked.mute(candidate);
    let range = modified_noun(asked, &marked)
        .or_else(|| before_copula(asked, &marked))
        .or_else(|| before_verb(asked, &marked))
        .or_else(|| after_verb(asked, &marked))?;
    let range = trim(&marked, range);
    let text = strip_times(marked.slice(range), candidate);
    let text = cut::strip_duration(text);
    if !words::tokens(text).iter().any(|t| says_something(&t.norm())) {
        return None;
    }
    let text = owned_by_speaker(text, candidate.speaker);
    (!text.is_empty()).then_some(text)
}

/// Whether a word names something: it is no function word, praise or filler.
fn says_something(word: &str) -> bool {
    !words::is_stop(word)
        && !words::listed(
            "great good awesome amazing nice cool special super sounds looks seems need helped lot everywhere light \
            perfect serious long way like get got stuff thing things feel really together finished",
            word,
        )
}

/// A quoted title, quotation marks included, else a name that is neither a speaker's nor in the question.
pub(super) fn title_in(asked: &Asked<'_>, candidate: &Candidate<'_>) -> Option<String> {
    if let Some((_, title)) = quoted(candidate.text).into_iter().next() {
        return Some(format!("\"{title}\""));
    }
    let known = |name: &String| words::tokens(name).iter().any(|t| asked.words.contains(&t.norm()));
    let people = [candidate.speaker.to_owned()];
    entities(candidate.text, &people, &candidate.times).into_iter().find(|name| {
        !known(name) && !asked.query.speakers.iter().any(|s| is_name_of(name, s)) && name.len() > 2
    })
}

/// Whether the question asks for the name or title of something.
fn wants_title(asked: &Asked<'_>) -> bool {
    asked.has_any(&["name", "names", "named", "called", "title"])
        || asked
            .wanted
            .iter()
            .any(|w| words::listed("book song movi film titl game seri show novel band album poem paint", w))
}

/// "What kind of tea": the wanted noun with the words before it ("green tea").
fn modified_noun(asked: &Asked<'_>, marked: &Marked<'_>) -> Option<(usize, usize)> {
    if !asked.has_any(&["kind", "kinds", "type", "types", "sort", "which", "what"]) {
        return None;
    }
    let noun = asked.wanted.last()?;
    let verb = asked.main_verb();
    (0..marked.tokens.len()).filter(|&i| &marked.stems[i] == noun).find_map(|at| {
        let mut from = at;
        while from > 0
            && at - from < 4
            && !words::is_stop(&marked.norms[from - 1])
            && !marked.breaks_after(from - 1)
            && !marked.gap(from - 1).contains(',')
            && Some(&marked.stems[from - 1]) != verb
            && (!marked.matched[from - 1] || asked.wanted.contains(&marked.stems[from - 1]))
            && !common_verb(&marked.norms[from - 1])
        {
            from -= 1;
        }
        (from < at && marked.n_content((from, at)) > 0).then_some((from, at + 1))
    })
}

/// Verbs that would otherwise be read as modifiers of a following noun.
fn common_verb(word: &str) -> bool {
    word.ends_with("ing") && word.len() > 5
        || words::listed(
            "love like want need made make bought play played read watch watched tried try started \
            start enjoy found saw new great favorite favourite",
            word,
        )
}

/// "Pottery is my favourite hobby": what stands before the copula when the question's words follow it.
fn before_copula(asked: &Asked<'_>, marked: &Marked<'_>) -> Option<(usize, usize)> {
    if asked.main_verb().is_some_and(|v| marked.stems.contains(v)) {
        return None;
    }
    let copula = (1..marked.tokens.len().saturating_sub(1)).find(|&i| {
        matches!(marked.norms[i].as_str(), "is" | "are" | "was" | "were")
            && (i + 1..marked.tokens.len().min(i + 5)).any(|j| marked.matched[j])
    })?;
    let from = marked.clause_start(copula);
    let clean = !(from..copula).any(|i| marked.matched[i]);
    (clean && marked.n_content((from, copula)) > 0).then_some((from, copula))
}

/// "Eagles mesmerize me": what stands before the verb, where the question asks for its subject ("which bird mesmerizes").
fn before_verb(asked: &Asked<'_>, marked: &Marked<'_>) -> Option<(usize, usize)> {
    let verb = asked.main_verb().filter(|_| asked.subject)?;
    let at = marked.stems.iter().position(|stem| stem == verb)?;
    let from = marked.clause_start(at);
    let said = (from..at).any(|i| marked.content(i) && !words::is_auxiliary(&marked.norms[i]));
    let pronoun = marked.norms.get(from).is_some_and(|w| subject(w));
    let light = |i: usize| words::is_auxiliary(&marked.norms[i]) || words::listed(ADVERBS, &marked.norms[i]);
    let end = (from..at).rev().find(|&i| !light(i)).map_or(from, |i| i + 1);
    (said && !pronoun && end > from).then_some((from, end))
}

/// What follows the verb of the question in the sentence, up to the end of its phrase.
fn after_verb(asked: &Asked<'_>, marked: &Marked<'_>) -> Option<(usize, usize)> {
    let verb = asked.main_verb()?;
    (0..marked.tokens.len()).filter(|&i| &marked.stems[i] == verb).find_map(|at| {
        let end = marked.phrase_end(at, 18);
        let range = without_repeated_tail(marked, (at + 1, end));
        (marked.n_content(range) > 0).then_some(range)
    })
}

/// Leaves out what the question says itself at the end of a phrase, with the preposition before it: "a rose bush for my
/// garden".
fn without_repeated_tail(marked: &Marked<'_>, (from, mut end): (usize, usize)) -> (usize, usize) {
    while let Some(repeat) = (from..end).rev().find(|&i| marked.matched[i]) {
        if marked.n_content((repeat + 1, end)) > 0 {
            break;
        }
        // Cut before the preposition that leads to it, when nothing else stands between.
        let lead = (from..repeat).rev().take_while(|&i| !marked.content(i)).last().unwrap_or(repeat);
        if marked.n_content((from, lead)) == 0 {
            break;
        }
        end = lead;
    }
    (from, end)
}
