//! Before a call: what it may change is kept and written down.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toolgate_core::journal::{Footprint, Watch};

use crate::archive::{Archive, KeepError, now};
use crate::blobs::Survive;
use crate::disk::{KnownHashes, Looking, look};
use crate::records::{
    ChangeRow, Footing, NewWatch, forget_stamps, insert_watch, known_below, known_of, save_changes,
    save_stamps, touch_stamps,
};
use crate::scan::{self, Known, Limits};

/// Larger single files are not kept.
pub(crate) const LARGEST: u64 = 1024 * 1024 * 1024;

/// Keeps what a call may change; the number it is known by from now on.
pub(crate) fn begin(archive: &Archive, roots: &[PathBuf], watch: &Watch) -> Result<i64, KeepError> {
    match &watch.footprint {
        Footprint::Files(files) => begin_files(archive, roots, watch, files),
        Footprint::Folders(folders) => begin_folders(archive, roots, watch, folders),
    }
}

fn begin_files(
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

fn begin_folders(
    archive: &Archive,
    roots: &[PathBuf],
    watch: &Watch,
    folders: &[PathBuf],
) -> Result<i64, KeepError> {
    let _lock = archive.blobs.lock()?;
    let mut known = KnownHashes::new();
    for folder in folders {
        known.extend(archive.read(|rows| known_below(rows, folder))?);
    }
    let skipped = [archive.state().to_owned()];
    let limits = Limits::default();
    let tree = scan::scan(folders, &skipped, &archive.blobs, Known::Cache(&known), limits)?;
    let manifest = archive.blobs.keep(&scan::render(&tree)?, Survive::Process)?;
    let footing = Footing::Folders { folders: folders.to_vec(), manifest: Some(manifest.hash) };
    let gone = known.keys().filter(|path| !tree.entries.contains_key(*path));
    let gone: BTreeSet<&Path> = gone.map(PathBuf::as_path).collect();
    let fresh = tree.entries.iter().filter(|(path, version)| {
        known.get(*path).is_none_or(|(stamp, _)| Some(stamp) != version.stamp.as_ref())
    });
    let id = archive.write(|tables| {
        forget_stamps(tables, gone)?;
        for folder in folders {
            touch_stamps(tables, folder, now())?;
        }
        save_stamps(tables, fresh.map(|(path, version)| (path.as_path(), version)), now())?;
        insert_watch(tables, &new(archive, roots, watch, &footing))
    })?;
    Ok(id)
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
