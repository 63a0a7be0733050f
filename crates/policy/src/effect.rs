//! What a call does: the kind of thing, the harm, the paths.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What kind of thing a call does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Looks without changing anything.
    Read,
    /// Writes or edits files, and nothing else.
    Edit,
    /// Anything more: deletes, runs, sends.
    Change,
}

/// How much harm a call could do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Risk {
    /// Reads, look-ups and searches.
    Low,
    /// Writes and edits.
    Medium,
    /// Commands and removals.
    High,
    /// What analysis flags as dangerous.
    Critical,
}

impl fmt::Display for Risk {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::Critical => "critical",
        })
    }
}

/// A file or folder a call touches, as asked for and as it really is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathFact {
    /// The absolute path that was asked for, symbolic links not followed.
    pub requested: PathBuf,
    /// The real path after following every symbolic link.
    pub resolved: PathBuf,
    /// What is done to it.
    pub access: Access,
    /// Whether the real path lies in the workspace.
    pub place: Place,
    /// How many names the file has; above one, replacing it splits them.
    pub hard_links: u64,
    /// Whose it is, where a workspace tells its parts apart.
    pub scope: Option<Scope>,
}

/// Whose a file is, where a workspace tells its parts apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The task's own: `private:/`.
    Private,
    /// That of the tasks in one group: `shared:/`.
    Shared,
    /// Everybody's, the workspace itself: `public:/`.
    Public,
}

impl Scope {
    /// Every scope.
    pub const ALL: [Self; 3] = [Self::Private, Self::Shared, Self::Public];

    /// What it is called, in paths and in rules.
    pub fn name(self) -> &'static str {
        match self {
            Self::Private => "private",
            Self::Shared => "shared",
            Self::Public => "public",
        }
    }

    /// The scope of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == name)
    }
}

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Looked at or listed.
    Read,
    /// Created or changed.
    Write,
    /// Removed.
    Delete,
}

impl Access {
    /// What is done, in a word.
    pub fn verb(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
        }
    }
}

/// Where a real path lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In the workspace or in a folder added to it.
    Workspace,
    /// Anywhere else.
    Outside,
}

/// What a tool is known to be like; nothing where nobody trustworthy says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints {
    /// May destroy something.
    pub destructive: Option<bool>,
    /// Doing it twice is doing it once.
    pub idempotent: Option<bool>,
    /// Reaches beyond this machine.
    pub open_world: Option<bool>,
}
