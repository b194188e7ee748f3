//! One reply: prompt, prefix, tokens, text.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use super::{
    cache::{PrefixCache, Sequence},
    grammar::{Constraint, Grammars},
    network::Network,
    sampling::Sampler,
    template::ChatTemplate,
    text::TextStream,
    tokenizer::Tokenizer,
};
use crate::{
    error::ModelError,
    model::{ChatReply, ChatRequest, FinishReason, Usage},
};

/// Tokens of a prompt that are worked on at a time; between them a call can be given up.
const CHUNK: usize = 128;

/// Where a reply of a model without a chat template ends: at the next heading.
const NEXT_HEADING: &str = "\n\nUser:";

/// What was saved by prompts that begin alike; counts since the model was loaded.
#[derive(Debug, Default)]
pub(super) struct PrefixCounters {
    pub(super) prompt_tokens: AtomicU64,
    pub(super) reused_tokens: AtomicU64,
}

/// Who a reply is for.
pub(super) struct Caller<'a> {
    /// Asked between tokens: whether nobody waits any more.
    pub(super) is_gone: &'a dyn Fn() -> bool,
    /// Takes text as it comes.
    pub(super) on_text: &'a mut dyn FnMut(&str),
}

/// A loaded model that replies to one request after the other.
pub(super) struct Generator {
    pub(super) network: Network,
    pub(super) tokenizer: Arc<Tokenizer>,
    pub(super) template: Arc<ChatTemplate>,
    pub(super) grammars: Grammars,
    pub(super) prefixes: PrefixCache,
    pub(super) counters: Arc<PrefixCounters>,
    /// Most tokens of prompt and reply together.
    pub(super) context: usize,
    pub(super) max_new_tokens: usize,
}

impl Generator {
    /// Replies to a request.
    ///
    /// # Errors
    /// As [`LanguageModel::complete`](crate::LanguageModel::complete); [`ModelError::Transient`] if the caller
    /// has gone.
    pub(super) fn reply(
        &mut self,
        request: &ChatRequest,
        caller: &mut Caller<'_>,
    ) -> Result<ChatReply, ModelError> {
        let prompt = prompt_tokens(&self.template, &self.tokenizer, request)?;
        let limit = self.reply_limit(prompt.len(), request.max_tokens)?;
        let constraint = request.schema.as_ref().map(|schema| self.grammars.start(schema)).transpose();
        let constraint =
            constraint.map_err(|reason| permanent(format!("the schema cannot be used: {reason}")))?;

        let mut sequence = self.prefixes.longest_prefix(&prompt);
        self.counters.prompt_tokens.fetch_add(prompt.len() as u64, Ordering::Relaxed);
        self.counters.reused_tokens.fetch_add(sequence.len() as u64, Ordering::Relaxed);
        let mut reply = Reply {
            text: TextStream::new((self.template.is_plain() && constraint.is_none()).then_some(NEXT_HEADING)),
            sampler: Sampler::new(request.temperature, request.seed.unwrap_or(0)),
            constraint,
            n_tokens: 0,
            limit,
        };
        let outcome = self.run(&prompt, &mut sequence, &mut reply, caller);
        // Also what was broken off is a prefix for the next call.
        self.prefixes.keep(sequence);
        let finish = outcome?;
        let usage = Usage { prompt_tokens: prompt.len() as u64, completion_tokens: reply.n_tokens as u64 };
        let (text, rest) = reply.text.finish();
        if !rest.is_empty() {
            (caller.on_text)(&rest);
        }
        Ok(ChatReply { text, finish, usage })
    }

