//! What a model asks for, and what became of it.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use toolgate_policy::Decision;

use crate::id::CallId;
use crate::result::ToolResult;

/// A request to run a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Identifies the call in events and results.
    pub id: CallId,
    /// The tool, by its name in any dialect.
    pub tool: String,
    /// The arguments.
    pub args: Value,
    /// Why the caller makes it, to be kept; see [`Reasoning`](crate::keeping::Reasoning).
    pub reasoning: Option<String>,
    /// How long a person may take to answer about it, where that is not what the gate says.
    pub patience: Option<Duration>,
}

impl Call {
    /// A call with a new id.
    pub fn new(tool: impl Into<String>, args: Value) -> Self {
        Self { id: CallId::generate(), tool: tool.into(), args, reasoning: None, patience: None }
    }

    /// The same call under the caller's own id.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<CallId>) -> Self {
        self.id = id.into();
        self
    }

    /// The same call with why it is made, which is written down before it is.
    #[must_use]
    pub fn with_reasoning(mut self, reasoning: impl Into<String>) -> Self {
        self.reasoning = Some(reasoning.into());
        self
    }

    /// The same call, which waits so long for a person at most.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Self {
        self.patience = Some(patience);
        self
    }
}

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outcome {
    /// The call.
    pub call_id: CallId,
    /// The tool as it was called.
    pub tool: String,
    /// What the policy said; nothing when the call did not get that far.
    pub decision: Option<Decision>,
    /// What it gave back.
    pub result: ToolResult,
}
