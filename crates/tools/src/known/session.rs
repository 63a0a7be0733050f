//! What one session knows of files, and how it comes to know it.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolgate_core::context::{Lasts, Session};
use toolgate_core::seen::{SeenFile, SeenFiles};

use super::files::Files;
use super::watch::Watcher;

/// What one session knows of files.
#[derive(Debug, Default)]
pub(super) struct KnownFiles {
    files: Arc<Mutex<Files>>,
    watcher: Watcher,
}

impl KnownFiles {
    /// What a session knows; nothing when it lasts for one call only.
    pub(super) fn of(session: &Session) -> Option<Arc<Self>> {
        (session.lasts() != Lasts::OneCall).then(|| session.state::<Self>())
    }

    /// The files as they are known now.
    pub(super) fn lock(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
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
                self.lock().look_next_time(&path);
            }
        }
    }

    /// What is known of a file.
    pub(super) fn get(&self, path: &Path) -> Option<SeenFile> {
        self.lock().get(path).cloned()
    }
}
