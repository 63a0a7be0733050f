//! An entry of a folder that was reached without a link.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use toolgate_core::workspace::open_absolute;

/// A name in an open folder.
#[derive(Debug)]
pub(crate) struct Place {
    folder: OwnedFd,
    name: OsString,
}

impl Place {
    /// Reaches the folder a path lies in.
    ///
    /// # Errors
    ///
    /// `LOOP` or `NOTDIR` when something on the way is no folder, `NOENT` when it is missing.
    pub(crate) fn find(path: &Path) -> Result<Self, Errno> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Errno::INVAL);
        };
        if !path.is_absolute() {
            return Err(Errno::INVAL);
        }
        let folder = open_absolute(parent, OFlags::PATH | OFlags::DIRECTORY)?;
        Ok(Self { folder, name: name.to_owned() })
    }

    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// What the file system says about the entry, if there is one.
    pub(crate) fn stat(&self) -> Result<Option<Stat>, Errno> {
        stat_entry(self.folder(), &self.name)
    }
}

/// What the file system says about an entry of a folder.
pub(crate) fn stat_entry(folder: BorrowedFd<'_>, name: &OsStr) -> Result<Option<Stat>, Errno> {
    match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Opens an entry that is a regular file; nothing else is opened for longer than a look.
pub(crate) fn open_regular(
    folder: BorrowedFd<'_>,
    name: &OsStr,
) -> Result<Option<(File, Stat)>, Errno> {
    // Non-blocking, so that a pipe put there in the meantime cannot hold us up.
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    let regular = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    Ok(regular.then(|| (File::from(file), stat)))
}
