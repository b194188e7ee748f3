//! fta-retrieve.
