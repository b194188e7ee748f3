//! fta-llm.
