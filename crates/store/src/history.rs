//! What happened to one file.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;
use toolgate_core::id::CallId;
use toolgate_core::journal::FileVersion;

use crate::archive::{Archive, KeepError};
use crate::records::{changes_to, tool_of, watch};
use crate::undo::{LineCounts, counts, unified};

/// One change of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PastChange {
    /// When the call began.
    pub at: Timestamp,
    /// The call.
    pub call: CallId,
    /// Its session.
    pub session: String,
    /// The tool, if the ledger knows it; `undo` when changes were taken back.
    pub tool: Option<String>,
    /// Whether the change was taken back.
    pub is_undone: bool,
    /// What was there before, if something was.
    pub before: Option<FileVersion>,
    /// What was there after, if something was.
    pub after: Option<FileVersion>,
    /// How many lines differ, where both are text.
    pub lines: Option<LineCounts>,
    /// The difference, if it was asked for and both are text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// Whether differences are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Differences {
    /// Only counted.
    Counted,
    /// Shown line by line.
    Shown,
}

/// Every change of a file that is kept, oldest first.
pub(crate) fn history(
    archive: &Archive,
    path: &Path,
    differences: Differences,
) -> Result<Vec<PastChange>, KeepError> {
    let mut all = Vec::new();
    for (id, change) in archive.read(|rows| changes_to(rows, path))? {
        let Some(row) = archive.read(|rows| watch(rows, id))?.filter(|row| row.runner.is_none())
        else {
            continue;
        };
        let tool = if row.is_undo {
            Some("undo".to_owned())
        } else {
            archive.read(|rows| tool_of(rows, &row.session, row.call.as_str()))?
        };
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let diff = match differences {
            Differences::Counted => None,
            Differences::Shown => {
                unified(&archive.blobs, path, (before, after), ("before", "after"))
            }
        };
        all.push(PastChange {
            at: Timestamp::from_millisecond(row.at).unwrap_or_default(),
            call: row.call,
            session: row.session,
            tool,
            is_undone: row.undone_by.is_some(),
            lines: counts(&archive.blobs, before, after),
            before: before.map(FileVersion::from),
            after: after.map(FileVersion::from),
            diff,
        });
    }
    Ok(all)
}
