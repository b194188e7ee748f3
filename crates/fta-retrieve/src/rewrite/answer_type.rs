//! What kind of answer a question wants, read off its wording.

use crate::{query::AnswerType, words};

/// The kind of answer that `question` wants.
pub fn answer_type(question: &str) -> AnswerType {
    let words: Vec<String> = words::tokens(question).iter().map(|t| words::lower(t.text)).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    // "In which city", "Around the time she moved, who ...": the question word need not come first.
    let Some(at) = question_word(&words) else {
        return if words.first().is_some_and(|w| words::is_auxiliary(w)) {
            AnswerType::YesNo
        } else {
            AnswerType::What
        };
    };
    let rest = &words[at..];
    let next = rest.get(1).copied().unwrap_or("");
    let third = rest.get(2).copied().unwrap_or("");
    match rest[0] {
        "when" => AnswerType::When,
        "where" => AnswerType::Where,
        "why" => AnswerType::Why,
        "who" | "whom" | "whose" | "who's" => AnswerType::Who,
        "how" => how(rest, next, third),
        _ => what(rest),
    }
}

/// Index of the word that asks. A leading auxiliary asks for yes or no, unless it only wraps another question
/// ("do you remember when ...", "can you tell me who ...").
fn question_word(words: &[&str]) -> Option<usize> {
    let asks = |w: &str| words::listed("when where why who whom whose who's how what what's which", w);
    if words.first().is_some_and(|w| words::is_auxiliary(w)) {
        let wraps = words
            .iter()
            .take(5)
            .any(|w| matches!(*w, "remember" | "recall" | "know" | "tell" | "say" | "remind"));
        let addressed = matches!(words.get(1), Some(&"you" | &"we" | &"i" | &"there"));
        if !(wraps && addressed) {
            return None;
        }
    }
    // In "After she moved, how ..." a clause comes first, so a later how/what right after a clause start wins
    // over a leading "when she moved, ...".
    let first = words.iter().position(|w| asks(w))?;
    if words[first] == "when" && first == 0 && !words.get(1).is_some_and(|w| words::is_auxiliary(w)) {
        let later = (1..words.len()).find(|&i| {
            asks(words[i])
                && words[i] != "when"
                && words.get(i + 1).is_some_and(|w| words::is_auxiliary(w) || *w == "many")
        });
        return later.or(Some(first));
    }
    Some(first)
}

fn how(rest: &[&str], next: &str, third: &str) -> AnswerType {
    match next {
        "long" if third == "ago" => AnswerType::When,
        "long" => AnswerType::HowLong,
        "many" | "much" | "often" | "old" | "tall" | "far" | "big" | "frequently" => {
            let unit = matches!(third, "years" | "months" | "weeks" | "days" | "hours" | "minutes" | "time");
            if unit && rest.contains(&"ago") {
                AnswerType::When
            } else if unit && next != "often" && !rest.contains(&"each") && !rest.contains(&"per") {
                AnswerType::HowLong
            } else {
                AnswerType::HowMany
            }
        }
        "did" | "does" | "do" | "is" | "was" | "are" | "were" | "has" | "have"
            if rest.iter().any(|w| matches!(*w, "feel" | "feeling" | "felt" | "react")) =>
        {
            AnswerType::Feeling
        }
        "come" => AnswerType::Why,
        _ => AnswerType::What,
    }
}

/// "What" and "which" questions, told apart by the noun that they ask for.
fn what(rest: &[&str]) -> AnswerType {
    let next = rest.get(1).copied().unwrap_or("");
    // "What kinds of books", "what is the name of the city": the noun after "of" decides.
    let head = head_noun(rest);
    match head {
        "year" | "date" | "month" | "day" | "time" | "weekday" | "season" | "week" | "weekend"
            if next == head || rest.get(1..4).is_some_and(|w| w.contains(&"the")) =>
        {
            return AnswerType::When;
        }
        "years" | "dates" | "months" | "days" => return AnswerType::When,
        "city" | "country" | "town" | "place" | "location" | "state" | "village" | "continent" | "region" => {
            return AnswerType::Where;
        }
        "age" | "number" | "price" | "amount" => return AnswerType::HowMany,
        "reason" => return AnswerType::Why,
        "person" => return AnswerType::Who,
        "feeling" | "emotion" | "feelings" | "emotions" | "mood" => return AnswerType::Feeling,
        _ => {}
    }
    if rest.iter().any(|w| matches!(*w, "feel" | "feeling"))
        && matches!(next, "did" | "does" | "do" | "made" | "makes")
    {
        // "What did she do to feel better" asks for a deed.
        let makes = matches!(next, "made" | "makes")
            || rest.windows(3).any(|w| w[0] == "do" && w[1] == "to" && matches!(w[2], "feel"));
        return if makes { AnswerType::What } else { AnswerType::Feeling };
    }
    let be_plural = matches!(next, "are" | "were");
    let names = head == "names" || (be_plural && rest.contains(&"names"));
    if names || be_plural || plural(head) {
        return AnswerType::List;
    }
    AnswerType::What
}

