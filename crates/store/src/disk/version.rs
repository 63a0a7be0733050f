//! A file, link or folder at some moment.

use rustix::fs::{FileType, Stat};
use serde::{Deserialize, Serialize};
use toolgate_core::journal::{FileVersion, VersionKind};

use super::stamp::Stamp;

/// What stood at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Version {
    pub(crate) kind: Kind,
    /// The hash of the content or of a link's target; empty where none is kept.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) hash: String,
    pub(crate) size: u64,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// What the file system says about a file of this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) stamp: Option<Stamp>,
    /// Whether the next version could have come so soon that it bears the same stamp.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_settling: bool,
}

/// What can stand at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    File,
    Link,
    Folder,
    /// A pipe, socket or device, which is never opened.
    Special,
}

impl Kind {
    /// Returns the kind of the entry that `stat` describes.
    pub(crate) fn of(stat: &Stat) -> Self {
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => Self::File,
            FileType::Symlink => Self::Link,
            FileType::Directory => Self::Folder,
            _ => Self::Special,
        }
    }
}

impl Version {
    /// A version whose content was not looked at.
    pub(crate) fn unread(stat: &Stat) -> Self {
        let kind = Kind::of(stat);
        Self {
            kind,
            hash: String::new(),
            size: if kind == Kind::Folder { 0 } else { u64::try_from(stat.st_size).unwrap_or(0) },
            mode: stat.st_mode & 0o7777,
            uid: stat.st_uid,
            gid: stat.st_gid,
            stamp: (kind != Kind::Folder).then(|| Stamp::of(stat)),
            is_settling: false,
        }
    }

    /// Whether this version can be put back.
    pub(crate) fn is_kept(&self) -> bool {
        match self.kind {
            Kind::File | Kind::Link => !self.hash.is_empty(),
            Kind::Folder => true,
            Kind::Special => false,
        }
    }

    /// Whether it is a folder.
    pub(crate) fn is_folder(&self) -> bool {
        self.kind == Kind::Folder
    }

    /// Whether both are the same, as far as can be told. In doubt they are not.
    pub(crate) fn is(&self, other: &Self) -> bool {
        if self.kind != other.kind {
            return false;
        }
        let same_mode = self.mode == other.mode;
        match self.kind {
            Kind::Folder => same_mode,
            Kind::Link => self.same_content(other),
            Kind::File | Kind::Special => same_mode && self.same_content(other),
        }
    }

    fn same_content(&self, other: &Self) -> bool {
        if !self.hash.is_empty() && !other.hash.is_empty() {
            return self.hash == other.hash;
        }
        self.stamp.is_some() && self.stamp == other.stamp
    }
}

/// Whether the same stands there, or nothing both times.
pub(crate) fn same(one: Option<&Version>, other: Option<&Version>) -> bool {
    match (one, other) {
        (None, None) => true,
        (Some(one), Some(other)) => one.is(other),
        _ => false,
    }
}

impl From<&Version> for FileVersion {
    fn from(version: &Version) -> Self {
        Self {
            kind: match version.kind {
                Kind::File | Kind::Special => VersionKind::File,
                Kind::Link => VersionKind::Link,
                Kind::Folder => VersionKind::Folder,
            },
            hash: version.hash.clone(),
            size: version.size,
            mode: version.mode,
        }
    }
}
