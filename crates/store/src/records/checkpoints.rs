//! Named points between calls.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::paths::bytes_of;

/// A named point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CheckpointRow {
    pub(crate) name: String,
    /// The newest call before it.
    pub(crate) watch: i64,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
}

/// Names a point, over one of the same name.
pub(crate) fn save_checkpoint(
    connection: &Connection,
    root: &Path,
    row: &CheckpointRow,
) -> rusqlite::Result<()> {
    let sql = "INSERT OR REPLACE INTO checkpoints (root, name, watch, at) VALUES (?, ?, ?, ?)";
    connection.prepare_cached(sql)?.execute(params![
        bytes_of(root),
        row.name,
        row.watch,
        row.at
    ])?;
    Ok(())
}

/// The point of this name.
pub(crate) fn checkpoint(
    connection: &Connection,
    root: &Path,
    name: &str,
) -> rusqlite::Result<Option<CheckpointRow>> {
    let sql = "SELECT name, watch, at FROM checkpoints WHERE root = ? AND name = ?";
    connection.prepare_cached(sql)?.query_row(params![bytes_of(root), name], read).optional()
}

/// The points of a workspace, newest first.
pub(crate) fn checkpoints(
    connection: &Connection,
    root: &Path,
) -> rusqlite::Result<Vec<CheckpointRow>> {
    let sql = "SELECT name, watch, at FROM checkpoints WHERE root = ? ORDER BY at DESC, name";
    connection.prepare_cached(sql)?.query_map([bytes_of(root)], read)?.collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<CheckpointRow> {
    Ok(CheckpointRow { name: row.get(0)?, watch: row.get(1)?, at: row.get(2)? })
}
