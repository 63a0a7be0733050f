//! The second reading, by a full parser of bash.
//!
//! For a literal line it has to find the same commands as the gate. Any other
//! line is walked, into substitutions of every kind, for the commands that can
//! be seen in it.

mod flat;
mod follow;
mod nested;
mod program;
mod walk;

use crate::shell::command::{Command, Line};
pub use follow::Followed;

/// Whether the parser finds just the commands that the gate found.
///
/// # Errors
///
/// That the two readings disagree, in words for a person.
pub fn confirm(text: &str, line: &Line) -> Result<(), String> {
    let disagree = || "two readings of the line disagree".to_owned();
    let parsed = program::parse(text).map_err(|why| format!("{}: {why}", disagree()))?;
    let flat = flat::flatten(&parsed);
    let same = flat.plain
        && flat.commands.len() == line.commands.len()
        && flat.commands.iter().zip(&line.commands).zip(&line.sources).all(
            |((found, command), source)| {
                found.source == *source
                    && found.reads_pipe == command.reads_pipe
                    && found.feeds_pipe == command.feeds_pipe
            },
        );
    if same { Ok(()) } else { Err(disagree()) }
}

/// The commands that can be seen in a line, at any depth.
///
/// # Errors
///
/// Why the line cannot be read to its end.
pub fn walk(text: &str) -> Result<Vec<Command>, String> {
    walk::walk(text)
}

/// The commands of a line with all that they are given, for a line that decides things while it
/// runs. Returns nothing if a value cannot be followed.
pub fn follow(text: &str) -> Option<Followed> {
    follow::follow(text)
}

#[cfg(test)]
mod tests;
