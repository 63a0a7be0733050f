//! What a search for files found, compact and in order.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// In which order matches are returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    NewestFirst,
    ByPath,
}

/// Files one thread found, below where the search began, in one piece of memory.
#[derive(Debug, Default)]
pub(super) struct Part {
    bytes: Vec<u8>,
    files: Vec<Match>,
}

/// Kept small, because there are many.
#[derive(Debug, Clone, Copy)]
struct Match {
    /// In nanoseconds.
    changed: i64,
    start: u32,
    length: u16,
    part: u16,
}

impl Part {
    /// Takes a match; gigabytes of paths are more than anybody can use.
    pub(super) fn push(&mut self, path: &Path, changed: i64) {
        let path = path.as_os_str().as_bytes();
        let (Ok(start), Ok(length)) = (u32::try_from(self.bytes.len()), u16::try_from(path.len()))
        else {
            return;
        };
        self.files.push(Match { changed, start, length, part: 0 });
        self.bytes.extend_from_slice(path);
    }

    pub(super) fn sort(&mut self, order: Order) {
        let mut files = std::mem::take(&mut self.files);
        order.sort(&mut files, |found| self.path(found));
        self.files = files;
    }

    fn path(&self, found: &Match) -> &[u8] {
        let start = found.start as usize;
        self.bytes.get(start..start + usize::from(found.length)).unwrap_or_default()
    }
}

/// All files found, in order.
#[derive(Debug, Default)]
pub(super) struct Matches {
    parts: Vec<Part>,
    files: Vec<Match>,
}

impl Matches {
    pub(super) fn len(&self) -> usize {
        self.files.len()
    }

    /// Puts parts that are in order into one that is.
    pub(super) fn merge(parts: impl Iterator<Item = Part>, order: Order) -> Self {
        let mut parts: Vec<Part> = parts.collect();
        let mut files = Vec::with_capacity(parts.iter().map(|part| part.files.len()).sum());
        for (number, part) in (0..).zip(&mut parts) {
            files.extend(
                std::mem::take(&mut part.files)
                    .into_iter()
                    .map(|found| Match { part: number, ..found }),
            );
        }
        let mut all = Self { parts, files: Vec::new() };
        order.sort(&mut files, |found| all.path(found));
        all.files = files;
        all
    }

    fn path(&self, found: &Match) -> &[u8] {
        self.parts.get(usize::from(found.part)).map_or(&[], |part| part.path(found))
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.files.iter().map(|found| Path::new(OsStr::from_bytes(self.path(found))))
    }
}

impl Order {
    /// A stable sort merges stretches that are in order already, as those of each thread are.
    fn sort<'p>(self, files: &mut [Match], path: impl Fn(&Match) -> &'p [u8]) {
        files.sort_by(|left, right| match self {
            Self::NewestFirst => {
                right.changed.cmp(&left.changed).then_with(|| path(left).cmp(path(right)))
            }
            Self::ByPath => path(left).cmp(path(right)),
        });
    }
}
