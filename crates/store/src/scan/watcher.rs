//! Events about folders, so that unchanged ones need not be visited.
//!
//! The kernel names every entry that changes, with some exceptions. A file with several names is
//! reported under the name that was used, which may lie in a folder that is not watched. Changes
//! in a folder that was just created are not reported. So anything that could be a detour of that
//! kind makes the events incomplete: a new folder, a file that appeared and is gone again, anything
//! that appeared in an ignored folder. Then every folder is visited as without events. The same
//! happens after an overflow, and if a root was replaced or a file system mounted.
//!
//! Changes through memory mappings are reported when the file is closed. Changes made on another
//! machine are never reported, so only local file systems are watched.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use toolgate_core::workspace::open_absolute;

/// Events about folders that are compared.
const CHANGES: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ONLYDIR);

/// Events about folders that are not looked into.
const ARRIVALS: WatchFlags =
    WatchFlags::CREATE.union(WatchFlags::MOVED_TO).union(WatchFlags::ONLYDIR);

/// Names that a sandbox creates directly in a root while a command runs: an empty folder called
/// `.git`, and sockets. Mounts keep the command from writing there.
const STAND_INS: &[&str] =
    &[".git", ".toolgate", ".claude", ".codex", ".cursor", ".gemini", ".vscode"];

/// Magic numbers of file systems on which no other machine can change a file: ext2 to ext4, btrfs,
/// XFS, tmpfs, ramfs, overlayfs, F2FS, ZFS and bcachefs.
const LOCAL: &[u32] = &[
    0xef53,
    0x9123_683e,
    0x5846_5342,
    0x0102_1994,
    0x8584_58f6,
    0x794c_7630,
    0xf2f5_2010,
    0x2fc1_2fc1,
    0xca45_1a4e,
];

/// With more changed names it takes less time to visit everything.
const MOST_NAMES: usize = 4096;

/// Room for many events at once, with the longest names.
const ROOM: usize = 64 * 1024;

/// Names by folder.
pub(crate) type Names = BTreeMap<Arc<Path>, BTreeSet<OsString>>;

/// Entries that may have changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Named {
    /// All of them. Without a name only the folder itself changed.
    pub(crate) names: Names,
    /// Those that were created or moved there.
    pub(crate) appeared: HashSet<(Arc<Path>, OsString)>,
}

/// Watches the folders of a tree until it is dropped.
#[derive(Debug)]
pub(crate) struct Watcher {
    queue: OwnedFd,
    folders: HashMap<i32, Watched>,
    roots: Vec<Root>,
    mounts: File,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Watched {
    Compared(Arc<Path>),
    Hidden,
}

/// A root and the folder that was there when it was first watched.
#[derive(Debug)]
struct Root {
    path: PathBuf,
    device: u64,
    inode: u64,
}

/// What the events say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Happened {
    /// These entries may have changed, and nothing else.
    Named(Named),
    /// More may have changed than can be named.
    Unknown,
}

impl Watcher {
    /// Takes all events that happened so far.
    pub(crate) fn take(&mut self) -> Happened {
        if has_new_mounts(&self.mounts) || !self.roots.iter().all(Root::is_same) {
            return Happened::Unknown;
        }
        let mut taking = Taking::new(&self.roots);
        let mut room = vec![MaybeUninit::uninit(); ROOM];
        let mut events = Reader::new(&self.queue, &mut room);
        loop {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(_) => return Happened::Unknown,
            };
            let flags = event.events();
            if flags.contains(ReadFlags::IGNORED) {
                self.folders.remove(&event.wd());
                continue;
            }
            let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
            let folder = self.folders.get(&event.wd());
            if !taking.event(folder, flags, event.cookie(), name.unwrap_or_default()) {
                return Happened::Unknown;
            }
        }
        taking.finish()
    }
}

impl Root {
    /// Returns a root that can be watched.
    fn local(path: &Path) -> Option<Self> {
        let opened = open_absolute(path, OFlags::PATH | OFlags::DIRECTORY).ok()?;
        let kind = u32::try_from(rustix::fs::fstatfs(&opened).ok()?.f_type).ok()?;
        let stat = rustix::fs::fstat(&opened).ok().filter(|_| LOCAL.contains(&kind))?;
        Some(Self { path: path.to_owned(), device: stat.st_dev, inode: stat.st_ino })
    }

