//! The crate as its users call it.

#[cfg(feature = "candle")]
mod candle;
#[cfg(feature = "http")]
#[expect(clippy::unwrap_used, reason = "what tests share is not marked as a test")]
mod http;
#[cfg(feature = "candle")]
mod tiny;
#[cfg(feature = "weights")]
mod weights;
