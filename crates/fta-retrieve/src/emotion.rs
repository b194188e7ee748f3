//! Emotion words, by the lexicon with which [`fta_units::AffectAnchor::emotions`] is filled.

use fta_units::offline::emotions;

/// The emotion that a word names; `None` if it names none.
pub(crate) fn emotion_of(word: &str) -> Option<String> {
    emotions(word).into_iter().next()
}

/// The emotions that a text names and does not deny, strongest first, without repeats.
pub(crate) fn emotions_in(text: &str) -> Vec<String> {
    emotions(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_to_nouns() {
        assert_eq!(emotion_of("Grateful").as_deref(), Some("gratitude"));
        assert_eq!(emotion_of("table"), None);
        assert_eq!(emotions_in("not sad, but lonely"), ["loneliness"]);
    }
}
