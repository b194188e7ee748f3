//! Reads JSON as models write it: within other text, fenced, with wrong quotes and commas, cut off.

use serde_json::{Map, Number, Value};

/// Deepest nesting that is read; what lies deeper is left out.
const MAX_DEPTH: usize = 32;
/// Most places in a reply at which a value is looked for.
const MAX_CANDIDATES: usize = 16;

/// A value that was found in a reply.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// The value.
    pub(super) value: Value,
    /// Whether the text ended within the value; items that were not whole are left out.
    pub(super) cut_off: bool,
    /// Whether a list lost an item in this way and holds no other.
    pub(super) emptied: bool,
    /// Bytes that it took.
    len: usize,
}

/// The objects and lists of a reply, longest first, since the one that was asked for is longer than what surrounds it.
pub(super) fn find_values(reply: &str) -> Vec<Found> {
    let text = without_thoughts(reply);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(['{', '[']).map(|offset| at + offset) {
        let value = strict(&text[start..]).unwrap_or_else(|| tolerant(&text[start..]));
        at = start + value.len.max(1);
        // The next character may be longer than one byte.
        while !text.is_char_boundary(at) {
            at += 1;
        }
        found.push(value);
        if found.len() == MAX_CANDIDATES {
            break;
        }
    }
    found.sort_by_key(|f| std::cmp::Reverse(f.len));
    found
}

/// The reply without its `<think>` blocks; one that never ends is all thought.
pub(super) fn without_thoughts(reply: &str) -> &str {
    const OPEN: &str = "<think>";
    const CLOSE: &str = "</think>";
    // A thought stands at the beginning; the tag in a quoted turn is escaped in requests and means nothing later on.
    match (reply.find(CLOSE), reply.trim_start().starts_with(OPEN)) {
        (Some(_), true) => reply.find(CLOSE).map_or("", |at| &reply[at + CLOSE.len()..]),
        (None, true) => "",
        // Some servers drop the opening tag. Braces before the closing one are then part of the thought.
        (Some(at), false) if !reply[..at].trim_start().starts_with(['{', '[']) => &reply[at + CLOSE.len()..],
        _ => reply,
    }
}

fn strict(text: &str) -> Option<Found> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = stream.next()?.ok()?;
    Some(Found { value, cut_off: false, emptied: false, len: stream.byte_offset() })
}

fn tolerant(text: &str) -> Found {
    let mut parser = Parser { text, at: 0, cut_off: false, emptied: false };
    let value = parser.value(0).map_or(Value::Null, |node| node.value);
    Found { value, cut_off: parser.cut_off, emptied: parser.emptied, len: parser.at }
}

