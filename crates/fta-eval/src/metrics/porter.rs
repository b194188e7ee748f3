//! Porter's stemmer as NLTK extends it.

/// Forms that are looked up.
const IRREGULAR: [(&str, &str); 16] = [
    ("skies", "sky"),
    ("sky", "sky"),
    ("dying", "die"),
    ("lying", "lie"),
    ("tying", "tie"),
    ("news", "news"),
    ("innings", "inning"),
    ("inning", "inning"),
    ("outings", "outing"),
    ("outing", "outing"),
    ("cannings", "canning"),
    ("canning", "canning"),
    ("howe", "howe"),
    ("proceed", "proceed"),
    ("exceed", "exceed"),
    ("succeed", "succeed"),
];

/// Step 2, in the order in which endings are tried; the measure of what stands before must be above 0.
const STEP_2: [(&str, &str); 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("fulli", "ful"),
];

/// Step 3, as step 2.
const STEP_3: [(&str, &str); 7] = [
    ("icate", "ic"),
    ("ative", ""),
    ("alize", "al"),
    ("iciti", "ic"),
    ("ical", "ic"),
    ("ful", ""),
    ("ness", ""),
];

/// Step 4: dropped when the measure of what stands before is above 1; `ion` only after `s` or `t`.
const STEP_4: [&str; 19] = [
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
    "ate", "iti", "ous", "ive", "ize",
];

/// Stem of a word, lower-cased.
///
/// The first ending of a list that the word has decides: if its condition fails, the step ends. Words of at most two
/// letters and irregular forms are looked up or left alone. Letters other than a, e, i, o, u and y are consonants,
/// digits and punctuation too.
///
/// # Source
/// Porter, "An algorithm for suffix stripping" (1980), with NLTK's extensions (data notes, section 2). The Snowball
/// stemmer "english" is another algorithm.
pub fn porter_stem(word: &str) -> String {
    let lower = word.to_lowercase();
    if let Some((_, stem)) = IRREGULAR.iter().find(|(form, _)| *form == lower) {
        return (*stem).to_owned();
    }
    let mut word = Word(lower.chars().collect());
    if word.0.len() > 2 {
        word.step_1a();
        word.step_1b();
        word.step_1c();
        word.step_2();
        word.replace_first(&STEP_3);
        word.step_4();
        word.step_5();
    }
    word.0.into_iter().collect()
}

/// A word on its way to its stem.
struct Word(Vec<char>);

impl Word {
    fn ends_with(&self, ending: &str) -> bool {
        let mut letters = self.0.iter().rev();
        ending.chars().rev().all(|e| letters.next() == Some(&e))
    }

    /// Letters before an ASCII ending that the word has.
    fn before(&self, ending: &str) -> &[char] {
        &self.0[..self.0.len() - ending.len()]
    }

    fn replace(&mut self, ending: &str, by: &str) {
        self.0.truncate(self.0.len() - ending.len());
        self.0.extend(by.chars());
    }

    /// Replaces the first ending of the list that the word has, if the measure before it is above 0. Says whether
    /// there was one.
    fn replace_first(&mut self, rules: &[(&str, &str)]) -> bool {
        let Some((ending, by)) = rules.iter().find(|(ending, _)| self.ends_with(ending)) else {
            return false;
        };
        if measure(self.before(ending)) > 0 {
            self.replace(ending, by);
        }
        true
    }

    fn step_1a(&mut self) {
        if self.ends_with("ies") {
            let by = if self.0.len() == 4 { "ie" } else { "i" };
            self.replace("ies", by);
        } else if self.ends_with("sses") {
            self.replace("sses", "ss");
        } else if self.ends_with("s") && !self.ends_with("ss") {
            self.replace("s", "");
        }
    }

