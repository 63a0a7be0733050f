//! Reading the contents of files, and keeping them.

use std::fs::File;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rustix::io::Errno;
use toolgate_core::workspace::open_beneath;

use super::crew;
use super::entry::{Content, Entry};
use super::visit::Root;
use crate::blobs::{BlobError, Blobs, Survive};
use crate::disk::{Kind, open_regular};

/// Files that one thread reads at a time.
const TOGETHER: usize = 16;

/// From this number of files on, more than one thread reads.
const MANY: usize = 64;

/// Keeps contents.
#[derive(Debug)]
pub(crate) struct Contents<'a> {
    pub(crate) roots: &'a [Root],
    pub(crate) blobs: &'a Blobs,
    /// Bytes that may still be copied.
    pub(crate) room: AtomicU64,
    /// A moment before any entry was looked at.
    pub(crate) now: SystemTime,
}

/// Entries of one folder whose contents must be read.
#[derive(Debug)]
pub(crate) struct Unread {
    pub(crate) folder: Arc<Path>,
    /// Number in the folder, the entry itself, and the largest size that is kept.
    pub(crate) entries: Vec<(usize, Entry, u64)>,
}

/// An entry with its content, or nothing if it is gone.
#[derive(Debug)]
pub(crate) struct ReadEntry {
    pub(crate) folder: Arc<Path>,
    pub(crate) number: usize,
    pub(crate) entry: Option<Entry>,
}

impl Contents<'_> {
    /// Reads everything.
    ///
    /// # Errors
    ///
    /// Errors if a content cannot be kept. A file that cannot be read is not an error.
    pub(crate) fn read(&self, unread: Vec<Unread>) -> Result<Vec<ReadEntry>, BlobError> {
        let count: usize = unread.iter().map(|unread| unread.entries.len()).sum();
        let threads = if count < MANY { 1 } else { crew::threads() };
        let mut jobs = Vec::new();
        for Unread { folder, entries } in unread {
            let mut entries = entries.into_iter().peekable();
            while entries.peek().is_some() {
                let entries = entries.by_ref().take(TOGETHER).collect();
                jobs.push(Unread { folder: Arc::clone(&folder), entries });
            }
        }
        let done = crew::run(threads, jobs, |job, _| self.read_some(job));
        let mut all = Vec::with_capacity(count);
        for some in done {
            all.extend(some?);
        }
        Ok(all)
    }

    fn read_some(&self, unread: Unread) -> Result<Vec<ReadEntry>, BlobError> {
        let opened = self.open(&unread.folder);
        let mut done = Vec::with_capacity(unread.entries.len());
        for (number, entry, largest) in unread.entries {
            let entry = match &opened {
                Some(opened) => self.entry(opened.as_fd(), entry, largest)?,
                None => None,
            };
            done.push(ReadEntry { folder: Arc::clone(&unread.folder), number, entry });
        }
        Ok(done)
    }

    fn open(&self, folder: &Path) -> Option<std::os::fd::OwnedFd> {
        use rustix::fs::OFlags;

        self.roots.iter().find_map(|root| {
            let inner = folder.strip_prefix(&root.path).ok()?;
            let flags = OFlags::PATH | OFlags::DIRECTORY;
            open_beneath(root.opened.as_ref()?.as_fd(), inner, flags).ok()
        })
    }

    /// Returns an entry with its content. What cannot be read is not kept.
    fn entry(
        &self,
        folder: BorrowedFd<'_>,
        entry: Entry,
        largest: u64,
    ) -> Result<Option<Entry>, BlobError> {
        match entry.kind {
            Kind::Folder | Kind::Special => Ok(Some(entry)),
            Kind::Link => match rustix::fs::readlinkat(folder, &*entry.name, Vec::new()) {
                Ok(target) => {
                    let hash = self.blobs.keep(target.as_bytes(), Survive::Process)?.hash;
                    let is_settling = entry.stamp.is_settling(self.now);
                    Ok(Some(Entry { content: Content::Copied(hash), is_settling, ..entry }))
                }
                Err(Errno::NOENT) => Ok(None),
                Err(_) => Ok(Some(entry)),
            },
            Kind::File => {
                let (file, seen) = match open_regular(folder, &entry.name) {
                    Ok(Some((file, stat))) => (file, Entry::unread(&entry.name, &stat)),
                    Err(Errno::NOENT) => return Ok(None),
                    Ok(None) | Err(_) => return Ok(Some(entry)),
                };
                if seen.stamp.size > largest {
                    return Ok(Some(seen));
                }
                let content = self.file(&file, seen.stamp.size)?;
                let is_settling = seen.stamp.is_settling(self.now);
                Ok(Some(Entry { is_settling, content, ..seen }))
            }
        }
    }

    fn file(&self, file: &File, size: u64) -> Result<Content, BlobError> {
        if !self.take_room(size) {
            return Ok(Content::Unkept);
        }
        Ok(Content::Copied(self.blobs.keep_file(file, Survive::Process)?.hash))
    }

    fn take_room(&self, size: u64) -> bool {
        let take = |room: u64| room.checked_sub(size);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}
