//! fta-mem.
