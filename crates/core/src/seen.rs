//! What a session knows of the files it has read.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::id::SessionId;
use crate::workspace::Version;

/// What a session knows of a file it has read or written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenFile {
    /// The real path.
    #[serde(skip)]
    pub path: PathBuf,
    /// Which version it was.
    pub version: Version,
    /// Whether a change right after it could look like the same version.
    pub young: bool,
    /// The hash of all that was in it, where it is known.
    pub hash: Option<[u8; 32]>,
    /// The lines that were read; all when not set.
    pub range: Option<(u64, Option<u64>)>,
    /// How often it was read or written.
    pub accesses: u32,
    /// Whether it lies outside of the workspace.
    pub outside: bool,
    /// What the session was last told about it.
    pub told: Told,
}

/// What a session was last told about a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Told {
    /// This content, by its hash.
    Content([u8; 32]),
    /// This version, of a content that is not known.
    Version(Version),
    /// That it is gone, or no regular file any more.
    Gone,
}

impl Told {
    /// What a content or else a version amounts to.
    pub fn of(hash: Option<[u8; 32]>, version: Version) -> Self {
        hash.map_or(Self::Version(version), Self::Content)
    }
}

/// Keeps what sessions have read beyond the life of a process.
pub trait SeenFiles: Send + Sync {
    /// The files a session knows, each with the text it was last told, where that was kept.
    ///
    /// # Errors
    ///
    /// When it cannot be read, in words.
    fn load(&self, session: &SessionId) -> Result<Vec<(SeenFile, Option<String>)>, String>;

    /// Keeps what a session knows of a file, over what it knew before.
    ///
    /// # Errors
    ///
    /// When it cannot be kept, in words.
    fn keep(&self, session: &SessionId, file: &SeenFile, text: Option<&str>) -> Result<(), String>;

    /// Forgets what a session knows of a file.
    ///
    /// # Errors
    ///
    /// When it cannot be forgotten, in words.
    fn forget(&self, session: &SessionId, path: &std::path::Path) -> Result<(), String>;
}
