//! LoCoMo's own scores.

use std::collections::BTreeSet;

use super::{
    overlap::{common_count, f1_of_counts},
    porter::porter_stem,
    words::{is_word, split_spaces, trim},
};

/// Category of a LoCoMo question, named as in the data set's own code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LocomoCategory {
    /// 1: several facts.
    MultiHop,
    /// 2: when something was.
    Temporal,
    /// 3: what is likely.
    OpenDomain,
    /// 4: one fact.
    SingleHop,
    /// 5: no answer in the conversation.
    Adversarial,
}

impl LocomoCategory {
    /// The category of a number from 1 to 5.
    pub fn from_number(number: u8) -> Option<Self> {
        let all = [Self::MultiHop, Self::Temporal, Self::OpenDomain, Self::SingleHop, Self::Adversarial];
        all.get(usize::from(number).checked_sub(1)?).copied()
    }
}

/// LoCoMo's answer score, in `[0, 1]`, before rounding.
///
/// `F` is the F1 of the multisets of Porter stems of normalised words ([`locomo_normalise`]); 0 if nothing is common,
/// also for two empty sides. Temporal and single-hop: `F`. Open-domain: `F` against the part of `gold` before its
/// first `;`; the prediction is not cut. Multi-hop: both sides are split at `,`; the mean over gold parts of the best
/// predicted part, so further predicted parts cost nothing and an empty gold part (a trailing comma) scores 0.
/// Adversarial: [`locomo_official_refusal`]; `gold` is not read.
///
/// Quirks: punctuation is deleted, not replaced by a space, so `ice-cream` is `icecream`; `2` is not `two`.
///
/// # Source
/// LoCoMo's evaluation code (data notes, section 2), which rounds each score before averaging:
/// [`round_to_thousandths`].
pub fn locomo_official_f1(category: LocomoCategory, prediction: &str, gold: &str) -> f64 {
    match category {
        LocomoCategory::MultiHop => multi_hop(prediction, gold),
        LocomoCategory::Temporal | LocomoCategory::SingleHop => f1(prediction, gold),
        LocomoCategory::OpenDomain => f1(prediction, trim(gold.split(';').next().unwrap_or_default())),
        LocomoCategory::Adversarial => f64::from(u8::from(locomo_official_refusal(prediction))),
    }
}

/// Whether LoCoMo's code takes the answer for a refusal: it has "no information available" or "not mentioned" in it,
/// in any case of letters. Another wording, as "unknown", is none.
///
/// # Source
/// LoCoMo's evaluation code, category 5 (data notes, section 2).
pub fn locomo_official_refusal(prediction: &str) -> bool {
    let prediction = prediction.to_lowercase();
    ["no information available", "not mentioned"].iter().any(|phrase| prediction.contains(phrase))
}

/// An answer as LoCoMo compares it: lower-case, without ASCII punctuation and the words a, an, the, and; one space
/// between words.
///
/// Curly quotes, long dashes and zero-width spaces stay.
///
/// # Source
/// Data notes, section 2.
pub fn locomo_normalise(text: &str) -> String {
    let lower: String = text.replace(',', "").to_lowercase();
    let kept: String = lower.chars().filter(|c| !c.is_ascii_punctuation()).collect();
    let mut without_articles = String::with_capacity(kept.len());
    let mut rest = kept.as_str();
    while !rest.is_empty() {
        let word = &rest[..rest.find(|c| !is_word(c)).unwrap_or(rest.len())];
        without_articles.push_str(if matches!(word, "a" | "an" | "the" | "and") { " " } else { word });
        rest = &rest[word.len()..];
        let between = &rest[..rest.find(is_word).unwrap_or(rest.len())];
        without_articles.push_str(between);
        rest = &rest[between.len()..];
    }
    split_spaces(&without_articles).collect::<Vec<_>>().join(" ")
}

