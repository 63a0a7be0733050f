//! A copy of something small, to put it back as it was.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Bytes of all files, at most.
const BYTES: u64 = 8 * 1024 * 1024;
/// Files and folders, at most.
const ENTRIES: usize = 2000;

/// A file or folder as it was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Keepsake {
    /// A file, with its mode.
    File(Vec<u8>, u32),
    /// A link.
    Link(PathBuf),
    /// A folder, with its mode.
    Folder(BTreeMap<OsString, Keepsake>, u32),
    /// Something else, which is left alone.
    Other,
}

/// What is left to be kept.
#[derive(Debug)]
struct Room {
    bytes: u64,
    entries: usize,
}

impl Keepsake {
    /// Keeps what is at a path; an error when it is not small.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Self::take(path, &mut Room { bytes: BYTES, entries: ENTRIES })
    }

    fn take(path: &Path, room: &mut Room) -> io::Result<Self> {
        let metadata = path.symlink_metadata()?;
        let mode = metadata.permissions().mode() & 0o7777;
        let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
        room.entries = room.entries.checked_sub(1).ok_or_else(too_large)?;
        if metadata.is_symlink() {
            return Ok(Self::Link(fs::read_link(path)?));
        }
        if metadata.is_dir() {
            let mut entries = BTreeMap::new();
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                entries.insert(entry.file_name(), Self::take(&entry.path(), room)?);
            }
            return Ok(Self::Folder(entries, mode));
        }
        if !metadata.is_file() {
            return Ok(Self::Other);
        }
        room.bytes = room.bytes.checked_sub(metadata.len()).ok_or_else(too_large)?;
        Ok(Self::File(fs::read(path)?, mode))
    }

    /// Makes it anew at a path where nothing is.
    pub(crate) fn put_back(&self, path: &Path) -> io::Result<()> {
        match self {
            Self::File(bytes, mode) => {
                fs::write(path, bytes)?;
                fs::set_permissions(path, Permissions::from_mode(*mode))
            }
            Self::Link(target) => symlink(target, path),
            Self::Folder(entries, mode) => {
                fs::create_dir_all(path)?;
                for (name, entry) in entries {
                    entry.put_back(&path.join(name))?;
                }
                fs::set_permissions(path, Permissions::from_mode(*mode))
            }
            Self::Other => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn puts_back_what_was() {
        let folder = tempfile::tempdir().unwrap();
        let hooks = folder.path().join("hooks");
        fs::create_dir(&hooks).unwrap();
        fs::write(hooks.join("a"), "a").unwrap();
        fs::set_permissions(hooks.join("a"), Permissions::from_mode(0o755)).unwrap();
        symlink("a", hooks.join("b")).unwrap();
        let kept = Keepsake::of(&hooks).unwrap();
        fs::remove_dir_all(&hooks).unwrap();
        kept.put_back(&hooks).unwrap();
        assert_eq!(Keepsake::of(&hooks).unwrap(), kept);
        fs::write(hooks.join("a"), "b").unwrap();
        assert_ne!(Keepsake::of(&hooks).unwrap(), kept);
    }
}
