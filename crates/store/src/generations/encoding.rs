//! Trees as bytes.
//!
//! A tree is written whole once, and then as the folders that differ from what was written
//! before. Each of these blocks has a checksum, since nothing is synced to disk.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use crate::disk::{Kind, Moment, Stamp};
use crate::scan::{
    Content, Entry, Folder, Hidden, HiddenEntry, Listing, Rules, Tree, crew, differing,
};

/// Length and checksum of a block.
pub(crate) const HEAD: usize = 4 + 32;

/// Version of the format. Blocks of another version are not read.
const VERSION: u8 = 1;

/// From this number of folders on, more than one thread decodes.
const MANY: usize = 256;

/// Encodes a tree.
pub(crate) fn whole(tree: &Tree) -> Vec<u8> {
    encode(None, tree)
}

/// Encodes the difference between a tree that was written before and another.
pub(crate) fn difference(before: &Tree, after: &Tree) -> Vec<u8> {
    encode(Some(before), after)
}

fn encode(before: Option<&Tree>, after: &Tree) -> Vec<u8> {
    let nothing = Tree::default();
    let differing = differing(before.unwrap_or(&nothing), after);
    let removed: Vec<_> = differing.iter().filter(|(_, _, now)| now.is_none()).collect();
    let changed = differing.iter().filter_map(|(path, _, now)| Some((path, now.as_ref()?)));
    let changed: Vec<_> = changed.collect();
    let mut writer = Writer(vec![0; HEAD]);
    writer.byte(VERSION);
    writer.byte(u8::from(before.is_some()));
    writer.0.extend(after.surroundings);
    writer.count(removed.len());
    for (path, ..) in removed {
        writer.long(path.as_os_str());
    }
    writer.count(changed.len());
    for (path, folder) in changed {
        writer.long(path.as_os_str());
        let start = writer.0.len();
        writer.number(0);
        writer.folder(folder);
        writer.set_length(start);
    }
    writer.finish()
}

/// Returns `true` if two trees are written the same way.
pub(crate) fn is_same(one: &Tree, other: &Tree) -> bool {
    one.folders.len() == other.folders.len()
        && one.surroundings == other.surroundings
        && one.folders.iter().zip(&other.folders).all(|((path, folder), (other_path, other))| {
            Arc::ptr_eq(folder, other) && (Arc::ptr_eq(path, other_path) || path == other_path)
        })
}

/// Takes the next block from some bytes and applies it to a tree. Returns what comes after it,
/// or `None` if the block is not whole.
pub(crate) fn decode<'a>(tree: &mut Tree, bytes: &'a [u8]) -> Option<&'a [u8]> {
    let (payload, after) = block(bytes)?;
    let mut reader = Reader(payload);
    if reader.byte()? != VERSION {
        return None;
    }
    let is_difference = reader.byte()? != 0;
    if !is_difference {
        *tree = Tree::default();
    }
    tree.surroundings = reader.array()?;
    for _ in 0..reader.count()? {
        tree.folders.remove(Path::new(reader.long()?));
    }
    let mut encoded = Vec::new();
    for _ in 0..reader.count()? {
        encoded.push((Path::new(reader.long()?), Reader(reader.take_long()?)));
    }
    let folders = folders(&encoded)?;
    if tree.folders.is_empty() {
        // They are in order, so that this takes less time than one by one.
        tree.folders = folders.into_iter().collect();
    } else {
        tree.folders.extend(folders);
    }
    reader.0.is_empty().then_some(after)
}

