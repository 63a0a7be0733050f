//! What a call is between two stages.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;
use toolgate_policy::{Decision, Facts, Verdict};

use super::trail::Trail;
use crate::context::{CallContext, Session};
use crate::dialect::Face;
use crate::error::ToolError;
use crate::hook::HookedCall;
use crate::journal::Changes;
use crate::result::ToolResult;
use crate::tool::{Concurrency, DynInvocation, Location, Tool};

/// A call whose arguments fit, ready to be judged.
pub struct Validated {
    pub(super) tool: Arc<dyn Tool>,
    pub(super) face: Option<Face>,
    pub(super) session: Arc<Session>,
    pub(super) invocation: Box<dyn DynInvocation>,
    pub(super) context: CallContext,
    pub(super) description: String,
    pub(super) locations: Vec<Location>,
    pub(super) concurrency: Concurrency,
    pub(super) facts: Facts,
    pub(super) trail: Trail,
}

impl Validated {
    /// What the call will do, in one line.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// What the call touches.
    pub fn locations(&self) -> &[Location] {
        &self.locations
    }

    /// What the policy will judge.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Whether the call may run beside others.
    pub fn concurrency(&self) -> Concurrency {
        self.concurrency
    }

    /// The native arguments.
    pub fn args(&self) -> &Value {
        &self.facts.args
    }

    /// Ends the call before it runs.
    pub(super) fn reject(self, error: ToolError) -> Rejected {
        Rejected { error, decision: None, trail: self.trail }
    }

    pub(super) fn hooked(&self) -> HookedCall<'_> {
        HookedCall {
            id: self.context.call(),
            tool: self.tool.definition().name.as_str(),
            args: &self.facts.args,
            session: &self.session,
        }
    }
}

impl fmt::Debug for Validated {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { description, facts, .. } = self;
        let mut shown = formatter.debug_struct("Validated");
        shown.field("description", description).field("facts", facts);
        shown.finish_non_exhaustive()
    }
}

/// A call the policy has judged.
#[derive(Debug)]
pub struct Judged {
    pub(super) call: Validated,
    pub(super) verdict: Verdict,
}

impl Judged {
    /// What the policy said.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    /// Ends the call before it runs.
    pub(super) fn reject(self, error: ToolError) -> Rejected {
        Rejected { error, decision: Some(self.verdict.decision), trail: self.call.trail }
    }
}

/// A call that ran.
pub(super) struct Executed {
    pub(super) call: ExecutedCall,
    pub(super) decision: Decision,
    pub(super) result: ToolResult,
    /// Whether it may have changed something.
    pub(super) has_effect: bool,
    /// What it changed, where that was watched.
    pub(super) changes: Option<Changes>,
}

/// What is left of a call once its invocation was used up.
pub(super) struct ExecutedCall {
    pub(super) context: CallContext,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) args: Value,
    pub(super) session: Arc<Session>,
}

/// A call that ended before it ran.
#[derive(Debug)]
pub struct Rejected {
    /// Why.
    pub error: ToolError,
    /// What the policy said, if it was asked.
    pub decision: Option<Decision>,
    pub(super) trail: Trail,
}

impl From<ToolError> for Rejected {
    fn from(error: ToolError) -> Self {
        Self { error, decision: None, trail: Trail::default() }
    }
}
