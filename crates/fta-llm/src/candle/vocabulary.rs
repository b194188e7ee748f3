//! The tokens of a model: their bytes, and which of them are text.

use std::collections::BTreeSet;

use super::{error::GgufError, gguf::Gguf};

/// Names of tokens at which a reply ends, besides those that the file points at.
const END_NAMES: [&str; 10] = [
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<end_of_turn>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eom_id|>",
    "<|return|>",
    "<eos>",
    "</s>",
];

/// How text is written in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Each byte is a letter of GPT-2's alphabet.
    ByteLevel,
    /// Text with `▁` for spaces, and tokens for bytes that no other token has.
    SentencePiece,
}

/// What a token is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Text,
    /// Steers the model, never part of a text.
    Control,
    /// Text that is always one token.
    UserDefined,
    Byte,
    /// Padding of the table.
    Unused,
}

/// All tokens of a model, by id.
pub(super) struct Vocabulary {
    pub(super) alphabet: Alphabet,
    pub(super) kinds: Vec<TokenKind>,
    /// Names in the file.
    pub(super) names: Vec<String>,
    /// What each token adds to a text, in bytes; nothing for control tokens.
    pub(super) bytes: Vec<Vec<u8>>,
    pub(super) begin: Option<u32>,
    /// Whether prompts start with `begin`.
    pub(super) add_begin: bool,
    /// The end that the file names, or else one of `ends`.
    pub(super) end: u32,
    pub(super) ends: BTreeSet<u32>,
}

impl Vocabulary {
    pub(super) fn read(gguf: &Gguf) -> Result<Self, GgufError> {
        let key = |name: &str| format!("tokenizer.ggml.{name}");
        let model = gguf.text(&key("model")).ok_or_else(|| gguf.tokenizer("the file names none"))?;
        let alphabet = match model {
            "gpt2" => Alphabet::ByteLevel,
            "llama" => Alphabet::SentencePiece,
            other => return Err(gguf.tokenizer(format!("tokenizer `{other}` is not known here"))),
        };
        let names = gguf.texts(&key("tokens")).filter(|names| !names.is_empty());
        let names = names.ok_or_else(|| gguf.tokenizer("the file has no tokens"))?.to_vec();
        if u32::try_from(names.len()).is_err() {
            return Err(gguf.damaged("it has too many tokens"));
        }
        let kinds: Vec<TokenKind> = match gguf.integers(&key("token_type")) {
            None => vec![TokenKind::Text; names.len()],
            Some(codes) => codes.iter().map(|&code| kind(code)).collect(),
        };
        if kinds.len() != names.len() {
            return Err(gguf.damaged("kinds and names of its tokens differ in number"));
        }
        let letters = byte_letters();
        let bytes = names.iter().zip(&kinds).map(|(name, &kind)| token_bytes(name, kind, alphabet, &letters));
        let bytes = bytes.collect();
        let id = |name: &str| gguf.integer(&key(name)).filter(|&id| (id as usize) < names.len());
        let begin = id("bos_token_id");
        let mut ends: BTreeSet<u32> =
            ["eos_token_id", "eot_token_id", "eom_token_id"].into_iter().filter_map(id).collect();
        for (index, name) in names.iter().enumerate() {
            if kinds[index] != TokenKind::Text && END_NAMES.contains(&name.as_str()) {
                ends.insert(index as u32);
            }
        }
        let end = id("eos_token_id").or_else(|| ends.first().copied());
        let end = end.ok_or_else(|| gguf.tokenizer("the file names no token that ends a reply"))?;
        let pre = gguf.text(&key("pre"));
        // What llama.cpp takes where the file does not say.
        let usual =
            alphabet == Alphabet::SentencePiece || matches!(pre, Some("llama-bpe" | "llama3" | "llama-v3"));
        let add_begin = gguf.bool(&key("add_bos_token")).unwrap_or(usual) && begin.is_some();
        Ok(Self { alphabet, kinds, names, bytes, begin, add_begin, end, ends })
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn name(&self, id: Option<u32>) -> &str {
        id.and_then(|id| self.names.get(id as usize)).map_or("", String::as_str)
    }
}

fn kind(code: i64) -> TokenKind {
    match code {
        1 => TokenKind::Text,
        4 => TokenKind::UserDefined,
        5 => TokenKind::Unused,
        6 => TokenKind::Byte,
        // 2 is the unknown token, 3 are control tokens.
        _ => TokenKind::Control,
    }
}

fn token_bytes(name: &str, kind: TokenKind, alphabet: Alphabet, letters: &[Option<u8>]) -> Vec<u8> {
    let letter = |c: char| letters.get(c as usize).copied().flatten();
    match (kind, alphabet) {
        (TokenKind::Control | TokenKind::Unused, _) => Vec::new(),
        (TokenKind::Byte, _) => {
            let digits = name.strip_prefix("<0x").and_then(|rest| rest.strip_suffix('>'));
            digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()).into_iter().collect()
        }
        (TokenKind::Text, Alphabet::ByteLevel) => {
            let bytes: Option<Vec<u8>> = name.chars().map(letter).collect();
            bytes.unwrap_or_else(|| name.as_bytes().to_vec())
        }
        (TokenKind::UserDefined, Alphabet::ByteLevel) => name.as_bytes().to_vec(),
        (TokenKind::Text | TokenKind::UserDefined, Alphabet::SentencePiece) => {
            name.replace('▁', " ").into_bytes()
        }
    }
}

/// The byte for each letter of GPT-2's alphabet: printable Latin-1 stands for itself, the rest come after.
fn byte_letters() -> Vec<Option<u8>> {
    let mut letters = vec![None; 0x200];
    let mut next = 0x100;
    for byte in 0..=u8::MAX {
        let printable = matches!(byte, b'!'..=b'~' | 0xA1..=0xAC | 0xAE..=0xFF);
        let letter = if printable { usize::from(byte) } else { next };
        next += usize::from(!printable);
        letters[letter] = Some(byte);
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_in_their_alphabet() {
        let letters = byte_letters();
        assert_eq!(letters.iter().flatten().count(), 256);
        let check = |name: &str, kind, alphabet, expect: &[u8]| {
            assert_eq!(token_bytes(name, kind, alphabet, &letters), expect, "{name}");
        };
        check("Ġhello", TokenKind::Text, Alphabet::ByteLevel, b" hello");
        check("Ċ", TokenKind::Text, Alphabet::ByteLevel, b"\n");
        check("Ã©", TokenKind::Text, Alphabet::ByteLevel, "é".as_bytes());
        check("▁hello", TokenKind::Text, Alphabet::SentencePiece, b" hello");
        check("<0x0A>", TokenKind::Byte, Alphabet::SentencePiece, b"\n");
        check("<0xZZ>", TokenKind::Byte, Alphabet::SentencePiece, b"");
        check("<eos>", TokenKind::Control, Alphabet::SentencePiece, b"");
    }
}
