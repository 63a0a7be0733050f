//! Being told when something happens to a file.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use notify::event::{EventKind, ModifyKind};
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use super::files::Files;

/// Watches the folders of known files, because editors put new files in the place of old ones.
#[derive(Default)]
pub(super) struct Watcher {
    state: Mutex<State>,
}

#[derive(Default)]
enum State {
    #[default]
    Idle,
    Watching(RecommendedWatcher),
    /// No more can be watched, which was said. What is watched already stays so.
    Full(#[expect(dead_code, reason = "it works as long as it lives")] Option<RecommendedWatcher>),
}

impl Watcher {
    /// Watches the folder a file is in.
    ///
    /// # Errors
    ///
    /// Why it is not watched, said once.
    pub(super) fn watch(&self, file: &Path, files: &Arc<Mutex<Files>>) -> Result<(), String> {
        let Some(folder) = file.parent() else { return Ok(()) };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*state, State::Full(_)) || !lock(files).begin_watching(folder) {
            return Ok(());
        }
        let watched = match std::mem::take(&mut *state) {
            State::Watching(watcher) => Ok(watcher),
            _ => begin(Arc::downgrade(files)),
        };
        let (mut watcher, mut failed) = match watched {
            Ok(watcher) => (Some(watcher), None),
            Err(error) => (None, Some(error)),
        };
        if let Some(watcher) = &mut watcher {
            failed = watcher.watch(folder, RecursiveMode::NonRecursive).err();
        }
        match (failed, watcher) {
            (None, Some(watcher)) => *state = State::Watching(watcher),
            // The folder is gone already, and with it what could happen in it.
            (Some(notify::Error { kind: ErrorKind::PathNotFound, .. }), Some(watcher)) => {
                *state = State::Watching(watcher);
            }
            (failed, watcher) => {
                *state = State::Full(watcher);
                return Err(blind(failed.as_ref()));
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Watcher").finish_non_exhaustive()
    }
}

fn begin(files: Weak<Mutex<Files>>) -> notify::Result<RecommendedWatcher> {
    notify::recommended_watcher(move |event: notify::Result<Event>| {
        if let Some(files) = files.upgrade() {
            happened(&mut lock(&files), event.as_ref().ok());
        }
    })
}

/// Something happened; without an event nobody knows what.
fn happened(files: &mut Files, event: Option<&Event>) {
    let Some(event) = event.filter(|event| !event.need_rescan()) else {
        files.stir_all(None);
        return;
    };
    if matches!(event.kind, EventKind::Access(_)) {
        return;
    }
    let moved = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
    for path in &event.paths {
        if moved && files.end_watching(path) {
            files.stir_all(Some(path));
        } else {
            files.stir(path);
        }
    }
}

fn lock(files: &Mutex<Files>) -> std::sync::MutexGuard<'_, Files> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What it means that not everything is watched.
fn blind(error: Option<&notify::Error>) -> String {
    let why = match error.map(|error| &error.kind) {
        Some(ErrorKind::MaxFilesWatch) => "the system allows no more watches".to_owned(),
        Some(ErrorKind::Io(error)) => error.to_string(),
        Some(other) => format!("{other:?}"),
        None => "the system does not say why".to_owned(),
    };
    format!(
        "files are no longer watched for changes by others ({why}); a change is found when the file is edited. On Linux, raising `fs.inotify.max_user_watches` or `fs.inotify.max_user_instances` helps."
    )
}
