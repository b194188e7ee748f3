//! The crate as its users see it.

mod exact;
mod traits;
#[cfg(feature = "weights")]
mod weights;
#[cfg(feature = "candle")]
mod minilm;
