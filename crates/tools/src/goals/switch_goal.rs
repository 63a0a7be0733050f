//! `switch_goal`: another goal to work on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::keeping::{Goals, Started};
use toolgate_core::prelude::*;

use super::shown::{self, named};
use crate::keeping::service;

/// Make another goal the active one. The one before is paused and can be taken up again.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SwitchGoalParams {
    /// The id of the goal, such as goal-3.
    goal: String,
}

/// A `switch_goal` call.
#[derive(Debug)]
pub struct SwitchGoal {
    goal: String,
}

impl Invocation for SwitchGoal {
    type Params = SwitchGoalParams;
    const NAME: &'static str = "switch_goal";
    const TITLE: &'static str = "Switch Goal";
    const GROUP: Group = Group::Goal;
    const ANNOTATIONS: Annotations = Annotations { idempotent: true, ..Annotations::CHANGES };

    fn prepare(params: SwitchGoalParams, _context: &CallContext) -> Result<Self, ToolError> {
        Ok(Self { goal: params.goal })
    }

    fn describe(&self) -> String {
        format!("Switch to {}", self.goal)
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.carry_out(context)).await
    }
}

impl SwitchGoal {
    fn carry_out(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let goals = service::<dyn Goals>(context, ErrorKind::GoalError)?;
        let id = shown::parse(&*goals, context, &self.goal)?;
        let Started { goal, paused, .. } = goals
            .switch(context.workspace().root(), id)
            .map_err(|fault| shown::fault(&*goals, context, &fault))?;
        let text = match &paused {
            Some(paused) => {
                format!("Switched to {}; {} is paused.", named(&goal), named(paused))
            }
            None => format!("{} is active.", named(&goal)),
        };
        let paused = paused.map(|paused| paused.id);
        let data = json!({ "goal": shown::data(&goal), "paused": paused });
        Ok(ToolResult::text(text).with_structured(data))
    }
}
