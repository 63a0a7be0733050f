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
    let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?));
    let found = connection.prepare_cached(sql)?.query_row([bytes_of(path)], read).optional()?;
    Ok(found.into_iter().map(|known| (path.to_owned(), known)).collect())
}

/// What is known about the files in a folder.
pub(crate) fn known_below(connection: &Connection, folder: &Path) -> rusqlite::Result<KnownHashes> {
    let (from, to) = range_below(folder);
    let sql = "SELECT path, stamp, hash FROM stamps WHERE path >= ? AND path < ?";
    let mut statement = connection.prepare_cached(sql)?;
    let rows = statement
        .query_map([from, to], |row| Ok((path_of(row.get(0)?), (row.get(1)?, row.get(2)?))))?;
    rows.collect()
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
            statement.execute(params![bytes_of(path), stamp, version.hash, now])?;
        }
    }
    Ok(())
}

/// Writes down that what is known about a folder is of use, not more often than needed.
pub(crate) fn touch_stamps(
    connection: &Connection,
    folder: &Path,
    now: i64,
) -> rusqlite::Result<()> {
    const OFTEN: i64 = 12 * 60 * 60 * 1000;
    let (from, to) = range_below(folder);
    let sql = "UPDATE stamps SET used = ? WHERE path >= ? AND path < ? AND used < ?";
    connection.prepare_cached(sql)?.execute(params![now, from, to, now - OFTEN])?;
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

/// Every path below a folder sorts between these two.
fn range_below(folder: &Path) -> (Vec<u8>, Vec<u8>) {
    let mut from = bytes_of(folder).to_vec();
    while from.last() == Some(&b'/') {
        from.pop();
    }
    let mut to = from.clone();
    from.push(b'/');
    to.push(b'/' + 1);
    (from, to)
}
