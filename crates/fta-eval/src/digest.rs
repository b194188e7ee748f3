//! Checksums of data, written down with what was made of it.

use std::fmt::Write as _;

use sha2::Digest as _;

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(64);
    for byte in sha2::Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}
