//! Refusals: right where the dialogue holds no answer, wrong where it holds one.

use super::{
    locomo::locomo_official_refusal,
    words::{trim, word_runs},
};

/// Answers that refuse as a whole, as words of the lower-cased text.
const WHOLE: [&str; 6] = ["unknown", "n a", "no answer", "not known", "unanswerable", "no information"];

/// Openings of answers that refuse.
const OPENINGS: [&str; 18] = [
    "i don t know",
    "i do not know",
    "i am not sure",
    "i m not sure",
    "i can t answer",
    "i cannot answer",
    "it is unknown",
    "there is no information",
    "no information about",
    "no information on",
    "not enough information",
    "insufficient information",
    "it cannot be determined",
    "cannot be determined",
    "cannot be answered",
    "not specified",
    "not stated",
    "not provided",
];

/// Whether an answer refuses, by its words.
///
/// It does if it is empty, if LoCoMo's rule takes it for a refusal ([`locomo_official_refusal`]), if it is as a whole
/// "unknown" or one of a few such answers, or if it begins as "I don't know" does. Case, punctuation, curly
/// apostrophes and a prefix `Answer:` do not matter. A rule over words errs: a system that says itself whether it
/// abstained is to be believed.
///
/// # Source
/// Data notes, section 11; the list is this crate's.
pub fn refuses(prediction: &str) -> bool {
    let lower = prediction.to_lowercase();
    let lower = trim(&lower);
    let bare = lower.trim_start_matches(['*', '#', ' ']).strip_prefix("answer:").unwrap_or(lower);
    let words = word_runs(bare).collect::<Vec<_>>().join(" ");
    let begins = |opening: &&str| {
        words.strip_prefix(*opening).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    words.is_empty()
        || locomo_official_refusal(prediction)
        || WHOLE.contains(&words.as_str())
        || OPENINGS.iter().any(begins)
}

/// Refusals over questions with and without an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Abstention {
    /// Questions without an answer.
    pub unanswerable: usize,
    /// Of these, refused: right.
    pub refused_unanswerable: usize,
    /// Questions with an answer.
    pub answerable: usize,
    /// Of these, refused: wrong.
    pub refused_answerable: usize,
}

impl Abstention {
    /// Counts pairs of (the question has an answer, it was refused).
    pub fn count(questions: impl IntoIterator<Item = (bool, bool)>) -> Self {
        let mut counts = Self::default();
        for (answerable, refused) in questions {
            let (all, part) = if answerable {
                (&mut counts.answerable, &mut counts.refused_answerable)
            } else {
                (&mut counts.unanswerable, &mut counts.refused_unanswerable)
            };
            *all += 1;
            *part += usize::from(refused);
        }
        counts
    }

    /// Share of questions without an answer that were refused; higher is better. `None` without such questions.
    pub fn refusal(&self) -> Option<f64> {
        share(self.refused_unanswerable, self.unanswerable)
    }

    /// Share of questions with an answer that were refused; lower is better. `None` without such questions.
    pub fn false_refusal(&self) -> Option<f64> {
        share(self.refused_answerable, self.answerable)
    }

    /// Mean of the shares of right decisions in the two kinds: 0.5 for always or never refusing. `None` if a kind is
    /// missing.
    pub fn balanced_accuracy(&self) -> Option<f64> {
        Some(f64::midpoint(self.refusal()?, 1.0 - self.false_refusal()?))
    }
}

fn share(part: usize, of: usize) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals() {
        for text in [
            "",
            " . ",
            "Unknown.",
            "**Answer:** unknown",
            "I don’t know when that was.",
            "Not mentioned in the conversation",
            "That is not mentioned.",
            "N/A",
            "Cannot be determined from the notes.",
        ] {
            assert!(refuses(text), "{text}");
        }
        for text in ["An unknown painter", "No", "Nobody", "She said I don't know", "nothing stated", "knot"]
        {
            assert!(!refuses(text), "{text}");
        }
    }

    #[test]
    fn rates() {
        let counts =
            Abstention::count([(true, false), (true, true), (false, true), (true, false), (true, false)]);
        assert_eq!(counts.refusal(), Some(1.0));
        assert_eq!(counts.false_refusal(), Some(0.25));
        assert_eq!(counts.balanced_accuracy(), Some(0.875));
        assert_eq!(Abstention::count([(true, true)]).balanced_accuracy(), None);
    }
}