/// Decodes folders, by several threads if there are many.
fn folders(encoded: &[(&Path, Reader<'_>)]) -> Option<Vec<(Arc<Path>, Arc<Folder>)>> {
    let decode = |encoded: &(&Path, Reader<'_>)| {
        let (path, mut reader) = *encoded;
        let folder = reader.folder()?.counted();
        reader.0.is_empty().then(|| (Arc::from(path), Arc::new(folder)))
    };
    if encoded.len() < MANY {
        return encoded.iter().map(decode).collect();
    }
    let jobs = encoded.chunks(MANY / 4).enumerate().collect();
    let mut decoded = crew::run(crew::threads(), jobs, |(number, encoded), _| {
        (number, encoded.iter().map(decode).collect::<Option<Vec<_>>>())
    });
    decoded.sort_unstable_by_key(|(number, _)| *number);
    let mut all = Vec::with_capacity(encoded.len());
    for (_, folders) in decoded {
        all.extend(folders?);
    }
    Some(all)
}

/// Returns `true` if some bytes begin with a whole block.
pub(crate) fn is_whole(bytes: &[u8]) -> bool {
    block(bytes).is_some()
}

fn block(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (checksum, rest) = rest.split_first_chunk::<32>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
    let (payload, after) = rest.split_at_checked(length)?;
    (blake3::hash(payload) == *checksum).then_some((payload, after))
}

struct Writer(Vec<u8>);

impl Writer {
    /// Adds length and checksum.
    fn finish(mut self) -> Vec<u8> {
        let payload = self.0.get(HEAD..).unwrap_or_default();
        let checksum = blake3::hash(payload);
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let head = length.to_le_bytes().into_iter().chain(*checksum.as_bytes());
        for (place, byte) in self.0.iter_mut().zip(head) {
            *place = byte;
        }
        self.0
    }

    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    fn number(&mut self, number: u32) {
        self.0.extend(number.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        self.number(u32::try_from(count).unwrap_or(u32::MAX));
    }

    /// Writes the number of bytes that were added after the number at `start`.
    fn set_length(&mut self, start: usize) {
        let added = self.0.len().saturating_sub(start + 4);
        let length = u32::try_from(added).unwrap_or(u32::MAX).to_le_bytes();
        for (place, byte) in self.0.iter_mut().skip(start).zip(length) {
            *place = byte;
        }
    }

    fn long(&mut self, text: &OsStr) {
        self.count(text.len());
        self.0.extend(text.as_bytes());
    }

    fn name(&mut self, name: &OsStr) {
        self.0.extend(u16::try_from(name.len()).unwrap_or(u16::MAX).to_le_bytes());
        self.0.extend(name.as_bytes());
    }

    fn moment(&mut self, moment: Moment) {
        self.0.extend(moment.seconds.to_le_bytes());
        self.number(moment.nanos);
    }

    fn stamp(&mut self, stamp: &Stamp) {
        self.0.extend(stamp.inode.to_le_bytes());
        self.0.extend(stamp.size.to_le_bytes());
        self.moment(stamp.modified);
        self.moment(stamp.changed);
    }

    fn folder(&mut self, folder: &Folder) {
        self.number(folder.mode);
        self.number(folder.uid);
        self.number(folder.gid);
        self.stamp(&folder.stamp);
        self.byte(u8::from(folder.is_settling));
        self.byte(match folder.listing {
            Listing::Complete => 0,
            Listing::Unreadable => 1,
            Listing::TooMuch => 2,
        });
        match &folder.rules {
            None => self.byte(0),
            Some(rules) => {
                self.byte(1 + u8::from(rules.is_settling));
                self.stamp(&rules.stamp);
            }
        }
        self.count(folder.entries.len());
        for entry in &folder.entries {
            self.entry(entry);
        }
        self.count(folder.hidden.len());
        for hidden in &folder.hidden {
            self.name(&hidden.name);
            self.byte(u8::from(hidden.is_folder));
            match &hidden.why {
                Hidden::Ignored => self.byte(0),
                Hidden::Repository(text) => {
                    self.byte(1);
                    self.long(OsStr::new(text));
                }
            }
        }
    }

    fn entry(&mut self, entry: &Entry) {
        self.name(&entry.name);
        self.byte(match entry.kind {
            Kind::File => 0,
            Kind::Link => 1,
            Kind::Folder => return self.byte(2),
            Kind::Special => 3,
        });
        self.byte(u8::from(entry.is_settling) | (u8::from(entry.has_other_names) << 1));
        self.number(entry.mode);
        self.number(entry.uid);
        self.number(entry.gid);
        self.stamp(&entry.stamp);
        match &entry.content {
            Content::Unkept => self.byte(0),
            Content::Copied(hash) => {
                self.byte(1);
                self.0.extend(hash.as_bytes());
            }
        }
    }
}

#[derive(Clone, Copy)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn byte(&mut self) -> Option<u8> {
        let [byte] = self.array()?;
        Some(byte)
    }

    fn number(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn count(&mut self) -> Option<usize> {
        let count = usize::try_from(self.number()?).ok()?;
        // Each item takes a byte at least, so that no list is made that cannot be filled.
        (count <= self.0.len()).then_some(count)
    }

    fn take_long(&mut self) -> Option<&'a [u8]> {
        let length = self.count()?;
        self.take(length)
    }

    fn long(&mut self) -> Option<&'a OsStr> {
        self.take_long().map(OsStr::from_bytes)
    }

    fn name(&mut self) -> Option<Box<OsStr>> {
        let length = self.array().map(u16::from_le_bytes)?;
        self.take(usize::from(length)).map(|name| OsStr::from_bytes(name).into())
    }

    fn moment(&mut self) -> Option<Moment> {
        Some(Moment { seconds: i64::from_le_bytes(self.array()?), nanos: self.number()? })
    }

    fn stamp(&mut self) -> Option<Stamp> {
        Some(Stamp {
            inode: u64::from_le_bytes(self.array()?),
            size: u64::from_le_bytes(self.array()?),
            modified: self.moment()?,
            changed: self.moment()?,
        })
    }

    fn folder(&mut self) -> Option<Folder> {
        let mut folder = Folder {
            mode: self.number()?,
            uid: self.number()?,
            gid: self.number()?,
            stamp: self.stamp()?,
            is_settling: self.byte()? != 0,
            listing: match self.byte()? {
                0 => Listing::Complete,
                1 => Listing::Unreadable,
                2 => Listing::TooMuch,
                _ => return None,
            },
            ..Folder::default()
        };
        folder.rules = match self.byte()? {
            0 => None,
            settling => Some(Rules { is_settling: settling > 1, stamp: self.stamp()? }),
        };
        let count = self.count()?;
        folder.entries.reserve_exact(count);
        for _ in 0..count {
            folder.entries.push(self.entry()?);
        }
        for _ in 0..self.count()? {
            let (name, is_folder) = (self.name()?, self.byte()? != 0);
            let why = match self.byte()? {
                0 => Hidden::Ignored,
                _ => Hidden::Repository(self.long()?.to_str()?.to_owned()),
            };
            folder.hidden.push(HiddenEntry { name, is_folder, why });
        }
        Some(folder)
    }

    fn entry(&mut self) -> Option<Entry> {
        let name = self.name()?;
        let kind = match self.byte()? {
            0 => Kind::File,
            1 => Kind::Link,
            2 => return Some(Entry::folder(&name)),
            3 => Kind::Special,
            _ => return None,
        };
        let flags = self.byte()?;
        Some(Entry {
            name,
            kind,
            is_settling: flags & 1 != 0,
            has_other_names: flags & 2 != 0,
            mode: self.number()?,
            uid: self.number()?,
            gid: self.number()?,
            stamp: self.stamp()?,
            content: match self.byte()? {
                0 => Content::Unkept,
                1 => Content::Copied(self.array()?.into()),
                _ => return None,
            },
        })
    }
}

#[cfg(test)]
mod tests;
