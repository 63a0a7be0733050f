//! Keeping no more than fits.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::fs;
use std::time::{Duration, SystemTime};

use crate::archive::{Archive, KeepError, now};
use crate::blobs::BlobLock;
use crate::generations::{Key, Reference};
use crate::records::{
    Footing, StampRow, WatchRow, all_stamps, all_watches, changes_of, delete_watch, forget_stamps,
    open_watches,
};
use crate::scan::Tree;

/// After this much was added, the limits are looked at again.
const OFTEN: u64 = 64 * 1024 * 1024;

const DAY: Duration = Duration::from_hours(24);

/// How much is kept, and how long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PruneLimits {
    /// Bytes on disk.
    pub bytes: u64,
    /// How long ago a call may be.
    pub age: Duration,
}

impl Default for PruneLimits {
    fn default() -> Self {
        Self { bytes: 1024 * 1024 * 1024, age: 30 * DAY }
    }
}

/// What was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    /// Calls that cannot be undone any more.
    pub calls: usize,
    /// Contents that nothing needs any more.
    pub contents: usize,
    /// Their bytes on disk.
    pub bytes: u64,
}

/// Prunes when a lot was added, or when nobody did for a day.
pub(crate) fn now_and_then(archive: &Archive) {
    let marker = archive.blobs.folder().join("pruned");
    let is_due = match fs::metadata(&marker).and_then(|metadata| metadata.modified()) {
        Ok(last) => SystemTime::now().duration_since(last).is_ok_and(|since| since > DAY),
        // This is the first call ever.
        Err(_) => fs::write(&marker, "").is_err(),
    };
    if !is_due && archive.blobs.written() < OFTEN {
        return sweep_quietly(archive);
    }
    let pruned = match archive.blobs.try_lock_alone() {
        Ok(Some(lock)) => {
            archive.blobs.take_written();
            fs::write(&marker, "").ok();
            prune_alone(archive, PruneLimits::default(), &lock)
        }
        // Whoever is busy now will see to it.
        Ok(None) => return,
        Err(error) => Err(error.into()),
    };
    if let Err(error) = pruned {
        tracing::warn!(%error, "old contents could not be removed");
    }
}

/// Removes states of workspaces that nobody needs any more, if nobody is busy just now.
fn sweep_quietly(archive: &Archive) {
    if !archive.take_stale() {
        return;
    }
    let swept = match archive.blobs.try_lock_alone() {
        Ok(Some(lock)) => sweep(archive, &lock),
        Ok(None) => {
            archive.note_stale();
            Ok(())
        }
        Err(error) => Err(error.into()),
    };
    if let Err(error) = swept {
        tracing::warn!(%error, "old states of a workspace could not be removed");
    }
}

/// Removes states of workspaces that are neither current nor needed by a call that runs.
fn sweep(archive: &Archive, _lock: &BlobLock) -> Result<(), KeepError> {
    let open = archive.read(open_watches)?;
    let needed: Vec<Reference> = open.iter().filter_map(reference_of).collect();
    archive.generations().sweep(&needed);
    Ok(())
}

/// Removes what is too old, and the oldest of what is too much.
///
/// The newest call is kept whatever its size, and so is every call that still runs.
pub(crate) fn prune(archive: &Archive, limits: PruneLimits) -> Result<Pruned, KeepError> {
    prune_alone(archive, limits, &archive.blobs.lock_alone()?)
}

fn prune_alone(
    archive: &Archive,
    limits: PruneLimits,
    lock: &BlobLock,
) -> Result<Pruned, KeepError> {
    let mut needs = Needs::load(archive)?;
    let age = i64::try_from(limits.age.as_millis()).unwrap_or(i64::MAX);
    needs.remove_older_than(now().saturating_sub(age));
    needs.remove_beyond(limits.bytes);
    let Needs { removed_watches, removed_stamps, removed_indexes, uses, .. } = &needs;
    archive.write(|tables| {
        for id in removed_watches {
            delete_watch(tables, *id)?;
        }
        forget_stamps(tables, removed_stamps.iter().map(|stamp| stamp.path.as_path()))
    })?;
    for key in removed_indexes {
        archive.generations().forget(key);
    }
    sweep(archive, lock)?;
    let mut pruned = Pruned { calls: removed_watches.len(), ..Pruned::default() };
    for stored in archive.blobs.list()? {
        if !uses.contains_key(&stored.hash) && fs::remove_file(&stored.path).is_ok() {
            pruned.contents += 1;
            pruned.bytes += stored.bytes;
        }
    }
    remove_unfinished(archive);
    Ok(pruned)
}

/// Who needs which content.
#[derive(Debug)]
struct Needs {
    /// Finished calls, oldest first, but for the newest.
    watches: VecDeque<(WatchRow, BTreeSet<String>)>,
    /// Cached hashes, what was used longest ago first.
    stamps: VecDeque<StampRow>,
    /// States of workspaces, what was used longest ago first.
    indexes: VecDeque<IndexNeeds>,
    /// How many need a content.
    uses: HashMap<String, usize>,
    sizes: HashMap<String, u64>,
    total: u64,
    removed_watches: Vec<i64>,
    removed_stamps: Vec<StampRow>,
    removed_indexes: Vec<Key>,
}

/// What the state of a workspace needs.
#[derive(Debug)]
struct IndexNeeds {
    key: Key,
    /// Milliseconds since 1970.
    used: i64,
    hashes: BTreeSet<String>,
}

