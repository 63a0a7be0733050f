//! Looking at what stands at a path, and keeping it.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::Stat;
use rustix::io::Errno;

use super::place::{Place, open_regular};
use super::stamp::Stamp;
use super::version::{Kind, Version};
use crate::blobs::{BlobError, Blobs, Survive};

/// Stamps and hashes of files, by path.
pub(crate) type KnownHashes = HashMap<PathBuf, (Stamp, String)>;

/// How to look.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Looking<'a> {
    pub(crate) blobs: &'a Blobs,
    /// Larger files are not kept.
    pub(crate) largest: u64,
    pub(crate) survive: Survive,
    /// Hashes that are known already, by path and stamp.
    pub(crate) known: &'a KnownHashes,
}

/// Looks at a path and keeps what it holds. What lies behind a link counts as missing.
pub(crate) fn look(path: &Path, looking: Looking<'_>) -> Result<Option<Version>, BlobError> {
    match Place::find(path) {
        Ok(place) => looking.at(path, &place),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
        Err(error) => Err(BlobError::Io { path: path.to_owned(), source: error.into() }),
    }
}

impl Looking<'_> {
    fn at(self, path: &Path, place: &Place) -> Result<Option<Version>, BlobError> {
        match place.stat() {
            Ok(Some(stat)) => match self.known.get(path) {
                Some((seen, hash)) if *seen == Stamp::of(&stat) => {
                    Ok(Some(Version { hash: hash.clone(), ..Version::unread(&stat) }))
                }
                _ => self.version(place.folder(), place.name(), &stat),
            },
            Ok(None) => Ok(None),
            Err(error) => Err(BlobError::Io { path: path.to_owned(), source: error.into() }),
        }
    }

    /// The version of an entry that was seen already. What cannot be read is not kept.
    fn version(
        self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        stat: &Stat,
    ) -> Result<Option<Version>, BlobError> {
        let unread = Version::unread(stat);
        match unread.kind {
            Kind::Folder | Kind::Special => Ok(Some(unread)),
            Kind::Link => match rustix::fs::readlinkat(folder, name, Vec::new()) {
                Ok(target) => {
                    let kept = self.blobs.keep(target.as_bytes(), self.survive)?;
                    Ok(Some(Version {
                        hash: kept.hash.to_hex().to_string(),
                        size: kept.size,
                        is_settling: true,
                        ..unread
                    }))
                }
                Err(Errno::NOENT) => Ok(None),
                Err(_) => Ok(Some(unread)),
            },
            Kind::File if unread.size > self.largest => Ok(Some(unread)),
            Kind::File => self.file(folder, name, unread),
        }
    }

    fn file(
        self,
        folder: BorrowedFd<'_>,
        name: &OsStr,
        unread: Version,
    ) -> Result<Option<Version>, BlobError> {
        let now = SystemTime::now();
        let (file, stat) = match open_regular(folder, name) {
            Ok(Some(opened)) => opened,
            Err(Errno::NOENT) => return Ok(None),
            Ok(None) | Err(_) => return Ok(Some(unread)),
        };
        let seen = Version::unread(&stat);
        if seen.size > self.largest {
            return Ok(Some(seen));
        }
        let kept = self.blobs.keep_file(&file, self.survive)?;
        // A stamp stands for a content that is kept.
        let is_settling = kept.is_only_hashed || Stamp::of(&stat).is_settling(now);
        Ok(Some(Version {
            hash: kept.hash.to_hex().to_string(),
            size: kept.size,
            is_settling,
            ..seen
        }))
    }
}
