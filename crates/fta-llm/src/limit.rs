//! Asking not too much at once, nor too often.

use std::{
    collections::VecDeque,
    num::NonZeroUsize,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use tokio::sync::{Semaphore, SemaphorePermit};

use crate::{
    error::ModelError,
    model::{ChatReply, ChatRequest, LanguageModel},
    timer::{Clock, Sleep},
};

/// Lets at most so many requests through at once, and, if asked to, so many in any interval.
///
/// Requests pass in the order in which they came. A dropped request gives its place back, but counts as a start.
pub struct Limit<M> {
    model: M,
    places: Semaphore,
    rate: Option<Rate>,
}

struct Rate {
    n_starts: NonZeroUsize,
    interval: Duration,
    clock: Clock,
    sleep: Sleep,
    /// Times of the last `n_starts` starts, those to come too, in order.
    starts: Mutex<VecDeque<Duration>>,
}

impl<M: LanguageModel> Limit<M> {
    /// Lets at most `n_at_once` requests through to `model` at once.
    pub fn new(model: M, n_at_once: NonZeroUsize) -> Self {
        let n_places = n_at_once.get().min(Semaphore::MAX_PERMITS);
        Self { model, places: Semaphore::new(n_places), rate: None }
    }

    /// Also lets at most `n_starts` requests begin in any `interval`; `clock` and `sleep` go by the same time.
    pub fn with_rate(self, n_starts: NonZeroUsize, interval: Duration, clock: Clock, sleep: Sleep) -> Self {
        let rate = Rate { n_starts, interval, clock, sleep, starts: Mutex::default() };
        Self { rate: Some(rate), ..self }
    }

    async fn enter(&self) -> SemaphorePermit<'_> {
        let place = self.places.acquire().await.expect("the semaphore is never closed");
        // After the place: a request that waits for one would begin later than planned, together with others.
        if let Some(rate) = &self.rate
            && let Some(wait) = rate.reserve()
        {
            (rate.sleep)(wait).await;
        }
        place
    }
}

impl Rate {
    /// Plans a start and gives the time until then.
    fn reserve(&self) -> Option<Duration> {
        let mut starts = self.starts.lock().unwrap_or_else(PoisonError::into_inner);
        let now = (self.clock)();
        let mut start = now.max(starts.back().copied().unwrap_or_default());
        if starts.len() == self.n_starts.get()
            && let Some(oldest) = starts.pop_front()
        {
            start = start.max(oldest.saturating_add(self.interval));
        }
        starts.push_back(start);
        start.checked_sub(now).filter(|wait| !wait.is_zero())
    }
}

#[async_trait]
impl<M: LanguageModel> LanguageModel for Limit<M> {
    fn model_id(&self) -> &str {
        self.model.model_id()
    }

    async fn complete(&self, request: ChatRequest) -> Result<ChatReply, ModelError> {
        let _place = self.enter().await;
        self.model.complete(request).await
    }

    async fn complete_streaming(
        &self,
        request: ChatRequest,
        on_text: &mut (dyn for<'t> FnMut(&'t str) + Send),
    ) -> Result<ChatReply, ModelError> {
        let _place = self.enter().await;
        self.model.complete_streaming(request, on_text).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    };

    use super::*;

    /// Counts the requests that are with it at once.
    #[derive(Default)]
    struct Counting {
        now: AtomicUsize,
        most: AtomicUsize,
        all: AtomicUsize,
    }

    #[async_trait]
    impl LanguageModel for Counting {
        fn model_id(&self) -> &'static str {
            "m"
        }

        async fn complete(&self, _: ChatRequest) -> Result<ChatReply, ModelError> {
            let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(now, Ordering::SeqCst);
            self.all.fetch_add(1, Ordering::SeqCst);
            for _ in 0..5 {
                tokio::task::yield_now().await;
            }
            self.now.fetch_sub(1, Ordering::SeqCst);
            Ok("".into())
        }
    }

    fn request() -> ChatRequest {
        ChatRequest::new("s", Vec::new())
    }

    #[tokio::test]
    async fn no_more_than_so_many_are_at_work() {
        let counting = Arc::new(Counting::default());
        let limit = Arc::new(Limit::new(counting.clone(), NonZeroUsize::new(3).unwrap()));
        let ask = |limit: Arc<Limit<_>>| async move { limit.complete(request()).await };
        let tasks: Vec<_> = (0..20).map(|_| tokio::spawn(ask(limit.clone()))).collect();
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!(counting.most.load(Ordering::SeqCst), 3);
        assert_eq!(counting.all.load(Ordering::SeqCst), 20);
    }

    #[tokio::test]
    async fn a_dropped_request_gives_its_place_back() {
        let limit = Limit::new(Counting::default(), NonZeroUsize::MIN);
        for _ in 0..2 {
            let mut call = limit.complete(request());
            // One look begins the call; it is dropped while it is at work.
            std::future::poll_fn(|context| {
                assert!(call.as_mut().poll(context).is_pending());
                std::task::Poll::Ready(())
            })
            .await;
        }
        limit.complete(request()).await.unwrap();
    }

    #[tokio::test]
    async fn no_more_than_so_many_begin_in_an_interval() {
        // A clock that goes on only while somebody waits.
        let time = Arc::new(AtomicU64::new(0));
        let (read, passed) = (time.clone(), time.clone());
        let clock: Clock = Arc::new(move || Duration::from_millis(read.load(Ordering::SeqCst)));
        let sleep: Sleep = Arc::new(move |wait| {
            passed.fetch_add(u64::try_from(wait.as_millis()).unwrap(), Ordering::SeqCst);
            Box::pin(std::future::ready(()))
        });
        let two = NonZeroUsize::new(2).unwrap();
        let limit = Limit::new(Counting::default(), two).with_rate(two, Duration::from_secs(1), clock, sleep);
        let mut starts = Vec::new();
        for _ in 0..5 {
            limit.complete(request()).await.unwrap();
            starts.push(time.fetch_add(100, Ordering::SeqCst));
        }
        assert_eq!(starts, [0, 100, 1000, 1100, 2000]);
    }
}
