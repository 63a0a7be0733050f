//! Where models keep things: one connection, opened when it is needed.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, Transaction};
use toolgate_core::keeping::KeepingError;

use crate::database::Database;
use crate::error::StoreError;
use crate::records::path_of;

/// How many keys, facts, todos or goals there can be in one place.
pub(super) const MOST: u32 = 10_000;

/// What models keep, in a state folder that several processes may share.
///
/// Nothing is opened before it is first used. What cannot be read is an error, never nothing.
///
/// ```
/// use toolgate_core::keeping::Memory as _;
/// use toolgate_store::Shelf;
///
/// let state = tempfile::tempdir()?;
/// let (shelf, workspace) = (Shelf::new(state.path()), "/work".as_ref());
/// shelf.set(workspace, "build", "cargo build")?;
///
/// let another = Shelf::new(state.path());
/// assert_eq!(another.get(workspace, "build")?.unwrap().value, "cargo build");
/// assert_eq!(another.get("/elsewhere".as_ref(), "build")?, None);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub struct Shelf {
    pub(super) folder: PathBuf,
    /// Opened when it is needed.
    database: Mutex<Option<Database>>,
}

impl Shelf {
    /// What is kept in a state folder, which is made when something is.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), database: Mutex::default() }
    }

    /// What is kept in a state folder, if there is a store in it.
    ///
    /// # Errors
    ///
    /// When there is one and it cannot be used.
    pub fn open_existing(folder: &Path) -> Result<Option<Self>, StoreError> {
        let Some(database) = Database::open_existing(folder)? else { return Ok(None) };
        Ok(Some(Self { folder: folder.to_owned(), database: Mutex::new(Some(database)) }))
    }

    /// Every workspace that has a memory, facts, todos or goals, by path.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    pub fn workspaces(&self) -> Result<Vec<PathBuf>, StoreError> {
        let all = "SELECT workspace FROM memory
                   UNION SELECT workspace FROM facts WHERE length(workspace) > 0
                   UNION SELECT workspace FROM todo_lists JOIN todos ON list = todo_lists.id
                   UNION SELECT workspace FROM goals ORDER BY 1";
        self.look(|rows| {
            let mut rows = rows.prepare_cached(all)?;
            rows.query_map([], |row| row.get(0).map(path_of))?.collect()
        })
    }

    /// Reads rows.
    pub(super) fn look<T>(
        &self,
        work: impl FnOnce(&Connection) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let mut held = self.lock();
        let database = opened(&mut held, &self.folder)?;
        work(database.reader()).map_err(|error| database.explain(error))
    }

    /// Writes rows, all or none.
    pub(super) fn commit<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        opened(&mut self.lock(), &self.folder)?.write(work)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Database>> {
        // A transaction of somebody who panicked was rolled back.
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn opened<'a>(
    held: &'a mut Option<Database>,
    folder: &Path,
) -> Result<&'a mut Database, StoreError> {
    match held {
        Some(database) => Ok(database),
        None => Ok(held.insert(Database::open(folder)?)),
    }
}

impl fmt::Debug for Shelf {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Shelf").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl From<StoreError> for KeepingError {
    fn from(error: StoreError) -> Self {
        Self::new(error.to_string())
    }
}
