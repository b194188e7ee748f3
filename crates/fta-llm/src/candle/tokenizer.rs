//! Text to tokens and back, by the tables of a model file.
//!
//! Text is of two kinds: what the chat template wrote, in which names of control tokens are those tokens, and what
//! messages say, which is only ever text.

use std::{
    cmp::Ordering,
    collections::{BinaryHeap, HashMap},
};

use tokenizers::{
    Tokenizer as Pipeline,
    models::bpe::{BPE, Vocab},
    normalizers::unicode::NFC,
    pre_tokenizers::{
        PreTokenizerWrapper,
        byte_level::ByteLevel,
        digits::Digits,
        sequence::Sequence,
        split::{Split, SplitPattern},
    },
    tokenizer::SplitDelimiterBehavior,
};

use super::{
    error::GgufError,
    gguf::Gguf,
    vocabulary::{Alphabet, TokenKind, Vocabulary},
};

const QWEN2: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";
const LLAMA3: &str = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+";

/// A part of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    /// Written by the chat template: control tokens may be named.
    Template(String),
    /// Said in a message: plain text, whatever it looks like.
    Content(String),
}

/// Encodes prompts and decodes replies.
pub(super) struct Tokenizer {
    pub(super) vocabulary: Vocabulary,
    encoder: Encoder,
    /// All tokens that a template may name, and those that stand for themselves in any text.
    in_templates: Names,
    in_texts: Names,
    space_first: bool,
}

enum Encoder {
    Pairs(Box<Pipeline>),
    Scores(Scores),
}

impl Tokenizer {
    pub(super) fn read(gguf: &Gguf) -> Result<Self, GgufError> {
        let vocabulary = Vocabulary::read(gguf)?;
        let encoder = match vocabulary.alphabet {
            Alphabet::ByteLevel => Encoder::Pairs(Box::new(pairs(gguf, &vocabulary)?)),
            Alphabet::SentencePiece => Encoder::Scores(Scores::read(gguf, &vocabulary)?),
        };
        let template = gguf.text("tokenizer.chat_template").unwrap_or_default();
        let named = |kinds: &'static [TokenKind]| {
            let tokens = vocabulary.names.iter().zip(&vocabulary.kinds).zip(0_u32..);
            tokens.filter(|((_, kind), _)| kinds.contains(kind)).map(|((name, _), id)| (name.clone(), id))
        };
        let in_templates = Names::new(named(&[TokenKind::Control, TokenKind::UserDefined]));
        // Byte-level encoders can write all texts, so they need no token that stands for itself; of the others'
        // those that steer the model stay out.
        let in_texts = match vocabulary.alphabet {
            Alphabet::ByteLevel => Names::new([].into_iter()),
            Alphabet::SentencePiece => Names::new(named(&[TokenKind::UserDefined]).filter(|(name, id)| {
                name.trim().is_empty() || !(vocabulary.ends.contains(id) || template.contains(name))
            })),
        };
        let space_first = vocabulary.alphabet == Alphabet::SentencePiece
            && gguf.bool("tokenizer.ggml.add_space_prefix").unwrap_or(true);
        Ok(Self { vocabulary, encoder, in_templates, in_texts, space_first })
    }

    /// The tokens of a prompt. Neighbouring texts are encoded as one, as if they had been written in one go.
    ///
    /// # Errors
    /// What the encoder says.
    pub(super) fn encode(&self, pieces: &[Piece]) -> Result<Vec<u32>, String> {
        let mut tokens = Vec::new();
        let mut text = String::new();
        let mut after_control = true;
        for piece in pieces {
            let template = match piece {
                Piece::Content(content) => {
                    text.push_str(content);
                    continue;
                }
                Piece::Template(template) => template,
            };
            for part in self.in_templates.split(template) {
                match part {
                    Part::Text(part) => text.push_str(part),
                    Part::Token(id) => {
                        self.encode_text(&text, after_control, &mut tokens)?;
                        text.clear();
                        tokens.push(id);
                        after_control = true;
                    }
                }
            }
        }
        self.encode_text(&text, after_control, &mut tokens)?;
        if let Some(begin) = self.vocabulary.begin.filter(|_| self.vocabulary.add_begin)
            && tokens.first() != Some(&begin)
        {
            tokens.insert(0, begin);
        }
        Ok(tokens)
    }

    /// The tokens of a plain text, nothing else.
    pub(super) fn encode_plain(&self, text: &str) -> Result<Vec<u32>, String> {
        let mut tokens = Vec::new();
        self.encode_text(text, false, &mut tokens)?;
        Ok(tokens)
    }

    fn encode_text(&self, text: &str, after_control: bool, tokens: &mut Vec<u32>) -> Result<(), String> {
        if text.is_empty() {
            return Ok(());
        }
        let mut first = after_control && self.space_first;
        for part in self.in_texts.split(text) {
            match (part, &self.encoder) {
                (Part::Token(id), _) => tokens.push(id),
                (Part::Text(part), Encoder::Pairs(pipeline)) => {
                    let encoding = pipeline.encode_fast(part, false).map_err(|error| error.to_string())?;
                    tokens.extend_from_slice(encoding.get_ids());
                }
                (Part::Text(part), Encoder::Scores(scores)) => {
                    let spaced = if first { format!(" {part}") } else { part.to_owned() };
                    scores.encode(&spaced, tokens)?;
                }
            }
            first = false;
        }
        Ok(())
    }
}

