//! The system's own watch over folders.
//!
//! Only changes are asked for: a watch that also tells of every file that is opened would be told
//! of every read of ours.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

/// What is told of a folder.
const CHANGES: WatchFlags = WatchFlags::ATTRIB
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::MODIFY)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::ONLYDIR);

/// Something is no longer where it was, or something else is.
const MOVES: ReadFlags = ReadFlags::DELETE
    .union(ReadFlags::MOVED_FROM)
    .union(ReadFlags::MOVED_TO)
    .union(ReadFlags::DELETE_SELF)
    .union(ReadFlags::MOVE_SELF);

/// Room for many events at once, with the longest names.
const EVENTS: usize = 16 * 1024;

/// What happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Happened {
    /// A file or folder was changed.
    Changed(PathBuf),
    /// It came, or it went.
    Moved(PathBuf),
    /// More than was told.
    Unknown,
}

/// Watches folders until it is dropped.
#[derive(Debug)]
pub(super) struct Inotify {
    queue: Arc<OwnedFd>,
    folders: Arc<Mutex<Folders>>,
    /// Ends the thread when it is closed.
    _end: io::PipeWriter,
}

/// The folders that are watched, by the system's number for each.
type Folders = HashMap<i32, PathBuf>;

impl Inotify {
    /// Begins, with nothing to watch yet. The thread that is told ends with this, or when it
    /// is told to by a `false`.
    ///
    /// # Errors
    ///
    /// When the system has no more of them, or no more threads.
    pub(super) fn begin(tell: impl FnMut(Happened) -> bool + Send + 'static) -> io::Result<Self> {
        let queue = Arc::new(inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?);
        let folders = Arc::new(Mutex::new(Folders::new()));
        let (ended, end) = io::pipe()?;
        let following = Following { queue: Arc::clone(&queue), folders: Arc::clone(&folders) };
        thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || following.until(&ended, tell))?;
        Ok(Self { queue, folders, _end: end })
    }

    /// Watches a folder, but not the folders in it.
    ///
    /// # Errors
    ///
    /// When the folder is gone, or the system allows no more watches.
    pub(super) fn watch(&self, folder: &Path) -> Result<(), Errno> {
        // Held, so that nothing is told of the folder before its name is known.
        let mut folders = lock(&self.folders);
        let number = inotify::add_watch(&*self.queue, folder, CHANGES)?;
        folders.insert(number, folder.to_owned());
        Ok(())
    }
}

/// The thread's part.
struct Following {
    queue: Arc<OwnedFd>,
    folders: Arc<Mutex<Folders>>,
}

impl Following {
    fn until(self, ended: &io::PipeReader, mut tell: impl FnMut(Happened) -> bool) {
        let mut room = vec![MaybeUninit::uninit(); EVENTS];
        loop {
            let mut waiting = [
                PollFd::from_borrowed_fd(self.queue.as_fd(), PollFlags::IN),
                PollFd::from_borrowed_fd(ended.as_fd(), PollFlags::empty()),
            ];
            match poll(&mut waiting, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(_) => return,
            }
            if waiting.iter().skip(1).any(|end| !end.revents().is_empty()) {
                return;
            }
            let mut events = Reader::new(&*self.queue, &mut room);
            loop {
                let event = match events.next() {
                    Ok(event) => event,
                    Err(Errno::AGAIN) => break,
                    Err(Errno::INTR) => continue,
                    Err(_) => return,
                };
                let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                if let Some(happened) = self.meant(event.wd(), event.events(), name)
                    && !tell(happened)
                {
                    return;
                }
            }
        }
    }

    /// What an event means.
    fn meant(&self, number: i32, events: ReadFlags, name: Option<&OsStr>) -> Option<Happened> {
        if events.contains(ReadFlags::QUEUE_OVERFLOW) {
            return Some(Happened::Unknown);
        }
        let mut folders = lock(&self.folders);
        if events.contains(ReadFlags::IGNORED) {
            folders.remove(&number);
            return None;
        }
        let folder = folders.get(&number)?.clone();
        if events.contains(ReadFlags::MOVE_SELF) {
            // What happens to it where it is now is of no interest; it may be gone by now.
            folders.remove(&number);
            inotify::remove_watch(&*self.queue, number).ok();
        }
        let path = name.map_or_else(|| folder.clone(), |name| folder.join(name));
        let moved = events.intersects(MOVES);
        Some(if moved { Happened::Moved(path) } else { Happened::Changed(path) })
    }
}

fn lock(folders: &Mutex<Folders>) -> MutexGuard<'_, Folders> {
    folders.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::sync::mpsc::{Receiver, channel};

    use super::*;

    fn watching(folder: &Path) -> (Inotify, Receiver<Happened>) {
        let (sender, told) = channel();
        let watch = Inotify::begin(move |happened| sender.send(happened).is_ok()).unwrap();
        watch.watch(folder).unwrap();
        (watch, told)
    }

    fn next(told: &Receiver<Happened>) -> Happened {
        told.recv_timeout(toolgate_testing::PATIENCE).unwrap()
    }

    #[test]
    fn changes_are_told_and_reads_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.txt");
        fs::write(&file, "one").unwrap();
        let (_watch, told) = watching(folder.path());
        fs::read(&file).unwrap();
        fs::write(&file, "two").unwrap();
        assert_eq!(next(&told), Happened::Changed(file.clone()));
        fs::rename(&file, folder.path().join("b.txt")).unwrap();
        let moved = std::iter::from_fn(|| Some(next(&told)))
            .find(|h| *h != Happened::Changed(file.clone()));
        assert_eq!(moved, Some(Happened::Moved(file)));
        assert_eq!(next(&told), Happened::Moved(folder.path().join("b.txt")));
    }

    #[test]
    fn a_folder_that_goes_is_told_and_can_be_watched_anew() {
        let outer = tempfile::tempdir().unwrap();
        let folder = outer.path().join("folder");
        fs::create_dir(&folder).unwrap();
        let (watch, told) = watching(&folder);
        fs::rename(&folder, outer.path().join("elsewhere")).unwrap();
        assert_eq!(next(&told), Happened::Moved(folder.clone()));
        fs::create_dir(&folder).unwrap();
        watch.watch(&folder).unwrap();
        // Where the old one is now, nobody watches.
        fs::write(outer.path().join("elsewhere/a.txt"), "x").unwrap();
        fs::write(folder.join("b.txt"), "x").unwrap();
        assert_eq!(next(&told), Happened::Changed(folder.join("b.txt")));
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let (watch, _told) = watching(folder.path());
        assert_eq!(watch.watch(&folder.path().join("gone")), Err(Errno::NOENT));
    }

    #[test]
    fn the_thread_ends_with_the_watch() {
        let folder = tempfile::tempdir().unwrap();
        let (watch, told) = watching(folder.path());
        drop(watch);
        // The thread's end of the channel is gone, not merely silent.
        let ended = told.recv_timeout(toolgate_testing::PATIENCE);
        assert_eq!(ended, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
    }
}
