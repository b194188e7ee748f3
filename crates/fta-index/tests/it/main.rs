//! The crate as its users see it.

#[cfg(feature = "cache")]
mod cached;
mod exact;
#[cfg(feature = "candle")]
mod minilm;
#[cfg(feature = "http")]
mod remote;
mod traits;
#[cfg(feature = "weights")]
mod weights;
