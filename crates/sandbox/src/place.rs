//! A name in a folder that was reached without following a link.
//!
//! What is done outside of a sandbox, before or after a command, is done through these: a command
//! may have left a link where a folder was, or put one there at this moment.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path};

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, fchmod, mkdirat, mknodat,
    openat, openat2, renameat_with, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

/// A name in an open folder.
#[derive(Debug)]
pub(crate) struct Place {
    folder: OwnedFd,
    name: OsString,
}

impl Place {
    /// The place of a path; an error where a link is on the way to it.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        Ok(Self { folder: open_folder(folder)?, name: name.to_owned() })
    }

    /// A name in a folder that is open already.
    pub(crate) fn within(folder: impl AsFd, name: &OsStr) -> io::Result<Self> {
        Ok(Self { folder: folder.as_fd().try_clone_to_owned()?, name: name.to_owned() })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }

    /// The name.
    pub(crate) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Returns the kind of what is there, links not followed.
    pub(crate) fn kind(&self) -> io::Result<FileType> {
        let stat = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(stat.st_mode))
    }

    /// Gives what is there another name, unless something has that name.
    pub(crate) fn rename(&self, name: &OsStr) -> io::Result<()> {
        let folder = &self.folder;
        Ok(renameat_with(folder, &self.name, folder, name, RenameFlags::NOREPLACE)?)
    }

    /// Removes an empty file or folder, or a socket; what is not empty is somebody's.
    pub(crate) fn remove_if_empty(&self) -> io::Result<()> {
        let stat = statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => unlinkat(&self.folder, &self.name, AtFlags::REMOVEDIR)?,
            FileType::RegularFile if stat.st_size > 0 => {}
            FileType::RegularFile | FileType::Socket => self.remove_file()?,
            _ => {}
        }
        Ok(())
    }

    /// Removes what is there, if it is no folder.
    pub(crate) fn remove_file(&self) -> io::Result<()> {
        Ok(unlinkat(&self.folder, &self.name, AtFlags::empty())?)
    }

    /// Makes an empty folder where nothing is.
    pub(crate) fn make_folder(&self, mode: u32) -> io::Result<()> {
        Ok(mkdirat(&self.folder, &self.name, Mode::from_raw_mode(mode))?)
    }

    /// Makes a socket that nobody listens on where nothing is.
    pub(crate) fn make_socket(&self) -> io::Result<()> {
        let owner_only = Mode::from_raw_mode(0o600);
        Ok(mknodat(&self.folder, &self.name, FileType::Socket, owner_only, 0)?)
    }

    /// Makes a link where nothing is.
    pub(crate) fn make_link(&self, target: &Path) -> io::Result<()> {
        Ok(symlinkat(target, &self.folder, &self.name)?)
    }

    /// Makes a file where nothing is. It is there as a whole or not at all.
    pub(crate) fn make_file(&self, bytes: &[u8], mode: u32) -> io::Result<()> {
        let temporary = Self::within(&self.folder, &temporary_name())?;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY;
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.folder, &temporary.name, flags, Mode::from_raw_mode(0o600))?;
        let mut file = File::from(file);
        let made = file
            .write_all(bytes)
            .and_then(|()| Ok(fchmod(&file, Mode::from_raw_mode(mode))?))
            .and_then(|()| temporary.rename(&self.name));
        made.inspect_err(|_| {
            temporary.remove_file().ok();
        })
    }

    /// Opens the folder that is there.
    pub(crate) fn open_folder(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::DIRECTORY;
        Ok(openat(&self.folder, &self.name, flags, Mode::empty())?)
    }
}

/// A name that nothing has yet.
pub(crate) fn temporary_name() -> OsString {
    let mut bytes = [0; 8];
    // Names are made exclusively, so that one which is taken is an error and nothing worse.
    getrandom::fill(&mut bytes).ok();
    format!(".toolgate-{:016x}", u64::from_ne_bytes(bytes)).into()
}

/// Returns `true` if a folder can be reached without following a link.
pub(crate) fn is_reached_straight(folder: &Path) -> bool {
    open_folder(folder).is_ok()
}

/// Makes a folder and those around it that are missing. No link on the way is followed.
pub(crate) fn make_folders(path: &Path, mode: u32) -> io::Result<()> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::DIRECTORY;
    let mut folder = openat(CWD, "/", flags, Mode::empty())?;
    for part in path.components() {
        let name = match part {
            Component::RootDir => continue,
            Component::Normal(name) => name,
            _ => return Err(io::ErrorKind::InvalidInput.into()),
        };
        folder = match openat(&folder, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => {
                match mkdirat(&folder, name, Mode::from_raw_mode(mode)) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                openat(&folder, name, flags, Mode::empty())?
            }
            found => found?,
        };
    }
    Ok(())
}

fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::DIRECTORY;
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    Ok(openat2(CWD, folder, flags, Mode::empty(), resolve)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_link_on_the_way_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("real/empty")).unwrap();
        symlink(root.join("real"), root.join("link")).unwrap();
        assert!(Place::of(&root.join("link/empty")).is_err());
        assert!(!is_reached_straight(&root.join("link")));
        assert!(make_folders(&root.join("link/new"), 0o700).is_err());
        Place::of(&root.join("real/empty")).unwrap().remove_if_empty().unwrap();
        assert!(!root.join("real/empty").exists());
        Place::of(&root.join("real")).unwrap().rename(OsStr::new("other")).unwrap();
        assert!(root.join("other").is_dir());
    }

    #[test]
    fn nothing_is_made_over_something() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::write(root.join("target"), "old").unwrap();
        symlink("target", root.join("link")).unwrap();
        symlink("nowhere", root.join("dangling")).unwrap();
        for name in ["target", "link", "dangling"] {
            let place = Place::of(&root.join(name)).unwrap();
            assert!(place.make_file(b"new", 0o644).is_err(), "{name}");
            assert!(place.make_folder(0o755).is_err(), "{name}");
            assert!(place.make_socket().is_err(), "{name}");
            assert!(place.make_link(Path::new("x")).is_err(), "{name}");
        }
        assert_eq!(fs::read_to_string(root.join("target")).unwrap(), "old");
        assert_eq!(fs::read_dir(&root).unwrap().count(), 3, "no temporary file is left");
        make_folders(&root.join("a/b/c"), 0o700).unwrap();
        assert!(root.join("a/b/c").is_dir());
    }
}
