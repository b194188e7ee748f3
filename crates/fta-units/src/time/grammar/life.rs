//! Stages of a life: "when I was ten", "as a kid", "in my twenties", "back in the day".

use super::{Found, Kind, Look, Parser};
use crate::time::calendar::{whole_year, years};
use crate::time::{Granularity, lexicon};

impl Parser<'_> {
    /// A stage of somebody's life; resolved for the speaker if the year of birth is known.
    pub(super) fn stage_of_life(&self, at: usize, _look: Look) -> Option<Found> {
        let at_back = self.skip(at, "back");
        let from = self.skip(at_back, "when");
        if matches!(self.word(from), "i" | "he" | "she" | "we" | "they")
            && (from > at_back || self.word_before(at) == "since")
        {
            return self.pronoun_was(from);
        }
        match (self.word(at_back), self.word(at_back + 1), self.word(at_back + 2)) {
            (
                "as",
                "a",
                "kid" | "child" | "teenager" | "teen" | "boy" | "girl" | "student" | "toddler" | "baby",
            ) if self.is_clause_end(at_back + 3) || lexicon::is_function_word(self.word(at_back + 3)) => {
                Some(past_stage(at_back + 3))
            }
            ("in", "my" | "his" | "her", "childhood" | "youth" | "teens") => Some(past_stage(at_back + 3)),
            ("in", "the", "day") if at_back > at => Some(past_stage(at_back + 3)),
            ("in", "college" | "school" | "university", _) if at_back > at => Some(past_stage(at_back + 2)),
            ("in", "high" | "middle" | "elementary", "school") if at_back > at => {
                Some(past_stage(at_back + 3))
            }
            ("in", "my", _) => self.decade_of_life(at_back + 2),
            ("at", "age", _) => self.aged(at_back + 2, true),
            ("at", "the", "age") if self.word(at_back + 3) == "of" => self.aged(at_back + 4, true),
            _ => None,
        }
    }

    /// "I was ten", "she was little", "we were kids", "I was in college".
    fn pronoun_was(&self, at: usize) -> Option<Found> {
        let is_speaker = self.word(at) == "i";
        if !matches!(self.word(at + 1), "was" | "were" | "turned") {
            return None;
        }
        let mut from = at + 2;
        for hedge in ["just", "only", "about", "around", "still", "really", "very", "a", "in"] {
            from = self.skip(from, hedge);
        }
        match self.word(from) {
            "kid" | "kids" | "child" | "children" | "teenager" | "teenagers" | "teen" | "boy" | "girl"
            | "little" | "young" | "younger" | "small" | "student" | "baby" | "toddler" | "college"
            | "university" | "school" | "kindergarten" => {
                let has_noun = matches!(self.word(from), "little" | "young" | "small")
                    && matches!(self.word(from + 1), "kid" | "boy" | "girl" | "child");
                Some(past_stage(if has_noun { from + 2 } else { from + 1 }))
            }
            "high" | "middle" | "elementary" if self.word(from + 1) == "school" => Some(past_stage(from + 2)),
            "growing" if self.word(from + 1) == "up" => Some(past_stage(from + 2)),
            _ => self.aged(from, is_speaker),
        }
    }

    /// An age in years at `at`.
    fn aged(&self, at: usize, is_speaker: bool) -> Option<Found> {
        let (age, mut end) = self.number(at).filter(|(age, _)| (1..=110).contains(age))?;
        if matches!(self.word(end), "year" | "years") {
            end = self.after(end + 1, "old")?;
        } else if self.word(end) == "%"
            || (self.kind(end) == Some(Kind::Word) && !lexicon::is_function_word(self.word(end)))
        {
            return None;
        }
        let interval =
            self.birth_year.filter(|_| is_speaker).and_then(|born| whole_year(i64::from(born) + age));
        let granularity = if interval.is_some() { Granularity::Year } else { Granularity::Years };
        Some(Found::new(end, interval, granularity).past())
    }

    /// "my twenties", "my 30s".
    fn decade_of_life(&self, at: usize) -> Option<Found> {
        let from =
            if matches!(self.word(at), "early" | "mid" | "late") { self.skip(at + 1, "-") } else { at };
        let token = self.tokens.get(from)?;
        let first = match token.kind {
            Kind::Plural if token.n_digits == 2 && token.value % 10 == 0 => token.value,
            Kind::Word => lexicon::decade(&token.lower)?,
            _ => return None,
        };
        let born = self.birth_year.map(i64::from);
        let interval = born.and_then(|born| years(born + first, born + first + 9));
        Some(Found::new(from + 1, interval, Granularity::Years))
    }
}

fn past_stage(end: usize) -> Found {
    Found::new(end, None, Granularity::Years).past()
}
