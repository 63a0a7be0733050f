//! A walk over all files below a folder, on all cores.

use std::ffi::{OsStr, OsString};
use std::ops::Range;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::folder::{Folder, Kind, Listing, is_never_entered};
use super::processors::Processors;

/// More threads than this do not help.
const MOST_THREADS: usize = 12;
/// Files handed out at once; a folder with more is shared among threads.
const CHUNK: usize = 128;

/// How long a thread looks out for work before it sleeps. Whoever is woken may find itself on a
/// processor that is busy, while another one has nothing to do.
const PATIENCE: Duration = Duration::from_millis(1);

/// What a walk leaves out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WalkOptions {
    pub(crate) include_hidden: bool,
}

/// A file a walk came to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Found<'a> {
    pub(crate) folder: &'a Folder,
    pub(crate) name: &'a OsStr,
    pub(crate) path: &'a Path,
}

/// Whether a walk goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    Stop,
}

/// Looks at files on one thread of a walk.
pub(crate) trait Visit: Send {
    /// Whether a file is of interest, asked before the ignore rules, which cost more.
    fn wants(&mut self, _path: &Path) -> bool {
        true
    }

    /// Whether a folder may hold files of interest.
    fn enters(&mut self, _path: &Path) -> bool {
        true
    }

    /// Takes note of the folder that the next files are in.
    fn folder(&mut self, _path: &Path) {}

    /// Looks at a file.
    fn file(&mut self, found: Found<'_>) -> Flow;

    /// Ends this thread's part of the walk.
    fn finish(&mut self) {}
}

/// What a walk could not look at.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Unread {
    pub(crate) folders: usize,
}

