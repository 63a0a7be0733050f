//! Rows of goals.

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use toolgate_core::keeping::{Goal, GoalId, GoalStatus};

use super::columns::{at, one_of, texts};

/// The active goal of a workspace.
pub(super) fn active(rows: &Connection, workspace: &[u8]) -> rusqlite::Result<Option<Goal>> {
    let sql = format!("{GOAL} WHERE workspace = ?1 AND status = 'active'");
    rows.prepare_cached(&sql)?.query_row([workspace], read).optional()
}

/// A goal of a workspace.
pub(super) fn find(
    rows: &Connection,
    workspace: &[u8],
    id: GoalId,
) -> rusqlite::Result<Option<Goal>> {
    let sql = format!("{GOAL} WHERE workspace = ?1 AND id = ?2");
    rows.prepare_cached(&sql)?.query_row(params![workspace, id.0], read).optional()
}

/// Every goal of a workspace: active, paused, completed; of each kind the newest first.
pub(super) fn all(rows: &Connection, workspace: &[u8]) -> rusqlite::Result<Vec<Goal>> {
    let sql = format!(
        "{GOAL} WHERE workspace = ?1 ORDER BY
         CASE status WHEN 'active' THEN 0 WHEN 'paused' THEN 1 ELSE 2 END, id DESC"
    );
    rows.prepare_cached(&sql)?.query_map([workspace], read)?.collect()
}

const GOAL: &str =
    "SELECT id, title, description, criteria, status, summary, created, changed FROM goals";

fn read(row: &Row<'_>) -> rusqlite::Result<Goal> {
    Ok(Goal {
        id: GoalId(row.get(0)?),
        title: row.get(1)?,
        description: row.get(2)?,
        criteria: texts(row, 3)?,
        status: one_of(row, 4, &GoalStatus::ALL, GoalStatus::name)?,
        summary: row.get(5)?,
        created: at(row, 6)?,
        changed: at(row, 7)?,
    })
}
