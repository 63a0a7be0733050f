//! Calls that were requested and have not ended.

use rusqlite::{Connection, OptionalExtension as _, params};
use toolgate_core::ledger::EntryKind;

use crate::ledger::prepare::Prepared;

/// A call somebody has to end.
#[derive(Debug)]
pub(crate) struct OpenCall {
    pub(crate) session: String,
    pub(crate) call: String,
    pub(crate) tool: Option<String>,
    pub(crate) started: bool,
}

/// The tool of a call that is open.
pub(crate) fn tool(
    connection: &Connection,
    run: &str,
    session: &str,
    call: &str,
) -> rusqlite::Result<Option<String>> {
    let query = "SELECT tool FROM open_calls WHERE run = ? AND session = ? AND call = ?";
    let found = connection.prepare_cached(query)?.query_row([run, session, call], |row| row.get(0));
    Ok(found.optional()?.flatten())
}

/// Opens or ends a call, as an entry tells.
pub(crate) fn follow(
    connection: &Connection,
    run: &str,
    entry: &Prepared,
    tool: Option<&str>,
) -> rusqlite::Result<()> {
    let Some(call) = &entry.call else { return Ok(()) };
    match entry.kind {
        EntryKind::Requested | EntryKind::Started => {
            let started = entry.kind == EntryKind::Started;
            let insert = "INSERT INTO open_calls (run, session, call, tool, started) \
                VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET started = excluded.started";
            let values = params![run, entry.session, call, tool, started];
            connection.prepare_cached(insert)?.execute(values)?;
        }
        kind if kind.is_end() => {
            let delete = "DELETE FROM open_calls WHERE run = ? AND session = ? AND call = ?";
            connection.prepare_cached(delete)?.execute(params![run, entry.session, call])?;
        }
        _ => {}
    }
    Ok(())
}

/// The runs that have open calls.
pub(crate) fn runs(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut query = connection.prepare_cached("SELECT DISTINCT run FROM open_calls")?;
    query.query_map([], |row| row.get(0))?.collect()
}

/// Forgets the calls of a run, which are returned.
pub(crate) fn take(connection: &Connection, run: &str) -> rusqlite::Result<Vec<OpenCall>> {
    let query = "DELETE FROM open_calls WHERE run = ? RETURNING session, call, tool, started";
    let mut query = connection.prepare_cached(query)?;
    let calls = query.query_map([run], |row| {
        Ok(OpenCall {
            session: row.get(0)?,
            call: row.get(1)?,
            tool: row.get(2)?,
            started: row.get(3)?,
        })
    })?;
    calls.collect()
}