/// Visits every file below a folder that is not left out. Gives back one visitor per thread.
pub(crate) fn walk<V: Visit>(
    root: Folder,
    options: WalkOptions,
    stop: &AtomicBool,
    visitor: impl Fn() -> V + Sync,
) -> (Vec<V>, Unread) {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
    let walk =
        Walk { queue: Queue::new(Work::Root(root)), options, stop, unread: AtomicUsize::new(0) };
    let processors = Processors::for_threads(threads);
    let work = |number| {
        let _settled = processors.as_ref().map(|processors| processors.settle(number));
        let mut visitor = visitor();
        walk.work(&mut visitor);
        visitor.finish();
        visitor
    };
    let visitors = thread::scope(|scope| {
        let work = &work;
        let workers: Vec<_> =
            (1..threads).map(|number| scope.spawn(move || work(number))).collect();
        let mut visitors = vec![work(0)];
        for worker in workers {
            match worker.join() {
                Ok(visitor) => visitors.push(visitor),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        visitors
    });
    let unread = Unread { folders: walk.unread.into_inner() };
    (visitors, unread)
}

struct Walk<'a> {
    queue: Queue,
    options: WalkOptions,
    stop: &'a AtomicBool,
    unread: AtomicUsize,
}

enum Work {
    Root(Folder),
    /// A folder in another.
    Folder {
        parent: Arc<Folder>,
        name: OsString,
    },
    /// Some of the files a folder holds.
    Files {
        folder: Arc<Folder>,
        files: Arc<Files>,
        share: Range<usize>,
    },
}

/// The names in a folder, and the numbers of the files of interest.
#[derive(Debug, Default)]
struct Files {
    listing: Listing,
    numbers: Vec<usize>,
}

/// What a thread works with, kept from folder to folder.
#[derive(Default)]
struct Desk {
    path: PathBuffer,
    files: Files,
    /// Work found in a folder, handed out all at once.
    found: Vec<Work>,
}

impl Walk<'_> {
    fn work(&self, visitor: &mut impl Visit) {
        // Whatever ends this thread ends the walk, or the others would wait for it.
        let _ended = EndOnPanic(&self.queue);
        let mut desk = Desk::default();
        while let Some(work) = self.queue.next() {
            if self.stop.load(Ordering::Relaxed) {
                self.queue.end();
                return;
            }
            let flow = match work {
                Work::Root(folder) => self.walk_folder(folder, visitor, &mut desk),
                Work::Folder { parent, name } => match parent.enter(&name) {
                    Ok(folder) => self.walk_folder(folder, visitor, &mut desk),
                    Err(_) => self.note_unread(),
                },
                Work::Files { folder, files, share } => {
                    self.visit_files(&folder, &files, share, visitor, &mut desk.path)
                }
            };
            if flow == Flow::Stop {
                self.stop.store(true, Ordering::Relaxed);
                self.queue.end();
                return;
            }
            self.queue.done();
        }
    }

    fn note_unread(&self) -> Flow {
        self.unread.fetch_add(1, Ordering::Relaxed);
        Flow::Continue
    }

    fn walk_folder(&self, mut folder: Folder, visitor: &mut impl Visit, desk: &mut Desk) -> Flow {
        if folder.list_into(&mut desk.files.listing).is_err() {
            return self.note_unread();
        }
        let folder = Arc::new(folder);
        self.sort_out(&folder, visitor, desk);
        let count = desk.files.numbers.len();
        if count <= 2 * CHUNK {
            self.queue.add(desk.found.drain(..));
            return self.visit_files(&folder, &desk.files, 0..count, visitor, &mut desk.path);
        }
        let files = Arc::new(std::mem::take(&mut desk.files));
        desk.found.extend((2 * CHUNK..count).step_by(CHUNK).map(|start| Work::Files {
            folder: Arc::clone(&folder),
            files: Arc::clone(&files),
            share: start..(start + CHUNK).min(count),
        }));
        self.queue.add(desk.found.drain(..));
        self.visit_files(&folder, &files, 0..2 * CHUNK, visitor, &mut desk.path)
    }

    /// Finds the folders to go into and the files of interest among what was listed.
    fn sort_out(&self, folder: &Arc<Folder>, visitor: &mut impl Visit, desk: &mut Desk) {
        let Desk { path, files: Files { listing, numbers }, found } = desk;
        path.start(folder.path());
        numbers.clear();
        for number in 0..listing.len() {
            match listing.get(number) {
                Some((name, Kind::Folder)) if !is_never_entered(folder.path(), name) => {
                    let path = path.of(name);
                    if visitor.enters(path)
                        && !folder.leaves_out(path, name, Kind::Folder, self.options.include_hidden)
                    {
                        let parent = Arc::clone(folder);
                        found.push(Work::Folder { parent, name: name.to_owned() });
                    }
                }
                Some((name, Kind::File)) if visitor.wants(path.of(name)) => numbers.push(number),
                _ => {}
            }
        }
        numbers.sort_unstable_by_key(|number| listing.inode(*number));
    }

    fn visit_files(
        &self,
        folder: &Folder,
        files: &Files,
        share: Range<usize>,
        visitor: &mut impl Visit,
        path: &mut PathBuffer,
    ) -> Flow {
        path.start(folder.path());
        visitor.folder(folder.path());
        for number in files.numbers.get(share).unwrap_or_default() {
            let Some((name, kind)) = files.listing.get(*number) else {
                continue;
            };
            let path = path.of(name);
            if folder.leaves_out(path, name, kind, self.options.include_hidden) {
                continue;
            }
            let found = Found { folder, name, path };
            if self.stop.load(Ordering::Relaxed) || visitor.file(found) == Flow::Stop {
                return Flow::Stop;
            }
        }
        Flow::Continue
    }
}

/// Paths of the entries of a folder, one after another in the same memory.
#[derive(Debug, Default)]
struct PathBuffer {
    bytes: Vec<u8>,
    folder: usize,
}

impl PathBuffer {
    fn start(&mut self, folder: &Path) {
        self.bytes.clear();
        self.bytes.extend_from_slice(folder.as_os_str().as_bytes());
        if self.bytes.last() != Some(&b'/') {
            self.bytes.push(b'/');
        }
        self.folder = self.bytes.len();
    }

    fn of(&mut self, name: &OsStr) -> &Path {
        self.bytes.truncate(self.folder);
        self.bytes.extend_from_slice(name.as_bytes());
        Path::new(OsStr::from_bytes(&self.bytes))
    }
}

/// Work not yet done; ends when all of it is.
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    /// Whether there may be something to do, or nothing any more, as of a moment ago.
    has_news: AtomicBool,
}

struct State {
    // The last in is the first out, so that few folders are open at a time.
    waiting: Vec<Work>,
    unfinished: usize,
    /// Threads to be woken when there is more to do.
    asleep: usize,
}

