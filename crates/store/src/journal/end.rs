//! After a call: what changed is found, kept and written down.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgate_core::journal::{Changes, FileChange, FileVersion};

use super::begin::{Begun, LARGEST};
use crate::archive::{Archive, KeepError, now};
use crate::blobs::{BlobError, Survive};
use crate::disk::{KnownHashes, Looking, Place, Stamp, Version, look, same};
use crate::generations::Reference;
use crate::records::{
    ChangeRow, Footing, WatchRow, changes_of, delete_changes, delete_watch, end_watch,
    save_changes, save_stamps, unmark_undone, watch,
};
use crate::scan::{self, IgnoreCache, Moment, Pass, Unlisted};

/// Finds out what a call changed.
pub(crate) fn end(archive: &Archive, id: i64, begun: Option<&Begun>) -> Result<Changes, KeepError> {
    let running = |row: &WatchRow| row.runner.is_some();
    let Some(row) = archive.read(|rows| watch(rows, id))?.filter(running) else {
        return Ok(Changes::default());
    };
    let _lock = archive.blobs.lock()?;
    let ended = match &row.footing {
        Footing::Files => end_files(archive, id, row.is_undo)?,
        Footing::Folders { folders, manifest } => {
            end_folders(archive, folders, manifest.as_deref(), begun)?
        }
    };
    let Ended { rows, uncovered, is_complete } = ended;
    let is_files = row.footing == Footing::Files;
    let written = |tables: &rusqlite::Transaction<'_>| {
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
        if is_files {
            let after =
                rows.iter().filter_map(|row| Some((row.path.as_path(), row.after.as_ref()?)));
            save_stamps(tables, after, now())?;
        }
        end_watch(tables, id)
    };
    if is_files {
        archive.write(written)?;
    } else {
        archive.write_behind(written)?;
    }
    Ok(Changes { files: rows.iter().map(file_change).collect(), uncovered })
}

/// What is to be written about a call.
struct Ended {
    rows: Vec<ChangeRow>,
    /// What was not kept, in sentences.
    uncovered: Vec<String>,
    /// Is `false` if an undo did not reach all it wanted.
    is_complete: bool,
}

/// Compares folders with how they were.
fn end_folders(
    archive: &Archive,
    folders: &[PathBuf],
    manifest: Option<&str>,
    begun: Option<&Begun>,
) -> Result<Ended, KeepError> {
    let (before, after) = if let Some(begun) = begun {
        let after = begun.workspace.index().after(archive, begun.confinement)?;
        (Arc::clone(&begun.tree), after)
    } else {
        let manifest = manifest.unwrap_or_default();
        let load = |reference: &Reference| archive.generations().load(reference);
        let before = manifest.parse().ok().and_then(|reference| load(&reference));
        let damaged = || BlobError::Damaged { hash: manifest.to_owned() };
        let before = before.ok_or_else(damaged)?;
        let pass = Pass {
            roots: folders,
            skipped: archive.state(),
            blobs: &archive.blobs,
            cache: &IgnoreCache::default(),
            moment: Moment::After,
        };
        let after = pass.everything(&before, None)?;
        (Arc::new(before), Arc::new(after))
    };
    let found = scan::compare(&before, &after, |path, was| look_unlisted(archive, path, was))?;
    let rows = found.changes.into_iter();
    let rows = rows.map(|(path, before, after)| ChangeRow { path, before, after }).collect();
    Ok(Ended { rows, uncovered: found.uncovered, is_complete: true })
}

/// Looks at something that is listed no more: it may only be ignored now, by an ignore file that
/// the command wrote.
fn look_unlisted(archive: &Archive, path: &Path, was: &Version) -> Result<Unlisted, BlobError> {
    let stat = match Place::find(path).and_then(|place| place.stat()) {
        Ok(stat) => stat,
        Err(rustix::io::Errno::ACCESS) => return Ok(Unlisted::OutOfReach),
        Err(_) => None,
    };
    let is_same = |stamp: Stamp| was.stamp == Some(stamp) && !was.is_settling;
    if stat.is_some_and(|stat| is_same(Stamp::of(&stat))) {
        return Ok(Unlisted::Present(Some(was.clone())));
    }
    look_again(archive, path, Survive::Process).map(Unlisted::Present)
}

/// What became of single files; whether an undo reached all it wanted.
fn end_files(archive: &Archive, id: i64, is_undo: bool) -> Result<Ended, KeepError> {
    let mut rows = Vec::new();
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
            rows.push(ChangeRow { after, ..row });
        }
    }
    let uncovered = match unkept {
        0 => Vec::new(),
        1 => vec!["1 file that is too large or cannot be read was not kept.".to_owned()],
        _ => vec![format!("{unkept} files that are too large or cannot be read were not kept.")],
    };
    Ok(Ended { rows, uncovered, is_complete })
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
