//! What a shell line would run, found out before it runs.

pub mod command;

pub use command::{Assignment, Command, Direction, Reading, Redirect, Word};