    /// Returns `true` if the same folder is still there.
    fn is_same(&self) -> bool {
        let opened = open_absolute(&self.path, OFlags::PATH | OFlags::DIRECTORY);
        let stat = opened.and_then(rustix::fs::fstat);
        stat.is_ok_and(|stat| stat.st_dev == self.device && stat.st_ino == self.inode)
    }
}

/// Returns `true` if file systems were mounted or unmounted since the last time.
fn has_new_mounts(mounts: &File) -> bool {
    let mut polled = [PollFd::new(mounts, PollFlags::PRI)];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    !matches!(poll(&mut polled, Some(&at_once)), Ok(0))
}

/// The meaning of a row of events.
struct Taking<'a> {
    roots: &'a [Root],
    named: Named,
    count: usize,
    /// Appeared files on their way from one name to another.
    moving: HashSet<u32>,
}

impl<'a> Taking<'a> {
    fn new(roots: &'a [Root]) -> Self {
        Self { roots, named: Named::default(), count: 0, moving: HashSet::new() }
    }

    /// Adds one event. Returns `false` if it may stand for changes that it does not name.
    fn event(
        &mut self,
        folder: Option<&Watched>,
        flags: ReadFlags,
        cookie: u32,
        name: &OsStr,
    ) -> bool {
        // An overflow, a folder that is no longer watched, or one that is not looked into.
        let Some(Watched::Compared(folder)) = folder else { return false };
        if flags.intersects(ReadFlags::UNMOUNT | ReadFlags::QUEUE_OVERFLOW) {
            return false;
        }
        let comes = flags.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO);
        let goes = flags.intersects(ReadFlags::DELETE | ReadFlags::MOVED_FROM);
        let is_folder = flags.contains(ReadFlags::ISDIR);
        let is_stand_in = self.is_stand_in(folder, name);
        if !comes && !goes {
            // A socket that stands in is only made and removed. Under its name, this is a file,
            // and may be a second name of another one.
            return (is_folder || !is_stand_in) && self.name(folder, name);
        }
        if is_stand_in {
            let is_moved = flags.intersects(ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO);
            let had_appeared = self.has_appeared(folder, name);
            // One that stays is found by its name and visited as a new one.
            return !is_moved
                && is_folder == (name == ".git")
                && comes != had_appeared
                && self.arrive_or_leave(folder, name, comes);
        }
        if is_folder {
            return false;
        }
        // A file that appeared may have been a second name of another file, which was changed by
        // it. Nothing is forgotten when such a file is moved: names can be exchanged.
        let had_appeared = self.has_appeared(folder, name);
        if had_appeared && !flags.contains(ReadFlags::MOVED_FROM) {
            return false;
        }
        if had_appeared {
            self.moving.insert(cookie);
        }
        if comes {
            self.moving.remove(&cookie);
        }
        self.arrive_or_leave(folder, name, comes)
    }

    fn is_stand_in(&self, folder: &Path, name: &OsStr) -> bool {
        STAND_INS.iter().any(|other| *other == name)
            && self.roots.iter().any(|root| root.path == folder)
    }

    fn has_appeared(&self, folder: &Arc<Path>, name: &OsStr) -> bool {
        self.named.appeared.contains(&(Arc::clone(folder), name.to_owned()))
    }

    fn arrive_or_leave(&mut self, folder: &Arc<Path>, name: &OsStr, comes: bool) -> bool {
        if comes {
            self.named.appeared.insert((Arc::clone(folder), name.to_owned()));
        }
        self.name(folder, name)
    }

    fn name(&mut self, folder: &Arc<Path>, name: &OsStr) -> bool {
        let names = self.named.names.entry(Arc::clone(folder)).or_default();
        if !name.is_empty() && names.insert(name.to_owned()) {
            self.count += 1;
        }
        self.count <= MOST_NAMES
    }

    fn finish(self) -> Happened {
        // A file that was moved away and did not arrive is in a folder that is not watched.
        if self.moving.is_empty() { Happened::Named(self.named) } else { Happened::Unknown }
    }
}

/// A watcher that is being set up, by several threads.
#[derive(Debug)]
pub(crate) struct Setup {
    queue: OwnedFd,
    folders: Mutex<HashMap<i32, Watched>>,
    roots: Vec<Root>,
    mounts: File,
    /// How many more folders may be watched that are compared, and that are not.
    compared_left: AtomicUsize,
    hidden_left: AtomicUsize,
    is_given_up: AtomicBool,
}

