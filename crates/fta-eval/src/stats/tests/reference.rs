//! Values of other programs.
