//! How a step asks its model.

use crate::model::{ChatRequest, Message};

/// Sampling and limits of the calls of one step.
///
/// The paper asks at temperature 0.7 for construction and 0 for answers. The default here is 0 for both, so that a build
/// that is repeated gives the same memory.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct CallConfig {
    /// Sampling temperature, 0 (greedy) or more.
    pub temperature: f64,
    /// Seed of the sampling, for models that take one.
    pub seed: Option<u64>,
    /// Most tokens of the reply; `None` is the model's own limit.
    pub max_tokens: Option<u32>,
}

impl CallConfig {
    /// A request of `step` with these settings.
    pub fn request(&self, step: &str, messages: Vec<Message>) -> ChatRequest {
        let mut request = ChatRequest::new(step, messages);
        request.temperature = self.temperature;
        request.seed = self.seed;
        request.max_tokens = self.max_tokens;
        request
    }
}
