//! The one file everything is kept in.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension as _, Transaction, TransactionBehavior,
};
use toolgate_core::ledger::Durability;

use crate::error::StoreError;
use crate::schema;

/// How long another process may hold the write lock.
const PATIENCE: Duration = Duration::from_secs(5);

const FILE: &str = "state.db";

/// Who opens the file first reads the log to its end, so nobody leaves a longer one behind.
const LONGEST_LOG: u64 = 64 * 4096;

/// An open connection to the store's file.
#[derive(Debug)]
pub(crate) struct Database {
    connection: Connection,
    path: PathBuf,
}

impl Database {
    /// Opens the file in a folder; makes both, and brings the tables up to date.
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        Self::open_patiently(folder, PATIENCE)
    }

    /// Opens it, waiting this long for others who write.
    pub(crate) fn open_patiently(folder: &Path, patience: Duration) -> Result<Self, StoreError> {
        let path = folder.join(FILE);
        let is_new = make_file(folder, &path)?;
        let mut database = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, patience)?;
        if database.is_older()? {
            database.migrate(patience)?;
        }
        if is_new {
            let synced = File::open(folder).and_then(|folder| folder.sync_all());
            synced.map_err(|why| StoreError::Folder { path: folder.to_owned(), why })?;
        }
        Ok(database)
    }

    /// Opens the file to read from it; there may be none yet.
    pub(crate) fn open_existing(folder: &Path) -> Result<Option<Self>, StoreError> {
        let path = folder.join(FILE);
        match fs::metadata(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(why) => return Err(StoreError::Folder { path: folder.to_owned(), why }),
            Ok(_) => {}
        }
        let mut database = Self::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE, PATIENCE)?;
        if database.is_older()? {
            database.migrate(PATIENCE)?;
        }
        Ok(Some(database))
    }

    fn connect(path: PathBuf, access: OpenFlags, patience: Duration) -> Result<Self, StoreError> {
        // One connection is used by one thread at a time, which the borrow checker sees to.
        let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let prepare = || {
            #[expect(clippy::disallowed_methods, reason = "this is the place where it is opened")]
            let connection = Connection::open_with_flags(&path, flags)?;
            connection.busy_timeout(patience)?;
            connection.execute_batch("PRAGMA wal_autocheckpoint = 250")?;
            // Who closes last would write everything back; a program that ends has no time for it.
            connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
            Ok(connection)
        };
        match prepare() {
            Ok(connection) => Ok(Self { connection, path }),
            Err(error) => Err(StoreError::of(&path, error)),
        }
    }

    /// The connection, to read with.
    pub(crate) fn reader(&self) -> &Connection {
        &self.connection
    }

    /// Sets what a commit waits for. It cannot be set while a transaction runs.
    pub(crate) fn set_durability(&self, durability: Durability) -> Result<(), StoreError> {
        let setting = match durability {
            Durability::Process => "NORMAL",
            Durability::Power => "FULL",
        };
        let set = self.connection.pragma_update(None, "synchronous", setting);
        set.map_err(|error| self.explain(error))
    }

    /// Does some writing, all of it or nothing, while nobody else writes.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let behavior = TransactionBehavior::Immediate;
        let done = self.connection.transaction_with_behavior(behavior).and_then(|transaction| {
            let result = work(&transaction)?;
            transaction.commit()?;
            Ok(result)
        });
        done.map_err(|error| self.explain(error))
    }

    /// What an error means to whoever uses this file.
    pub(crate) fn explain(&self, error: rusqlite::Error) -> StoreError {
        StoreError::of(&self.path, error)
    }

    /// What is wrong with how the file is built.
    pub(crate) fn damage(&self) -> Result<Vec<String>, StoreError> {
        let read = || {
            let mut check = self.connection.prepare("PRAGMA quick_check(10)")?;
            check.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<Vec<String>>>()
        };
        let mut found = read().map_err(|error| self.explain(error))?;
        found.retain(|line| line != "ok");
        Ok(found)
    }

    /// Nothing of ours acts on its own: whatever does was put there by somebody else, to hide or
    /// change what is written.
    fn refuse_foreign_parts(&self) -> Result<(), StoreError> {
        let foreign = "SELECT name FROM sqlite_schema WHERE type IN ('trigger', 'view') LIMIT 1";
        let found = self.connection.prepare_cached(foreign).and_then(|mut foreign| {
            foreign.query_row([], |row| row.get::<_, String>(0)).optional()
        });
        match found.map_err(|error| self.explain(error))? {
            None => Ok(()),
            Some(name) => Err(StoreError::Damaged {
                path: self.path.clone(),
                message: format!(
                    "it has a trigger or view `{}` that is not ours",
                    name.escape_debug()
                ),
            }),
        }
    }

    fn is_older(&self) -> Result<bool, StoreError> {
        let known = schema::known();
        let found = schema::version(&self.connection).map_err(|error| self.explain(error))?;
        self.refuse_foreign_parts()?;
        if found > known || found < 0 {
            return Err(StoreError::Newer { path: self.path.clone(), found, known });
        }
        Ok(found < known)
    }

    fn migrate(&mut self, patience: Duration) -> Result<(), StoreError> {
        self.keep_a_log(patience)?;
        self.write(schema::migrate)?;
        // Whoever came first may have been newer.
        self.is_older().map(drop)
    }

    /// Turns on the write-ahead log, which the file remembers.
    fn keep_a_log(&self, patience: Duration) -> Result<(), StoreError> {
        let deadline = Instant::now() + patience;
        loop {
            match self.connection.pragma_update(None, "journal_mode", "wal") {
                Ok(()) => return Ok(()),
                // SQLite does not wait by itself when two want to turn it on at once.
                Err(error)
                    if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy)
                        && Instant::now() < deadline =>
                {
                    thread::sleep(Duration::from_millis(2));
                }
                Err(error) => return Err(self.explain(error)),
            }
        }
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let mut log = self.path.clone().into_os_string();
        log.push("-wal");
        if fs::metadata(log).is_ok_and(|log| log.len() > LONGEST_LOG) {
            let write_back = "PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)";
            // Others who use it will do it.
            self.connection.execute_batch(write_back).ok();
        }
    }
}

/// Makes the folder and the file for nobody but the owner; says whether the file is new.
fn make_file(folder: &Path, path: &Path) -> Result<bool, StoreError> {
    let unusable = |source: io::Error| match source.kind() {
        io::ErrorKind::StorageFull => StoreError::Full { path: path.to_owned() },
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            StoreError::ReadOnly { path: path.to_owned() }
        }
        _ => StoreError::Folder { path: folder.to_owned(), why: source },
    };
    match fs::metadata(path) {
        Ok(found) => {
            if found.permissions().mode() & 0o077 != 0 {
                // Somebody else's file stays as it is; opening it tells what else is wrong.
                fs::set_permissions(path, fs::Permissions::from_mode(0o600)).ok();
            }
            return Ok(false);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(unusable(error)),
    }
    DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(unusable)?;
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    match made {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(unusable(error)),
    }
}

#[cfg(test)]
mod tests;
