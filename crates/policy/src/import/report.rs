//! What an import hands back.

use std::fmt;

/// A converted policy and what could not be carried over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The policy as TOML, with comments saying where each rule came from.
    pub policy: String,
    /// What is not in it as it was, in the order of the file.
    pub losses: Vec<Loss>,
}

/// Something that could not be carried over exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// Where it stands, counted from 1.
    pub line: Option<usize>,
    /// The setting or rule.
    pub what: String,
    /// Why it cannot be carried over.
    pub why: String,
    /// What was done about it.
    pub instead: String,
}

impl fmt::Display for Loss {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(formatter, "line {line}: ")?;
        }
        write!(formatter, "{}: {}; {}", self.what, self.why, self.instead)
    }
}

/// Why a file was not imported at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {message}")]
pub struct ImportError {
    /// Counted from 1.
    pub line: usize,
    /// In characters, counted from 1.
    pub column: usize,
    /// What is wrong there.
    pub message: String,
}
