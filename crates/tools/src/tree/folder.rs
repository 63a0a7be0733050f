//! An open folder and what is in it.

use std::ffi::{OsStr, OsString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir};

use super::ignores::{Ignores, Present, Rule};

/// Folders nobody wants to search: git's own files and installed packages.
const NEVER_ENTERED: &[&[u8]] = &[b".git", b"node_modules"];

/// An open folder with the ignore rules that hold in it.
#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: OwnedFd,
    path: PathBuf,
    ignores: Ignores,
    depth: usize,
}

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    pub(crate) kind: Kind,
}

/// What an entry is, symbolic links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Other,
}

impl Folder {
    /// The folder where a walk begins, already open.
    pub(crate) fn root(descriptor: OwnedFd, path: &Path) -> Self {
        Self {
            descriptor,
            path: path.to_owned(),
            ignores: Ignores::above(path),
            depth: 0,
        }
    }

    /// Opens a folder in this one.
    pub(crate) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let descriptor = rustix::fs::openat(&self.descriptor, name, flags(), Mode::empty())?;
        Ok(Self {
            descriptor,
            path: self.path.join(name),
            ignores: self.ignores.clone(),
            depth: self.depth + 1,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How far below the root it is.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// Opens a file in this folder: a regular one, or an error.
    pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<std::fs::File> {
        // Non-blocking, so that a pipe put there meanwhile cannot hold us up.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = rustix::fs::openat(&self.descriptor, name, flags, Mode::empty())?;
        Ok(std::fs::File::from(file))
    }

    /// Where a symbolic link in this folder points to.
    pub(crate) fn link_target(&self, name: &OsStr) -> io::Result<PathBuf> {
        let target = rustix::fs::readlinkat(&self.descriptor, name, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.as_bytes())))
    }

    /// Size and time of change of something in this folder.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<rustix::fs::Stat> {
        Ok(rustix::fs::statat(
            &self.descriptor,
            name,
            AtFlags::SYMLINK_NOFOLLOW,
        )?)
    }

    /// Lists the folder in no order, and takes its ignore files into account from here on.
    pub(crate) fn list(&mut self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        let mut present = Present::default();
        let mut buffer = [MaybeUninit::uninit(); 32 * 1024];
        let mut listing = RawDir::new(&self.descriptor, &mut buffer);
        while let Some(entry) = listing.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if name.first() == Some(&b'.') {
                present.see(name);
            }
            let kind = match entry.file_type() {
                FileType::Unknown => None,
                known => Some(kind_of(known)),
            };
            entries.push((OsStr::from_bytes(name).to_owned(), kind));
        }
        self.ignores = self.ignores.below(&self.path, present);
        let known = entries.into_iter().map(|(name, kind)| Entry {
            kind: kind.unwrap_or_else(|| self.kind_by_stat(&name)),
            name,
        });
        Ok(known.collect())
    }

    /// Some file systems do not say what an entry is.
    fn kind_by_stat(&self, name: &OsStr) -> Kind {
        self.stat(name).map_or(Kind::Other, |stat| {
            kind_of(FileType::from_raw_mode(stat.st_mode))
        })
    }

    /// Whether an entry is left out: hidden or ignored. `path` is the entry's own.
    pub(crate) fn leaves_out(&self, path: &Path, kind: Kind, include_hidden: bool) -> bool {
        let hidden = !include_hidden
            && path
                .file_name()
                .is_some_and(|name| name.as_bytes().first() == Some(&b'.'));
        match self.ignores.rule(path, kind == Kind::Folder) {
            Rule::Ignored => true,
            Rule::Wanted => false,
            Rule::None => hidden,
        }
    }
}

/// Whether a folder of that name is never walked into.
pub(crate) fn is_never_entered(name: &OsStr) -> bool {
    NEVER_ENTERED.contains(&name.as_bytes())
}

fn flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn kind_of(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Folder,
        FileType::Symlink => Kind::Link,
        _ => Kind::Other,
    }
}
