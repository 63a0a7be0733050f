//! Goals and what went wrong with them, as models read it.

use std::fmt::Write as _;

use serde_json::{Value, json};
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::keeping::{Goal, GoalFault, GoalId, GoalStatus, Goals};
use toolgate_core::visible;

use crate::keeping::{failed, moment, nearest, start_of};

/// How many characters a title may have.
pub(super) const LONGEST_TITLE: usize = 200;
/// How many characters a longer text may have.
pub(super) const LONGEST_TEXT: usize = 10_000;
/// How many characters one of several texts may have.
pub(super) const LONGEST_ENTRY: usize = 1_000;

/// How much of a title is shown where several are.
const TITLE_SHOWN: usize = 60;
/// How many goals are named when one is not there.
const NAMED: usize = 5;

/// A goal by its id and title.
pub(super) fn named(goal: &Goal) -> String {
    format!("{} `{}`", goal.id, start_of(&goal.title, TITLE_SHOWN))
}

/// A goal, for programs.
pub(super) fn data(goal: &Goal) -> Value {
    json!({
        "id": goal.id,
        "title": goal.title,
        "description": goal.description,
        "criteria": goal.criteria,
        "status": goal.status,
        "summary": goal.summary,
        "createdAt": moment(goal.created),
    })
}

/// The goal that an id means; one that cannot be an id is told what there is.
pub(super) fn parse(
    goals: &dyn Goals,
    context: &CallContext,
    id: &str,
) -> Result<GoalId, ToolError> {
    GoalId::parse(id).ok_or_else(|| unknown(goals, context, id))
}

/// What went wrong, as an error of a tool.
pub(super) fn fault(goals: &dyn Goals, context: &CallContext, fault: &GoalFault) -> ToolError {
    match fault {
        GoalFault::NoSuch(id) => unknown(goals, context, &id.to_string()),
        other => ToolError::new(ErrorKind::GoalError, other.to_string()),
    }
}

fn unknown(goals: &dyn Goals, context: &CallContext, id: &str) -> ToolError {
    let all = match goals.list(context.workspace().root()) {
        Ok(all) => all,
        Err(error) => return failed(ErrorKind::GoalError)(error),
    };
    let mut message = format!("there is no goal `{}` in this workspace", visible::line(id));
    // A title is easily taken for an id.
    let by_title = nearest(id, &all, |goal| &goal.title);
    let open = all.iter().filter(|goal| goal.status != GoalStatus::Completed);
    let near: Vec<&Goal> = if by_title.is_empty() { open.take(NAMED).collect() } else { by_title };
    let near: Vec<String> = near.into_iter().map(named).collect();
    // Writing to a text does not fail.
    if near.is_empty() {
        write!(message, ", and none is open; create one with `create_goal`").ok();
    } else {
        write!(message, "; the nearest are {}", near.join(", ")).ok();
    }
    ToolError::new(ErrorKind::GoalError, message)
}
