//! Emotion words and the lower-case nouns under which [`fta_units::AffectAnchor::emotions`] holds them.
//!
//! One table, so that it can be swapped for a larger lexicon.

use std::{collections::HashMap, sync::LazyLock};

use crate::words;

/// The emotion that a word names; `None` if it names none.
pub(crate) fn emotion_of(word: &str) -> Option<&'static str> {
    static TABLE: LazyLock<HashMap<String, &'static str>> = LazyLock::new(|| {
        let mut table = HashMap::new();
        for entry in EMOTIONS.split(';') {
            let mut forms = entry.split_whitespace();
            if let Some(noun) = forms.next() {
                table.insert(noun.to_owned(), noun);
                for form in forms {
                    table.insert(form.to_owned(), noun);
                }
            }
        }
        table
    });
    TABLE.get(words::strip_possessive(&words::lower(word))).copied()
}

/// The emotions that a text names, in order of first mention, without repeats.
pub(crate) fn emotions_in(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for token in words::tokens(text) {
        if let Some(emotion) = emotion_of(token.text)
            && !out.iter().any(|e| e == emotion)
        {
            out.push(emotion.to_owned());
        }
    }
    out
}

/// `noun form form; ...`: unambiguous forms only ("like" and "down" are left out).
const EMOTIONS: &str = "sadness sad unhappy sorrow depressed heartbroken miserable gloomy tearful devastated; \
anxiety anxious nervous worried worry worries worrying uneasy tense; \
anger angry furious mad annoyed irritated resentful resentment outraged rage; \
guilt guilty remorse regret regretful; shame ashamed embarrassed embarrassment humiliated; \
loneliness lonely isolated alone; grief grieving mourning bereaved; \
stress stressed stressful overwhelmed overwhelming pressured; \
exhaustion exhausted tired drained weary fatigued burnout; \
joy happy happiness joyful delighted glad cheerful thrilled ecstatic excited excitement elated; \
gratitude grateful thankful appreciative; pride proud; hope hopeful optimistic; love loved loving; \
relief relieved; fear afraid scared frightened terrified fearful terror; surprise surprised astonished shocked \
amazed; calm calmness peaceful relaxed serene; boredom bored boring; jealousy jealous envious envy; \
disappointment disappointed; frustration frustrated frustrating; confusion confused puzzled; \
hopelessness hopeless helpless; confidence confident";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_lead_to_nouns() {
        assert_eq!(emotion_of("Grateful"), Some("gratitude"));
        assert_eq!(emotion_of("table"), None);
        assert_eq!(emotions_in("sad, lonely and sad again"), ["sadness", "loneliness"]);
    }
}
