//! What a shell line would run, found out before it runs.
//!
//! [`read()`] is the door. A line passes the [`bytes`] check, then two readers
//! look at it: [`gate`], which is ours and accepts only what it understands
//! word by word, and [`syntax`], which stands on a full parser. What the gate
//! accepts and the parser confirms is literal, and can be written down again
//! with every word quoted by [`render()`]. [`runs`] tells which commands a
//! command starts in turn, [`look()`] which commands only look and at what, and
//! [`risks`] what is dangerous about them.

pub mod bytes;
pub mod command;
mod content;
pub mod edits;
pub mod gate;
pub mod inputs;
pub mod parts;
pub mod reading;
pub mod readonly;
pub mod render;
pub mod risk;
#[cfg(test)]
mod sample;
pub mod syntax;
pub mod wrapper;

pub use command::{Assignment, Command, Direction, Line, Reading, Redirect, Values, Word};
pub(crate) use content::{Content, content};
pub use edits::edits;
pub use inputs::{Inputs, inputs, program_inputs};
pub use parts::{Part, parts};
pub use reading::read;
pub use readonly::{Look, PathOperand, Reach, look};
pub use render::{Expansion, render};
pub use risk::{Phase, RiskKind, ShellRisk, risks};
pub use syntax::{Followed, follow};
pub use wrapper::{Ran, git_without_globals, normal_name, runs};