impl Needs {
    fn load(archive: &Archive) -> Result<Self, KeepError> {
        let mut sizes: HashMap<String, u64> = HashMap::new();
        for stored in archive.blobs.list()? {
            *sizes.entry(stored.hash).or_default() += stored.bytes;
        }
        let stamps = archive.read(all_stamps)?;
        let mut needs = Self {
            watches: VecDeque::new(),
            stamps: stamps.into(),
            uses: HashMap::new(),
            sizes,
            total: 0,
            indexes: VecDeque::new(),
            removed_watches: Vec::new(),
            removed_stamps: Vec::new(),
            removed_indexes: Vec::new(),
        };
        for index in indexes(archive) {
            for hash in &index.hashes {
                needs.add(hash);
            }
            needs.indexes.push_back(index);
        }
        for stamp in needs.stamps.clone() {
            needs.add(&stamp.hash);
        }
        let mut is_newest = true;
        for watch in archive.read(all_watches)? {
            let hashes = hashes_of(archive, &watch)?;
            for hash in &hashes {
                needs.add(hash);
            }
            if watch.runner.is_none() && !std::mem::take(&mut is_newest) {
                needs.watches.push_front((watch, hashes));
            }
        }
        Ok(needs)
    }

    fn add(&mut self, hash: &str) {
        let uses = self.uses.entry(hash.to_owned()).or_default();
        *uses += 1;
        if *uses == 1 {
            self.total += self.sizes.get(hash).copied().unwrap_or(0);
        }
    }

    fn release(&mut self, hash: &str) {
        let Some(uses) = self.uses.get_mut(hash) else { return };
        *uses -= 1;
        if *uses == 0 {
            self.uses.remove(hash);
            self.total -= self.sizes.get(hash).copied().unwrap_or(0);
        }
    }

    fn remove_older_than(&mut self, oldest: i64) {
        let is_old = |(watch, _): &(WatchRow, _)| watch.at < oldest;
        while self.watches.front().is_some_and(is_old) {
            self.remove_watch();
        }
        while self.stamps.front().is_some_and(|stamp| stamp.used < oldest) {
            self.remove_stamp();
        }
        while self.indexes.front().is_some_and(|index| index.used < oldest) {
            self.remove_index();
        }
    }

    fn remove_beyond(&mut self, bytes: u64) {
        let yesterday = now() - i64::try_from(DAY.as_millis()).unwrap_or(0);
        // A cache that nobody used for a day costs nothing but time to make again.
        while self.total > bytes && self.stamps.front().is_some_and(|stamp| stamp.used < yesterday)
        {
            self.remove_stamp();
        }
        while self.total > bytes && self.indexes.front().is_some_and(|index| index.used < yesterday)
        {
            self.remove_index();
        }
        while self.total > bytes && !self.watches.is_empty() {
            self.remove_watch();
        }
        while self.total > bytes && !self.stamps.is_empty() {
            self.remove_stamp();
        }
        while self.total > bytes && !self.indexes.is_empty() {
            self.remove_index();
        }
    }

    fn remove_watch(&mut self) {
        let Some((watch, hashes)) = self.watches.pop_front() else { return };
        for hash in hashes {
            self.release(&hash);
        }
        self.removed_watches.push(watch.id);
    }

    fn remove_index(&mut self) {
        let Some(index) = self.indexes.pop_front() else { return };
        for hash in index.hashes {
            self.release(&hash);
        }
        self.removed_indexes.push(index.key);
    }

    fn remove_stamp(&mut self) {
        let Some(stamp) = self.stamps.pop_front() else { return };
        self.release(&stamp.hash);
        self.removed_stamps.push(stamp);
    }
}

/// The contents a call needs: before, after, and all it may still turn out to have changed.
fn hashes_of(archive: &Archive, watch: &WatchRow) -> Result<BTreeSet<String>, KeepError> {
    let mut hashes = BTreeSet::new();
    for change in archive.read(|rows| changes_of(rows, watch.id))? {
        hashes.extend(
            [change.before, change.after].into_iter().flatten().map(|version| version.hash),
        );
    }
    let tree = reference_of(watch).and_then(|reference| archive.generations().load(&reference));
    hashes.extend(tree.iter().flat_map(stored_in));
    hashes.remove("");
    Ok(hashes)
}

/// Returns what a call that runs is compared with.
fn reference_of(watch: &WatchRow) -> Option<Reference> {
    match &watch.footing {
        Footing::Folders { manifest: Some(manifest), .. } => manifest.parse().ok(),
        _ => None,
    }
}

/// Returns what the states of workspaces need, what was used longest ago first.
fn indexes(archive: &Archive) -> Vec<IndexNeeds> {
    let mut indexes = Vec::new();
    for (key, used) in archive.generations().all() {
        let tree = archive.generations().load_current(&key).map(|loaded| loaded.tree);
        let tree = tree.unwrap_or_default();
        let since = used.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        indexes.push(IndexNeeds {
            key,
            used: i64::try_from(since.as_millis()).unwrap_or(i64::MAX),
            hashes: stored_in(&tree).collect(),
        });
    }
    indexes.sort_by_key(|index| index.used);
    indexes
}

/// Returns the contents of a tree that have a file of their own in the store.
fn stored_in(tree: &Tree) -> impl Iterator<Item = String> {
    let entries = tree.folders.values().flat_map(|folder| &folder.entries);
    let stored = entries.filter_map(|entry| entry.content.hash());
    stored.map(|hash| hash.to_hex().to_string())
}

/// Contents that somebody began to write and will not finish.
fn remove_unfinished(archive: &Archive) {
    let Ok(entries) = fs::read_dir(archive.blobs.unfinished()) else { return };
    for entry in entries.flatten() {
        let written = entry.metadata().and_then(|metadata| metadata.modified());
        let age = written.ok().and_then(|written| SystemTime::now().duration_since(written).ok());
        if age.is_some_and(|age| age > DAY) {
            fs::remove_file(entry.path()).ok();
        }
    }
}
