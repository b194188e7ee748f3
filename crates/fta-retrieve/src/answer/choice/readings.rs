//! Readings: what each leading sentence may answer, and what all of them together.

use std::collections::BTreeSet;

use super::features::{Feature, Features, N_FEATURES};
use crate::{
    answer::{
        kinds::{self, Extracted, Input},
        score::Scored,
        span,
    },
    words::{self, Token},
};

/// Sentences that are read.
const SENTENCES: usize = 10;

/// An answer that may be given.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    pub(crate) answer: Extracted,
    pub(crate) features: [f32; N_FEATURES],
}

/// All readings: first what the rules of the kind of answer find in all sentences together, then those of each leading
/// sentence; no text twice from one sentence.
pub(crate) fn readings(input: Input<'_, '_>) -> Vec<Reading> {
    let together = kinds::extract(input);
    let leading: Vec<&Scored<'_>> = input.scored.iter().take(SENTENCES).collect();
    let known = Known {
        stems: leading.iter().map(|s| words::content_stems(s.candidate.text).into_iter().collect()).collect(),
        together: together.as_ref().map(|answer| word_set(&answer.text)).unwrap_or_default(),
    };
    let mut out = Vec::new();
    if let Some(answer) = together {
        let position = answer.used.first().copied().unwrap_or(0);
        let mut features = of_sentence(input, position);
        set_length(&mut features, words::tokens(&answer.text).len());
        features.flag(Feature::Together, true);
        features.set(Feature::Certainty, answer.certainty);
        features.set(Feature::OverlapTogether, 1.0);
        out.push(Reading { answer, features: features.0 });
    }
    for position in 0..leading.len() {
        read_sentence(input, position, &known, &mut out);
    }
    out
}

/// What is known of all leading sentences.
struct Known {
    /// Content stems of each.
    stems: Vec<BTreeSet<String>>,
    /// Words of what the rules find in all of them.
    together: BTreeSet<String>,
}

impl Known {
    /// In how many of the leading sentences a stem stands.
    fn frequency(&self, stem: &str) -> f32 {
        self.stems.iter().filter(|stems| stems.contains(stem)).count() as f32
    }
}

/// How a sentence is read, with the feature that says so.
fn read_sentence(input: Input<'_, '_>, position: usize, known: &Known, out: &mut Vec<Reading>) {
    let candidate = &input.scored[position].candidate;
    let alone = Input { scored: &input.scored[position..=position], ..input };
    let most = input.config.max_words;
    let span = |text: Option<String>, certainty: f32| {
        text.map(|text| Extracted { text, time: None, certainty, used: vec![position] })
    };
    let by_kind = kinds::extract(alone).map(|answer| Extracted { used: vec![position], ..answer });
    let object = span::object_span(input.asked, candidate).map(|text| span::shortened(&text, most));
    let variants = [
        (by_kind, Feature::ByKind),
        (span(object, 0.5), Feature::Object),
        (span(Some(span::essence(input.asked, candidate, most)), 0.4), Feature::Clause),
        (span(span::title_in(input.asked, candidate), 0.6), Feature::Title),
        (span(kinds::place::place_in(input.asked, candidate), 0.6), Feature::Place),
    ];
    let of_sentence = of_sentence(input, position);
    let mut seen: Vec<String> = Vec::new();
    for (answer, variant) in variants {
        let Some(answer) = answer.filter(|a| !a.text.trim().is_empty() && !seen.contains(&a.text)) else {
            continue;
        };
        seen.push(answer.text.clone());
        let mut features = of_sentence;
        features.flag(variant, true);
        features.set(Feature::Certainty, answer.certainty);
        set_text(&mut features, input, known, &answer.text);
        out.push(Reading { answer, features: features.0 });
    }
}

