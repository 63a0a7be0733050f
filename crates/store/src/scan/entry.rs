//! One entry of a folder.

use std::ffi::OsStr;

use rustix::fs::Stat;

use crate::disk::{Kind, Stamp, Version};

/// A file, link, folder or something else.
///
/// Only name and kind say something about a folder; the rest is in its own record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: Box<OsStr>,
    pub(crate) kind: Kind,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) stamp: Stamp,
    /// Is `true` if the file could have changed later without a new stamp.
    pub(crate) is_settling: bool,
    /// Is `true` if the file has another name, through which it can change.
    pub(crate) has_other_names: bool,
    pub(crate) content: Content,
}

/// Where the content of a file, or the target of a link, can be found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nowhere.
    Unkept,
    /// In the store.
    Copied(blake3::Hash),
}

/// An entry that is not looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HiddenEntry {
    pub(crate) name: Box<OsStr>,
    pub(crate) is_folder: bool,
    pub(crate) why: Hidden,
}

/// Why something was not looked into.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hidden {
    /// An ignore file says so.
    Ignored,
    /// It is a repository; the text changes with whatever git does in it.
    Repository(String),
}

impl Entry {
    /// Returns an entry whose content is not known.
    pub(crate) fn unread(name: &OsStr, stat: &Stat) -> Self {
        let kind = Kind::of(stat);
        if kind == Kind::Folder {
            return Self::folder(name);
        }
        Self {
            name: name.into(),
            kind,
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            stamp: Stamp::of(stat),
            is_settling: false,
            has_other_names: stat.st_nlink > 1,
            content: Content::Unkept,
        }
    }

    /// Returns an entry for a folder, which has its own record.
    pub(crate) fn folder(name: &OsStr) -> Self {
        Self {
            name: name.into(),
            kind: Kind::Folder,
            mode: 0,
            uid: 0,
            gid: 0,
            stamp: Stamp::default(),
            is_settling: false,
            has_other_names: false,
            content: Content::Unkept,
        }
    }

    /// Returns `true` if this is a file or link without a kept content.
    pub(crate) fn is_unkept(&self) -> bool {
        matches!(self.kind, Kind::File | Kind::Link) && self.content == Content::Unkept
    }

    /// Returns the number of bytes that the content takes up in the store.
    pub(crate) fn copied(&self) -> u64 {
        if matches!(self.content, Content::Copied(_)) { self.stamp.size } else { 0 }
    }

    /// Returns the version of a file, link or device.
    pub(crate) fn version(&self) -> Version {
        let hash = self.content.hash().map(|hash| hash.to_hex().to_string());
        Version {
            kind: self.kind,
            hash: hash.unwrap_or_default(),
            size: self.stamp.size,
            mode: self.mode,
            uid: self.uid,
            gid: self.gid,
            stamp: Some(self.stamp),
            is_settling: self.is_settling,
        }
    }
}

impl Content {
    /// Returns the hash of the content, if it is kept.
    pub(crate) fn hash(&self) -> Option<&blake3::Hash> {
        match self {
            Self::Unkept => None,
            Self::Copied(hash) => Some(hash),
        }
    }
}
