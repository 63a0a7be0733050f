//! After a call: what changed is found, kept and written down.

use std::path::Path;

use toolgate_core::journal::{Changes, FileChange, FileVersion};

use super::begin::LARGEST;
use crate::archive::{Archive, KeepError, now};
use crate::blobs::{BlobError, Survive};
use crate::disk::{KnownHashes, Looking, Version, look, same};
use crate::records::{
    ChangeRow, Footing, WatchRow, changes_of, delete_changes, delete_watch, end_watch,
    save_changes, save_stamps, unmark_undone, watch,
};
use crate::scan::{self, Known, Limits};

/// The largest list of what stood in a folder.
const LARGEST_MANIFEST: u64 = 512 * 1024 * 1024;

/// Finds out what a call changed.
pub(crate) fn end(archive: &Archive, id: i64) -> Result<Changes, KeepError> {
    let running = |row: &WatchRow| row.runner.is_some();
    let Some(row) = archive.read(|rows| watch(rows, id))?.filter(running) else {
        return Ok(Changes::default());
    };
    let _lock = archive.blobs.lock()?;
    let (rows, uncovered, is_complete) = match &row.footing {
        Footing::Files => end_files(archive, id, row.is_undo)?,
        Footing::Folders { folders, manifest: Some(manifest) } => {
            let before = archive.blobs.read(manifest, LARGEST_MANIFEST)?;
            let damaged = || BlobError::Damaged { hash: manifest.clone() };
            let before = scan::parse(&before).ok_or_else(damaged)?;
            let skipped = [archive.state().to_owned()];
            let known = Known::Before(&before);
            let limits = Limits::default();
            let after = scan::scan(folders, &skipped, &archive.blobs, known, limits)?;
            let found =
                scan::compare(&before, &after, |path| look_again(archive, path, Survive::Process))?;
            let rows = found.changes.into_iter();
            let rows = rows.map(|(path, before, after)| ChangeRow { path, before, after });
            (rows.collect(), found.uncovered, true)
        }
        Footing::Folders { manifest: None, .. } => (Vec::new(), Vec::new(), true),
    };
    archive.write(|tables| {
        // Two processes may find the same call without an end.
        if !watch(tables, id)?.is_some_and(|row| running(&row)) {
            return Ok(());
        }
        if !is_complete {
            unmark_undone(tables, id)?;
        }
        if rows.is_empty() {
            return delete_watch(tables, id);
        }
        delete_changes(tables, id)?;
        save_changes(tables, id, &rows)?;
        let after = rows.iter().filter_map(|row| Some((row.path.as_path(), row.after.as_ref()?)));
        save_stamps(tables, after, now())?;
        end_watch(tables, id)
    })?;
    Ok(Changes { files: rows.iter().map(file_change).collect(), uncovered })
}

/// What became of single files; whether an undo reached all it wanted.
fn end_files(
    archive: &Archive,
    id: i64,
    is_undo: bool,
) -> Result<(Vec<ChangeRow>, Vec<String>, bool), KeepError> {
    let mut changed = Vec::new();
    let mut unkept = 0;
    let mut is_complete = true;
    for row in archive.read(|rows| changes_of(rows, id))? {
        // A large content is kept when the next call is about to replace it.
        let after = look_again(archive, &row.path, Survive::ProcessIfSmall)?;
        // A folder that others put something into stays, which is no failure.
        let is_left = row.after.is_none() && after.as_ref().is_some_and(Version::is_folder);
        is_complete &= !is_undo || is_left || same(row.after.as_ref(), after.as_ref());
        if !same(row.before.as_ref(), after.as_ref()) {
            unkept += usize::from(row.before.as_ref().is_some_and(|before| !before.is_kept()));
            changed.push(ChangeRow { after, ..row });
        }
    }
    let uncovered = match unkept {
        0 => Vec::new(),
        1 => vec!["1 file that is too large or cannot be read was not kept.".to_owned()],
        _ => vec![format!("{unkept} files that are too large or cannot be read were not kept.")],
    };
    Ok((changed, uncovered, is_complete))
}

fn look_again(
    archive: &Archive,
    path: &Path,
    survive: Survive,
) -> Result<Option<Version>, BlobError> {
    let known = &KnownHashes::new();
    look(path, Looking { blobs: &archive.blobs, largest: LARGEST, survive, known })
}

fn file_change(row: &ChangeRow) -> FileChange {
    FileChange {
        path: row.path.clone(),
        before: row.before.as_ref().map(FileVersion::from),
        after: row.after.as_ref().map(FileVersion::from),
    }
}
