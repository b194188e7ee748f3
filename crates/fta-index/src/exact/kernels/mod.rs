//! Scores of rows for the widest vector unit that the machine has, chosen at run time.

#![expect(unsafe_code, reason = "vector instructions chosen at run time; every block states why it is sound")]

mod int8;
mod single;

pub(super) use int8::{Int8Kernel, PANEL_ROWS};
pub(super) use single::F32Kernel;
