//! Writing a file so that it is wholly old or wholly new.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FlockOperation, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use super::open::{OpenError, open_error};
use super::resolve::{FileKind, ResolvedPath};
use super::roots::Workspace;
use super::version::Version;

/// A new version of a file, invisible until it is finished.
///
/// It has no name while it is written where the file system allows that, so a
/// killed process leaves nothing behind.
#[derive(Debug)]
pub struct Replacement {
    folder: OwnedFd,
    name: OsString,
    file: File,
    /// The name of the unfinished file, when it needs one.
    unfinished: Option<OsString>,
    before: Option<Stat>,
}

/// What finishing may do to a file that is already there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish {
    /// Only make a new file.
    CreateNew,
    /// Take the place of the file that was there when the replacement began.
    Replace,
}

impl Workspace {
    /// Begins a new version of the file; folders above it are made.
    pub fn begin_replacement(&self, path: &ResolvedPath) -> Result<Replacement, OpenError> {
        self.reachable(path)?;
        let real = path.real();
        let (Some(parent), Some(name)) = (real.parent(), real.file_name()) else {
            return Err(OpenError::NotRegular { kind: FileKind::Folder });
        };
        let folder = self.open_or_make_folder(parent)?;
        let before = match rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(open_error(error)),
        };
        path.refuse_other_version(before.as_ref())?;
        let (file, unfinished) = make_unfinished(&folder)?;
        let replacement = Replacement { folder, name: name.to_owned(), file, unfinished, before };
        replacement.take_over_mode().map_err(OpenError::Other)?;
        Ok(replacement)
    }

    /// Removes the entry itself, never what a link points to.
    pub fn remove(&self, path: &ResolvedPath) -> Result<(), OpenError> {
        self.reachable(path)?;
        let (Some(parent), Some(name)) = (path.real().parent(), path.real().file_name()) else {
            return Err(OpenError::NotRegular { kind: FileKind::Folder });
        };
        let folder = self.open_real(parent, OFlags::PATH | OFlags::DIRECTORY)?;
        let now = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW);
        path.refuse_other_version(Some(&now.map_err(open_error)?))?;
        rustix::fs::unlinkat(&folder, name, AtFlags::empty()).map_err(open_error)
    }

    fn open_or_make_folder(&self, folder: &Path) -> Result<OwnedFd, OpenError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        match self.open_real(folder, flags) {
            Err(OpenError::Missing) => {}
            other => return other,
        }
        let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) else {
            return Err(OpenError::Missing);
        };
        let above = self.open_or_make_folder(parent)?;
        match rustix::fs::mkdirat(&above, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(open_error(error)),
        }
        self.open_real(folder, flags)
    }
}

impl ResolvedPath {
    /// What was judged, and perhaps approved, is the version that stood there then.
    fn refuse_other_version(&self, now: Option<&Stat>) -> Result<(), OpenError> {
        // A path that was not reachable was not looked at either.
        let looked_at = self.kind() != FileKind::Unreachable;
        if looked_at && self.version() != now.map(Version::of) {
            return Err(OpenError::Changed);
        }
        Ok(())
    }
}