/// The noun that a "what" or "which" question asks for: the last word before the auxiliary or verb group, or the noun
/// after "is the".
fn head_noun<'a>(rest: &[&'a str]) -> &'a str {
    let next = rest.get(1).copied().unwrap_or("");
    let from = if words::is_auxiliary(next) || rest[0] == "what's" {
        let skip = if rest[0] == "what's" { 1 } else { 2 };
        let determined = matches!(rest.get(skip), Some(&"the" | &"some" | &"one"));
        if !determined {
            return "";
        }
        skip + 1
    } else {
        1
    };
    let mut head = "";
    for (offset, word) in rest.iter().enumerate().skip(from) {
        let kind = matches!(head, "kind" | "kinds" | "type" | "types" | "sort" | "sorts" | "name" | "names");
        if *word == "of" && kind {
            head = if head.ends_with('s') && head != "names" { "kinds" } else { "" };
            if rest.get(offset + 1).is_none() {
                break;
            }
            continue;
        }
        if words::is_auxiliary(word)
            || matches!(*word, "that" | "of" | "for" | "in" | "to" | "about" | "who" | "from")
        {
            break;
        }
        if offset - from > 3 {
            break;
        }
        if !matches!(*word, "the" | "a" | "an" | "some" | "other" | "different" | "new") {
            // "what kinds of art" stays plural by its kinds.
            head = if head == "kinds" { "kinds" } else { word };
        }
    }
    head
}

fn plural(word: &str) -> bool {
    word.len() > 3
        && word.ends_with('s')
        && !word.ends_with("ss")
        && !word.ends_with("us")
        && !word.ends_with("'s")
        && !words::listed(
            "series news names does was has goes makes inspires motivates causes brings helps \
            happens is gives keeps this",
            word,
        )
        || matches!(word, "children" | "people" | "kinds")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expect: AnswerType, questions: &[&str]) {
        for question in questions {
            assert_eq!(answer_type(question), expect, "{question}");
        }
    }

    #[test]
    fn times_and_durations() {
        check(
            AnswerType::When,
            &[
                "When did Ana move?",
                "What year did she graduate?",
                "What is the date of the exam?",
                "In which month did he quit?",
                "How long ago was the funeral?",
                "How many years ago did they meet?",
                "Do you remember when I lost my job?",
                "What day did they leave?",
            ],
        );
        check(
            AnswerType::HowLong,
            &[
                "How long has Ana been married?",
                "How many weeks did the course last?",
                "For how long did he stay?",
            ],
        );
    }

    #[test]
    fn people_places_numbers() {
        check(AnswerType::Who, &["Who helped Ana?", "Whose dog is it?", "With whom does she live?"]);
        check(
            AnswerType::Where,
            &[
                "Where does he live?",
                "Which country is she from?",
                "In what city did they meet?",
                "What place did they visit?",
            ],
        );
        check(
            AnswerType::HowMany,
            &[
                "How many dogs does Ana have?",
                "How old is her son?",
                "How often does he run?",
                "How much did it cost?",
                "How many times did she call?",
            ],
        );
    }

    #[test]
    fn other_kinds() {
        check(AnswerType::YesNo, &["Did Ana call?", "Is Ben married?", "Does she remember him?"]);
        check(
            AnswerType::Why,
            &["Why did she cry?", "What is the reason for the move?", "How come he left?"],
        );
        check(AnswerType::Feeling, &["How did Ana feel after the exam?", "How does he feel about work?"]);
        check(
            AnswerType::List,
            &[
                "What activities does Ana enjoy?",
                "Which books has Ben read?",
                "What are Ana's hobbies?",
                "What kinds of music does she like?",
                "What are the names of the cats?",
            ],
        );
        check(
            AnswerType::What,
            &[
                "What did Ana buy?",
                "Which book did he read?",
                "What kind of tea does she like?",
                "How did he learn it?",
                "What motivates her?",
                "What made him feel better?",
            ],
        );
    }
}
