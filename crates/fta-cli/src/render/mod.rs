//! From values of the facade to text for people ([`mod@unit`], [`session`], [`mod@table`]) and to JSON ([`wire`]).

pub(crate) mod answer;
pub(crate) mod date;
pub(crate) mod session;
pub(crate) mod table;
pub(crate) mod unit;
pub(crate) mod wire;