    fn step_1b(&mut self) {
        if self.ends_with("ied") {
            let by = if self.0.len() == 4 { "ie" } else { "i" };
            self.replace("ied", by);
            return;
        }
        if self.ends_with("eed") {
            if measure(self.before("eed")) > 0 {
                self.replace("eed", "ee");
            }
            return;
        }
        let ending = ["ed", "ing"].into_iter().find(|ending| self.ends_with(ending));
        let Some(ending) = ending.filter(|ending| has_vowel(self.before(ending))) else { return };
        self.replace(ending, "");
        if ["at", "bl", "iz"].iter().any(|ending| self.ends_with(ending)) {
            self.0.push('e');
        } else if ends_in_double_consonant(&self.0) {
            if !matches!(self.0.last(), Some('l' | 's' | 'z')) {
                self.0.pop();
            }
        } else if measure(&self.0) == 1 && ends_short(&self.0) {
            self.0.push('e');
        }
    }

    fn step_1c(&mut self) {
        let last = self.0.len() - 1;
        if self.0[last] == 'y' && last > 1 && is_consonant(&self.0, last - 1) {
            self.0[last] = 'i';
        }
    }

    fn step_2(&mut self) {
        while self.ends_with("alli") && measure(self.before("alli")) > 0 {
            self.replace("alli", "al");
        }
        if !self.replace_first(&STEP_2) && self.ends_with("logi") && measure(self.before("ogi")) > 0 {
            self.replace("logi", "log");
        }
    }

    fn step_4(&mut self) {
        let Some(ending) = STEP_4.into_iter().find(|ending| self.ends_with(ending)) else { return };
        let before = self.before(ending);
        if measure(before) > 1 && (ending != "ion" || matches!(before.last(), Some('s' | 't'))) {
            self.replace(ending, "");
        }
    }

    fn step_5(&mut self) {
        if self.ends_with("e") {
            let before = self.before("e");
            let measure = measure(before);
            if measure > 1 || (measure == 1 && !ends_short(before)) {
                self.0.pop();
            }
        }
        if self.ends_with("ll") && measure(self.before("l")) > 1 {
            self.0.pop();
        }
    }
}

fn is_consonant(letters: &[char], at: usize) -> bool {
    match letters[at] {
        'a' | 'e' | 'i' | 'o' | 'u' => false,
        'y' => at == 0 || !is_consonant(letters, at - 1),
        _ => true,
    }
}

/// Number of changes from vowel to consonant.
fn measure(letters: &[char]) -> usize {
    (1..letters.len()).filter(|&at| !is_consonant(letters, at - 1) && is_consonant(letters, at)).count()
}

fn has_vowel(letters: &[char]) -> bool {
    (0..letters.len()).any(|at| !is_consonant(letters, at))
}

fn ends_in_double_consonant(letters: &[char]) -> bool {
    let n = letters.len();
    n >= 2 && letters[n - 1] == letters[n - 2] && is_consonant(letters, n - 1)
}

/// Whether it ends consonant, vowel, consonant other than w, x, y; or is a vowel and a consonant.
fn ends_short(letters: &[char]) -> bool {
    let n = letters.len();
    if n < 2 || is_consonant(letters, n - 2) || !is_consonant(letters, n - 1) {
        return false;
    }
    n == 2 || (is_consonant(letters, n - 3) && !matches!(letters[n - 1], 'w' | 'x' | 'y'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pairs: &[(&str, &str)]) {
        for (word, stem) in pairs {
            assert_eq!(porter_stem(word), *stem, "{word}");
        }
    }

    #[test]
    fn extensions() {
        check(&[("Skies", "sky"), ("dies", "die"), ("flies", "fli"), ("tied", "tie"), ("spied", "spi")]);
        check(&[("is", "is"), ("", ""), ("enjoy", "enjoy"), ("by", "by"), ("geology", "geolog")]);
        check(&[("formally", "formal"), ("hopefully", "hope"), ("possibly", "possibl"), ("aging", "age")]);
    }

    #[test]
    fn porters_examples() {
        check(&[("caresses", "caress"), ("agreed", "agre"), ("hopping", "hop"), ("falling", "fall")]);
        check(&[("filing", "file"), ("relational", "relat"), ("rational", "ration"), ("adoption", "adopt")]);
        check(&[("controll", "control"), ("roll", "roll"), ("probate", "probat"), ("cease", "ceas")]);
    }
}