/// Features of a sentence by its position.
fn of_sentence(input: Input<'_, '_>, position: usize) -> Features {
    let mut features = Features::new();
    let Some(scored) = input.scored.get(position) else { return features };
    let best = input.scored.first().map_or(0.0, |s| s.score);
    features.set(Feature::Gap, (scored.score - best).max(-2.0));
    features.flag(Feature::First, position == 0);
    features.flag(Feature::Second, position == 1);
    features.set(Feature::Covered, scored.covered);
    features.set(Feature::Similarity, scored.similarity.unwrap_or(0.0));
    features.set(Feature::Speaker, scored.speaker);
    features.set(Feature::UnitRank, 1.0 / (1.0 + scored.candidate.rank as f32 / 3.0));
    features.flag(Feature::Reply, scored.reply);
    features.flag(Feature::Question, scored.candidate.is_question());
    features.flag(Feature::Quoted, scored.candidate.quoted);
    features.flag(Feature::AnswersQuestion, scored.candidate.after_question);
    features.flag(Feature::OpensTurn, scored.candidate.start == 0);
    let marked = span::Marked::new(input.asked, scored.candidate.text);
    features.flag(Feature::NothingRepeated, !marked.repeats_anything());
    features
}

fn set_length(features: &mut Features, n: usize) {
    let bucket = match n {
        0 | 1 => Feature::Words1,
        2 => Feature::Words2,
        3 => Feature::Words3,
        4 | 5 => Feature::Words4,
        6..=8 => Feature::Words6,
        9..=12 => Feature::Words9,
        _ => Feature::Words13,
    };
    features.flag(bucket, true);
}

/// Features of an answer's words.
fn set_text(features: &mut Features, input: Input<'_, '_>, known: &Known, text: &str) {
    let tokens = words::tokens(text);
    set_length(features, tokens.len());
    let norms: Vec<String> = tokens.iter().map(Token::norm).collect();
    let stems: Vec<String> = norms.iter().map(|norm| words::stem(norm)).collect();
    let any = |test: &dyn Fn(&str) -> bool| norms.iter().any(|norm| test(norm));
    let share = |n: usize| n as f32 / norms.len().max(1) as f32;
    features.set(Feature::StopShare, share(norms.iter().filter(|w| words::is_stop(w)).count()));
    features.set(Feature::Repeats, share(stems.iter().filter(|s| input.asked.looks_for(s)).count()));
    features.flag(Feature::Name, tokens.iter().skip(1).any(|t| t.capitalised() && t.text != "I"));
    features.flag(Feature::Number, any(&words::is_number));
    features.flag(Feature::FirstPerson, any(&words::is_first_person_any));
    features.flag(Feature::SecondPerson, any(&|w| matches!(w, "you" | "your")));
    features.flag(Feature::Negation, any(&words::is_negation));
    features.flag(Feature::Filler, any(&|w| words::listed(FILLER, w)));
    if let Some(noun) = input.asked.wanted.last() {
        features.flag(Feature::KindOfWanted, stems.iter().any(|s| words::is_kind_of(noun, s)));
        features.flag(Feature::Wanted, stems.contains(noun));
    }
    let content = norms.iter().zip(&stems).filter(|(norm, _)| !words::is_stop(norm));
    let found: Vec<f32> = content.map(|(_, stem)| known.frequency(stem)).collect();
    let mean =
        |value: &dyn Fn(f32) -> f32| found.iter().map(|&n| value(n)).sum::<f32>() / found.len().max(1) as f32;
    features.set(Feature::Rarity, mean(&|n| 1.0 / n.max(1.0)));
    features.set(Feature::Votes, mean(&|n| (n - 1.0).clamp(0.0, 4.0) / 4.0));
    let own = word_set(text);
    if !known.together.is_empty() && !own.is_empty() {
        let shared = own.intersection(&known.together).count() as f32;
        let overlap = 2.0 * shared / (own.len() + known.together.len()) as f32;
        features.set(Feature::OverlapTogether, overlap);
    }
}

fn word_set(text: &str) -> BTreeSet<String> {
    words::tokens(text).iter().map(|token| words::lower(token.text)).collect()
}

const FILLER: &str = "great good awesome amazing nice cool special super sounds looks seems everywhere perfect way like stuff \
thing things really wow yeah yes yep hey hi thanks thank sure totally definitely absolutely glad congrats lol haha omg";
