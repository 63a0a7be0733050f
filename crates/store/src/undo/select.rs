//! Which calls are meant.

use std::path::PathBuf;

use toolgate_core::id::CallId;

use super::report::UndoError;
use crate::archive::Archive;
use crate::records::{WatchRow, all_watches, checkpoint};

/// What to take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UndoRequest {
    /// Which calls.
    pub target: Target,
    /// The real paths of the workspace's folders, the main one first.
    pub roots: Vec<PathBuf>,
    /// Whether to insist.
    pub force: Force,
}

/// Which calls to take back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The last one in the workspace that changed something and was not taken back.
    Last,
    /// The one whose id this is, or begins with.
    Call(String),
    /// All of this session.
    Session(String),
    /// All of the session of the last one in the workspace.
    LastSession,
    /// All in the workspace since a checkpoint.
    Since(String),
}

/// Whether files that stand in the way are overwritten.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Force {
    /// They are what an undo is refused for.
    Never,
    /// They are overwritten; the undo can be taken back.
    Overwrite,
}

/// The calls that are meant, newest first.
pub(crate) fn select(archive: &Archive, request: &UndoRequest) -> Result<Vec<WatchRow>, UndoError> {
    let all = archive.read(all_watches)?;
    let here = |row: &WatchRow| match request.roots.first() {
        Some(main) => row.roots.contains(main),
        None => false,
    };
    let can_go = |row: &&WatchRow| row.runner.is_none() && !row.is_undo && row.undone_by.is_none();
    let nothing = |scope: &str| UndoError::Nothing { scope: scope.to_owned() };
    let last = || all.iter().filter(can_go).find(|row| here(row));
    let of_session = |session: &str| {
        let rows: Vec<WatchRow> =
            all.iter().filter(can_go).filter(|row| row.session == session).cloned().collect();
        if rows.is_empty() { Err(nothing("in this session")) } else { Ok(rows) }
    };
    match &request.target {
        Target::Last => match last() {
            Some(row) => Ok(vec![row.clone()]),
            None => Err(nothing("in this workspace")),
        },
        Target::Call(id) => one(&all, id).map(|row| vec![row]),
        Target::Session(session) => of_session(session),
        Target::LastSession => match last() {
            Some(row) => of_session(&row.session),
            None => Err(nothing("in this workspace")),
        },
        Target::Since(name) => {
            let root = request.roots.first().cloned().unwrap_or_default();
            let found = archive.read(|rows| checkpoint(rows, &root, name))?;
            let Some(point) = found else {
                return Err(UndoError::NoSuchCheckpoint { name: name.clone() });
            };
            let since = all.iter().filter(can_go).filter(|row| row.id > point.watch && here(row));
            let rows: Vec<WatchRow> = since.cloned().collect();
            if rows.is_empty() { Err(nothing("since that checkpoint")) } else { Ok(rows) }
        }
    }
}

/// The one call of an id or the beginning of one; undos can be named, too.
fn one(all: &[WatchRow], id: &str) -> Result<WatchRow, UndoError> {
    let exact = all.iter().find(|row| row.call.as_str() == id);
    let row = if let Some(row) = exact {
        row
    } else {
        let mut found: Vec<&WatchRow> =
            all.iter().filter(|row| !id.is_empty() && row.call.as_str().starts_with(id)).collect();
        found.dedup_by(|one, other| one.call == other.call);
        match found.as_slice() {
            [] => return Err(UndoError::NoSuchCall { id: id.to_owned() }),
            [row] => *row,
            many => {
                let candidates = many.iter().take(5).map(|row| row.call.clone()).collect();
                return Err(UndoError::Ambiguous { id: id.to_owned(), candidates });
            }
        }
    };
    let call = row.call.clone();
    if row.runner.is_some() {
        return Err(UndoError::StillRuns { call });
    }
    if let Some(by) = row.undone_by {
        let by = all.iter().find(|other| other.id == by);
        let by = by.map_or_else(|| CallId::from(""), |other| other.call.clone());
        return Err(UndoError::AlreadyUndone { call, by });
    }
    Ok(row.clone())
}
