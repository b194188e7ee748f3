//! The crate as its users see it.

#[cfg(feature = "cache")]
mod cached;
mod conformance;
mod exact;
#[cfg(feature = "faiss")]
mod faiss;
#[cfg(feature = "candle")]
mod minilm;
mod opened;
#[cfg(feature = "http")]
mod remote;
mod traits;
#[cfg(feature = "weights")]
mod weights;