impl Setup {
    /// Begins to watch the folders in some roots, which have about this number of entries.
    /// Returns `None` if the system does not allow it.
    pub(crate) fn begin(roots: &[PathBuf], entries: usize) -> Option<Self> {
        let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
        // Other programs of the user need watches, too.
        let most = limit.trim().parse::<usize>().ok()? / 2;
        let mounts = File::open("/proc/self/mountinfo").ok()?;
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        Some(Self {
            queue,
            folders: Mutex::default(),
            roots: roots.iter().map(|root| Root::local(root)).collect::<Option<_>>()?,
            mounts,
            compared_left: AtomicUsize::new(most),
            // Beyond that, visiting all entries a second time is faster.
            hidden_left: AtomicUsize::new((entries / 4).min(most / 2)),
            is_given_up: AtomicBool::new(false),
        })
    }

    /// Watches an open folder whose entries are compared.
    pub(crate) fn watch(&self, folder: BorrowedFd<'_>, path: &Arc<Path>) {
        self.add(folder, CHANGES, &self.compared_left, Watched::Compared(Arc::clone(path)));
    }

    /// Watches an open folder that is not looked into, in case a file of the workspace gets a
    /// second name in it.
    pub(crate) fn watch_hidden(&self, folder: BorrowedFd<'_>) {
        self.add(folder, ARRIVALS, &self.hidden_left, Watched::Hidden);
    }

    /// Returns `true` if no file of the workspace can get a second name in this folder: the
    /// `.git` of a root is a mount of its own in the sandbox.
    pub(crate) fn is_apart(&self, path: &Path) -> bool {
        self.roots.iter().any(|root| path.strip_prefix(&root.path) == Ok(Path::new(".git")))
    }

    /// Gives up if a folder is on another file system than the roots, about which nothing is
    /// known.
    pub(crate) fn check_device(&self, device: u64) {
        if !self.roots.iter().any(|root| root.device == device) {
            self.give_up();
        }
    }

    /// Stops watching, because something cannot be watched.
    pub(crate) fn give_up(&self) {
        self.is_given_up.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if it is of no use to go on.
    pub(crate) fn is_given_up(&self) -> bool {
        self.is_given_up.load(Ordering::Relaxed)
    }

    /// Returns the watcher, unless something could not be watched.
    pub(crate) fn finish(self) -> Option<Watcher> {
        if self.is_given_up() {
            return None;
        }
        let folders = self.folders.into_inner().unwrap_or_else(PoisonError::into_inner);
        Some(Watcher { queue: self.queue, folders, roots: self.roots, mounts: self.mounts })
    }

    fn add(
        &self,
        folder: BorrowedFd<'_>,
        events: WatchFlags,
        left: &AtomicUsize,
        watched: Watched,
    ) {
        let take = |left: usize| left.checked_sub(1);
        let has_room = left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        if !has_room || self.is_given_up() {
            return self.give_up();
        }
        // By its descriptor, since a path could lead elsewhere by now.
        let path = format!("/proc/self/fd/{}", folder.as_raw_fd());
        let Ok(number) = inotify::add_watch(&self.queue, path, events) else {
            return self.give_up();
        };
        let mut folders = self.folders.lock().unwrap_or_else(PoisonError::into_inner);
        // A folder that is mounted at a second place, too, has one watch for both.
        if folders.insert(number, watched).is_some() {
            self.give_up();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd as _;

    use super::*;

    fn setup(root: &Path) -> Setup {
        Setup::begin(&[root.to_owned()], 1000).unwrap()
    }

    #[test]
    fn a_folder_that_is_mounted_twice_is_not_watched() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let opened = File::open(&root).unwrap();
        let once = setup(&root);
        once.watch(opened.as_fd(), &root.as_path().into());
        assert!(once.finish().is_some());
        let twice = setup(&root);
        twice.watch(opened.as_fd(), &root.as_path().into());
        twice.watch(opened.as_fd(), &root.join("elsewhere").into());
        assert!(twice.finish().is_none());
    }

    #[test]
    fn only_local_file_systems_are_watched() {
        assert!(Setup::begin(&[PathBuf::from("/proc")], 1000).is_none());
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let other = setup(&root);
        other.check_device(rustix::fs::stat(&root).unwrap().st_dev);
        assert!(!other.is_given_up());
        other.check_device(rustix::fs::stat("/proc").unwrap().st_dev);
        assert!(other.finish().is_none());
    }
}
