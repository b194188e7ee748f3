//! The crate as its users call it.

#[cfg(feature = "http")]
mod http;