impl Replacement {
    /// Where the new content goes.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Puts the new version in place, on disk before it is visible.
    ///
    /// # Errors
    ///
    /// `AlreadyExists` when a new file was wanted and one is there; `Other` with a plain
    /// message when the file changed since the replacement began.
    pub fn finish(mut self, finish: Finish) -> io::Result<()> {
        self.file.sync_data()?;
        // Between two of us, nobody gets in between looking and renaming.
        let _lock = FolderLock::take(&self.folder);
        self.refuse_if_changed(finish)?;
        let name = match self.unfinished.take() {
            Some(name) => name,
            // A nameless file can take a free name at once, but cannot replace another.
            None if finish == Finish::CreateNew => return self.link_as(&self.name),
            None => {
                let name = unfinished_name();
                self.link_as(&name)?;
                name
            }
        };
        let flags = match finish {
            Finish::CreateNew => RenameFlags::NOREPLACE,
            Finish::Replace => RenameFlags::empty(),
        };
        let renamed =
            match rustix::fs::renameat_with(&self.folder, &name, &self.folder, &self.name, flags) {
                // Some file systems lack the exclusive rename; a link is exclusive everywhere.
                Err(Errno::INVAL | Errno::NOSYS) if finish == Finish::CreateNew => {
                    rustix::fs::linkat(
                        &self.folder,
                        &name,
                        &self.folder,
                        &self.name,
                        AtFlags::empty(),
                    )
                    .and_then(|()| rustix::fs::unlinkat(&self.folder, &name, AtFlags::empty()))
                }
                other => other,
            };
        if let Err(error) = renamed {
            self.unfinished = Some(name);
            return Err(error.into());
        }
        Ok(())
    }

    fn link_as(&self, name: &OsStr) -> io::Result<()> {
        let own = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        rustix::fs::linkat(rustix::fs::CWD, own, &self.folder, name, AtFlags::SYMLINK_FOLLOW)?;
        Ok(())
    }

    /// Somebody else's change made in the meantime must not be lost.
    fn refuse_if_changed(&self, finish: Finish) -> io::Result<()> {
        let now = rustix::fs::statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW).ok();
        if self.before.as_ref().map(Version::of) == now.as_ref().map(Version::of) {
            return Ok(());
        }
        if finish == Finish::CreateNew && now.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Err(io::Error::other("the file was changed by somebody else at the same moment"))
    }

    /// The new version keeps the mode and, where permitted, the owner of the old one.
    fn take_over_mode(&self) -> io::Result<()> {
        let Some(before) = &self.before else {
            return Ok(());
        };
        let now = rustix::fs::fstat(&self.file)?;
        if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid) {
            let owner = (Uid::from_raw(before.st_uid), Gid::from_raw(before.st_gid));
            // Only the superuser may give files away; anybody else keeps their own.
            rustix::fs::fchown(&self.file, Some(owner.0), Some(owner.1)).ok();
        }
        rustix::fs::fchmod(&self.file, Mode::from_raw_mode(before.st_mode & 0o7777))?;
        Ok(())
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        if let Some(name) = &self.unfinished {
            // Nothing more can be done about a file that cannot be removed.
            rustix::fs::unlinkat(&self.folder, name, AtFlags::empty()).ok();
        }
    }
}

/// An advisory lock on a folder, held for the moment of a rename.
#[derive(Debug)]
struct FolderLock {
    _folder: Option<OwnedFd>,
}

impl FolderLock {
    /// Waits a second at most: whoever holds it longer is not one of us.
    fn take(folder: &OwnedFd) -> Self {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(folder, ".", flags, Mode::empty()).ok();
        let locked = opened.filter(|opened| {
            (0..1000).any(|_| {
                let taken =
                    rustix::fs::flock(opened, FlockOperation::NonBlockingLockExclusive).is_ok();
                if !taken {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                taken
            })
        });
        Self { _folder: locked }
    }
}

/// Makes the unfinished file: nameless where possible, else under a hidden name.
fn make_unfinished(folder: &OwnedFd) -> Result<(File, Option<OsString>), OpenError> {
    let mode = Mode::from_raw_mode(0o666);
    let own_proc = Path::new("/proc/self/fd").exists();
    if own_proc {
        let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
        match rustix::fs::openat(folder, ".", flags, mode) {
            Ok(file) => return Ok((File::from(file), None)),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {}
            Err(error) => return Err(open_error(error)),
        }
    }
    let name = unfinished_name();
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder.as_fd(), &name, flags, mode).map_err(open_error)?;
    Ok((File::from(file), Some(name)))
}

fn unfinished_name() -> OsString {
    OsString::from(format!(".toolgate-{}.tmp", uuid::Uuid::now_v7().simple()))
}
