//! A name in a folder that was reached without following a link.
//!
//! What is done after a command, outside of its sandbox, is done through these: the command may
//! have left a link where a folder was.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, ResolveFlags, openat2, renameat_with,
    statat, unlinkat,
};

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
            FileType::RegularFile | FileType::Socket => {
                unlinkat(&self.folder, &self.name, AtFlags::empty())?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Whether a folder can be reached without following a link.
pub(crate) fn is_reached_straight(folder: &Path) -> bool {
    open_folder(folder).is_ok()
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
        Place::of(&root.join("real/empty")).unwrap().remove_if_empty().unwrap();
        assert!(!root.join("real/empty").exists());
        Place::of(&root.join("real")).unwrap().rename(OsStr::new("other")).unwrap();
        assert!(root.join("other").is_dir());
    }
}
