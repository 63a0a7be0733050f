//! `complete_goal`: a goal that is reached.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::keeping::Goals;
use toolgate_core::prelude::*;

use super::shown::{self, LONGEST_TEXT, named};
use crate::keeping::{Form, checked, service};

/// Mark a goal as reached: the active one, or another by its id. Afterwards no goal is active until one is switched to or created.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompleteGoalParams {
    /// The id of the goal, such as goal-3; the active one when left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    goal: Option<String>,
    /// What was done, and what is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<String>,
}

/// A `complete_goal` call.
#[derive(Debug)]
pub struct CompleteGoal {
    goal: Option<String>,
    summary: Option<String>,
}

impl Invocation for CompleteGoal {
    type Params = CompleteGoalParams;
    const NAME: &'static str = "complete_goal";
    const TITLE: &'static str = "Complete Goal";
    const GROUP: Group = Group::Goal;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;

    fn prepare(params: CompleteGoalParams, context: &CallContext) -> Result<Self, ToolError> {
        let summary = params
            .summary
            .map(|summary| checked(context, "summary", &summary, Form::Text, LONGEST_TEXT))
            .transpose()?;
        Ok(Self { goal: params.goal, summary })
    }

    fn describe(&self) -> String {
        match &self.goal {
            Some(goal) => format!("Complete {goal}"),
            None => "Complete the active goal".to_owned(),
        }
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.carry_out(context)).await
    }
}

impl CompleteGoal {
    fn carry_out(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let goals = service::<dyn Goals>(context, ErrorKind::GoalError)?;
        let wanted = self.goal.as_deref().map(|id| shown::parse(&*goals, context, id));
        let goal = goals
            .complete(context.workspace().root(), wanted.transpose()?, self.summary.as_deref())
            .map_err(|fault| shown::fault(&*goals, context, &fault))?;
        Ok(ToolResult::text(format!("Completed {}.", named(&goal)))
            .with_structured(json!({ "goal": shown::data(&goal) })))
    }
}
