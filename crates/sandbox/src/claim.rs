//! A claim on a workspace while a command runs in it.
//!
//! What must not be made in a workspace is kept from being made by something empty in its place.
//! That something is really there, for everybody to see, so it goes when the last command that
//! needs it has ended. Claims are locks on a file that lists what was put there: whoever can have
//! the file alone removes what it lists, also for those who were killed before they could.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::ErrorKind::{AlreadyExists, NotFound, PermissionDenied, ReadOnlyFilesystem};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, FlockOperation, flock};

use crate::keepsake::Keepsake;
use crate::place::Place;
use crate::raw::Raw;

/// The `commondir` that sends git to the repository itself for its settings.
const HERE: &[u8] = b".\n";

/// A claim, until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    list: File,
    /// Where it is written down what was there before the first of those who run now.
    before: PathBuf,
    /// The folder of copies that are put back when the last command has ended.
    kept: PathBuf,
    is_first: bool,
}

/// Copies of what is guarded, by their paths.
pub(crate) type Keepsakes = Vec<(PathBuf, Keepsake)>;

/// What to put where something is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stand {
    /// An empty file.
    File,
    /// An empty folder. Git lists none, but tries to remove it where it cleans up.
    Folder,
    /// A socket that nobody listens on. To git it does not exist, so that neither `git stash -u`
    /// nor `git clean` tries to remove it.
    Name,
    /// A file that tells git what holds without it: that the repository is where it is.
    Here,
}

impl Claim {
    /// Claims a folder together with others.
    pub(crate) fn on(root: &Path, lists: &Path) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(lists)?;
        let lists = lists.canonicalize()?;
        let mut hasher = DefaultHasher::new();
        root.hash(&mut hasher);
        let path = lists.join(format!("{:016x}", hasher.finish()));
        let (before, kept) = (path.with_extension("before"), path.with_extension("kept"));
        let list = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let is_first = flock(&list, FlockOperation::NonBlockingLockExclusive).is_ok();
        if is_first {
            for stale in [&before, &kept] {
                fs::remove_file(stale).or_else(|error| match error.kind() {
                    NotFound => Ok(()),
                    _ => Err(error),
                })?;
            }
        }
        flock(&list, FlockOperation::LockShared)?;
        Ok(Self { list, before, kept, is_first })
    }

    /// Writes down what is to be put back, unless one of those who run now has done so before: what
    /// it found is from before all of them.
    pub(crate) fn keep(&self, found: &Keepsakes) -> io::Result<()> {
        let found: Vec<_> =
            found.iter().map(|(path, kept)| (Raw::from(path.clone()), kept)).collect();
        match Place::of(&self.kept)?.make_file(&serde_json::to_vec(&found)?, 0o600) {
            Err(error) if error.kind() == AlreadyExists => Ok(()),
            made => made,
        }
    }

    /// Returns what is to be put back, if no other command runs in the folder, and none begins
    /// before this claim is dropped. Otherwise the claim is given up, and another one is the last.
    pub(crate) fn last(&self) -> io::Result<Option<Keepsakes>> {
        if flock(&self.list, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(None);
        }
        let kept: Vec<(Raw, Keepsake)> = serde_json::from_slice(&fs::read(&self.kept)?)?;
        fs::remove_file(&self.kept)?;
        Ok(Some(kept.into_iter().map(|(path, kept)| (path.as_path().to_owned(), kept)).collect()))
    }

    /// Of what was found, what was there before the first of those who run now: the rest may
    /// have been made by one of them.
    pub(crate) fn settled(&self, found: BTreeSet<PathBuf>) -> io::Result<BTreeSet<PathBuf>> {
        if self.is_first {
            let mut file = OpenOptions::new().create(true).append(true).open(&self.before)?;
            for path in &found {
                write_path(&mut file, path)?;
            }
            return Ok(found);
        }
        let text = fs::read_to_string(&self.before).unwrap_or_default();
        let settled: BTreeSet<PathBuf> = paths(&text).collect();
        Ok(found.into_iter().filter(|path| settled.contains(path)).collect())
    }

    /// Puts something empty at a path, unless something is there.
    pub(crate) fn stand_in(&mut self, path: &Path, stand: Stand) -> io::Result<()> {
        if path.symlink_metadata().is_ok() {
            return Ok(());
        }
        // First written down, then made: whatever happens in between, it will be removed.
        write_path(&mut self.list, path)?;
        let made = Place::of(path).and_then(|place| match stand {
            Stand::File => place.make_file(b"", 0o644),
            Stand::Folder => place.make_folder(0o755),
            Stand::Name => place.make_socket(),
            Stand::Here => place.make_file(HERE, 0o644),
        });
        made.or_else(|error| match error.kind() {
            // Somebody else was first, or nobody can: the command could not make it, either.
            AlreadyExists | PermissionDenied | ReadOnlyFilesystem => Ok(()),
            _ => Err(error),
        })
    }

    /// Gives the claim up, and removes what was put there unless others need it.
    fn release(&mut self) -> io::Result<()> {
        flock(&self.list, FlockOperation::Unlock)?;
        if flock(&self.list, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(());
        }
        // What is in a folder that stood in goes before it.
        for path in self.listed()?.into_iter().rev() {
            // What is gone, or reached through a link now, is not ours.
            Place::of(&path).and_then(|place| remove(&path, &place)).ok();
        }
        self.list.set_len(0)
    }

    fn listed(&mut self) -> io::Result<Vec<PathBuf>> {
        let mut text = String::new();
        self.list.rewind()?;
        self.list.read_to_string(&mut text)?;
        Ok(paths(&text).collect())
    }
}

