//! What a scan found.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::disk::Version;

/// What stood in some folders.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    /// What was seen, by real path. The folders themselves are not in it.
    pub(crate) entries: BTreeMap<PathBuf, Version>,
    /// What was not looked into.
    pub(crate) hidden: BTreeMap<PathBuf, Hidden>,
}

/// Why something was not looked into.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Hidden {
    /// An ignore file says so.
    Ignored,
    /// It is the inside of a repository, which looked like this from outside.
    Repository(String),
    /// It could not be listed.
    Unreadable,
    /// There was too much.
    TooMuch,
}

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Bytes of one file.
    pub(crate) file: u64,
    /// Bytes of all files.
    pub(crate) total: u64,
    /// Entries that are listed.
    pub(crate) entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { file: 1024 * 1024, total: 256 * 1024 * 1024, entries: 200_000 }
    }
}

impl Tree {
    /// Whether something lies in what was not looked into.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        !self.hidden.is_empty() && path.ancestors().any(|above| self.hidden.contains_key(above))
    }
}