/// A value and whether its end was seen.
struct Node {
    value: Value,
    whole: bool,
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    cut_off: bool,
    emptied: bool,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    /// Skips white space, comments, and commas if `commas`.
    fn skip(&mut self, commas: bool) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || commas && c == ',');
            self.at += rest.len() - trimmed.len();
            let comment = if trimmed.starts_with("//") {
                trimmed.find('\n')
            } else if trimmed.starts_with("/*") {
                trimmed.find("*/").map(|end| end + 2)
            } else {
                return;
            };
            self.at += comment.unwrap_or(self.text.len() - self.at);
        }
    }

    /// The end of the text was met where more was due.
    fn end(&mut self) -> bool {
        let end = self.at >= self.text.len();
        self.cut_off |= end;
        end
    }

    /// The value that begins here; `None` if none does.
    fn value(&mut self, depth: usize) -> Option<Node> {
        match self.peek()? {
            '{' | '[' if depth >= MAX_DEPTH => None,
            '{' => Some(self.object(depth)),
            '[' => Some(self.array(depth)),
            c if closing_quote(c).is_some() => {
                let (text, whole) = self.string(false);
                Some(Node { value: Value::String(text), whole })
            }
            '}' | ']' | ':' | ',' => None,
            _ => Some(self.bare_word()),
        }
    }

    fn array(&mut self, depth: usize) -> Node {
        self.bump();
        let mut items = Vec::new();
        let mut lost = false;
        let whole = loop {
            self.skip(true);
            if self.end() {
                break false;
            }
            match self.peek() {
                Some(']') => {
                    self.bump();
                    break true;
                }
                // The list's own bracket is missing.
                Some('}') => break true,
                _ => match self.value(depth + 1) {
                    Some(node) if node.whole => items.push(node.value),
                    Some(_) => lost = true,
                    None => self.bump(),
                },
            }
        };
        self.emptied |= lost && items.is_empty();
        Node { value: Value::Array(items), whole }
    }

    fn object(&mut self, depth: usize) -> Node {
        self.bump();
        let mut fields = Map::new();
        let whole = loop {
            self.skip(true);
            if self.end() {
                break false;
            }
            let key = match self.peek() {
                Some('}') => {
                    self.bump();
                    break true;
                }
                // The object's own bracket is missing.
                Some(']' | '{' | '[') => break true,
                Some(c) if closing_quote(c).is_some() => self.string(true).0,
                Some(c) if c.is_alphanumeric() || matches!(c, '_' | '$') => self.bare_key(),
                _ => {
                    self.bump();
                    continue;
                }
            };
            self.skip(false);
            if matches!(self.peek(), Some(':' | '=')) {
                self.bump();
            }
            self.skip(false);
            if self.end() {
                break false;
            }
            match self.value(depth + 1) {
                Some(node) if node.whole => {
                    fields.insert(key, node.value);
                }
                Some(Node { value: value @ (Value::Array(_) | Value::Object(_)), .. }) => {
                    fields.insert(key, value);
                    break false;
                }
                Some(_) => break false,
                None if matches!(self.peek(), Some('{' | '[')) => self.bump(),
                None => {
                    fields.insert(key, Value::Null);
                }
            }
        };
        Node { value: Value::Object(fields), whole }
    }

    fn bare_key(&mut self) -> String {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '$' | ' ')))
            .unwrap_or(rest.len());
        let key = rest[..end].trim_end().to_owned();
        self.at += end;
        key
    }

    /// A string in quotes and whether its end was seen.
    fn string(&mut self, is_key: bool) -> (String, bool) {
        let close = self.peek().and_then(closing_quote).unwrap_or('"');
        self.bump();
        let mut out = String::new();
        while let Some(c) = self.peek() {
            self.bump();
            if c == '\\' {
                self.escape(&mut out);
            } else if c == close && self.string_ends_here(is_key) {
                return (out, true);
            } else {
                out.push(c);
            }
        }
        self.cut_off = true;
        (out, false)
    }

    /// Whether what follows a quotation mark can follow a string; else the mark is part of the text.
    fn string_ends_here(&self, is_key: bool) -> bool {
        let rest = self.rest();
        let after = rest.trim_start();
        let new_line = rest[..rest.len() - after.len()].contains('\n');
        match after.chars().next() {
            None | Some('}' | ']') => true,
            Some(':' | '=') => is_key,
            Some(',') if !is_key => {
                let next = after[1..].trim_start();
                let word = next.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(next.len());
                next.is_empty()
                    || next.starts_with(|c: char| {
                        closing_quote(c).is_some()
                            || c.is_ascii_digit()
                            || matches!(c, '{' | '[' | '}' | ']' | '-' | ',' | '/')
                    })
                    || matches!(&next[..word], "true" | "false" | "null" | "None" | "True" | "False")
                    || next[word..].trim_start().starts_with(':')
            }
            Some(_) => new_line,
        }
    }

    fn escape(&mut self, out: &mut String) {
        let Some(c) = self.peek() else { return };
        self.bump();
        match c {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => out.push(self.unicode_escape()),
            other => out.push(other),
        }
    }

    /// The character of `\uXXXX`, after the `u`; a broken one is the replacement character.
    fn unicode_escape(&mut self) -> char {
        let Some(high) = self.hex4() else { return char::REPLACEMENT_CHARACTER };
        if !(0xD800..0xDC00).contains(&high) {
            return char::from_u32(high).unwrap_or(char::REPLACEMENT_CHARACTER);
        }
        let before = self.at;
        if self.rest().starts_with("\\u") {
            self.at += 2;
            if let Some(low) = self.hex4().filter(|low| (0xDC00..0xE000).contains(low)) {
                let code = 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00);
                return char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            }
            self.at = before;
        }
        char::REPLACEMENT_CHARACTER
    }

    fn hex4(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4).filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        let code = u32::from_str_radix(digits, 16).ok()?;
        self.at += 4;
        Some(code)
    }

    /// A value without quotes: a number, a literal, or words.
    fn bare_word(&mut self) -> Node {
        let rest = self.rest();
        let end = rest.find([',', '}', ']', '{', '[', '\n']).unwrap_or(rest.len());
        let word = rest[..end].trim().to_owned();
        // A value always moves on, or the caller would not end.
        self.at += end.max(self.peek().map_or(0, char::len_utf8));
        Node { value: literal(&word), whole: !self.end() }
    }
}

