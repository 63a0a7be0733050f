//! Files that sessions have read, for all processes of a session.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use rusqlite::params;
use toolgate_core::id::SessionId;
use toolgate_core::seen::{SeenFile, SeenFiles};

use crate::database::Database;
use crate::error::StoreError;
use crate::records::{bytes_of, path_of};
use crate::time::micros;

/// What was not used for so long is forgotten.
const KEPT: Duration = Duration::from_hours(30 * 24);

/// Files that sessions have read, kept in the store.
pub struct KeptFiles {
    folder: PathBuf,
    /// Opened when it is needed.
    database: Mutex<Option<Database>>,
}

impl KeptFiles {
    /// The files of a store, which is opened when they are needed.
    pub fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned(), database: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, Option<Database>> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&mut Database) -> Result<T, StoreError>,
    ) -> Result<T, String> {
        let mut database = self.lock();
        let open = match database.take() {
            Some(open) => Ok(open),
            None => Database::open(&self.folder),
        };
        let done = open.and_then(|open| work(database.insert(open)));
        done.map_err(|error| error.to_string())
    }
}

impl SeenFiles for KeptFiles {
    fn load(&self, session: &SessionId) -> Result<Vec<(SeenFile, Option<String>)>, String> {
        self.with(|database| {
            let rows = || {
                let sql = "SELECT path, seen, text FROM seen_files WHERE session = ? ORDER BY at";
                let mut select = database.reader().prepare_cached(sql)?;
                let rows = select.query_map([session.as_str()], |row| {
                    Ok((
                        row.get::<_, Vec<u8>>(0)?,
                        row.get::<_, String>(1)?,
                        row.get::<_, Option<Vec<u8>>>(2)?,
                    ))
                })?;
                rows.collect::<rusqlite::Result<Vec<_>>>()
            };
            let rows = rows().map_err(|error| database.explain(error))?;
            // What cannot be read any more has to be read again.
            let read = rows.into_iter().filter_map(|(path, seen, text)| {
                let seen = serde_json::from_str(&seen).ok()?;
                let seen = SeenFile { path: path_of(path), ..seen };
                Some((seen, text.and_then(|text| unpack(&text))))
            });
            Ok(read.collect())
        })
    }

    fn keep(&self, session: &SessionId, file: &SeenFile, text: Option<&str>) -> Result<(), String> {
        let seen = serde_json::to_string(file).map_err(|error| error.to_string())?;
        let text = text.map(|text| lz4_flex::compress_prepend_size(text.as_bytes()));
        let now = SystemTime::now();
        let forgotten = now.checked_sub(KEPT).map_or(0, micros);
        self.with(|database| {
            database.write(|write| {
                let sql = "INSERT OR REPLACE INTO seen_files (session, path, seen, text, at) VALUES (?, ?, ?, ?, ?)";
                let path = bytes_of(&file.path);
                write.prepare_cached(sql)?.execute(params![
                    session.as_str(),
                    path,
                    seen,
                    text,
                    micros(now)
                ])?;
                write.execute("DELETE FROM seen_files WHERE at < ?", [forgotten])?;
                Ok(())
            })
        })
    }

    fn forget(&self, session: &SessionId, path: &Path) -> Result<(), String> {
        self.with(|database| {
            database.write(|write| {
                let sql = "DELETE FROM seen_files WHERE session = ? AND path = ?";
                write.execute(sql, params![session.as_str(), bytes_of(path)])?;
                Ok(())
            })
        })
    }
}

impl fmt::Debug for KeptFiles {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("KeptFiles").field("folder", &self.folder).finish_non_exhaustive()
    }
}

/// The text again; the store is ours, but a claimed size is still not believed.
fn unpack(packed: &[u8]) -> Option<String> {
    const MOST: u32 = 4 * 1024 * 1024;
    let claimed = packed.first_chunk::<4>().map(|size| u32::from_le_bytes(*size))?;
    let bytes = (claimed <= MOST).then(|| lz4_flex::decompress_size_prepended(packed).ok())??;
    String::from_utf8(bytes).ok()
}
