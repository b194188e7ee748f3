//! The steps of this crate by language model: rewriting the question and answering from the packet.
//!
//! Each asks with a prompt of its own (`prompts/*.md`), reads the reply as untrusted input, and answers with an error value
//! when there is none to use; falling back is the caller's.

mod answer;
mod packet;
mod rewrite;
#[cfg(test)]
mod tests;

pub use self::{
    answer::{AnswerStyle, LlmAnswerer, LlmAnswererConfig},
    rewrite::{LlmRewriter, LlmRewriterConfig},
};
