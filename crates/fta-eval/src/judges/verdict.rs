//! Verdicts in replies.

/// The first digit from 0 to 2.
pub(super) fn first_score(reply: &str) -> Option<f64> {
    reply.chars().find_map(|character| match character {
        '0' => Some(0.0),
        '1' => Some(1.0),
        '2' => Some(2.0),
        _ => None,
    })
}

/// 1 if "yes" is anywhere in the reply, else 0 if the word "no" is.
pub(super) fn yes_or_no(reply: &str) -> Option<f64> {
    let reply = reply.to_lowercase();
    if reply.contains("yes") {
        return Some(1.0);
    }
    words(&reply).any(|word| word == "no").then_some(0.0)
}

/// 1 for "correct", 0 for "wrong", "incorrect" and "not correct"; the last of them counts.
pub(super) fn right_or_wrong(reply: &str) -> Option<f64> {
    let reply = reply.to_lowercase();
    let mut verdict = None;
    let mut before = "";
    for word in words(&reply) {
        match word {
            "correct" => verdict = Some(if before == "not" { 0.0 } else { 1.0 }),
            "wrong" | "incorrect" => verdict = Some(0.0),
            _ => {}
        }
        before = word;
    }
    verdict
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(read: fn(&str) -> Option<f64>, table: &[(&str, Option<f64>)]) {
        for (reply, expected) in table {
            assert_eq!(read(reply), *expected, "{reply:?}");
        }
    }

    #[test]
    fn scores() {
        check(
            first_score,
            &[
                ("Score: 2", Some(2.0)),
                ("0", Some(0.0)),
                ("**Score:** 1/2", Some(1.0)),
                ("I would say 2.", Some(2.0)),
                ("Score: 5, no, 1", Some(1.0)),
                ("Score: 10", Some(1.0)),
                ("Score: 7", None),
                ("two", None),
                ("Score: \u{0662}", None),
                ("", None),
            ],
        );
    }

    #[test]
    fn yes_and_no() {
        check(
            yes_or_no,
            &[
                ("yes", Some(1.0)),
                ("Yes.", Some(1.0)),
                ("No", Some(0.0)),
                ("no, it is not", Some(0.0)),
                ("Not at first, but yes", Some(1.0)),
                ("no or yes", Some(1.0)),
                ("nobody knows", None),
                ("It is correct.", None),
                ("", None),
            ],
        );
    }

    #[test]
    fn right_and_wrong() {
        check(
            right_or_wrong,
            &[
                ("CORRECT", Some(1.0)),
                ("wrong.", Some(0.0)),
                ("{\"label\": \"WRONG\"}", Some(0.0)),
                ("incorrect", Some(0.0)),
                ("That is not correct.", Some(0.0)),
                ("At first it looks wrong. CORRECT", Some(1.0)),
                ("Correct in part, so: WRONG", Some(0.0)),
                ("yes", None),
                ("correctly", None),
                ("", None),
            ],
        );
    }
}
