//! Files and what is known of them, in bounded memory.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use toolgate_core::seen::{SeenFile, Told};
use toolgate_core::workspace::Version;

/// How many files are known at once; the one that was not used for longest is forgotten.
const MOST_FILES: usize = 20_000;
/// How many bytes of text are held; the text that was not used for longest is dropped.
const MOST_TEXT: usize = 16 * 1024 * 1024;
/// An editor is given this long to finish saving.
const SETTLED: Duration = Duration::from_millis(100);

/// Files and what is known of them.
#[derive(Debug, Default)]
pub(super) struct Files {
    known: BTreeMap<PathBuf, Known>,
    /// Folders that are watched.
    folders: HashSet<PathBuf>,
    text_bytes: usize,
    /// Counts uses, so that the oldest can be told.
    clock: u64,
    /// Whether something happened to a file since that was last asked.
    stirred: bool,
    /// Whether what other processes know was taken in.
    pub(super) loaded: bool,
    /// Something to be told once.
    pub(super) notice: Option<String>,
}

#[derive(Debug)]
struct Known {
    seen: SeenFile,
    text: Option<Arc<str>>,
    used: u64,
    /// When something last happened to it that was not looked at yet.
    stirred: Option<Instant>,
}

impl Files {
    /// What is known of a file.
    pub(super) fn get(&self, path: &Path) -> Option<&SeenFile> {
        self.known.get(path).map(|known| &known.seen)
    }

    /// The text of a file that the session was last told.
    pub(super) fn text(&self, path: &Path) -> Option<Arc<str>> {
        self.known.get(path)?.text.clone()
    }

    /// Knows a file from now on.
    pub(super) fn put(&mut self, mut seen: SeenFile, text: Option<&str>) -> SeenFile {
        self.clock += 1;
        let used = self.clock;
        let path = seen.path.clone();
        if let Some(known) = self.known.get_mut(&path) {
            seen.accesses = known.seen.accesses.saturating_add(1);
            known.seen = seen.clone();
            known.used = used;
        } else {
            let known = Known { seen: seen.clone(), text: None, used, stirred: None };
            self.known.insert(path.clone(), known);
        }
        self.set_text(&path, text);
        if self.known.len() > MOST_FILES {
            let oldest = self.known.iter().min_by_key(|(_, known)| known.used);
            if let Some(path) = oldest.map(|(path, _)| path.clone()) {
                self.forget(&path);
            }
        }
        seen
    }

    /// All of a file was read again; `false` when it is not known whole and watched in this
    /// version, or when another could look the same.
    pub(super) fn is_used_again(&mut self, path: &Path, version: Version) -> bool {
        let watched = path.parent().is_some_and(|folder| self.folders.contains(folder));
        let known = self.known.get_mut(path).filter(|known| watched && known.text.is_some());
        let Some(known) = known else { return false };
        let seen = &mut known.seen;
        let told = Told::of(seen.hash, version);
        if seen.version != version || seen.young || seen.range.is_some() || seen.told != told {
            return false;
        }
        self.clock += 1;
        known.used = self.clock;
        seen.accesses = seen.accesses.saturating_add(1);
        true
    }

    /// A file was touched, but is what it was.
    pub(super) fn is_unchanged(&mut self, path: &Path, version: Version, young: bool) {
        if let Some(known) = self.known.get_mut(path) {
            (known.seen.version, known.seen.young) = (version, young);
        }
    }

    /// The session was told what stands there now, or that nothing does.
    pub(super) fn was_told(
        &mut self,
        path: &Path,
        told: Told,
        text: Option<&str>,
    ) -> Option<SeenFile> {
        self.known.get_mut(path)?.seen.told = told;
        self.set_text(path, text);
        self.get(path).cloned()
    }

    /// Knows nothing of a file any more.
    pub(super) fn forget(&mut self, path: &Path) {
        self.set_text(path, None);
        self.known.remove(path);
    }

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
        self.stir_at(path, Instant::now());
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

    /// A file is to be looked at the next time, whether something happened to it or not.
    pub(super) fn look_next_time(&mut self, path: &Path) {
        let now = Instant::now();
        self.stir_at(path, now.checked_sub(SETTLED).unwrap_or(now));
    }

    /// Whether there may be something to tell.
    pub(super) fn may_have_news(&self) -> bool {
        self.stirred || !self.loaded || self.notice.is_some()
    }

    /// The files something happened to. Those that may still be written to are left for the next
    /// time.
    pub(super) fn stirred(&mut self) -> Vec<SeenFile> {
        let mut due = Vec::new();
        let mut later = false;
        for known in self.known.values_mut() {
            match known.stirred {
                Some(at) if at.elapsed() >= SETTLED => {
                    known.stirred = None;
                    due.push(known.seen.clone());
                }
                Some(_) => later = true,
                None => {}
            }
        }
        self.stirred = later;
        due
    }

    fn stir_at(&mut self, path: &Path, at: Instant) {
        if let Some(known) = self.known.get_mut(path) {
            known.stirred = Some(at);
            self.stirred = true;
        }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_whole_and_watched_is_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        std::fs::write(&path, "hello\n").unwrap();
        let version = Version::from(&path.metadata().unwrap());
        let hash = Some([7; 32]);
        let told = Told::of(hash, version);
        let seen = SeenFile {
            path: path.clone(),
            version,
            young: false,
            hash,
            range: None,
            accesses: 1,
            outside: false,
            told: told.clone(),
        };
        let again = |seen: &SeenFile, text: Option<&str>| {
            let mut files = Files::default();
            files.begin_watching(folder.path());
            files.put(seen.clone(), text);
            let again = files.is_used_again(&path, version);
            (again, files.get(&path).unwrap().accesses)
        };
        assert_eq!(again(&seen, Some("hello\n")), (true, 2));
        for (what, seen, text) in [
            ("no text is held", seen.clone(), None),
            ("it is young", SeenFile { young: true, ..seen.clone() }, Some("")),
            ("a part was read", SeenFile { range: Some((1, None)), ..seen.clone() }, Some("")),
            ("a change was told", SeenFile { told: Told::Gone, ..seen.clone() }, Some("")),
        ] {
            assert_eq!(again(&seen, text), (false, 1), "{what}");
        }
        let mut unwatched = Files::default();
        unwatched.put(seen, Some("hello\n"));
        assert!(!unwatched.is_used_again(&path, version));
        assert!(!unwatched.is_used_again(Path::new("/other"), version));
    }
}
