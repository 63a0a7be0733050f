//! What a sandbox can enforce.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What can be enforced on a program that is to be confined.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing.
    #[default]
    None,
    /// Which files it reaches and which system calls it makes; it still sees other programs and
    /// what protected files are not there yet.
    Landlock,
    /// All of it: it lives in a world of its own.
    Namespaces,
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Namespaces => "namespaces",
        })
    }
}
