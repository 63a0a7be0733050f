//! Goals, one of them active.

use std::path::Path;

use rusqlite::{Connection, params};
use toolgate_core::context::Session;
use toolgate_core::keeping::{
    Checkpoint, Decision, Goal, GoalFault, GoalId, GoalStatus, Goals, KeepingError, NewGoal,
    Started,
};

use super::columns::{json, now};
use super::goal_rows::{active, all, find};
use super::place::{MOST, Shelf};
use super::trail;
use crate::error::StoreError;
use crate::records::bytes_of;

impl Goals for Shelf {
    fn create(&self, session: &Session, goal: NewGoal) -> Result<Started, GoalFault> {
        let workspace = bytes_of(session.workspace().root());
        let created = self.commit(|rows| {
            let count = "SELECT count(*) FROM goals WHERE workspace = ?1";
            let count: u32 =
                rows.prepare_cached(count)?.query_row([workspace], |row| row.get(0))?;
            if count >= MOST {
                let next = "remove some with `toolgate goals remove`";
                return Ok(Err(GoalFault::Full { most: MOST, what: "goals", next }));
            }
            let before = active(rows, workspace)?;
            let starts = goal.activate || before.is_none();
            let paused = if starts { pause(rows, before.as_ref())? } else { None };
            let status = if starts { GoalStatus::Active } else { GoalStatus::Paused };
            let sql = "INSERT INTO goals
                       (workspace, title, description, criteria, status, session, created, changed)
                       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7)";
            rows.prepare_cached(sql)?.execute(params![
                workspace,
                goal.title,
                goal.description,
                json(&goal.criteria)?,
                status.name(),
                session.id().as_str(),
                now(),
            ])?;
            let goal = find(rows, workspace, GoalId(rows.last_insert_rowid()))?;
            let active = if starts { None } else { before };
            Ok(goal.map(|goal| Started { goal, paused, active }).ok_or(GoalFault::NoneActive))
        });
        created.map_err(KeepingError::from)?
    }

    fn switch(&self, workspace: &Path, goal: GoalId) -> Result<Started, GoalFault> {
        let workspace = bytes_of(workspace);
        let switched = self.commit(|rows| {
            let Some(wanted) = find(rows, workspace, goal)? else {
                return Ok(Err(GoalFault::NoSuch(goal)));
            };
            let paused = match wanted.status {
                GoalStatus::Completed => return Ok(Err(GoalFault::Completed { id: goal })),
                GoalStatus::Active => None,
                GoalStatus::Paused => {
                    let paused = pause(rows, active(rows, workspace)?.as_ref())?;
                    set_status(rows, goal, GoalStatus::Active)?;
                    paused
                }
            };
            let goal = Goal { status: GoalStatus::Active, ..wanted };
            Ok(Ok(Started { goal, paused, active: None }))
        });
        switched.map_err(KeepingError::from)?
    }

    fn complete(
        &self,
        workspace: &Path,
        goal: Option<GoalId>,
        summary: Option<&str>,
    ) -> Result<Goal, GoalFault> {
        let workspace = bytes_of(workspace);
        let completed = self.commit(|rows| {
            let found = match goal {
                Some(id) => find(rows, workspace, id)?.ok_or(GoalFault::NoSuch(id)),
                None => active(rows, workspace)?.ok_or(GoalFault::NoneActive),
            };
            let goal = match found {
                Ok(goal) => goal,
                Err(fault) => return Ok(Err(fault)),
            };
            if goal.status == GoalStatus::Completed {
                return Ok(Err(GoalFault::Completed { id: goal.id }));
            }
            set_status(rows, goal.id, GoalStatus::Completed)?;
            let sql = "UPDATE goals SET summary = ?2 WHERE id = ?1";
            rows.prepare_cached(sql)?.execute(params![goal.id.0, summary])?;
            Ok(find(rows, workspace, goal.id)?.ok_or(GoalFault::NoSuch(goal.id)))
        });
        completed.map_err(KeepingError::from)?
    }

    fn checkpoint(
        &self,
        workspace: &Path,
        name: &str,
        description: Option<&str>,
    ) -> Result<(Goal, Checkpoint), GoalFault> {
        trail::checkpoint(&self.folder, workspace, name, description)
    }

    fn decide(
        &self,
        session: &Session,
        decision: &str,
        rationale: Option<&str>,
        alternatives: &[String],
    ) -> Result<(Goal, Decision), GoalFault> {
        let decided = self.commit(|rows| {
            let Some(goal) = active(rows, bytes_of(session.workspace().root()))? else {
                return Ok(Err(GoalFault::NoneActive));
            };
            let decided = trail::decide(rows, &goal, session, decision, rationale, alternatives)?;
            Ok(decided.map(|decision| (goal, decision)))
        });
        decided.map_err(KeepingError::from)?
    }

    fn list(&self, workspace: &Path) -> Result<Vec<Goal>, KeepingError> {
        let goals = self.look(|rows| all(rows, bytes_of(workspace)));
        Ok(goals?)
    }

    fn checkpoints(&self, goal: GoalId) -> Result<Vec<Checkpoint>, KeepingError> {
        Ok(self.look(|rows| trail::checkpoints(rows, goal))?)
    }

    fn decisions(&self, goal: GoalId) -> Result<Vec<Decision>, KeepingError> {
        Ok(self.look(|rows| trail::decisions(rows, goal))?)
    }
}

impl Shelf {
    /// Forgets a goal with its checkpoints and decisions; `false` when there is none of this id.
    /// Named points to go back to stay.
    ///
    /// # Errors
    ///
    /// When that cannot be written down.
    pub fn remove_goal(&self, workspace: &Path, goal: GoalId) -> Result<bool, StoreError> {
        self.commit(|rows| {
            let sql = "DELETE FROM goals WHERE id = ?1 AND workspace = ?2";
            let gone = rows.execute(sql, params![goal.0, bytes_of(workspace)])? > 0;
            if gone {
                rows.execute("DELETE FROM goal_checkpoints WHERE goal = ?1", [goal.0])?;
                rows.execute("DELETE FROM decisions WHERE goal = ?1", [goal.0])?;
            }
            Ok(gone)
        })
    }
}

/// Pauses a goal that is active, if one is.
fn pause(rows: &Connection, goal: Option<&Goal>) -> rusqlite::Result<Option<Goal>> {
    let Some(goal) = goal else { return Ok(None) };
    set_status(rows, goal.id, GoalStatus::Paused)?;
    Ok(Some(Goal { status: GoalStatus::Paused, ..goal.clone() }))
}

fn set_status(rows: &Connection, id: GoalId, status: GoalStatus) -> rusqlite::Result<()> {
    let sql = "UPDATE goals SET status = ?2, changed = ?3 WHERE id = ?1";
    rows.prepare_cached(sql)?.execute(params![id.0, status.name(), now()])?;
    Ok(())
}
