//! The wording of `q'`: the question without the words that only ask.

use crate::words::{self, Token};

/// The question as text that looks like its evidence. Drops question words, do-support and phrases of address; keeps
/// every content word, names and times in order. Never empty for a question with text.
pub(crate) fn evidence_text(question: &str) -> String {
    let question = question.trim();
    let tokens = words::tokens(question);
    let lowered: Vec<String> = tokens.iter().map(|t| words::lower(t.text)).collect();
    let lowered: Vec<&str> = lowered.iter().map(String::as_str).collect();
    let mut keep = vec![true; tokens.len()];
    let address = leading_address(&lowered);
    keep[..address].fill(false);
    if let Some(at) = lowered.iter().skip(address).take(8).position(|w| asks(w)).map(|i| i + address) {
        drop_question_word(&lowered, at, &mut keep);
    } else if lowered.get(address).is_some_and(|w| do_support(w)) {
        keep[address] = false;
    }
    let text = join(question, &tokens, &keep);
    if text.is_empty() { question.to_owned() } else { text }
}

fn asks(word: &str) -> bool {
    words::listed("when where why who whom how what what's who's which whose", word)
}

fn do_support(word: &str) -> bool {
    matches!(word, "do" | "does" | "did")
}

/// Number of words at the start that only address the listener ("do you remember", "can you tell me").
fn leading_address(words: &[&str]) -> usize {
    const PHRASES: [&[&str]; 12] = [
        &["do", "you", "remember"],
        &["do", "you", "recall"],
        &["do", "you", "know"],
        &["can", "you", "tell", "me"],
        &["could", "you", "tell", "me"],
        &["can", "you", "remind", "me"],
        &["could", "you", "remind", "me"],
        &["please", "tell", "me"],
        &["tell", "me"],
        &["remind", "me"],
        &["i", "want", "to", "know"],
        &["i", "wonder"],
    ];
    PHRASES.iter().find(|p| words.starts_with(p) && words.len() > p.len()).map_or(0, |p| p.len())
}

/// Drops the question word at `at`, the function words that belong to it, and do-support after it.
fn drop_question_word(words: &[&str], at: usize, keep: &mut [bool]) {
    keep[at] = false;
    let mut next = at + 1;
    match (words[at], words.get(next).copied()) {
        // "How long", "how many": the quantity word asks; what it counts stays.
        ("how", Some("long" | "many" | "much" | "often")) => {
            keep[next] = false;
            next += 1;
        }
        ("what" | "which", Some("kind" | "kinds" | "type" | "types" | "sort" | "sorts"))
            if words.get(next + 1) == Some(&"of") =>
        {
            keep[next + 1] = false;
            next += 2;
        }
        _ => {}
    }
    // The auxiliary may stand after the noun: "which book did Ana".
    let auxiliary = (next..words.len().min(next + 5)).find(|&i| words::is_auxiliary(words[i]));
    if let Some(i) = auxiliary
        && (do_support(words[i]) || i == next)
    {
        keep[i] = false;
    }
}

/// The kept words with the punctuation inside runs of kept words.
fn join(text: &str, tokens: &[Token<'_>], keep: &[bool]) -> String {
    let mut out = String::new();
    let mut previous: Option<usize> = None;
    for (i, token) in tokens.iter().enumerate() {
        if !keep[i] {
            continue;
        }
        match previous {
            Some(p) if p + 1 == i => out.push_str(&text[tokens[p].end..token.start]),
            Some(_) => out.push(' '),
            // A quotation mark that opens at the first kept word stays with it.
            None => {
                if text[..token.start].ends_with(['"', '\u{201c}', '$']) {
                    out.extend(text[..token.start].chars().next_back());
                }
            }
        }
        out.push_str(token.text);
        previous = Some(i);
    }
    if let Some(p) = previous {
        let tail = &text[tokens[p].end..];
        let tail = tail.trim_end_matches(['?', '.', '!', ' ', ':', ';', ',']);
        out.push_str(tail);
    }
    out.trim().to_owned()
}
