//! The crate as its users see it.

mod conformance;
mod exact;
#[cfg(feature = "faiss")]
mod faiss;
#[cfg(feature = "candle")]
mod minilm;
mod opened;
mod traits;
#[cfg(feature = "weights")]
mod weights;
