//! `create_goal`: something to reach.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::keeping::{Goals, NewGoal, Started};
use toolgate_core::prelude::*;

use super::shown::{self, LONGEST_ENTRY, LONGEST_TEXT, LONGEST_TITLE, named};
use crate::keeping::{Form, checked, checked_all, service};

/// Create a goal for this workspace. It becomes the active one when none is, or when activate is set; checkpoints and decisions belong to the active goal.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateGoalParams {
    /// What to reach, in one line.
    title: String,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    /// How to tell that it is reached, one criterion each.
    #[schemars(length(max = 50))]
    #[serde(skip_serializing_if = "Option::is_none")]
    criteria: Option<Vec<String>>,
    /// Make it the active goal, also when another one is; that is paused.
    #[serde(skip_serializing_if = "Option::is_none")]
    activate: Option<bool>,
}

/// A `create_goal` call.
#[derive(Debug)]
pub struct CreateGoal {
    goal: NewGoal,
}

impl Invocation for CreateGoal {
    type Params = CreateGoalParams;
    const NAME: &'static str = "create_goal";
    const TITLE: &'static str = "Create Goal";
    const GROUP: Group = Group::Goal;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;

    fn prepare(params: CreateGoalParams, context: &CallContext) -> Result<Self, ToolError> {
        let description = params.description.as_deref();
        let description = description
            .map(|text| checked(context, "description", text, Form::Text, LONGEST_TEXT))
            .transpose()?;
        let goal = NewGoal {
            title: checked(context, "title", &params.title, Form::Line, LONGEST_TITLE)?,
            description,
            criteria: checked_all(context, "criteria", params.criteria.as_deref(), LONGEST_ENTRY)?,
            activate: params.activate.unwrap_or(false),
        };
        Ok(Self { goal })
    }

    fn describe(&self) -> String {
        format!("Create the goal {}", self.goal.title)
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.carry_out(context)).await
    }
}

impl CreateGoal {
    fn carry_out(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let goals = service::<dyn Goals>(context, ErrorKind::GoalError)?;
        let Started { goal, paused, active } = goals
            .create(context.session(), self.goal)
            .map_err(|fault| shown::fault(&*goals, context, &fault))?;
        let text = match (&paused, &active) {
            (Some(paused), _) => {
                format!("Created {}, now active; {} is paused.", named(&goal), named(paused))
            }
            (None, Some(active)) => format!(
                "Created {}; {} stays active. Take it up with `switch_goal`.",
                named(&goal),
                named(active)
            ),
            (None, None) => format!("Created {}, now active.", named(&goal)),
        };
        let paused = paused.map(|paused| paused.id);
        let data = json!({ "goal": shown::data(&goal), "paused": paused });
        Ok(ToolResult::text(text).with_structured(data))
    }
}
