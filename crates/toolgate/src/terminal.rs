//! The terminal a person sits at: single keys, lines, its size, and the way back to how it was.

mod input;
mod mode;
mod screen;

pub(crate) use input::{Input, Keyboard, Withdrawal};
pub(crate) use mode::Raw;
pub(crate) use screen::{Paper, Size};
