//! Asking again after errors that pass.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use async_trait::async_trait;

use crate::{
    error::ModelError,
    model::{ChatReply, ChatRequest, LanguageModel},
    timer::Sleep,
};

/// How often and when to ask again.
///
/// The wait before attempt `k + 1` is `first_delay * factor^(k - 1)`, at most `max_delay`, less a share of up to `jitter`.
/// A time that the server names goes before that: it is waited for in full, and the share is added.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryPolicy {
    /// How often to ask in all, 1 or more; default 5.
    pub max_attempts: u32,
    /// Wait after the first error; default 0.5 s.
    pub first_delay: Duration,
    /// Growth of the wait from error to error, 1 or more; default 2.
    pub factor: f64,
    /// Longest wait of our own; default 30 s.
    pub max_delay: Duration,
    /// Longest wait that a server may ask for, else its error is final; default 2 min.
    pub max_retry_after: Duration,
    /// Largest share of a wait that is left to chance, in `[0, 1]`, so that calls which failed together do not come
    /// back together; default 0.25.
    pub jitter: f64,
    /// Seed of the chance: equal seeds and equal orders of calls give equal waits. Default 0.
    pub seed: u64,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self {
            max_attempts: 5,
            first_delay: Duration::from_millis(500),
            factor: 2.0,
            max_delay: Duration::from_secs(30),
            max_retry_after: Duration::from_mins(2),
            jitter: 0.25,
            seed: 0,
        }
    }
}

/// Why a policy cannot be followed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RetryPolicyError {
    /// Not a single attempt is allowed.
    #[error("number of attempts is 0")]
    NoAttempt,
    /// The factor makes waits shorter, or is no number.
    #[error("factor `{factor}` of the waits is not a number from 1")]
    Factor {
        /// The factor.
        factor: f64,
    },
    /// The share is none.
    #[error("jitter `{jitter}` is not a number from 0 to 1")]
    Jitter {
        /// The share.
        jitter: f64,
    },
}

impl RetryPolicy {
    fn validate(&self) -> Result<(), RetryPolicyError> {
        if self.max_attempts == 0 {
            return Err(RetryPolicyError::NoAttempt);
        }
        if !self.factor.is_finite() || self.factor < 1.0 {
            return Err(RetryPolicyError::Factor { factor: self.factor });
        }
        if !(0.0..=1.0).contains(&self.jitter) {
            return Err(RetryPolicyError::Jitter { jitter: self.jitter });
        }
        Ok(())
    }

    /// The wait after `attempt` (from 1) of the `call`-th call ended in `error`; `None` if that is final.
    fn wait(&self, error: &ModelError, attempt: u32, call: u64) -> Option<Duration> {
        if !error.is_retryable() || attempt >= self.max_attempts {
            return None;
        }
        let share = self.jitter * chance(self.seed, call, attempt);
        match error {
            ModelError::RateLimited { retry_after: Some(asked) } if !asked.is_zero() => {
                (*asked <= self.max_retry_after).then(|| *asked + self.first_delay.mul_f64(share))
            }
            _ => Some(self.delay(attempt).mul_f64(1.0 - share)),
        }
    }

    fn delay(&self, attempt: u32) -> Duration {
        let exponent = i32::try_from(attempt - 1).unwrap_or(i32::MAX);
        let seconds = self.first_delay.as_secs_f64() * self.factor.powi(exponent);
        // Infinite where the power overflows, not a number where nothing is multiplied by that.
        Duration::try_from_secs_f64(seconds.min(self.max_delay.as_secs_f64())).unwrap_or(self.max_delay)
    }
}

/// A number in `[0, 1)` from a seed and two counts, by one round of SplitMix64 each.
fn chance(seed: u64, call: u64, attempt: u32) -> f64 {
    let mut state = seed;
    for part in [call, u64::from(attempt)] {
        state = state.wrapping_add(part).wrapping_add(0x9e37_79b9_7f4a_7c15);
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        state ^= state >> 31;
    }
    (state >> 11) as f64 / (1_u64 << 53) as f64
}

