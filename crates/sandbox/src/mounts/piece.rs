//! A piece of the file tree that can be put somewhere.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};

use crate::sys;

/// Nobody becomes another user by a program from there, and no device is reached.
pub(super) const TAME: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
/// Neither is anything changed.
pub(super) const FIXED: u64 = TAME | libc::MOUNT_ATTR_RDONLY;

/// A mount that is nowhere yet.
#[derive(Debug)]
pub(super) struct Piece(OwnedFd);

impl Piece {
    /// What is at a path now, with all that is mounted below it.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        Self::of_found(&find(path)?)
    }

    /// What a descriptor stands for, with all that is mounted below it.
    pub(super) fn of_found(place: impl AsFd) -> io::Result<Self> {
        let flags = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_EMPTY_PATH
            | OpenTreeFlags::AT_RECURSIVE;
        Ok(Self(open_tree(place, c"", flags)?))
    }

    /// A new file system. Options without a value are flags.
    pub(super) fn new(kind: &CStr, options: &[(&CStr, &CStr)]) -> io::Result<Self> {
        let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (name, value) in options {
            if value.is_empty() {
                fsconfig_set_flag(&context, *name)?;
            } else {
                fsconfig_set_string(&context, *name, *value)?;
            }
        }
        fsconfig_create(&context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        Ok(Self(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?))
    }

    /// A folder with a layer over it that takes all changes. Programs can run from there.
    pub(super) fn overlay(lower: &Path, upper: &Path, work: &Path) -> io::Result<Self> {
        let context = fsopen(c"overlay", FsOpenFlags::FSOPEN_CLOEXEC)?;
        for (name, path) in [(c"lowerdir", lower), (c"upperdir", upper), (c"workdir", work)] {
            fsconfig_set_string(&context, name, escaped(path)?)?;
        }
        fsconfig_set_flag(&context, c"userxattr")?;
        fsconfig_create(&context)?;
        let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
        Ok(Self(fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)?))
    }

    /// With attributes added, also below.
    pub(super) fn with(self, attributes: u64) -> io::Result<Self> {
        sys::set_mounts(self.0.as_fd(), attributes)?;
        Ok(self)
    }

    /// As it was before something around it became read-only. Where all of the file system is, it
    /// stays so.
    pub(super) fn writable(self) -> Self {
        sys::make_mounts_writable(self.0.as_fd()).ok();
        self
    }

    /// Puts it over what is at a path, which must be there.
    pub(super) fn put_on(self, path: &Path) -> io::Result<()> {
        self.put_on_found(find(path)?)
    }

    /// Puts it over what a descriptor stands for.
    pub(super) fn put_on_found(self, place: impl AsFd) -> io::Result<()> {
        let flags =
            MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        Ok(move_mount(&self.0, c"", place, c"", flags)?)
    }
}

impl AsFd for Piece {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A path as an option of an overlay, in which colons and commas separate.
fn escaped(path: &Path) -> io::Result<CString> {
    let mut escaped = Vec::new();
    for byte in path.as_os_str().as_bytes() {
        if matches!(byte, b':' | b',' | b'\\') {
            escaped.push(b'\\');
        }
        escaped.push(*byte);
    }
    Ok(CString::new(escaped)?)
}

/// What is at a path. Whoever put a link on the way there gets nothing.
pub(super) fn find(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(CWD, path, flags, Mode::empty(), resolve)?)
}
