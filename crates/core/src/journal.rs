//! Keeping what calls change, so that it can be taken back.

use std::fmt;
use std::path::PathBuf;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::id::{CallId, SessionId};
use crate::ledger::RecordError;

/// Keeps the content of files before and after calls change them.
#[async_trait]
pub trait Journal: fmt::Debug + Send + Sync {
    /// Keeps what a call is about to change.
    ///
    /// # Errors
    ///
    /// When it cannot be kept: then the call does not run.
    async fn before(&self, watch: Watch) -> Result<Box<dyn Watching>, RecordError>;
}

/// A call that is about to change something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watch {
    /// The call.
    pub call: CallId,
    /// Its session.
    pub session: SessionId,
    /// What it may change.
    pub footprint: Footprint,
}

/// What a call may change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Footprint {
    /// These files and nothing else; real paths.
    Files(Vec<PathBuf>),
    /// Anything in these folders; real paths.
    Folders(Vec<PathBuf>),
    /// Anything in these folders, by a command that mounts confine to them: it cannot give one of
    /// their files a second name outside of them, or in the `.git` of one of them.
    Confined(Vec<PathBuf>),
}

/// A call that runs, whose changes are looked for when it is over.
#[async_trait]
pub trait Watching: fmt::Debug + Send {
    /// Finds out what changed and keeps that, too. Must be called whatever became of the call.
    ///
    /// # Errors
    ///
    /// When what changed cannot be written down.
    async fn after(self: Box<Self>) -> Result<Changes, RecordError>;
}

/// What a call changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The files, by path.
    pub files: Vec<FileChange>,
    /// What was not looked at and why, in sentences for a person.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncovered: Vec<String>,
}

/// A file that a call changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// Its real path.
    pub path: PathBuf,
    /// What it was, if it was there.
    pub before: Option<FileVersion>,
    /// What it is now, if it is there.
    pub after: Option<FileVersion>,
}

/// A file at some moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileVersion {
    /// What stands there.
    pub kind: VersionKind,
    /// The hash of its content, or of the target of a link, in hexadecimal.
    pub hash: String,
    /// Its size in bytes.
    pub size: u64,
    /// Its permission bits.
    pub mode: u32,
}

/// What can be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionKind {
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A folder, without what is in it.
    Folder,
}
