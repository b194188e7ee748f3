//! The crate as its users call it.

#[cfg(feature = "candle")]
mod candle;
#[cfg(feature = "candle")]
mod tiny;
#[cfg(feature = "weights")]
mod weights;
