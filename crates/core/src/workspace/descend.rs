//! Opening below a folder without following a symbolic link.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

/// Opens a path that must hold no symbolic link, below `folder`.
pub fn open_beneath(folder: BorrowedFd<'_>, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let inner = if inner.as_os_str().is_empty() { Path::new(".") } else { inner };
    match rustix::fs::openat2(folder, inner, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
        Err(Errno::NOSYS | Errno::PERM) => step_by_step(folder, inner, flags),
        other => other,
    }
}

/// Opens an absolute path that must hold no symbolic link.
pub fn open_absolute(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let root =
        rustix::fs::open("/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let inner = path.strip_prefix("/").unwrap_or(path);
    open_beneath(root.as_fd(), inner, flags)
}

/// Opens a path the way the kernel reads it, links followed, magic links refused.
pub(super) fn open_following(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve) {
        Err(Errno::NOSYS) => rustix::fs::open(path, flags | OFlags::CLOEXEC, Mode::empty()),
        other => other,
    }
}

/// The same without `openat2`, for kernels and containers that lack it.
fn step_by_step(folder: BorrowedFd<'_>, inner: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let hop = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = rustix::fs::openat(folder, ".", hop | OFlags::DIRECTORY, Mode::empty())?;
    let mut parts = inner.components().peekable();
    while let Some(part) = parts.next() {
        let name = match part {
            Component::Normal(name) => name,
            Component::CurDir => continue,
            _ => return Err(Errno::XDEV),
        };
        if parts.peek().is_none() {
            let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let last = rustix::fs::openat(&at, name, flags, Mode::empty())?;
            let kind = rustix::fs::FileType::from_raw_mode(rustix::fs::fstat(&last)?.st_mode);
            return if kind.is_symlink() { Err(Errno::LOOP) } else { Ok(last) };
        }
        at = rustix::fs::openat(&at, name, hop | OFlags::DIRECTORY, Mode::empty())?;
    }
    rustix::fs::openat(&at, ".", flags | OFlags::CLOEXEC, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_refuse_links_and_open_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("real")).unwrap();
        std::fs::write(folder.path().join("real/file"), "x").unwrap();
        std::os::unix::fs::symlink("real", folder.path().join("link")).unwrap();
        std::os::unix::fs::symlink("file", folder.path().join("real/alias")).unwrap();
        let root = std::fs::File::open(folder.path()).unwrap();
        for open in [open_beneath, step_by_step] {
            let try_open = |path: &str| open(root.as_fd(), Path::new(path), OFlags::RDONLY);
            assert!(try_open("real/file").is_ok());
            assert!(try_open("link/file").is_err());
            assert!(try_open("real/alias").is_err());
            assert!(try_open("../x").is_err());
            assert!(try_open(".").is_ok());
        }
    }
}
