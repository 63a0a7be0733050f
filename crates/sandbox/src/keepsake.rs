//! A copy of something small, to put it back as it was.
//!
//! Both are done without following a link, and nothing that is there is written to: whatever a
//! command left, or another one makes meanwhile, leads nowhere.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fchmod, fstat, openat, readlinkat, statat};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::place::{Place, make_folders, temporary_name};
use crate::raw::Raw;

/// Bytes of all files, at most.
const BYTES: u64 = 8 * 1024 * 1024;
/// Files and folders, at most.
const ENTRIES: usize = 2000;
/// Folders below each other, at most.
const DEPTH: usize = 32;

/// A file or folder as it was.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Keepsake {
    /// A file, with its mode.
    File(Bytes, u32),
    /// A link.
    Link(Raw),
    /// A folder, with its mode and what is in it, in order.
    Folder(Vec<(Raw, Keepsake)>, u32),
    /// Something else, which is left alone.
    Other,
}

/// The content of a file, which is written as text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Bytes(Vec<u8>);

/// What is left to be kept.
#[derive(Debug)]
struct Room {
    bytes: u64,
    entries: usize,
}

impl Keepsake {
    /// Keeps what is at a path; an error when it is not small, or reached through a link.
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        let mut room = Room { bytes: BYTES, entries: ENTRIES };
        Self::take(&Place::of(path)?, &mut room, DEPTH)
    }

    fn take(place: &Place, room: &mut Room, depth: usize) -> io::Result<Self> {
        let too_large = || io::Error::from(io::ErrorKind::FileTooLarge);
        room.entries = room.entries.checked_sub(1).ok_or_else(too_large)?;
        let stat = statat(place.folder(), place.name(), AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => {
                let target = readlinkat(place.folder(), place.name(), Vec::new())?;
                Ok(Self::Link(PathBuf::from(OsStr::from_bytes(target.to_bytes())).into()))
            }
            FileType::Directory => {
                let depth = depth.checked_sub(1).ok_or_else(too_large)?;
                Self::take_folder(&place.open_folder()?, room, depth)
            }
            FileType::RegularFile => Self::take_file(place, room),
            _ => Ok(Self::Other),
        }
    }

    fn take_folder(folder: &OwnedFd, room: &mut Room, depth: usize) -> io::Result<Self> {
        let mode = fstat(folder)?.st_mode & 0o7777;
        let mut entries = Vec::new();
        for entry in Dir::read_from(folder)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name != "." && name != ".." {
                let kept = Self::take(&Place::within(folder, name)?, room, depth)?;
                entries.push((Raw::from(name.to_owned()), kept));
            }
        }
        entries.sort_by(|(left, _), (right, _)| left.cmp(right));
        Ok(Self::Folder(entries, mode))
    }

    fn take_file(place: &Place, room: &mut Room) -> io::Result<Self> {
        // What is a file now may be a pipe when it is opened.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(place.folder(), place.name(), flags, Mode::empty())?);
        let stat = fstat(&file)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(Self::Other);
        }
        let mut bytes = Vec::new();
        file.take(room.bytes + 1).read_to_end(&mut bytes)?;
        let left = room.bytes.checked_sub(bytes.len() as u64);
        room.bytes = left.ok_or_else(|| io::Error::from(io::ErrorKind::FileTooLarge))?;
        Ok(Self::File(Bytes(bytes), stat.st_mode & 0o7777))
    }

    /// Returns the text of a file.
    pub(crate) fn text(&self) -> Option<&str> {
        match self {
            Self::File(Bytes(bytes), _) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    /// Makes it anew at a path where nothing is, with the folders around it.
    pub(crate) fn put_back(&self, path: &Path) -> io::Result<()> {
        make_folders(path.parent().unwrap_or(path), 0o755)?;
        self.put(&Place::of(path)?)
    }

    fn put(&self, place: &Place) -> io::Result<()> {
        match self {
            Self::File(Bytes(bytes), mode) => place.make_file(bytes, *mode),
            Self::Link(target) => place.make_link(target.as_path()),
            Self::Folder(entries, mode) => {
                // It gets its name when it is complete.
                let temporary = Place::within(place.folder(), &temporary_name())?;
                temporary.make_folder(0o700)?;
                let made = fill(&temporary, entries, *mode);
                made.and_then(|()| temporary.rename(place.name())).inspect_err(|_| {
                    self.remove(&temporary).ok();
                })
            }
            Self::Other => Ok(()),
        }
    }

    /// Removes what was made of it at a place of our own.
    fn remove(&self, place: &Place) -> io::Result<()> {
        let Self::Folder(entries, _) = self else { return place.remove_file() };
        let folder = place.open_folder()?;
        for (name, entry) in entries {
            // Those after one that failed are not there.
            entry.remove(&Place::within(&folder, name.as_os())?).ok();
        }
        place.remove_if_empty()
    }
}

/// Makes what is kept of a folder in one that is empty.
fn fill(place: &Place, entries: &[(Raw, Keepsake)], mode: u32) -> io::Result<()> {
    let folder = place.open_folder()?;
    for (name, entry) in entries {
        entry.put(&Place::within(&folder, name.as_os())?)?;
    }
    Ok(fchmod(&folder, Mode::from_raw_mode(mode))?)
}

impl Serialize for Bytes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        STANDARD.decode(text).map(Self).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn puts_back_what_was() {
        let folder = tempfile::tempdir().unwrap();
        let hooks = folder.path().canonicalize().unwrap().join("hooks");
        fs::create_dir_all(hooks.join("deep")).unwrap();
        fs::write(hooks.join("a"), b"a\xff\0").unwrap();
        fs::set_permissions(hooks.join("a"), Permissions::from_mode(0o755)).unwrap();
        symlink("a", hooks.join("b")).unwrap();
        let kept = Keepsake::of(&hooks).unwrap();
        let text = serde_json::to_string(&kept).unwrap();
        assert_eq!(serde_json::from_str::<Keepsake>(&text).unwrap(), kept);
        fs::remove_dir_all(&hooks).unwrap();
        kept.put_back(&hooks).unwrap();
        assert_eq!(Keepsake::of(&hooks).unwrap(), kept);
        fs::write(hooks.join("a"), "b").unwrap();
        assert_ne!(Keepsake::of(&hooks).unwrap(), kept);
    }

    #[test]
    fn nothing_is_written_where_something_stands_or_a_link_leads() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let (ours, outside) = (root.join("ours"), root.join("outside"));
        fs::create_dir_all(ours.join("deep")).unwrap();
        fs::create_dir(&outside).unwrap();
        fs::write(ours.join("deep/key"), "mine").unwrap();
        let kept = Keepsake::of(&ours).unwrap();
        for (link, target) in [("one", outside.clone()), ("two", outside.join("new"))] {
            symlink(target, root.join(link)).unwrap();
            assert!(kept.put_back(&root.join(link)).is_err(), "{link}");
            assert!(kept.put_back(&root.join(link).join("below")).is_err(), "{link}");
        }
        assert!(Keepsake::of(&root.join("one/x")).is_err());
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert_eq!(fs::read_dir(&root).unwrap().count(), 4, "no temporary folder is left");
        assert_eq!(fs::read_to_string(ours.join("deep/key")).unwrap(), "mine");
    }
}