/// The encoder that merges pairs by rank.
fn pairs(gguf: &Gguf, vocabulary: &Vocabulary) -> Result<Pipeline, GgufError> {
    let merges =
        gguf.texts("tokenizer.ggml.merges").ok_or_else(|| gguf.tokenizer("the file has no merges"))?;
    let merges: Option<Vec<(String, String)>> = merges
        .iter()
        .map(|merge| merge.split_once(' ').map(|(left, right)| (left.to_owned(), right.to_owned())))
        .collect();
    let merges = merges.ok_or_else(|| gguf.tokenizer("a merge is not of two parts"))?;
    // Without the control tokens, so that no text can become one.
    let tokens = vocabulary.names.iter().zip(&vocabulary.kinds).zip(0_u32..);
    let table: Vocab = tokens
        .filter(|((_, kind), _)| **kind == TokenKind::Text)
        .map(|((name, _), id)| (name.clone(), id))
        .collect();
    let pre = gguf.text("tokenizer.ggml.pre").unwrap_or("default");
    let llama = matches!(pre, "llama-bpe" | "llama3" | "llama-v3");
    let bpe = BPE::builder().vocab_and_merges(table, merges).ignore_merges(llama).build();
    let mut pipeline = Pipeline::new(bpe.map_err(|error| gguf.tokenizer(error.to_string()))?);
    let split = |pattern: &str| -> Result<PreTokenizerWrapper, GgufError> {
        let pattern = SplitPattern::Regex(pattern.to_owned());
        let split = Split::new(pattern, SplitDelimiterBehavior::Isolated, false);
        Ok(split.map_err(|error| gguf.tokenizer(error.to_string()))?.into())
    };
    let letters = |regex: bool| PreTokenizerWrapper::from(ByteLevel::new(false, true, regex));
    let steps = match pre {
        "qwen2" | "deepseek-r1-qwen" => vec![split(QWEN2)?, letters(false)],
        _ if llama => vec![split(LLAMA3)?, letters(false)],
        "smollm" => vec![Digits::new(true).into(), letters(true)],
        "default" | "gpt-2" => vec![letters(true)],
        other => {
            return Err(gguf.tokenizer(format!("its way of splitting words, `{other}`, is not known here")));
        }
    };
    pipeline.with_pre_tokenizer(Some(Sequence::new(steps)));
    if pre == "qwen2" {
        pipeline.with_normalizer(Some(NFC)).map_err(|error| gguf.tokenizer(error.to_string()))?;
    }
    Ok(pipeline)
}

/// The encoder that merges the pair with the best score, as SentencePiece does.
struct Scores {
    /// Token and score by text, with `▁` for spaces.
    table: HashMap<String, (u32, f32)>,
    /// Tokens of single bytes.
    bytes: Vec<Option<u32>>,
}

impl Scores {
    fn read(gguf: &Gguf, vocabulary: &Vocabulary) -> Result<Self, GgufError> {
        let scores = gguf.floats("tokenizer.ggml.scores").filter(|scores| scores.len() == vocabulary.len());
        let scores = scores.ok_or_else(|| gguf.tokenizer("its tokens have no scores"))?;
        let mut table = HashMap::new();
        let mut bytes = vec![None; 256];
        for (index, (name, kind)) in vocabulary.names.iter().zip(&vocabulary.kinds).enumerate() {
            match (kind, &vocabulary.bytes[index][..]) {
                (TokenKind::Text, _) => {
                    table.entry(name.clone()).or_insert((index as u32, scores[index]));
                }
                (TokenKind::Byte, &[byte]) => bytes[usize::from(byte)] = Some(index as u32),
                _ => {}
            }
        }
        Ok(Self { table, bytes })
    }