fn closing_quote(open: char) -> Option<char> {
    match open {
        '"' => Some('"'),
        '\'' => Some('\''),
        '`' => Some('`'),
        '\u{201c}' => Some('\u{201d}'),
        _ => None,
    }
}

fn literal(word: &str) -> Value {
    match word {
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        "" | "null" | "None" | "Null" | "NULL" | "undefined" | "NaN" => return Value::Null,
        _ => {}
    }
    number(word).map_or_else(|| Value::String(word.to_owned()), Value::Number)
}

/// The number that a word is: JSON's own forms, and a plus sign, leading zeros, a bare point.
pub(super) fn number(word: &str) -> Option<Number> {
    let word = word.trim();
    if let Ok(number) = serde_json::from_str::<Number>(word) {
        return Some(number);
    }
    if !word.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-' | b'.' | b'e' | b'E')) {
        return None;
    }
    if let Ok(integer) = word.parse::<i64>() {
        return Some(integer.into());
    }
    word.parse::<f64>().ok().and_then(Number::from_f64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(reply: &str, expect: &Value) {
        let found = find_values(reply);
        assert_eq!(found.first().map(|f| &f.value), Some(expect), "{reply}");
    }

    #[test]
    fn json_is_found_within_other_text() {
        let expect = json!({"a": [1, "x"]});
        for reply in [
            r#"{"a": [1, "x"]}"#,
            "Sure! Here [1] it is:\n```json\n{\"a\": [1, \"x\"]}\n```\nAnything else?",
            "<think>{\"a\": [2, \"not this one, though long\"]}</think>\n{\"a\":[1,\"x\"]}",
            "so the list must be [..]</think>{\"a\":[1,\"x\"]}",
            r#"{"a": [1, "x",],}"#,
            r"{'a': [1, 'x']}",
            r#"{a: [1, "x"]}"#,
            "{\u{201c}a\u{201d}: [1, \u{201c}x\u{201d}]}",
            "{\"a\": [+1, x]}",
            "{\"a\": [01, \"x\"]} ",
            "{ // the list\n \"a\": [1, /* here */ \"x\"] }",
            "{\"a\": [1, \"x\"}",
        ] {
            check(reply, &expect);
        }
    }

    #[test]
    fn strings_keep_their_text() {
        check(r#"{"a": "He said "no", then left",}"#, &json!({"a": "He said \"no\", then left"}));
        check("{'a': 'it's late', 'b': 2}", &json!({"a": "it's late", "b": 2}));
        check("{\"a\": \"two\nlines\",}", &json!({"a": "two\nlines"}));
        check(r#"{"a": "\u00e9\ud83d\ude00\q\ud83d",}"#, &json!({"a": "é😀q\u{fffd}"}));
        check("{\"a\": \"x\"\n \"b\": \"y\"}", &json!({"a": "x", "b": "y"}));
    }

    #[test]
    fn what_is_cut_off_loses_the_last_item() {
        let whole = r#"{"units": [{"n": 1, "s": "a"}, {"n": 22, "s": "b"}]}"#;
        let second = whole.find("{\"n\": 22").expect("it is there");
        for end in 0..whole.len() {
            let found = find_values(&whole[..end]);
            if end == 0 {
                assert!(found.is_empty());
                continue;
            }
            let n_units = found[0].value.get("units").and_then(Value::as_array).map_or(0, Vec::len);
            let expect = usize::from(end >= second - 2) + usize::from(end >= whole.len() - 2);
            assert_eq!(n_units, expect, "{}", &whole[..end]);
            assert!(found[0].cut_off, "{}", &whole[..end]);
        }
        assert!(find_values(r#"{"units": [{"n": 1"#)[0].emptied);
        assert!(!find_values(r#"{"units": [{"n": 1}, {"#)[0].emptied);
    }

    #[test]
    fn depth_is_bounded_and_nothing_hangs() {
        for text in ["[".repeat(100_000), "{\"a\":".repeat(50_000), "[}".repeat(50_000), "{[".repeat(9_000)] {
            find_values(&text);
        }
    }
}
