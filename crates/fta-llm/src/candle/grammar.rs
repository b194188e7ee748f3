//! Decoding held to a JSON schema.

use std::sync::Arc;

use llguidance::{
    Matcher, ParserFactory,
    api::TopLevelGrammar,
    earley::SlicedBiasComputer,
    toktrie::{InferenceCapabilities, SimpleVob, TokEnv, TokRxInfo, TokTrie, TokenId, TokenizerEnv},
};
use serde_json::{Value, json};

use super::{
    tokenizer::Tokenizer,
    vocabulary::{TokenKind, Vocabulary},
};

/// Schemas that are kept compiled.
const MOST_SCHEMAS: usize = 32;

/// Compiles schemas for one vocabulary and keeps the last ones.
pub(super) struct Grammars {
    tokenizer: Arc<Tokenizer>,
    /// Made when the first schema comes, since it takes a while.
    factory: Option<ParserFactory>,
    /// Schemas as text with their untouched parsers; the one used last is last.
    compiled: Vec<(String, Matcher)>,
}

impl Grammars {
    pub(super) fn new(tokenizer: Arc<Tokenizer>) -> Self {
        Self { tokenizer, factory: None, compiled: Vec::new() }
    }

    /// A parser for a reply that follows the schema, in compact form.
    ///
    /// # Errors
    /// Why the schema cannot be used.
    pub(super) fn start(&mut self, schema: &Value) -> Result<Constraint, String> {
        let text = schema.to_string();
        if let Some(at) = self.compiled.iter().position(|(known, _)| *known == text) {
            let entry = self.compiled.remove(at);
            self.compiled.push(entry);
        } else {
            let matcher = self.compile(schema)?;
            if self.compiled.len() == MOST_SCHEMAS {
                self.compiled.remove(0);
            }
            self.compiled.push((text, matcher));
        }
        let (_, matcher) = self.compiled.last().expect("one was just put there");
        Ok(Constraint(matcher.deep_clone()))
    }

    fn compile(&mut self, schema: &Value) -> Result<Matcher, String> {
        let mut schema = match schema {
            Value::Object(_) => schema.clone(),
            // `true` and `false` are schemas too, but options can only be put into objects.
            _ => json!({ "allOf": [schema] }),
        };
        schema["x-guidance"] =
            json!({ "whitespace_flexible": false, "item_separator": ",", "key_separator": ":" });
        let factory = match &self.factory {
            Some(factory) => factory,
            None => self.factory.insert(factory(&self.tokenizer)?),
        };
        let parser = factory.create_parser(TopLevelGrammar::from_json_schema(schema));
        let mut matcher = Matcher::new(Ok(parser.map_err(|error| said(&error))?));
        matcher.compute_mask().map_err(|error| said(&error))?;
        Ok(matcher)
    }
}

/// The state of one reply.
pub(super) struct Constraint(Matcher);

impl Constraint {
    /// The tokens that may come next.
    ///
    /// # Errors
    /// What the parser says.
    pub(super) fn allowed(&mut self) -> Result<SimpleVob, String> {
        self.0.compute_mask().map_err(|error| said(&error))
    }

    /// Goes on by a token; true if the reply is whole and nothing can follow.
    ///
    /// # Errors
    /// What the parser says.
    pub(super) fn advance(&mut self, token: u32) -> Result<bool, String> {
        self.0.consume_token(token).map_err(|error| said(&error))?;
        Ok(self.0.is_stopped())
    }
}

fn factory(tokenizer: &Arc<Tokenizer>) -> Result<ParserFactory, String> {
    let environment: TokEnv =
        Arc::new(Environment { trie: trie(&tokenizer.vocabulary), tokenizer: Arc::clone(tokenizer) });
    let slices = SlicedBiasComputer::general_slices();
    let mut factory = ParserFactory::new(&environment, InferenceCapabilities::default(), &slices)
        .map_err(|error| said(&error))?;
    // Errors would quote the reply, which may quote a dialogue.
    factory.quiet().limits_mut().verbose_errors = false;
    Ok(factory)
}

fn trie(vocabulary: &Vocabulary) -> TokTrie {
    let tokens = vocabulary.bytes.iter().zip(&vocabulary.kinds).zip(&vocabulary.names);
    let words: Vec<Vec<u8>> = tokens
        .map(|((bytes, kind), name)| match kind {
            TokenKind::Control => [&[TokTrie::SPECIAL_TOKEN_MARKER], name.as_bytes()].concat(),
            _ => bytes.clone(),
        })
        .collect();
    TokTrie::from(&TokRxInfo::new(words.len() as u32, vocabulary.end), &words)
}

struct Environment {
    trie: TokTrie,
    tokenizer: Arc<Tokenizer>,
}

impl TokenizerEnv for Environment {
    fn tok_trie(&self) -> &TokTrie {
        &self.trie
    }

    fn tokenize_bytes(&self, bytes: &[u8]) -> Vec<TokenId> {
        let encode = |text: &str| {
            // What cannot be encoded is spelled by the trie itself.
            self.tokenizer.encode_plain(text).unwrap_or_else(|_| self.trie.greedy_tokenize(text.as_bytes()))
        };
        self.trie.tokenize_with_greedy_fallback(bytes, encode)
    }
}

/// The first line: what follows may quote the reply.
fn said(error: &impl std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
