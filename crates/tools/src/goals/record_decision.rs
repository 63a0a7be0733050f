//! `record_decision`: what was decided, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::keeping::Goals;
use toolgate_core::prelude::*;

use super::shown::{self, LONGEST_ENTRY, LONGEST_TEXT, named};
use crate::keeping::{Form, checked, checked_all, service, start_of};

/// How much of a decision is repeated.
const SHOWN: usize = 100;

/// Write down a decision on the way to the active goal, and why it was made, so that later sessions need not make it again. `read_reasoning` finds it, too.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordDecisionParams {
    /// What was decided.
    decision: String,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    rationale: Option<String>,
    /// What else was considered, one alternative each.
    #[schemars(length(max = 50))]
    #[serde(skip_serializing_if = "Option::is_none")]
    alternatives: Option<Vec<String>>,
}

/// A `record_decision` call.
#[derive(Debug)]
pub struct RecordDecision {
    decision: String,
    rationale: Option<String>,
    alternatives: Vec<String>,
}

impl Invocation for RecordDecision {
    type Params = RecordDecisionParams;
    const NAME: &'static str = "record_decision";
    const TITLE: &'static str = "Record Decision";
    const GROUP: Group = Group::Goal;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;

    fn prepare(params: RecordDecisionParams, context: &CallContext) -> Result<Self, ToolError> {
        let text = |parameter: &str, given: &str| {
            checked(context, parameter, given, Form::Text, LONGEST_TEXT)
        };
        let alternatives = params.alternatives.as_deref();
        Ok(Self {
            decision: text("decision", &params.decision)?,
            rationale: params.rationale.map(|why| text("rationale", &why)).transpose()?,
            alternatives: checked_all(context, "alternatives", alternatives, LONGEST_ENTRY)?,
        })
    }

    fn describe(&self) -> String {
        format!("Write down the decision {}", start_of(&self.decision, SHOWN))
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.carry_out(context)).await
    }
}

impl RecordDecision {
    fn carry_out(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let goals = service::<dyn Goals>(context, ErrorKind::GoalError)?;
        let (goal, decision) = goals
            .decide(
                context.session(),
                &self.decision,
                self.rationale.as_deref(),
                &self.alternatives,
            )
            .map_err(|fault| shown::fault(&*goals, context, &fault))?;
        let shown = start_of(&decision.decision, SHOWN);
        let text = format!("Wrote down for {}: {shown}", named(&goal));
        let data = json!({ "goal": goal.id, "decision": decision.decision });
        Ok(ToolResult::text(text).with_structured(data))
    }
}
