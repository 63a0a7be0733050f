//! Before a call: what it may change is kept and written down.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use toolgate_core::journal::Watch;

use super::workspaces::Workspace;
use crate::archive::{Archive, KeepError, now};
use crate::blobs::Survive;
use crate::disk::{Looking, look};
use crate::index::Confinement;
use crate::records::{ChangeRow, Footing, NewWatch, insert_watch, known_of, save_changes};
use crate::scan::Tree;

/// Larger single files are not kept.
pub(crate) const LARGEST: u64 = 1024 * 1024 * 1024;

/// A call that may change anything in some folders.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) workspace: Workspace,
    pub(crate) confinement: Confinement,
    /// The folders as they were.
    pub(crate) tree: Arc<Tree>,
}

/// Keeps single files that a call may change. Returns the number of the call.
pub(crate) fn begin_files(
    archive: &Archive,
    roots: &[PathBuf],
    watch: &Watch,
    files: &[PathBuf],
) -> Result<i64, KeepError> {
    let _lock = archive.blobs.lock()?;
    let mut rows = Vec::new();
    for path in with_folders_to_make(files) {
        let known = archive.read(|rows| known_of(rows, &path))?;
        let survive = Survive::Power;
        let looking = Looking { blobs: &archive.blobs, largest: LARGEST, survive, known: &known };
        let before = look(&path, looking)?;
        rows.push(ChangeRow { path, before, after: None });
    }
    let id = archive.write(|tables| {
        let id = insert_watch(tables, &new(archive, roots, watch, &Footing::Files))?;
        save_changes(tables, id, &rows)?;
        Ok(id)
    })?;
    Ok(id)
}

/// Keeps everything in some folders. Returns the number of the call, and how the folders were.
pub(crate) fn begin_folders(
    archive: &Archive,
    roots: &[PathBuf],
    watch: &Watch,
    folders: &[PathBuf],
    workspace: Workspace,
    confinement: Confinement,
) -> Result<(i64, Begun), KeepError> {
    let _lock = archive.blobs.lock()?;
    let (tree, reference) = workspace.index().before(archive, confinement)?;
    let manifest = Some(reference.to_string());
    let footing = Footing::Folders { folders: folders.to_vec(), manifest };
    let id = archive
        .write_behind(|tables| insert_watch(tables, &new(archive, roots, watch, &footing)))?;
    Ok((id, Begun { workspace, confinement, tree }))
}

fn new<'a>(
    archive: &'a Archive,
    roots: &'a [PathBuf],
    watch: &'a Watch,
    footing: &'a Footing,
) -> NewWatch<'a> {
    NewWatch {
        call: watch.call.as_str(),
        session: watch.session.to_string(),
        at: now(),
        roots,
        footing,
        runner: archive.run.id(),
        is_undo: false,
    }
}

/// The files, and the missing folders above them, which a call makes on the way.
fn with_folders_to_make(files: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut all = BTreeSet::new();
    for file in files {
        all.insert(file.clone());
        let missing =
            file.ancestors().skip(1).take_while(|above| above.symlink_metadata().is_err());
        all.extend(missing.map(Path::to_owned));
    }
    all
}
