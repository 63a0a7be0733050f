//! What calls changed.

use std::path::{Path, PathBuf};

use rusqlite::types::Type;
use rusqlite::{Connection, Row, params};

use super::paths::{bytes_of, path_of};
use crate::disk::Version;

/// A path and what stood there before and after a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ChangeRow {
    pub(crate) path: PathBuf,
    pub(crate) before: Option<Version>,
    pub(crate) after: Option<Version>,
}

/// Writes down changes of a call, over what was written about the same paths.
pub(crate) fn save_changes(
    connection: &Connection,
    watch: i64,
    changes: &[ChangeRow],
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO changes (watch, path, before, after) VALUES (?, ?, ?, ?)";
    let mut statement = connection.prepare_cached(sql)?;
    for change in changes {
        let (before, after) = (json(change.before.as_ref())?, json(change.after.as_ref())?);
        statement.execute(params![watch, bytes_of(&change.path), before, after])?;
    }
    Ok(())
}

/// Forgets what was written about a call's changes.
pub(crate) fn delete_changes(connection: &Connection, watch: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM changes WHERE watch = ?")?.execute([watch])?;
    Ok(())
}

/// What a call changed, by path.
pub(crate) fn changes_of(connection: &Connection, watch: i64) -> rusqlite::Result<Vec<ChangeRow>> {
    let sql = "SELECT path, before, after FROM changes WHERE watch = ? ORDER BY path";
    connection.prepare_cached(sql)?.query_map([watch], read)?.collect()
}

/// What happened to a path, oldest first, each with the number of its call.
pub(crate) fn changes_to(
    connection: &Connection,
    path: &Path,
) -> rusqlite::Result<Vec<(i64, ChangeRow)>> {
    let sql = "SELECT path, before, after, watch FROM changes WHERE path = ? ORDER BY watch";
    let both = |row: &Row<'_>| Ok((row.get(3)?, read(row)?));
    connection.prepare_cached(sql)?.query_map([bytes_of(path)], both)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<ChangeRow> {
    Ok(ChangeRow { path: path_of(row.get(0)?), before: version(row, 1)?, after: version(row, 2)? })
}

fn version(row: &Row<'_>, column: usize) -> rusqlite::Result<Option<Version>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| serde_json::from_str(&text)).transpose().map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error))
    })
}

fn json(version: Option<&Version>) -> rusqlite::Result<Option<String>> {
    let text = version.map(serde_json::to_string).transpose();
    text.map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}