    fn run(
        &mut self,
        prompt: &[u32],
        sequence: &mut Sequence,
        reply: &mut Reply,
        caller: &mut Caller<'_>,
    ) -> Result<FinishReason, ModelError> {
        let failed = |error: candle_core::Error| permanent(format!("a product failed: {error}"));
        let reused = sequence.len();
        for chunk in prompt[reused..].chunks(CHUNK) {
            if (caller.is_gone)() {
                return Err(given_up());
            }
            self.network.append(sequence, chunk).map_err(failed)?;
        }
        let mut logits = Vec::new();
        while reply.n_tokens < reply.limit {
            if (caller.is_gone)() {
                return Err(given_up());
            }
            self.network.logits(&mut logits).map_err(failed)?;
            let token = match reply.next(&logits, &self.tokenizer)? {
                Next::End => return Ok(FinishReason::Stop),
                Next::Last => {
                    (caller.on_text)(reply.text.take());
                    return Ok(FinishReason::Stop);
                }
                Next::Token(token) => token,
            };
            let piece = reply.text.take();
            if !piece.is_empty() {
                (caller.on_text)(piece);
            }
            if reply.n_tokens < reply.limit {
                self.network.append(sequence, &[token]).map_err(failed)?;
            }
        }
        Ok(FinishReason::Length)
    }

    fn reply_limit(&self, prompt: usize, wanted: Option<u32>) -> Result<usize, ModelError> {
        let room = self.context.saturating_sub(prompt);
        // A reply of no token is asked for by callers that only want the prompt counted.
        let needed = wanted.map_or(1, |wanted| wanted as usize);
        if needed > room {
            return Err(ModelError::ContextTooLong {
                limit: Some(self.context as u64),
                requested: Some((prompt + needed) as u64),
            });
        }
        Ok(wanted.map_or_else(|| self.max_new_tokens.min(room), |wanted| wanted as usize))
    }
}

/// The tokens of the prompt that a request becomes.
///
/// # Errors
/// [`ModelError::Permanent`] if the template refuses the messages or the text cannot be encoded.
pub(super) fn prompt_tokens(
    template: &ChatTemplate,
    tokenizer: &Tokenizer,
    request: &ChatRequest,
) -> Result<Vec<u32>, ModelError> {
    let pieces = template.render(&request.messages);
    let pieces =
        pieces.map_err(|reason| permanent(format!("its chat template refuses the messages: {reason}")))?;
    let tokens = tokenizer.encode(&pieces);
    let tokens = tokens.map_err(|reason| permanent(format!("the prompt cannot be encoded: {reason}")))?;
    if tokens.is_empty() {
        return Err(permanent("the prompt is empty".to_owned()));
    }
    Ok(tokens)
}

/// A reply in the making.
struct Reply {
    text: TextStream,
    sampler: Sampler,
    constraint: Option<Constraint>,
    n_tokens: usize,
    limit: usize,
}

enum Next {
    /// The reply ended before this token.
    End,
    /// The reply ended with this token.
    Last,
    Token(u32),
}

impl Reply {
    fn next(&mut self, logits: &[f32], tokenizer: &Tokenizer) -> Result<Next, ModelError> {
        let broken =
            |reason: String| permanent(format!("the reply could not be held to the schema: {reason}"));
        let allowed = self.constraint.as_mut().map(Constraint::allowed).transpose().map_err(broken)?;
        let token = self.sampler.choose(logits, allowed.as_ref());
        let token =
            token.ok_or_else(|| permanent("no token can follow; its weights must be damaged".to_owned()))?;
        let vocabulary = &tokenizer.vocabulary;
        if vocabulary.ends.contains(&token) {
            return Ok(Next::End);
        }
        self.n_tokens += 1;
        let is_whole = match &mut self.constraint {
            None => false,
            Some(constraint) => constraint.advance(token).map_err(broken)?,
        };
        let bytes = vocabulary.bytes.get(token as usize).map_or(&[][..], Vec::as_slice);
        let is_stopped = self.text.push(bytes);
        Ok(if is_whole || is_stopped { Next::Last } else { Next::Token(token) })
    }
}

fn permanent(message: String) -> ModelError {
    ModelError::Permanent { message }
}

fn given_up() -> ModelError {
    ModelError::Transient { message: "the reply was given up".to_owned() }
}
