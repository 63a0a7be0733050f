//! What a sandbox can enforce.

use std::fmt;
use std::str::FromStr;

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

impl Level {
    /// Every level, the lowest first.
    pub const ALL: [Self; 3] = [Self::None, Self::Landlock, Self::Namespaces];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Landlock => "landlock",
            Self::Namespaces => "namespaces",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The name of a level that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no level `{0}`: it is `none`, `landlock` or `namespaces`")]
pub struct UnknownLevel(String);

impl FromStr for Level {
    type Err = UnknownLevel;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|level| level.name() == text);
        known.ok_or_else(|| UnknownLevel(text.to_owned()))
    }
}
