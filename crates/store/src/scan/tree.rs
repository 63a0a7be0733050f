//! The state of some folders at one moment.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::ops::AddAssign;
use std::path::Path;
use std::sync::Arc;

use super::entry::{Entry, Hidden, HiddenEntry};
use crate::disk::{Kind, Stamp, Version};

/// Everything in some folders. Trees of different moments share the folders that did not change.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    /// Every folder that was visited, by real path, the roots included.
    pub(crate) folders: BTreeMap<Arc<Path>, Arc<Folder>>,
    /// Fingerprint of everything outside of the roots that decides which files are ignored.
    pub(crate) surroundings: [u8; 32],
}

/// One folder.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Folder {
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) stamp: Stamp,
    /// Is `true` if an entry could have been added or removed later without a new stamp.
    pub(crate) is_settling: bool,
    pub(crate) listing: Listing,
    /// Sorted by name.
    pub(crate) entries: Vec<Entry>,
    /// Entries that are not looked into, sorted by name.
    pub(crate) hidden: Vec<HiddenEntry>,
    /// The folder's ignore file, which must be read again if its stamp changes.
    pub(crate) rules: Option<Rules>,
    /// Numbers about the entries, up to date in every folder that is part of a tree.
    pub(crate) counts: Counts,
}

/// Identity of an ignore file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rules {
    pub(crate) stamp: Stamp,
    pub(crate) is_settling: bool,
}

/// How much of a folder is known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Listing {
    #[default]
    Complete,
    /// The folder cannot be listed.
    Unreadable,
    /// The limit on entries was reached before this folder.
    TooMuch,
}

/// Limits on what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Size in bytes of a single file.
    pub(crate) file: u64,
    /// Size in bytes of a file whose former content is kept already.
    pub(crate) known_file: u64,
    /// Size in bytes of all files that are copied.
    pub(crate) total: u64,
    /// Number of entries that are listed.
    pub(crate) entries: usize,
}

impl Limits {
    /// Limits for the state before a command.
    pub(crate) const BEFORE: Self = Self {
        file: 1024 * 1024,
        known_file: 1024 * 1024,
        total: 256 * 1024 * 1024,
        entries: 200_000,
    };

    /// Limits for the state after a command.
    pub(crate) const AFTER: Self =
        Self { known_file: 64 * 1024 * 1024, total: u64::MAX, ..Self::BEFORE };
}

/// Numbers about the entries of one folder or of a tree.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) entries: usize,
    /// Bytes of the contents that were copied into the store.
    pub(crate) copied: u64,
    /// Files with more than one name.
    pub(crate) many_names: usize,
    /// Files and links without a kept content.
    pub(crate) unkept: usize,
    /// Pipes, sockets and devices.
    pub(crate) special: usize,
    pub(crate) ignored: usize,
    pub(crate) repositories: usize,
    /// Folders that cannot be listed.
    pub(crate) unreadable: usize,
    /// Folders beyond the limit on entries.
    pub(crate) too_much: usize,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.entries += other.entries;
        self.copied += other.copied;
        self.many_names += other.many_names;
        self.unkept += other.unkept;
        self.special += other.special;
        self.ignored += other.ignored;
        self.repositories += other.repositories;
        self.unreadable += other.unreadable;
        self.too_much += other.too_much;
    }
}

impl Tree {
    /// Returns numbers about the whole tree.
    pub(crate) fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        for folder in self.folders.values() {
            counts += folder.counts;
        }
        counts
    }

    /// Returns the entry at a path.
    pub(crate) fn entry(&self, path: &Path) -> Option<&Entry> {
        self.folders.get(path.parent()?)?.entry(path.file_name()?)
    }

    /// Returns `true` if a folder at this path is listed in the folder above.
    pub(crate) fn lists_folder(&self, path: &Path) -> bool {
        self.entry(path).is_some_and(|entry| entry.kind == Kind::Folder)
    }

    /// Returns `true` if `path` lies in something that was not looked into.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        path.ancestors().any(|above| {
            let is_hidden = || {
                let folder = self.folders.get(above.parent()?)?;
                Some(folder.hidden_entry(above.file_name()?).is_some())
            };
            let is_closed =
                |folder: &Arc<Folder>| above != path && folder.listing != Listing::Complete;
            is_hidden().unwrap_or(false) || self.folders.get(above).is_some_and(is_closed)
        })
    }
}

impl Folder {
    /// Returns the folder with numbers that are up to date.
    pub(crate) fn counted(mut self) -> Self {
        let mut counts = Counts { entries: self.entries.len(), ..Counts::default() };
        for entry in &self.entries {
            counts.copied += entry.copied();
            counts.many_names += usize::from(entry.has_other_names);
            counts.unkept += usize::from(entry.is_unkept());
            counts.special += usize::from(entry.kind == Kind::Special);
        }
        for entry in &self.hidden {
            match entry.why {
                Hidden::Ignored => counts.ignored += 1,
                Hidden::Repository(_) => counts.repositories += 1,
            }
        }
        counts.unreadable = usize::from(self.listing == Listing::Unreadable);
        counts.too_much = usize::from(self.listing == Listing::TooMuch);
        self.counts = counts;
        self
    }

    /// Returns the entry with this name.
    pub(crate) fn entry(&self, name: &OsStr) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| (*entry.name).cmp(name)).ok()?;
        self.entries.get(at)
    }

    /// Returns the entry with this name that is not looked into.
    pub(crate) fn hidden_entry(&self, name: &OsStr) -> Option<&HiddenEntry> {
        let at = self.hidden.binary_search_by(|entry| (*entry.name).cmp(name)).ok()?;
        self.hidden.get(at)
    }

    /// Returns `true` if there is an entry with this name, looked into or not.
    pub(crate) fn has(&self, name: &OsStr) -> bool {
        self.entry(name).is_some() || self.hidden_entry(name).is_some()
    }

    /// Returns the folder itself as a version.
    pub(crate) fn version(&self) -> Version {
        Version {
            kind: Kind::Folder,
            hash: String::new(),
            size: 0,
            mode: self.mode,
            uid: self.uid,
            gid: self.gid,
            stamp: None,
            is_settling: false,
        }
    }
}
