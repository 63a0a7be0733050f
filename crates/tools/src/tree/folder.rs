//! An open folder and what is in it.

use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::Errno;

use super::ignores::{Ignores, Present};
use super::line::Rule;

/// Folders nobody wants to search: git's own files and installed packages.
const NEVER_ENTERED: &[&[u8]] = &[b".git", b"node_modules"];

/// Folders at the root that hold no files of anybody's: processes, devices and knobs.
const KERNEL: &[&[u8]] = &[b"proc", b"sys", b"dev"];

/// `/proc` as `fstatfs` names it.
const PROC_MAGIC: i64 = 0x9fa0;

/// An open folder with the ignore rules that hold in it.
#[derive(Debug)]
pub(crate) struct Folder {
    descriptor: OwnedFd,
    path: PathBuf,
    ignores: Ignores,
    depth: usize,
}

/// How much the system tells at once about what is in a folder.
const READ_AT_ONCE: usize = 32 * 1024;

/// The names in a folder, in one piece of memory: a walk meets very many of them.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    names: Vec<u8>,
    entries: Vec<Entry>,
    /// What the system tells is read into this.
    buffer: Vec<u8>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Where its name ends.
    end: usize,
    inode: u64,
    kind: Kind,
}

/// What an entry is, symbolic links not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Folder,
    Link,
    Other,
}

impl Listing {
    /// Where the file system keeps an entry: neighbours are quicker to look at one after another.
    pub(crate) fn inode(&self, number: usize) -> u64 {
        self.entries.get(number).map_or(0, |entry| entry.inode)
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The entry of a number.
    pub(crate) fn get(&self, number: usize) -> Option<(&OsStr, Kind)> {
        let Entry { end, kind, .. } = *self.entries.get(number)?;
        let before = number.checked_sub(1).and_then(|before| self.entries.get(before));
        let start = before.map_or(0, |before| before.end);
        Some((OsStr::from_bytes(self.names.get(start..end)?), kind))
    }
}

impl Folder {
    /// The folder where a walk begins, already open.
    pub(crate) fn root(descriptor: OwnedFd, path: &Path) -> Self {
        Self { descriptor, path: path.to_owned(), ignores: Ignores::above(path), depth: 0 }
    }

    /// Opens a folder in this one.
    pub(crate) fn enter(&self, name: &OsStr) -> io::Result<Self> {
        let here = ResolveFlags::NO_XDEV | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let opened = rustix::fs::openat2(&self.descriptor, name, flags(), Mode::empty(), here);
        let descriptor = match opened {
            Ok(descriptor) => descriptor,
            // Another file system begins here, or the kernel cannot tell.
            Err(Errno::XDEV | Errno::NOSYS | Errno::PERM) => {
                let other = rustix::fs::openat(&self.descriptor, name, flags(), Mode::empty())?;
                // Processes may be mounted anywhere.
                if rustix::fs::fstatfs(&other)?.f_type == PROC_MAGIC {
                    return Err(io::ErrorKind::PermissionDenied.into());
                }
                other
            }
            Err(error) => return Err(error.into()),
        };
        Ok(Self {
            descriptor,
            path: join(&self.path, name),
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

    /// Opens a file in this folder, never through a link.
    pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<std::fs::File> {
        // Non-blocking, so that a pipe put there meanwhile cannot hold us up.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = rustix::fs::openat(&self.descriptor, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&file)?;
        if kind_of(FileType::from_raw_mode(stat.st_mode)) != Kind::File {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        Ok(std::fs::File::from(file))
    }

    /// Where a symbolic link in this folder points to.
    pub(crate) fn link_target(&self, name: &OsStr) -> io::Result<PathBuf> {
        let target = rustix::fs::readlinkat(&self.descriptor, name, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.as_bytes())))
    }

    /// Size and time of change of something in this folder.
    pub(crate) fn stat(&self, name: &OsStr) -> io::Result<rustix::fs::Stat> {
        Ok(rustix::fs::statat(&self.descriptor, name, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    /// Lists the folder in no order, and takes its ignore files into account from here on.
    pub(crate) fn list(&mut self) -> io::Result<Listing> {
        let mut listing = Listing::default();
        self.list_into(&mut listing)?;
        Ok(listing)
    }

    /// Lists the folder as [`list`](Self::list) does, in the memory of an earlier listing.
    pub(crate) fn list_into(&mut self, listing: &mut Listing) -> io::Result<()> {
        let Listing { names, entries, buffer } = listing;
        names.clear();
        entries.clear();
        buffer.reserve(READ_AT_ONCE);
        let mut present = Present::default();
        let mut read = RawDir::new(&self.descriptor, buffer.spare_capacity_mut());
        while let Some(entry) = read.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if name.first() == Some(&b'.') {
                present.see(name);
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.kind_by_stat(OsStr::from_bytes(name)),
                known => kind_of(known),
            };
            names.extend_from_slice(name);
            entries.push(Entry { end: names.len(), inode: entry.ino(), kind });
        }
        self.ignores.go_below(&self.path, present);
        Ok(())
    }

    /// Some file systems do not say what an entry is.
    fn kind_by_stat(&self, name: &OsStr) -> Kind {
        self.stat(name).map_or(Kind::Other, |stat| kind_of(FileType::from_raw_mode(stat.st_mode)))
    }

    /// Whether an entry is left out: hidden or ignored. `path` is the entry's own.
    pub(crate) fn leaves_out(
        &self,
        path: &Path,
        name: &OsStr,
        kind: Kind,
        include_hidden: bool,
    ) -> bool {
        match self.ignores.rule(path, name, kind == Kind::Folder) {
            Rule::Ignored => true,
            Rule::Wanted => false,
            Rule::None => !include_hidden && name.as_bytes().first() == Some(&b'.'),
        }
    }
}

/// Whether a folder of that name in another is never walked into.
pub(crate) fn is_never_entered(folder: &Path, name: &OsStr) -> bool {
    let kernel = KERNEL.contains(&name.as_bytes()) && folder == Path::new("/");
    kernel || NEVER_ENTERED.contains(&name.as_bytes())
}

/// Joins as `Path::join` does a name, taking memory once.
fn join(folder: &Path, name: &OsStr) -> PathBuf {
    let mut path = PathBuf::with_capacity(folder.as_os_str().len() + 1 + name.len());
    path.push(folder);
    path.push(name);
    path
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