/// Asks a model again when its error passes with time ([`ModelError::is_retryable`]).
///
/// A reply that is not in the form asked for is not its business: the same request may get the same reply. A streamed
/// reply is asked for again only as long as none of its text was shown.
pub struct Retry<M> {
    model: M,
    policy: RetryPolicy,
    sleep: Sleep,
    n_calls: AtomicU64,
}

impl<M: LanguageModel> Retry<M> {
    /// Asks `model` by `policy`, and waits by `sleep`.
    ///
    /// # Errors
    /// [`RetryPolicyError`] if the policy cannot be followed.
    pub fn new(model: M, policy: RetryPolicy, sleep: Sleep) -> Result<Self, RetryPolicyError> {
        policy.validate()?;
        Ok(Self { model, policy, sleep, n_calls: AtomicU64::new(0) })
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Retry<M> {
    fn model_id(&self) -> &str {
        self.model.model_id()
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        let call = self.n_calls.fetch_add(1, Ordering::Relaxed);
        let mut attempt = 1;
        loop {
            let error = match self.model.complete(request.clone()).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let Some(wait) = self.policy.wait(&error, attempt, call) else { return Err(error) };
            (self.sleep)(wait).await;
            attempt += 1;
        }
    }

    async fn complete_streaming(
        &self,
        request: ChatRequest,
        on_text: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatReply, ModelError> {
        let call = self.n_calls.fetch_add(1, Ordering::Relaxed);
        let mut attempt = 1;
        let mut is_shown = false;
        loop {
            let mut show = |text: &str| {
                is_shown |= !text.is_empty();
                on_text(text);
            };
            let error = match self.model.complete_streaming(request.clone(), &mut show).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            let wait = self.policy.wait(&error, attempt, call).filter(|_| !is_shown);
            let Some(wait) = wait else { return Err(error) };
            (self.sleep)(wait).await;
            attempt += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::scripted::ScriptedModel;

    fn transient() -> ModelError {
        ModelError::Transient { message: "down".to_owned() }
    }

    fn limited(seconds: u64) -> ModelError {
        ModelError::RateLimited { retry_after: Some(Duration::from_secs(seconds)) }
    }

    fn plain() -> RetryPolicy {
        RetryPolicy { jitter: 0.0, max_delay: Duration::from_secs(2), ..RetryPolicy::default() }
    }

    /// Asks once and gives the outcome, the waits in milliseconds and the replies that are left.
    async fn ask(policy: RetryPolicy, errors: &[ModelError]) -> (Result<String, ModelError>, Vec<u128>) {
        let waits: Arc<Mutex<Vec<u128>>> = Arc::default();
        let written = waits.clone();
        let sleep: Sleep = Arc::new(move |wait| {
            written.lock().unwrap().push(wait.as_millis());
            Box::pin(std::future::ready(()))
        });
        let model =
            errors.iter().fold(ScriptedModel::new("m"), |model, error| model.fail("s", error.clone()));
        let retry = Retry::new(model.reply("s", "at last"), policy, sleep).unwrap();
        let outcome = retry.complete(ChatRequest::new("s", Vec::new())).await;
        let waits = waits.lock().unwrap().clone();
        (outcome.map(|reply| reply.text), waits)
    }

    #[tokio::test]
    async fn waits_grow_up_to_the_longest() {
        let (outcome, waits) = ask(plain(), &vec![transient(); 4]).await;
        assert_eq!(outcome.unwrap(), "at last");
        assert_eq!(waits, [500, 1000, 2000, 2000]);
        let (outcome, waits) = ask(plain(), &vec![transient(); 5]).await;
        assert_eq!(outcome, Err(transient()));
        assert_eq!(waits.len(), 4);
    }

    #[tokio::test]
    async fn a_server_is_waited_for_unless_it_asks_too_much() {
        let unsaid = ModelError::RateLimited { retry_after: None };
        let (outcome, waits) = ask(plain(), &[limited(7), unsaid, limited(0)]).await;
        assert_eq!(outcome.unwrap(), "at last");
        assert_eq!(waits, [7000, 1000, 2000]);
        let (outcome, waits) = ask(plain(), &[limited(121)]).await;
        assert_eq!((outcome, waits), (Err(limited(121)), Vec::new()));
    }

    #[tokio::test]
    async fn lasting_errors_are_final() {
        let lasting = [
            ModelError::Permanent { message: "no".to_owned() },
            ModelError::InvalidOutput { message: "no".to_owned(), reply: String::new() },
            ModelError::ContextTooLong { limit: None, requested: None },
        ];
        for error in lasting {
            assert_eq!(ask(plain(), std::slice::from_ref(&error)).await, (Err(error), Vec::new()));
        }
    }

    #[tokio::test]
    async fn chance_shortens_our_waits_and_lengthens_the_servers() {
        let policy = RetryPolicy { jitter: 0.5, ..plain() };
        let errors = [transient(), limited(3)];
        let (_, waits) = ask(policy.clone(), &errors).await;
        assert!((250..500).contains(&waits[0]) && (3000..3250).contains(&waits[1]), "{waits:?}");
        assert_eq!(ask(policy.clone(), &errors).await.1, waits);
        assert_ne!(ask(RetryPolicy { seed: 1, ..policy.clone() }, &errors).await.1, waits);
        let of_calls: Vec<_> = (0..8).map(|call| policy.wait(&transient(), 1, call)).collect();
        assert!(of_calls.windows(2).all(|pair| pair[0] != pair[1]), "{of_calls:?}");
    }

    #[test]
    fn no_policy_overflows() {
        let policy = RetryPolicy {
            max_attempts: u32::MAX,
            factor: f64::MAX,
            first_delay: Duration::ZERO,
            max_delay: Duration::MAX,
            ..RetryPolicy::default()
        };
        for attempt in [1, 2, 1000, u32::MAX - 1] {
            assert!(policy.wait(&transient(), attempt, u64::MAX).is_some());
        }
    }

    #[test]
    fn policies_are_checked() {
        let refused = |policy: RetryPolicy| policy.validate().unwrap_err();
        assert_eq!(refused(RetryPolicy { max_attempts: 0, ..plain() }), RetryPolicyError::NoAttempt);
        assert_eq!(refused(RetryPolicy { factor: 0.5, ..plain() }), RetryPolicyError::Factor { factor: 0.5 });
        for jitter in [-0.1, 1.1, f64::NAN] {
            assert!(matches!(refused(RetryPolicy { jitter, ..plain() }), RetryPolicyError::Jitter { .. }));
        }
    }

    /// Shows a part, then breaks; whole the second time.
    struct Breaking(AtomicU64, &'static str);

    #[async_trait]
    impl LanguageModel for Breaking {
        fn model_id(&self) -> &'static str {
            "m"
        }

        async fn complete(&self, _: ChatRequest) -> Result<ChatReply, ModelError> {
            if self.0.fetch_add(1, Ordering::Relaxed) == 0 { Err(transient()) } else { Ok("whole".into()) }
        }

        async fn complete_streaming(
            &self,
            request: ChatRequest,
            on_text: &mut (dyn for<'t> FnMut(&'t str) + Send),
        ) -> Result<ChatReply, ModelError> {
            let outcome = self.complete(request).await;
            on_text(outcome.as_ref().map_or(self.1, |reply| &reply.text));
            outcome
        }
    }

    #[tokio::test]
    async fn shown_text_is_not_shown_twice() {
        for (part, shown, is_ok) in [("", "whole", true), ("who", "who", false)] {
            let sleep: Sleep = Arc::new(|_| Box::pin(std::future::ready(())));
            let retry = Retry::new(Breaking(AtomicU64::new(0), part), plain(), sleep).unwrap();
            let mut text = String::new();
            let mut show = |piece: &str| text.push_str(piece);
            let outcome = retry.complete_streaming(ChatRequest::new("s", Vec::new()), &mut show).await;
            assert_eq!((outcome.is_ok(), text.as_str()), (is_ok, shown));
        }
    }
}