/// A score with three decimals; ties go to the even digit.
///
/// # Source
/// LoCoMo's driver rounds each question's score so, before it averages (data notes, section 2).
pub fn round_to_thousandths(score: f64) -> f64 {
    format!("{score:.3}").parse().unwrap_or(score)
}

/// Share of evidence elements that were retrieved, in `[0, 1]`, compared as raw strings; 1 without evidence.
///
/// `retrieved`: ids, best first, each `D<session>:<turn>` or several of them with commas between. If the first one
/// begins with `S` they are sessions `S<n>`, and an element counts when the text before its first `:`, without its
/// first letter, is a listed `<n>`.
///
/// Quirks: an element that is listed twice counts twice; `D30:05` is not `D30:5`; of several ids in one element only
/// the first counts, and only for sessions. Nothing retrieved is 0 (the original stops there).
///
/// # Source
/// LoCoMo's evaluation code (data notes, section 2). Its summary adds up the questions with evidence only, but divides
/// by all questions; see [`Metric::LocomoContextRecallSummary`](super::Metric::LocomoContextRecallSummary).
pub fn locomo_context_recall<R: AsRef<str>, E: AsRef<str>>(retrieved: &[R], evidence: &[E]) -> f64 {
    if evidence.is_empty() {
        return 1.0;
    }
    let ids: BTreeSet<&str> = retrieved.iter().flat_map(|id| id.as_ref().split(',')).map(trim).collect();
    let by_session = retrieved.first().is_some_and(|id| id.as_ref().starts_with('S'));
    let sessions: BTreeSet<&str> = ids.iter().map(|id| without_first_letter(id)).collect();
    let found = evidence.iter().map(AsRef::as_ref).filter(|element| {
        if by_session {
            sessions.contains(without_first_letter(element.split(':').next().unwrap_or_default()))
        } else {
            ids.contains(element)
        }
    });
    found.count() as f64 / evidence.len() as f64
}

fn without_first_letter(text: &str) -> &str {
    let mut letters = text.chars();
    letters.next();
    letters.as_str()
}

fn f1(prediction: &str, gold: &str) -> f64 {
    let (prediction, gold) = (stems(prediction), stems(gold));
    f1_of_counts(common_count(&prediction, &gold), prediction.len(), gold.len())
}

fn stems(text: &str) -> Vec<String> {
    split_spaces(&locomo_normalise(text)).map(porter_stem).collect()
}

fn multi_hop(prediction: &str, gold: &str) -> f64 {
    let parts: Vec<&str> = prediction.split(',').map(trim).collect();
    let best = |gold: &str| parts.iter().map(|part| f1(part, gold)).fold(0.0, f64::max);
    let scores: Vec<f64> = gold.split(',').map(|part| best(trim(part))).collect();
    scores.iter().sum::<f64>() / scores.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn normal_form() {
        assert_eq!(locomo_normalise(" The cat-flap, and A dog’s\u{a0}bowl!"), "catflap dog’s bowl");
        assert_eq!(locomo_normalise("sand and an_other"), "sand another");
        assert_eq!(locomo_normalise("a\u{200b}the"), "\u{200b}");
    }

    #[test]
    fn categories() {
        assert_eq!(LocomoCategory::from_number(1), Some(LocomoCategory::MultiHop));
        assert_eq!(LocomoCategory::from_number(5), Some(LocomoCategory::Adversarial));
        assert_eq!(LocomoCategory::from_number(0), None);
        assert_eq!(LocomoCategory::from_number(6), None);
    }

    #[test]
    fn rounding_goes_to_the_even_digit() {
        check(round_to_thousandths(0.0625), 0.062);
        check(round_to_thousandths(0.1875), 0.188);
        check(round_to_thousandths(2.0 / 3.0), 0.667);
    }

    #[test]
    fn retrieved_ids_with_commas_are_split() {
        check(locomo_context_recall(&["D1:2, D1:3"], &["D1:3", "D1:4"]), 0.5);
        check(locomo_context_recall(&[] as &[&str], &["D1:3"]), 0.0);
    }
}
