//! Walking folders, each opened from its root without following a link.

use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use rustix::fs::{Dir, OFlags, Stat};
use rustix::io::Errno;
use toolgate_core::workspace::{open_absolute, open_beneath};

use super::ignoring::Ignoring;
use super::tree::{Hidden, Limits, Tree};
use crate::blobs::{BlobError, Blobs, Survive};
use crate::disk::{Kind, KnownHashes, Looking, Version, look, stamp, stat_entry};

/// Files that changed under a command are kept up to this size.
const LARGEST_CHANGED: u64 = 64 * 1024 * 1024;

/// Hashes that are known already.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Known<'a> {
    /// By path and stamp, from earlier scans.
    Cache(&'a KnownHashes),
    /// From the scan before the command ran.
    Before(&'a Tree),
}

/// Looks at everything in these folders, but for what lies in `skipped`.
pub(crate) fn scan(
    roots: &[PathBuf],
    skipped: &[PathBuf],
    blobs: &Blobs,
    known: Known<'_>,
    limits: Limits,
) -> Result<Tree, BlobError> {
    let mut walk =
        Walk { tree: Tree::default(), skipped, roots, known, limits, kept: 0, unread: Vec::new() };
    for root in roots {
        walk.root(root);
    }
    let Walk { mut tree, unread, .. } = walk;
    for (path, version) in read_all(&unread, blobs)? {
        match version {
            Some(version) => drop(tree.entries.insert(path, version)),
            None => drop(tree.entries.remove(&path)),
        }
    }
    Ok(tree)
}

#[derive(Debug)]
struct Walk<'a> {
    tree: Tree,
    skipped: &'a [PathBuf],
    roots: &'a [PathBuf],
    known: Known<'a>,
    limits: Limits,
    kept: u64,
    unread: Vec<Unread>,
}

/// A file or link whose content must be looked at.
#[derive(Debug)]
struct Unread {
    root: PathBuf,
    inner: PathBuf,
    largest: u64,
}

impl Walk<'_> {
    fn root(&mut self, root: &Path) {
        let Ok(opened) = open_absolute(root, OFlags::PATH | OFlags::DIRECTORY) else {
            self.tree.hidden.insert(root.to_owned(), Hidden::Unreadable);
            return;
        };
        let mut open = vec![(PathBuf::new(), Ignoring::above(root))];
        while let Some((inner, ignoring)) = open.pop() {
            let folder = root.join(&inner);
            if self.tree.entries.len() >= self.limits.entries {
                self.tree.hidden.insert(folder, Hidden::TooMuch);
                continue;
            }
            match list(opened.as_fd(), &inner) {
                Ok((listed, names)) => {
                    let ignoring = ignoring.enter(listed.as_fd(), &folder);
                    for name in names {
                        let inner = inner.join(&name);
                        if self.entry(root, &inner, listed.as_fd(), &name, &ignoring) {
                            open.push((inner, ignoring.clone()));
                        }
                    }
                }
                // It is gone, or something else by now.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP)
                    if !inner.as_os_str().is_empty() => {}
                Err(_) => drop(self.tree.hidden.insert(folder, Hidden::Unreadable)),
            }
        }
    }

    /// Looks at an entry; whether it is a folder to go into.
    fn entry(
        &mut self,
        root: &Path,
        inner: &Path,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        ignoring: &Ignoring,
    ) -> bool {
        let path = root.join(inner);
        if self.skipped.contains(&path) || is_unfinished(name) {
            return false;
        }
        let Ok(Some(stat)) = stat_entry(folder, name) else {
            return false;
        };
        let version = Version::unread(&stat);
        let is_folder = version.kind == Kind::Folder;
        if let Some(why) = self.hidden(&path, folder, name, is_folder, ignoring) {
            self.tree.hidden.insert(path, why);
            return false;
        }
        let version = self.with_content(root, inner, &path, version, &stat);
        self.tree.entries.insert(path, version);
        is_folder
    }

    fn hidden(
        &self,
        path: &Path,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        is_folder: bool,
        ignoring: &Ignoring,
    ) -> Option<Hidden> {
        if name == ".git" {
            return Some(Hidden::Repository(repository(folder)));
        }
        let is_root = self.roots.iter().any(|root| root == path);
        (!is_root && ignoring.leaves_out(path, is_folder)).then_some(Hidden::Ignored)
    }

    /// Adds the hash where it is known, and remembers to find it out where it is not.
    fn with_content(
        &mut self,
        root: &Path,
        inner: &Path,
        path: &Path,
        version: Version,
        stat: &Stat,
    ) -> Version {
        if !matches!(version.kind, Kind::File | Kind::Link) {
            return version;
        }
        let mut largest = self.limits.file;
        match self.known {
            Known::Before(tree) => {
                if let Some(before) = tree.entries.get(path) {
                    if before.stamp == version.stamp && !before.is_settling {
                        return before.clone();
                    }
                    if before.is_kept() {
                        largest = LARGEST_CHANGED;
                    }
                }
            }
            Known::Cache(cache) => {
                if version.size > largest || self.kept + version.size > self.limits.total {
                    return version;
                }
                self.kept += version.size;
                if let Some((seen, hash)) = cache.get(path)
                    && *seen == stamp(stat)
                {
                    return Version { hash: hash.clone(), ..version };
                }
            }
        }
        if version.size <= largest {
            self.unread.push(Unread { root: root.to_owned(), inner: inner.to_owned(), largest });
        }
        version
    }
}

/// Looks at contents, several at a time.
fn read_all(
    unread: &[Unread],
    blobs: &Blobs,
) -> Result<Vec<(PathBuf, Option<Version>)>, BlobError> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        while let Some(one) = unread.get(next.fetch_add(1, Ordering::Relaxed)) {
            found.push((one.root.join(&one.inner), read(one, blobs)?));
        }
        Ok(found)
    };
    if unread.len() < 64 {
        return work();
    }
    let workers = thread::available_parallelism().map_or(1, usize::from).min(4);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut all = Vec::with_capacity(unread.len());
        for worker in workers {
            match worker.join() {
                Ok(found) => all.extend(found?),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        Ok(all)
    })
}

fn read(unread: &Unread, blobs: &Blobs) -> Result<Option<Version>, BlobError> {
    let looking = Looking {
        blobs,
        largest: unread.largest,
        survive: Survive::Process,
        known: &KnownHashes::new(),
    };
    look(&unread.root.join(&unread.inner), looking)
}

/// Opens a folder and lists it, in order.
fn list(root: BorrowedFd<'_>, inner: &Path) -> Result<(OwnedFd, Vec<OsString>), Errno> {
    let opened = open_beneath(root, inner, OFlags::RDONLY | OFlags::DIRECTORY)?;
    let mut names = Vec::new();
    for entry in Dir::read_from(&opened)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name != b"." && name != b".." {
            names.push(OsStr::from_bytes(name).to_owned());
        }
    }
    Ok((opened, names))
}

/// How a repository looks from outside: these files change with whatever changes in it.
fn repository(folder: BorrowedFd<'_>) -> String {
    let names = [".git", ".git/index", ".git/HEAD", ".git/logs/HEAD", ".git/packed-refs"];
    let stamps = names.map(|name| match stat_entry(folder, OsStr::new(name)) {
        Ok(Some(stat)) => stamp(&stat),
        _ => String::new(),
    });
    stamps.join(",")
}

/// Whether a name is one under which new versions are written.
fn is_unfinished(name: &OsStr) -> bool {
    let id = name.to_str().and_then(|name| name.strip_prefix(".toolgate-")?.strip_suffix(".tmp"));
    id.is_some_and(|id| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}
