//! A hash that never changes, for what is stored.

/// FNV-1a: stored, so it must not change between versions as the standard library's hasher may.
pub(crate) struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    /// Adds a field and its length, so that "ab", "c" and "a", "bc" differ.
    pub(crate) fn field(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The hash of all fields so far.
    pub(crate) fn value(&self) -> u64 {
        self.0
    }
}
