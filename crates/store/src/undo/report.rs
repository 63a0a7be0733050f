//! What came of an undo.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Serialize, Serializer};
use toolgate_core::id::CallId;
use toolgate_core::ledger::RecordError;

use crate::archive::KeepError;
use crate::blobs::BlobError;
use crate::error::StoreError;

/// What was taken back, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// By which the undo itself can be taken back; none when nothing was written.
    pub id: Option<CallId>,
    /// The calls, newest first.
    pub calls: Vec<Taken>,
    /// What became of the files, by path.
    pub files: Vec<Action>,
    /// What could not be put back, and why.
    pub left: Vec<Unrestored>,
}

/// A call that is taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// Its id.
    pub call: CallId,
    /// Its session.
    pub session: String,
    /// When it began.
    pub at: Timestamp,
    /// The tool, if the ledger knows it.
    pub tool: Option<String>,
}

/// What becomes of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// Its former content or target comes back.
    Restored {
        /// The path.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
    },
    /// Only its permission bits come back.
    ModeRestored {
        /// The path.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
    },
    /// It had been removed and is there again.
    Recreated {
        /// The path.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
    },
    /// The call had made it; it goes.
    Removed {
        /// The path.
        #[serde(serialize_with = "lossy")]
        path: PathBuf,
    },
}

impl Action {
    /// The path.
    pub fn path(&self) -> &Path {
        match self {
            Self::Restored { path }
            | Self::ModeRestored { path }
            | Self::Recreated { path }
            | Self::Removed { path } => path,
        }
    }
}

/// Something that an undo leaves as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unrestored {
    /// The path.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Why, as the end of a sentence that begins with the path.
    pub why: String,
}

/// Why nothing was taken back: a person has to look first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The calls that were meant, newest first.
    pub calls: Vec<Taken>,
    /// What stands in the way.
    pub conflicts: Vec<Conflict>,
}

/// A file that stands in the way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// Its path.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// Why.
    pub reason: Reason,
    /// From what the call left to what is there now, where both are text.
    pub diff: Option<String>,
}

/// Why a file stands in the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Somebody changed it since.
    ChangedSince,
    /// Somebody removed it since.
    RemovedSince,
    /// Something stands there that the call had removed.
    ThereAgain,
    /// It lies outside of the workspace the call ran in.
    Outside,
    /// A folder above it was replaced by a link or a file. No force helps against that.
    Unreachable,
}

impl Reason {
    /// The end of a sentence that begins with the path.
    pub fn text(self) -> &'static str {
        match self {
            Self::ChangedSince => "was changed since",
            Self::RemovedSince => "was removed since",
            Self::ThereAgain => "is there again, with other content",
            Self::Outside => "lies outside of the workspace of the call",
            Self::Unreachable => "cannot be reached: a folder above it was replaced",
        }
    }

    /// Whether the owner may insist.
    pub fn can_be_forced(self) -> bool {
        self != Self::Unreachable
    }
}

/// Why nothing was taken back.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum UndoError {
    #[error("there is nothing to undo {scope}")]
    Nothing { scope: String },
    #[error("no call whose id begins with `{id}` changed a file")]
    NoSuchCall { id: String },
    #[error("`{id}` could be {}", list(.candidates))]
    Ambiguous { id: String, candidates: Vec<CallId> },
    #[error("there is no checkpoint `{name}` in this workspace")]
    NoSuchCheckpoint { name: String },
    #[error("call `{call}` was undone already; `toolgate undo {by}` brings its changes back")]
    AlreadyUndone { call: CallId, by: CallId },
    #[error("call `{call}` still runs")]
    StillRuns { call: CallId },
    #[error("nothing was undone: {} in the way", count(.0.conflicts.len()))]
    Refused(Refusal),
    #[error("nothing was undone: `{}` cannot be put back: {source}", path.display())]
    Content { path: PathBuf, source: BlobError },
    #[error("the undo failed at `{}`: {why}; {}", path.display(), if *.is_put_back { "everything is as it was" } else { "some files could not be put back" })]
    Failed { path: PathBuf, why: String, is_put_back: bool },
    #[error("the undo cannot be recorded, so nothing was undone: {0}")]
    Record(#[from] RecordError),
    #[error(transparent)]
    Keep(#[from] KeepError),
}

impl From<StoreError> for UndoError {
    fn from(error: StoreError) -> Self {
        Self::Keep(error.into())
    }
}

impl From<BlobError> for UndoError {
    fn from(error: BlobError) -> Self {
        Self::Keep(error.into())
    }
}

/// JSON is text, and paths need not be.
fn lossy<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&path.display())
}

fn count(conflicts: usize) -> String {
    if conflicts == 1 { "1 file stands".to_owned() } else { format!("{conflicts} files stand") }
}

fn list(candidates: &[CallId]) -> String {
    candidates.iter().map(|id| format!("`{id}`")).collect::<Vec<_>>().join(" or ")
}
