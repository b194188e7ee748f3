//! Time for decorators that wait: passed in, so that no runtime and no clock is built in.

use std::{pin::Pin, sync::Arc, time::Duration};

/// Waits; tests pass one that does not.
pub type Sleep = Arc<dyn Fn(Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;

/// Time since some fixed moment; never goes back.
pub type Clock = Arc<dyn Fn() -> Duration + Send + Sync>;

/// Waits by the timer of the tokio runtime that the future runs on.
#[cfg(feature = "tokio")]
pub fn tokio_sleep() -> Sleep {
    Arc::new(|duration| Box::pin(tokio::time::sleep(duration)))
}

/// Reads tokio's clock, which tests can stop; it begins when this is called.
#[cfg(feature = "tokio")]
pub fn tokio_clock() -> Clock {
    let began = tokio::time::Instant::now();
    Arc::new(move || began.elapsed())
}
