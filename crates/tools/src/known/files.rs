//! What one session knows of files, in bounded memory.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use toolgate_core::context::Session;
use toolgate_core::seen::{SeenFile, SeenFiles, Told};
use toolgate_core::workspace::Version;

use super::watch::Watcher;

/// How many files are known at once; the one that was not used for longest is forgotten.
const MOST_FILES: usize = 20_000;
/// How many bytes of text are held; the text that was not used for longest is dropped.
const MOST_TEXT: usize = 16 * 1024 * 1024;
/// An editor is given this long to finish saving.
const SETTLED: Duration = Duration::from_millis(100);

/// What one session knows of files.
#[derive(Debug, Default)]
pub(super) struct KnownFiles {
    files: Arc<Mutex<Files>>,
    watcher: Watcher,
}

/// The files, as the watcher sees them, too.
#[derive(Debug, Default)]
pub(super) struct Files {
    known: HashMap<PathBuf, Known>,
    /// Folders that are watched.
    folders: HashSet<PathBuf>,
    text_bytes: usize,
    /// Counts uses, so that the oldest can be told.
    clock: u64,
    /// Whether something happened to a file since that was last asked.
    stirred: bool,
    loaded: bool,
    /// Something to be told once.
    notice: Option<String>,
}

#[derive(Debug)]
struct Known {
    seen: SeenFile,
    text: Option<Arc<str>>,
    used: u64,
    /// When something last happened to it that was not looked at yet.
    stirred: Option<Instant>,
}

impl KnownFiles {
    fn lock(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of a file.
    pub(super) fn get(&self, path: &Path) -> Option<SeenFile> {
        self.lock().known.get(path).map(|known| known.seen.clone())
    }

    /// Knows a file from now on, and watches it.
    pub(super) fn put(&self, seen: SeenFile, text: Option<&str>) -> SeenFile {
        let path = seen.path.clone();
        let seen = self.lock().put(seen, text);
        if let Err(why) = self.watcher.watch(&path, &self.files) {
            self.lock().notice = Some(why);
        }
        seen
    }

    /// A file was touched, but is what it was.
    pub(super) fn is_unchanged(&self, path: &Path, version: Version, young: bool) {
        if let Some(known) = self.lock().known.get_mut(path) {
            (known.seen.version, known.seen.young) = (version, young);
        }
    }

    /// The session was told what stands there now, or that nothing does.
    pub(super) fn was_told(&self, path: &Path, told: Told, text: Option<&str>) -> Option<SeenFile> {
        let mut files = self.lock();
        files.known.get_mut(path)?.seen.told = told;
        files.set_text(path, text);
        files.known.get(path).map(|known| known.seen.clone())
    }

    /// The text of a file that the session was last told.
    pub(super) fn text(&self, path: &Path) -> Option<Arc<str>> {
        self.lock().known.get(path)?.text.clone()
    }

    /// A file is to be looked at the next time.
    pub(super) fn ask_again(&self, path: &Path) {
        self.lock().stir_long_ago(path);
    }

    pub(super) fn forget(&self, path: &Path) {
        let mut files = self.lock();
        files.set_text(path, None);
        files.known.remove(path);
    }

    /// Takes in what other processes of the session know, when that was not done yet.
    pub(super) fn load_once(&self, session: &Session, store: Option<&dyn SeenFiles>) {
        let loaded = std::mem::replace(&mut self.lock().loaded, true);
        if !loaded {
            self.load(session, store);
        }
    }

    /// Takes in what other processes of the session know.
    pub(super) fn load(&self, session: &Session, store: Option<&dyn SeenFiles>) {
        let Some(store) = store else { return };
        let Ok(stored) = store.load(session.id()) else { return };
        for (seen, text) in stored {
            let path = seen.path.clone();
            if self.get(&path).is_none() {
                self.put(seen, text.as_deref());
                // Whatever happened to it since did so unwatched.
                self.lock().stir_long_ago(&path);
            }
        }
    }

    /// Whether there may be something to tell.
    pub(super) fn may_have_news(&self) -> bool {
        let files = self.lock();
        files.stirred || !files.loaded || files.notice.is_some()
    }

    /// The files something happened to, and what is to be told besides. Files that may still be
    /// written to are left for the next time.
    pub(super) fn stirred(&self) -> (Vec<SeenFile>, Option<String>) {
        let mut files = self.lock();
        let mut due = Vec::new();
        let mut later = false;
        for known in files.known.values_mut() {
            match known.stirred {
                Some(at) if at.elapsed() >= SETTLED => {
                    known.stirred = None;
                    due.push(known.seen.clone());
                }
                Some(_) => later = true,
                None => {}
            }
        }
        files.stirred = later;
        due.sort_by(|left, right| left.path.cmp(&right.path));
        (due, files.notice.take())
    }
}

impl Files {
    /// Notes that a folder is watched; `false` when it was already.
    pub(super) fn begin_watching(&mut self, folder: &Path) -> bool {
        !self.folders.contains(folder) && self.folders.insert(folder.to_owned())
    }

