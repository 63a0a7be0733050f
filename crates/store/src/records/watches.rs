//! Calls whose changes are kept.

use std::path::PathBuf;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use toolgate_core::id::CallId;

use super::paths::{join, split};

/// A call whose changes are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WatchRow {
    pub(crate) id: i64,
    pub(crate) call: CallId,
    pub(crate) session: String,
    /// Milliseconds since 1970.
    pub(crate) at: i64,
    /// The folders of the workspace it ran in.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) footing: Footing,
    /// Who runs it, until it is over.
    pub(crate) runner: Option<String>,
    pub(crate) is_undo: bool,
    /// What took it back, and was not taken back itself.
    pub(crate) undone_by: Option<i64>,
}

/// What is compared when it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Footing {
    /// Files that have rows already.
    Files,
    /// Folders; the content that tells how they were is named until they are compared.
    Folders { folders: Vec<PathBuf>, manifest: Option<String> },
}

/// A call that is about to begin.
#[derive(Debug)]
pub(crate) struct NewWatch<'a> {
    pub(crate) call: &'a str,
    pub(crate) session: String,
    pub(crate) at: i64,
    pub(crate) roots: &'a [PathBuf],
    pub(crate) footing: &'a Footing,
    pub(crate) runner: &'a str,
    pub(crate) is_undo: bool,
}

const COLUMNS: &str = "id, call, session, at, roots, folders, manifest, runner, is_undo";

/// Writes down that a call begins.
pub(crate) fn insert_watch(connection: &Connection, new: &NewWatch<'_>) -> rusqlite::Result<i64> {
    let (folders, manifest) = match new.footing {
        Footing::Files => (None, None),
        Footing::Folders { folders, manifest } => (Some(join(folders)), manifest.as_deref()),
    };
    connection
        .prepare_cached(
            "INSERT INTO watches (call, session, at, roots, folders, manifest, runner, is_undo)
             VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        )?
        .insert(params![
            new.call,
            new.session,
            new.at,
            join(new.roots),
            folders,
            manifest,
            new.runner,
            new.is_undo
        ])
}

/// Writes down that a call is over and compared.
pub(crate) fn end_watch(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    let sql = "UPDATE watches SET runner = NULL, manifest = NULL WHERE id = ?";
    connection.prepare_cached(sql)?.execute([id])?;
    Ok(())
}

/// Forgets a call and all it changed.
pub(crate) fn delete_watch(connection: &Connection, id: i64) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM changes WHERE watch = ?",
        "DELETE FROM undone WHERE watch = ?",
        "DELETE FROM undone WHERE by = ?",
        "DELETE FROM watches WHERE id = ?",
    ] {
        connection.prepare_cached(sql)?.execute([id])?;
    }
    Ok(())
}

/// One call by its number.
pub(crate) fn watch(connection: &Connection, id: i64) -> rusqlite::Result<Option<WatchRow>> {
    let sql = format!("SELECT {COLUMNS} FROM watches WHERE id = ?");
    let found = connection.prepare_cached(&sql)?.query_row([id], read).optional()?;
    found.map(|row| with_undone(connection, row)).transpose()
}

/// Every call, newest first.
pub(crate) fn all_watches(connection: &Connection) -> rusqlite::Result<Vec<WatchRow>> {
    let sql = format!("SELECT {COLUMNS} FROM watches ORDER BY id DESC");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([], read)?.collect::<rusqlite::Result<Vec<_>>>()?;
    rows.into_iter().map(|row| with_undone(connection, row)).collect()
}

/// Calls that are not over, or whose process did not live to see it.
pub(crate) fn open_watches(connection: &Connection) -> rusqlite::Result<Vec<WatchRow>> {
    let sql = format!("SELECT {COLUMNS} FROM watches WHERE runner IS NOT NULL ORDER BY id");
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_map([], read)?.collect()
}

/// The number of the newest call, 0 when there is none.
pub(crate) fn newest_watch(connection: &Connection) -> rusqlite::Result<i64> {
    let sql = "SELECT coalesce(max(id), 0) FROM watches";
    connection.prepare_cached(sql)?.query_row([], |row| row.get(0))
}

/// Writes down that something takes back a call.
pub(crate) fn mark_undone(connection: &Connection, id: i64, by: i64) -> rusqlite::Result<()> {
    let sql = "INSERT OR IGNORE INTO undone (watch, by) VALUES (?, ?)";
    connection.prepare_cached(sql)?.execute([id, by])?;
    Ok(())
}

/// Writes down that something did not take back what it should.
pub(crate) fn unmark_undone(connection: &Connection, by: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM undone WHERE by = ?")?.execute([by])?;
    Ok(())
}

/// The tool a call used, if the ledger knows it.
pub(crate) fn tool_of(
    connection: &Connection,
    session: &str,
    call: &str,
) -> rusqlite::Result<Option<String>> {
    let sql = "SELECT tool FROM entries
               WHERE call = ? AND session = ? AND tool IS NOT NULL ORDER BY seq DESC LIMIT 1";
    connection.prepare_cached(sql)?.query_row([call, session], |row| row.get(0)).optional()
}

fn with_undone(connection: &Connection, mut row: WatchRow) -> rusqlite::Result<WatchRow> {
    row.undone_by = undone_by(connection, row.id)?;
    Ok(row)
}

/// What takes a call back now. Whatever takes back is newer, so this comes to an end.
fn undone_by(connection: &Connection, id: i64) -> rusqlite::Result<Option<i64>> {
    let sql = "SELECT by FROM undone WHERE watch = ? AND by > watch ORDER BY by DESC";
    let mut statement = connection.prepare(sql)?;
    let all = statement.query_map([id], |row| row.get(0))?.collect::<rusqlite::Result<Vec<_>>>()?;
    for by in all {
        if undone_by(connection, by)?.is_none() {
            return Ok(Some(by));
        }
    }
    Ok(None)
}

fn read(row: &Row<'_>) -> rusqlite::Result<WatchRow> {
    let folders: Option<Vec<u8>> = row.get(5)?;
    Ok(WatchRow {
        id: row.get(0)?,
        call: CallId::from(row.get::<_, String>(1)?),
        session: row.get(2)?,
        at: row.get(3)?,
        roots: split(&row.get::<_, Vec<u8>>(4)?),
        footing: match folders {
            None => Footing::Files,
            Some(folders) => Footing::Folders { folders: split(&folders), manifest: row.get(6)? },
        },
        runner: row.get(7)?,
        is_undo: row.get(8)?,
        undone_by: None,
    })
}
