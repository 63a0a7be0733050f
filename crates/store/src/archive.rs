//! Where changes are kept: rows and contents.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, Transaction};
use toolgate_core::ledger::Durability;

use crate::blobs::{BlobError, Blobs};
use crate::database::Database;
use crate::error::StoreError;
use crate::generations::Generations;
use crate::run::Run;

/// Why changes could not be kept or found.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
#[non_exhaustive]
pub enum KeepError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Content(#[from] BlobError),
}

/// The database and the contents.
#[derive(Debug)]
pub(crate) struct Archive {
    database: Mutex<Database>,
    pub(crate) blobs: Blobs,
    pub(crate) run: Run,
    generations: Generations,
    /// Is `true` if there may be generations of an index that nobody needs any more.
    has_stale: AtomicBool,
    state: PathBuf,
}

impl Archive {
    /// Opens what is kept in a state folder.
    pub(crate) fn open(state: &Path) -> Result<Self, KeepError> {
        let mut database = Database::open(state)?;
        let snapshots = state.join("snapshots");
        let is_new = !snapshots.exists();
        let blobs = Blobs::open(&snapshots)?;
        if is_new {
            // Who removed the contents did not know that others rely on them.
            database.write(|rows| rows.execute("DELETE FROM stamps", []))?;
        }
        let run =
            Run::begin(state).map_err(|why| StoreError::Folder { path: state.to_owned(), why })?;
        // Watched folders are compared by real paths.
        let state = state.canonicalize().unwrap_or_else(|_| state.to_owned());
        let generations = Generations::new(blobs.folder().join("index"));
        let has_stale = AtomicBool::new(false);
        Ok(Self { database: Mutex::new(database), blobs, run, generations, has_stale, state })
    }

    /// The files in which the state of workspaces is kept.
    pub(crate) fn generations(&self) -> &Generations {
        &self.generations
    }

    /// Notes that something can be removed from the files of workspaces.
    pub(crate) fn note_stale(&self) {
        self.has_stale.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if something was noted, and forgets it.
    pub(crate) fn take_stale(&self) -> bool {
        self.has_stale.swap(false, Ordering::Relaxed)
    }

    /// The folder everything is in.
    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    /// Reads rows.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let database = self.database();
        work(database.reader()).map_err(|error| database.explain(error))
    }

    /// Writes rows, all or none.
    pub(crate) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        self.database().write(work)
    }

    /// Writes rows that need not survive a power loss until the next that must.
    pub(crate) fn write_behind<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut database = self.database();
        database.set_durability(Durability::Process)?;
        let written = database.write(work);
        database.set_durability(Durability::Power)?;
        written
    }

    fn database(&self) -> MutexGuard<'_, Database> {
        // A transaction of somebody who panicked was rolled back.
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Now, in milliseconds since 1970.
pub(crate) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