impl Queue {
    fn new(first: Work) -> Self {
        Self {
            state: Mutex::new(State { waiting: vec![first], unfinished: 1, asleep: 0 }),
            changed: Condvar::new(),
            has_news: AtomicBool::new(true),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<Work> {
        let mut state = self.lock();
        if state.waiting.is_empty() && state.unfinished > 0 {
            drop(state);
            self.look_out();
            state = self.lock();
        }
        loop {
            if let Some(work) = state.waiting.pop() {
                self.tell(&state);
                return Some(work);
            }
            if state.unfinished == 0 {
                return None;
            }
            state.asleep += 1;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            state.asleep -= 1;
        }
    }

    /// Waits a little without sleeping, but lets others have the processor.
    fn look_out(&self) {
        let began = Instant::now();
        while !self.has_news.load(Ordering::Relaxed) && began.elapsed() < PATIENCE {
            for _ in 0..20 {
                std::hint::spin_loop();
            }
            thread::yield_now();
        }
    }

    fn tell(&self, state: &State) {
        let has_news = !state.waiting.is_empty() || state.unfinished == 0;
        self.has_news.store(has_news, Ordering::Relaxed);
    }

    fn add(&self, work: impl ExactSizeIterator<Item = Work>) {
        let count = work.len();
        if count == 0 {
            return;
        }
        let mut state = self.lock();
        state.unfinished += count;
        state.waiting.extend(work);
        self.tell(&state);
        let asleep = state.asleep;
        drop(state);
        match (asleep, count) {
            (0, _) => {}
            (_, 1) => self.changed.notify_one(),
            _ => self.changed.notify_all(),
        }
    }

    fn done(&self) {
        let mut state = self.lock();
        state.unfinished = state.unfinished.saturating_sub(1);
        if state.unfinished == 0 {
            self.tell(&state);
            drop(state);
            self.changed.notify_all();
        }
    }

    fn end(&self) {
        let mut state = self.lock();
        state.waiting.clear();
        state.unfinished = 0;
        self.tell(&state);
        drop(state);
        self.changed.notify_all();
    }
}

struct EndOnPanic<'a>(&'a Queue);

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.end();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    struct Names<'a>(&'a Path, BTreeSet<String>);

    impl Visit for Names<'_> {
        fn file(&mut self, found: Found<'_>) -> Flow {
            let inner = found.path.strip_prefix(self.0).unwrap();
            self.1.insert(inner.to_string_lossy().into_owned());
            Flow::Continue
        }
    }

    fn names(root: &Path, include_hidden: bool) -> BTreeSet<String> {
        let open = std::fs::File::open(root).unwrap();
        let folder = Folder::root(open.into(), root);
        let (visitors, _) =
            walk(folder, WalkOptions { include_hidden }, &AtomicBool::new(false), || {
                Names(root, BTreeSet::new())
            });
        visitors.into_iter().flat_map(|names| names.1).collect()
    }

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        folder
    }

    #[test]
    fn deeper_rules_win_and_whitelisting_unhides() {
        let folder = tree(&[
            (".git/HEAD", ""),
            (".gitignore", "*.log\n!.wanted\n"),
            ("a.log", ""),
            ("a.txt", ""),
            (".wanted", ""),
            (".unwanted", ""),
            ("sub/.gitignore", "!keep.log\n"),
            ("sub/keep.log", ""),
            ("sub/drop.log", ""),
            ("sub/.ignore", "only.txt\n"),
            ("sub/only.txt", ""),
            ("node_modules/x.js", ""),
        ]);
        let expected = ["a.txt", ".wanted", "sub/keep.log"].map(str::to_owned);
        assert_eq!(names(folder.path(), false), BTreeSet::from(expected));
        assert!(names(folder.path(), true).contains(".unwanted"));
        assert!(!names(folder.path(), true).iter().any(|name| name.starts_with(".git/")));
    }

    #[test]
    fn a_blanket_rule_outside_of_a_repository_hides_nothing() {
        let folder = tree(&[(".gitignore", "*.o\n/*\n"), ("a.c", ""), ("sub/b.c", "")]);
        assert_eq!(names(folder.path(), false).len(), 2);
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        assert_eq!(names(folder.path(), false).len(), 0);
    }

    #[test]
    fn large_folders_are_shared_and_nothing_is_lost() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..1000 {
            std::fs::write(folder.path().join(format!("f{number}")), "").unwrap();
        }
        assert_eq!(names(folder.path(), false).len(), 1000);
    }

    #[test]
    fn links_are_not_followed() {
        let folder = tree(&[("in/a", "")]);
        std::os::unix::fs::symlink("/etc", folder.path().join("in/out")).unwrap();
        assert_eq!(names(folder.path(), false).len(), 1);
    }
}
