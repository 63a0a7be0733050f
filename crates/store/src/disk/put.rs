//! Putting a version back, wholly or not at all.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Gid, Mode, OFlags, Uid};
use rustix::io::Errno;
use uuid::Uuid;

use super::place::Place;
use super::version::{Kind, Version};
use crate::blobs::{BlobError, Blobs};

/// Links have targets no longer than this.
const LONGEST_TARGET: u64 = 64 * 1024;

/// Why a version was not put back.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PutError {
    #[error("a folder on the way was replaced by a symbolic link or a file")]
    Replaced,
    #[error("the folder is not empty")]
    NotEmpty,
    #[error("its content was not kept")]
    NotKept,
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Errno> for PutError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::LOOP | Errno::XDEV | Errno::NOTDIR => Self::Replaced,
            Errno::NOTEMPTY | Errno::EXIST => Self::NotEmpty,
            other => Self::Io(other.into()),
        }
    }
}

/// Makes a path what it was: a version, or nothing. Folders above must be there.
pub(crate) fn put(path: &Path, target: Option<&Version>, blobs: &Blobs) -> Result<(), PutError> {
    let place = match Place::find(path) {
        Err(Errno::NOENT) if target.is_none() => return Ok(()),
        found => found?,
    };
    match target {
        None => remove(&place),
        Some(version) if !version.is_kept() => Err(PutError::NotKept),
        Some(version) => match version.kind {
            Kind::File => put_file(&place, version, blobs),
            Kind::Link => put_link(&place, version, blobs),
            Kind::Folder => put_folder(&place, version),
            Kind::Special => Err(PutError::NotKept),
        },
    }
}

/// Removes the entry itself, a folder only when it is empty.
fn remove(place: &Place) -> Result<(), PutError> {
    let flags = match kind_of(place)? {
        None => return Ok(()),
        Some(Kind::Folder) => AtFlags::REMOVEDIR,
        Some(_) => AtFlags::empty(),
    };
    match rustix::fs::unlinkat(place.folder(), place.name(), flags) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn put_file(place: &Place, version: &Version, blobs: &Blobs) -> Result<(), PutError> {
    let unfinished = Unfinished::new(place);
    let (mut file, name) = make_file(&unfinished)?;
    blobs.write_to(&version.hash, &mut file)?;
    take_over(&file, version)?;
    file.sync_data()?;
    if name == Name::None {
        let own = format!("/proc/self/fd/{}", file.as_raw_fd());
        let flags = AtFlags::SYMLINK_FOLLOW;
        rustix::fs::linkat(CWD, own, place.folder(), &unfinished.name, flags)?;
    }
    unfinished.finish()
}

/// Whether an unfinished file has a name yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name {
    Given,
    None,
}

/// Makes the new file: nameless where possible, so that a killed process leaves nothing behind.
fn make_file(unfinished: &Unfinished<'_>) -> Result<(File, Name), PutError> {
    let folder = unfinished.place.folder();
    let mode = Mode::from_raw_mode(0o600);
    if Path::new("/proc/self/fd").exists() {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        match rustix::fs::openat(folder, ".", flags, mode) {
            Ok(file) => return Ok((File::from(file), Name::None)),
            Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOENT) => {}
            Err(error) => return Err(error.into()),
        }
    }
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, &unfinished.name, flags, mode)?;
    Ok((File::from(file), Name::Given))
}

/// Gives a new file the owner and the mode of the version.
fn take_over(file: &File, version: &Version) -> Result<(), PutError> {
    let stat = rustix::fs::fstat(file)?;
    let mut is_owned = (stat.st_uid, stat.st_gid) == (version.uid, version.gid);
    if !is_owned {
        let (uid, gid) = (Uid::from_raw(version.uid), Gid::from_raw(version.gid));
        is_owned = rustix::fs::fchown(file, Some(uid), Some(gid)).is_ok();
    }
    // A program that runs as its owner must not come to run as somebody else.
    let mode = if is_owned { version.mode } else { version.mode & 0o1777 };
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode))?;
    Ok(())
}

fn put_link(place: &Place, version: &Version, blobs: &Blobs) -> Result<(), PutError> {
    let target = blobs.read(&version.hash, LONGEST_TARGET)?;
    let unfinished = Unfinished::new(place);
    rustix::fs::symlinkat(OsStr::from_bytes(&target), place.folder(), &unfinished.name)?;
    unfinished.finish()
}

fn put_folder(place: &Place, version: &Version) -> Result<(), PutError> {
    match kind_of(place)? {
        Some(Kind::Folder) => {}
        Some(_) => {
            rustix::fs::unlinkat(place.folder(), place.name(), AtFlags::empty())?;
            rustix::fs::mkdirat(place.folder(), place.name(), Mode::from_raw_mode(0o700))?;
        }
        None => rustix::fs::mkdirat(place.folder(), place.name(), Mode::from_raw_mode(0o700))?,
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(version.mode);
    match rustix::fs::openat(place.folder(), place.name(), flags, Mode::empty()) {
        Ok(folder) => rustix::fs::fchmod(&folder, mode)?,
        // One that its owner may not list is held without opening it.
        Err(Errno::ACCESS) => {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let held = rustix::fs::openat(place.folder(), place.name(), flags, Mode::empty())?;
            rustix::fs::chmod(format!("/proc/self/fd/{}", held.as_raw_fd()), mode)?;
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

fn kind_of(place: &Place) -> Result<Option<Kind>, PutError> {
    Ok(place.stat()?.map(|stat| Version::unread(&stat).kind))
}

/// A new entry under a temporary name, removed unless it is finished.
#[derive(Debug)]
struct Unfinished<'a> {
    place: &'a Place,
    name: OsString,
}

impl<'a> Unfinished<'a> {
    fn new(place: &'a Place) -> Self {
        let name = OsString::from(format!(".toolgate-{}.tmp", Uuid::now_v7().simple()));
        Self { place, name }
    }

    /// Takes the place of what is there, in one step unless that is a folder.
    fn finish(mut self) -> Result<(), PutError> {
        let (folder, name) = (self.place.folder(), self.place.name());
        if kind_of(self.place)? == Some(Kind::Folder) {
            rustix::fs::unlinkat(folder, name, AtFlags::REMOVEDIR)?;
        }
        rustix::fs::renameat(folder, &self.name, folder, name)?;
        self.name.clear();
        Ok(())
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if !self.name.is_empty() {
            // There may be none yet; nothing more can be done about one that stays.
            rustix::fs::unlinkat(self.place.folder(), &self.name, AtFlags::empty()).ok();
        }
    }
}
