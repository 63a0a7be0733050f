//! `create_checkpoint`: a point to go back to.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::keeping::Goals;
use toolgate_core::prelude::*;
use toolgate_core::visible;

use super::shown::{self, LONGEST_TEXT, named};
use crate::keeping::{Form, checked, moment, service};

/// How many bytes a name may have.
const LONGEST_NAME: usize = 100;

/// Name this point on the way to the active goal. Whatever tools change in files after it can be taken back to this point, so set one before something risky.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateCheckpointParams {
    /// A short name that no other checkpoint of the workspace has, such as before-refactoring.
    name: String,
    /// What is done so far, and what comes next.
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
}

/// A `create_checkpoint` call.
#[derive(Debug)]
pub struct CreateCheckpoint {
    name: String,
    description: Option<String>,
}

impl Invocation for CreateCheckpoint {
    type Params = CreateCheckpointParams;
    const NAME: &'static str = "create_checkpoint";
    const TITLE: &'static str = "Create Checkpoint";
    const GROUP: Group = Group::Goal;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;

    fn prepare(params: CreateCheckpointParams, context: &CallContext) -> Result<Self, ToolError> {
        let name = checked(context, "name", &params.name, Form::Line, LONGEST_NAME)?;
        if name.len() > LONGEST_NAME || name.starts_with('-') || name.trim() != name {
            return Err(ToolError::invalid(format!(
                "`{}` must have at most {LONGEST_NAME} bytes, not begin with `-`, and have no spaces around it",
                context.parameter("name")
            )));
        }
        let description = params
            .description
            .map(|text| checked(context, "description", &text, Form::Text, LONGEST_TEXT))
            .transpose()?;
        Ok(Self { name, description })
    }

    fn describe(&self) -> String {
        format!("Set the checkpoint {}", self.name)
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.carry_out(context)).await
    }
}

impl CreateCheckpoint {
    fn carry_out(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let goals = service::<dyn Goals>(context, ErrorKind::GoalError)?;
        let (goal, checkpoint) = goals
            .checkpoint(context.workspace().root(), &self.name, self.description.as_deref())
            .map_err(|fault| shown::fault(&*goals, context, &fault))?;
        let undo = format!("toolgate undo --to {}", quoted(&checkpoint.name));
        let text = format!(
            "Set the checkpoint `{}` for {}. To take back what tools change in files from here on: {undo}",
            visible::line(&checkpoint.name),
            named(&goal)
        );
        let data = json!({
            "name": checkpoint.name,
            "goal": goal.id,
            "at": moment(checkpoint.at),
            "undo": undo,
        });
        Ok(ToolResult::text(text).with_structured(data))
    }
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    if name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn names_are_quoted_for_a_shell() {
        for (name, expected) in [
            ("before-2.0", "before-2.0"),
            ("two words", "'two words'"),
            ("it's $x", r"'it'\''s $x'"),
        ] {
            assert_eq!(quoted(name), expected);
        }
    }
}