    fn encode(&self, text: &str, tokens: &mut Vec<u32>) -> Result<(), String> {
        let text = text.replace(' ', "▁");
        // Parts of the text as a list that shrinks: `next` is the start of the following part.
        let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
        let n = starts.len() - 1;
        let mut parts: Vec<Symbol> = (0..n)
            .map(|i| Symbol {
                from: starts[i],
                to: starts[i + 1],
                before: i.checked_sub(1),
                after: (i + 1 < n).then_some(i + 1),
            })
            .collect();
        let mut queue = BinaryHeap::new();
        let propose =
            |parts: &[Symbol], left: Option<usize>, right: Option<usize>, queue: &mut BinaryHeap<Merge>| {
                let (Some(left), Some(right)) = (left, right) else { return };
                let (from, to) = (parts[left].from, parts[right].to);
                if let Some(&(_, score)) = self.table.get(&text[from..to]) {
                    queue.push(Merge { score, left, right, length: to - from });
                }
            };
        for right in 1..n {
            propose(&parts, Some(right - 1), Some(right), &mut queue);
        }
        while let Some(Merge { left, right, length, .. }) = queue.pop() {
            let (a, b) = (&parts[left], &parts[right]);
            // One of the two has been merged with another meanwhile.
            if a.is_gone() || b.is_gone() || b.to - a.from != length || a.after != Some(right) {
                continue;
            }
            let after = b.after;
            parts[left].to = parts[right].to;
            parts[left].after = after;
            parts[right].to = parts[right].from;
            if let Some(after) = after {
                parts[after].before = Some(left);
            }
            propose(&parts, parts[left].before, Some(left), &mut queue);
            propose(&parts, Some(left), after, &mut queue);
        }
        for part in parts.iter().filter(|part| !part.is_gone()) {
            let part = &text[part.from..part.to];
            match self.table.get(part) {
                Some(&(id, _)) => tokens.push(id),
                None => {
                    let spelled: Option<Vec<u32>> =
                        part.bytes().map(|byte| self.bytes[usize::from(byte)]).collect();
                    tokens.extend(spelled.ok_or("the vocabulary has no token for a byte of the text")?);
                }
            }
        }
        Ok(())
    }
}

struct Symbol {
    from: usize,
    to: usize,
    before: Option<usize>,
    after: Option<usize>,
}

impl Symbol {
    fn is_gone(&self) -> bool {
        self.from == self.to
    }
}

/// A pair that could become one token; the best score comes first, then the leftmost.
#[derive(PartialEq)]
struct Merge {
    score: f32,
    left: usize,
    right: usize,
    length: usize,
}

impl Eq for Merge {}

impl Ord for Merge {
    fn cmp(&self, other: &Self) -> Ordering {
        self.score.total_cmp(&other.score).then(other.left.cmp(&self.left))
    }
}

impl PartialOrd for Merge {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Names to be found in text: the leftmost, and of those the longest.
struct Names {
    /// By first byte, longest first.
    by_start: HashMap<u8, Vec<(String, u32)>>,
}

enum Part<'a> {
    Text(&'a str),
    Token(u32),
}

impl Names {
    fn new(names: impl Iterator<Item = (String, u32)>) -> Self {
        let mut by_start: HashMap<u8, Vec<(String, u32)>> = HashMap::new();
        for (name, id) in names {
            if let Some(&first) = name.as_bytes().first() {
                by_start.entry(first).or_default().push((name, id));
            }
        }
        for names in by_start.values_mut() {
            names.sort_by(|(a, _), (b, _)| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        }
        Self { by_start }
    }

    fn split<'a>(&self, text: &'a str) -> Vec<Part<'a>> {
        let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
        while at < text.len() {
            let candidates = self.by_start.get(&text.as_bytes()[at]);
            let found = candidates.and_then(|names| {
                names.iter().find(|(name, _)| text.as_bytes()[at..].starts_with(name.as_bytes()))
            });
            match found {
                None => at += 1,
                Some((name, id)) => {
                    if from < at {
                        parts.push(Part::Text(&text[from..at]));
                    }
                    parts.push(Part::Token(*id));
                    at += name.len();
                    from = at;
                }
            }
        }
        if from < text.len() {
            parts.push(Part::Text(&text[from..]));
        }
        parts
    }
}