/// Removes what stood in, unless it became something else.
fn remove(path: &Path, place: &Place) -> io::Result<()> {
    let stands_here = || place.kind().is_ok_and(|kind| kind == FileType::RegularFile);
    if path.ends_with("commondir") && stands_here() && fs::read(path)? == HERE {
        return place.remove_file();
    }
    place.remove_if_empty()
}

/// Writes a path as a line of its own, in one piece.
fn write_path(file: &mut File, path: &Path) -> io::Result<()> {
    let mut line = serde_json::to_vec(&Raw::from(path.to_owned()))?;
    line.push(b'\n');
    file.write_all(&line)
}

fn paths(text: &str) -> impl Iterator<Item = PathBuf> {
    let raw = text.lines().filter_map(|line| serde_json::from_str::<Raw>(line).ok());
    raw.map(|raw| raw.as_path().to_owned())
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Whoever comes next will try again.
        self.release().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_removes_what_stood_in() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir(&root).unwrap();
        let lists = folder.path().join("lists");
        let mut first = Claim::on(&root, &lists).unwrap();
        first.stand_in(&root.join(".claude"), Stand::Folder).unwrap();
        let mut second = Claim::on(&root, &lists).unwrap();
        second.stand_in(&root.join(".claude"), Stand::Folder).unwrap();
        drop(first);
        assert!(root.join(".claude").is_dir());
        drop(second);
        assert!(!root.join(".claude").exists());
    }

    #[test]
    fn what_a_killed_one_left_is_removed_and_what_was_filled_stays() {
        let folder = tempfile::tempdir().unwrap();
        let (root, lists) = (folder.path().join("root"), folder.path().join("lists"));
        fs::create_dir(&root).unwrap();
        let mut killed = Claim::on(&root, &lists).unwrap();
        killed.stand_in(&root.join(".git"), Stand::Folder).unwrap();
        killed.stand_in(&root.join(".claude"), Stand::Folder).unwrap();
        flock(&killed.list, FlockOperation::Unlock).unwrap();
        std::mem::forget(killed);
        fs::write(root.join(".claude/mine"), "").unwrap();
        drop(Claim::on(&root, &lists).unwrap());
        assert!(!root.join(".git").exists() && root.join(".claude/mine").exists());
    }
}
