//! Copies of the user's caches for confined commands.
//!
//! A build writes to caches such as `~/.cargo/registry`. If a confined command could change the
//! user's own cache, whatever it leaves there would later run unconfined. So it gets a copy: an
//! overlay over the cache, whose upper layer is kept for the workspace. The command sees all that
//! the user's cache holds, and its own additions are there for the next command.
//!
//! One upper layer serves one command at a time. Commands that run side by side get layers of
//! their own, numbered from zero.

use std::fs::{self, DirBuilder, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::place::make_folders;

/// Commands of one workspace that have copies of caches at the same time, at most.
const MOST_SLOTS: usize = 64;

/// A copy of one folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copy {
    /// The folder, a real path.
    pub(crate) of: PathBuf,
    /// The layer that takes changes.
    pub(crate) upper: PathBuf,
    /// A folder that the overlay itself uses.
    pub(crate) work: PathBuf,
}

/// Copies that belong to one command until they are dropped.
#[derive(Debug, Default)]
pub(crate) struct Copies {
    pub(crate) list: Vec<Copy>,
    /// Held while the command runs.
    _lock: Option<File>,
}

impl Copies {
    /// Gets copies of folders ready for a command in a workspace. A folder that is missing is made,
    /// as the program would.
    pub(crate) fn of(folders: &[PathBuf], roots: &[PathBuf], base: &Path) -> io::Result<Self> {
        let real: Vec<PathBuf> = folders.iter().filter_map(|folder| made(folder, roots)).collect();
        if real.is_empty() {
            return Ok(Self::default());
        }
        let (lock, slot) = free_slot(&base.join(named(roots)))?;
        let mut list = Vec::new();
        for of in real {
            let layers = slot.join(named(&of));
            let copy = Copy { upper: layers.join("upper"), work: layers.join("work"), of };
            for layer in [&copy.upper, &copy.work] {
                DirBuilder::new().recursive(true).mode(0o700).create(layer)?;
            }
            list.push(copy);
        }
        // Folders in other ones are covered by those.
        list.sort_by(|left, right| left.of.cmp(&right.of));
        list.dedup_by(|inner, outer| inner.of.starts_with(&outer.of));
        Ok(Self { list, _lock: Some(lock) })
    }
}

/// Returns the real path of a cache folder, which is made if it is missing. A folder in or around
/// a workspace is not a cache.
fn made(folder: &Path, roots: &[PathBuf]) -> Option<PathBuf> {
    // Links of the user are followed as far as there is something.
    let there = folder.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)))?;
    let (above, real) = there;
    let real = real.join(folder.strip_prefix(above).ok()?).components().collect::<PathBuf>();
    let touches = |root: &PathBuf| root.starts_with(&real) || real.starts_with(root);
    if roots.iter().any(touches) {
        return None;
    }
    make_folders(&real, 0o700).ok()?;
    Some(real)
}

/// Finds the first place for copies that no other command uses.
fn free_slot(folder: &Path) -> io::Result<(File, PathBuf)> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    for number in 0..MOST_SLOTS {
        let slot = folder.join(number.to_string());
        let lock = File::options().create(true).append(true).open(slot.with_extension("lock"))?;
        if flock(&lock, FlockOperation::NonBlockingLockExclusive).is_ok() {
            fs::create_dir_all(&slot)?;
            return Ok((lock, slot));
        }
    }
    Err(io::Error::other("too many commands use copies of caches at the same time"))
}

fn named(what: impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_side_by_side_have_copies_of_their_own() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("copies");
        let cache = folder.path().join("cache");
        let copies = || Copies::of(std::slice::from_ref(&cache), &["/w".into()], &base).unwrap();
        let (first, second) = (copies(), copies());
        assert_ne!(first.list[0].upper, second.list[0].upper);
        let upper = first.list[0].upper.clone();
        drop(first);
        assert_eq!(copies().list[0].upper, upper, "what was kept is used again");
        assert!(cache.is_dir());
    }

    #[test]
    fn no_part_of_a_workspace_is_a_cache() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("home/work");
        fs::create_dir_all(&root).unwrap();
        let base = folder.path().join("copies");
        for cache in [root.join("cache"), root.clone(), root.parent().unwrap().to_owned()] {
            let copies =
                Copies::of(std::slice::from_ref(&cache), std::slice::from_ref(&root), &base)
                    .unwrap();
            assert_eq!(copies.list, [], "{}", cache.display());
        }
    }
}