    /// Notes that a folder is no longer watched; `false` when it was not.
    pub(super) fn end_watching(&mut self, folder: &Path) -> bool {
        self.folders.remove(folder)
    }

    /// Something happened to a file, or in its place.
    pub(super) fn stir(&mut self, path: &Path) {
        if let Some(known) = self.known.get_mut(path) {
            known.stirred = Some(Instant::now());
            self.stirred = true;
        }
    }

    /// Something happened that may concern every file of a folder, or every file.
    pub(super) fn stir_all(&mut self, folder: Option<&Path>) {
        let now = Instant::now();
        for (path, known) in &mut self.known {
            if folder.is_none_or(|folder| path.starts_with(folder)) {
                known.stirred = Some(now);
                self.stirred = true;
            }
        }
    }

    fn stir_long_ago(&mut self, path: &Path) {
        if let Some(known) = self.known.get_mut(path) {
            known.stirred = Instant::now().checked_sub(SETTLED).or_else(|| Some(Instant::now()));
            self.stirred = true;
        }
    }

    fn put(&mut self, mut seen: SeenFile, text: Option<&str>) -> SeenFile {
        self.clock += 1;
        let used = self.clock;
        let path = seen.path.clone();
        match self.known.get_mut(&path) {
            Some(known) => {
                seen.accesses = known.seen.accesses.saturating_add(1);
                known.seen = seen.clone();
                known.used = used;
            }
            None => {
                let known = Known { seen: seen.clone(), text: None, used, stirred: None };
                self.known.insert(path.clone(), known);
            }
        }
        self.set_text(&path, text);
        if self.known.len() > MOST_FILES {
            self.forget_oldest();
        }
        seen
    }

    fn set_text(&mut self, path: &Path, text: Option<&str>) {
        let Some(known) = self.known.get_mut(path) else { return };
        self.text_bytes -= known.text.as_ref().map_or(0, |text| text.len());
        self.text_bytes += text.map_or(0, str::len);
        known.text = text.map(Arc::from);
        if self.text_bytes > MOST_TEXT {
            self.drop_oldest_texts();
        }
    }

    /// Drops texts until there is room for some more.
    fn drop_oldest_texts(&mut self) {
        let mut texts: Vec<&mut Known> =
            self.known.values_mut().filter(|known| known.text.is_some()).collect();
        texts.sort_unstable_by_key(|known| known.used);
        for known in texts {
            if self.text_bytes <= MOST_TEXT / 4 * 3 {
                break;
            }
            self.text_bytes -= known.text.take().map_or(0, |text| text.len());
        }
    }

    fn forget_oldest(&mut self) {
        let oldest = self.known.iter().min_by_key(|(_, known)| known.used);
        if let Some(path) = oldest.map(|(path, _)| path.clone()) {
            self.set_text(&path, None);
            self.known.remove(&path);
        }
    }
}
