//! What happens on the way to a goal: checkpoints and decisions.

use std::path::Path;

use rusqlite::{Connection, Row, params};
use toolgate_core::context::Session;
use toolgate_core::keeping::{
    Checkpoint, Decision, Goal, GoalFault, GoalId, KeepingError, ThoughtKind,
};

use super::columns::{at, json, now, texts};
use super::goal_rows::active;
use super::place::MOST;
use super::reasoning;
use crate::archive::{Archive, KeepError};
use crate::journal::recover;
use crate::records::{self, CheckpointRow, bytes_of, newest_watch, save_checkpoint};
use crate::time::moment;

/// Names this point on the way to the active goal and in the history of files, both or neither.
pub(super) fn checkpoint(
    folder: &Path,
    workspace: &Path,
    name: &str,
    description: Option<&str>,
) -> Result<(Goal, Checkpoint), GoalFault> {
    let archive = Archive::open(folder).map_err(|error| unkept(&error))?;
    // What a killed call changed lies before this point.
    recover(&archive).map_err(|error| unkept(&error))?;
    let set = archive.write(|rows| {
        let Some(goal) = active(rows, bytes_of(workspace))? else {
            return Ok(Err(GoalFault::NoneActive));
        };
        if records::checkpoint(rows, workspace, name)?.is_some() {
            return Ok(Err(GoalFault::NameTaken { name: name.to_owned() }));
        }
        if let Some(fault) = full(rows, "goal_checkpoints", "checkpoints of this goal", goal.id)? {
            return Ok(Err(fault));
        }
        let at = now();
        let point =
            CheckpointRow { name: name.to_owned(), watch: newest_watch(rows)?, at: at / 1_000 };
        save_checkpoint(rows, workspace, &point)?;
        let sql = "INSERT INTO goal_checkpoints (goal, name, description, at)
                   VALUES (?1, ?2, ?3, ?4)";
        rows.prepare_cached(sql)?.execute(params![goal.id.0, name, description, at])?;
        let description = description.map(str::to_owned);
        Ok(Ok((goal, Checkpoint { name: name.to_owned(), description, at: moment(at) })))
    });
    set.map_err(KeepingError::from)?
}

/// Writes down a decision, and why, as reasoning.
pub(super) fn decide(
    rows: &Connection,
    goal: &Goal,
    session: &Session,
    decision: &str,
    rationale: Option<&str>,
    alternatives: &[String],
) -> rusqlite::Result<Result<Decision, GoalFault>> {
    if let Some(fault) = full(rows, "decisions", "decisions about this goal", goal.id)? {
        return Ok(Err(fault));
    }
    let at = now();
    let sql = "INSERT INTO decisions (goal, decision, rationale, alternatives, at)
               VALUES (?1, ?2, ?3, ?4, ?5)";
    let row = params![goal.id.0, decision, rationale, json(alternatives)?, at];
    rows.prepare_cached(sql)?.execute(row)?;
    let thought = match rationale {
        Some(rationale) => format!("Decided: {decision}\nBecause: {rationale}"),
        None => format!("Decided: {decision}"),
    };
    let workspace = session.workspace().root();
    reasoning::add(rows, workspace, session.id(), ThoughtKind::Decision, &thought)?;
    Ok(Ok(Decision {
        decision: decision.to_owned(),
        rationale: rationale.map(str::to_owned),
        alternatives: alternatives.to_vec(),
        at: moment(at),
    }))
}

/// The checkpoints on the way to a goal, the oldest first.
pub(super) fn checkpoints(rows: &Connection, goal: GoalId) -> rusqlite::Result<Vec<Checkpoint>> {
    let sql = "SELECT name, description, at FROM goal_checkpoints WHERE goal = ?1 ORDER BY id";
    let read = |row: &Row<'_>| {
        Ok(Checkpoint { name: row.get(0)?, description: row.get(1)?, at: at(row, 2)? })
    };
    rows.prepare_cached(sql)?.query_map([goal.0], read)?.collect()
}

/// The decisions on the way to a goal, the oldest first.
pub(super) fn decisions(rows: &Connection, goal: GoalId) -> rusqlite::Result<Vec<Decision>> {
    let sql = "SELECT decision, rationale, alternatives, at FROM decisions WHERE goal = ?1
               ORDER BY id";
    let read = |row: &Row<'_>| {
        Ok(Decision {
            decision: row.get(0)?,
            rationale: row.get(1)?,
            alternatives: texts(row, 2)?,
            at: at(row, 3)?,
        })
    };
    rows.prepare_cached(sql)?.query_map([goal.0], read)?.collect()
}

/// Whether a goal has as many rows of a table as it can have.
fn full(
    rows: &Connection,
    table: &str,
    what: &'static str,
    goal: GoalId,
) -> rusqlite::Result<Option<GoalFault>> {
    let sql = format!("SELECT count(*) FROM {table} WHERE goal = ?1");
    let count: u32 = rows.prepare_cached(&sql)?.query_row([goal.0], |row| row.get(0))?;
    let next = "complete this goal and create another";
    Ok((count >= MOST).then_some(GoalFault::Full { most: MOST, what, next }))
}

fn unkept(error: &KeepError) -> GoalFault {
    KeepingError::new(error.to_string()).into()
}
