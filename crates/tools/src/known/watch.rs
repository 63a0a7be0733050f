//! Being told when something happens to a file.

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rustix::io::Errno;

use super::files::Files;
use super::inotify::{Happened, Inotify};

/// Watches the folders of known files, because editors put new files in the place of old ones.
#[derive(Default)]
pub(super) struct Watcher {
    state: Mutex<State>,
}

#[derive(Default)]
enum State {
    #[default]
    Idle,
    Watching(Inotify),
    /// No more can be watched, which was said. What is watched already stays so.
    Full(#[expect(dead_code, reason = "it works as long as it lives")] Option<Inotify>),
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
        let watcher = match watched {
            Ok(watcher) => watcher,
            Err(error) => {
                *state = State::Full(None);
                return Err(blind(&error));
            }
        };
        match watcher.watch(folder) {
            // The folder may be gone already, and with it what could happen in it.
            Ok(()) | Err(Errno::NOENT | Errno::NOTDIR) => {
                *state = State::Watching(watcher);
                Ok(())
            }
            Err(error) => {
                *state = State::Full(Some(watcher));
                Err(blind(&error.into()))
            }
        }
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Watcher").finish_non_exhaustive()
    }
}

fn begin(files: Weak<Mutex<Files>>) -> io::Result<Inotify> {
    Inotify::begin(move |happened| {
        let Some(files) = files.upgrade() else { return false };
        take_in(&mut lock(&files), &happened);
        true
    })
}

/// Takes in what happened.
fn take_in(files: &mut Files, happened: &Happened) {
    match happened {
        Happened::Unknown => files.stir_all(None),
        Happened::Moved(path) if files.end_watching(path) => files.stir_all(Some(path)),
        Happened::Moved(path) | Happened::Changed(path) => files.stir(path),
    }
}

fn lock(files: &Mutex<Files>) -> std::sync::MutexGuard<'_, Files> {
    files.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What it means that not everything is watched.
fn blind(error: &io::Error) -> String {
    let why = match Errno::from_io_error(error) {
        Some(Errno::NOSPC | Errno::MFILE) => "the system allows no more watches".to_owned(),
        _ => error.to_string(),
    };
    format!(
        "files are no longer watched for changes by others ({why}); a change is found when the file is edited. On Linux, raising `fs.inotify.max_user_watches` or `fs.inotify.max_user_instances` helps."
    )
}
