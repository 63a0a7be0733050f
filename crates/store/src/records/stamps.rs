//! Hashes of files that did not change since they were looked at.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension as _, params};

use super::paths::{bytes_of, path_of};
use crate::disk::{Kind, KnownHashes, Version};

/// A file whose hash is known as long as its stamp stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StampRow {
    pub(crate) path: PathBuf,
    pub(crate) hash: String,
    /// Milliseconds since 1970.
    pub(crate) used: i64,
}

/// What is known about one file.
pub(crate) fn known_of(connection: &Connection, path: &Path) -> rusqlite::Result<KnownHashes> {
    let sql = "SELECT stamp, hash FROM stamps WHERE path = ?";
    let read = |row: &rusqlite::Row<'_>| Ok((row.get::<_, String>(0)?, row.get(1)?));
    let found = connection.prepare_cached(sql)?.query_row([bytes_of(path)], read).optional()?;
    let known =
        found.and_then(|(stamp, hash)| Some((path.to_owned(), (stamp.parse().ok()?, hash))));
    Ok(known.into_iter().collect())
}

/// Writes down what is known about files from now on; other versions say nothing that lasts.
pub(crate) fn save_stamps<'a>(
    connection: &Connection,
    versions: impl IntoIterator<Item = (&'a Path, &'a Version)>,
    now: i64,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO stamps (path, stamp, hash, used) VALUES (?, ?, ?, ?)";
    let mut statement = connection.prepare_cached(sql)?;
    for (path, version) in versions {
        if let Some(stamp) = &version.stamp
            && version.kind == Kind::File
            && !version.is_settling
            && version.is_kept()
        {
            statement.execute(params![bytes_of(path), stamp.to_string(), version.hash, now])?;
        }
    }
    Ok(())
}

/// Forgets what is known about files.
pub(crate) fn forget_stamps<'a>(
    connection: &Connection,
    paths: impl IntoIterator<Item = &'a Path>,
) -> rusqlite::Result<()> {
    let mut statement = connection.prepare_cached("DELETE FROM stamps WHERE path = ?")?;
    for path in paths {
        statement.execute([bytes_of(path)])?;
    }
    Ok(())
}

/// All that is known, what was used longest ago first.
pub(crate) fn all_stamps(connection: &Connection) -> rusqlite::Result<Vec<StampRow>> {
    let sql = "SELECT path, hash, used FROM stamps ORDER BY used, path";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement.query_map([], |row| {
        Ok(StampRow { path: path_of(row.get(0)?), hash: row.get(1)?, used: row.get(2)? })
    })?;
    rows.collect()
}
