//! The crate as its users call it.

#[cfg(feature = "http")]
#[expect(clippy::unwrap_used, reason = "what tests share is not marked as a test")]
mod http;
