//! The owner's code around calls.

use std::fmt;

use async_trait::async_trait;
use serde_json::Value;

use crate::context::Session;
use crate::error::ToolError;
use crate::id::CallId;
use crate::result::ToolResult;

/// The owner's code around calls, in this process.
///
/// A hook that fails, panics or takes too long before a call counts as a
/// refusal. Input it changes is validated again and reported as changed.
#[async_trait]
pub trait Hook: fmt::Debug + Send + Sync {
    /// The hook's name, for messages and records.
    fn name(&self) -> &str;

    /// Looks at a call that fits its schema, before the policy does.
    async fn before(&self, _call: &HookedCall<'_>) -> BeforeCall {
        BeforeCall::Proceed
    }

    /// Sees the result of a call that succeeded.
    async fn after_success(&self, _call: &HookedCall<'_>, _result: &ToolResult) {}

    /// Sees why a call failed.
    async fn after_failure(&self, _call: &HookedCall<'_>, _error: &ToolError) {}
}

/// A call as hooks see it.
#[derive(Debug, Clone, Copy)]
pub struct HookedCall<'a> {
    /// The call.
    pub id: &'a CallId,
    /// The tool's native name.
    pub tool: &'a str,
    /// The native arguments.
    pub args: &'a Value,
    /// The session it belongs to.
    pub session: &'a Session,
}

/// What a hook wants done with a call.
#[derive(Debug, Clone, PartialEq)]
pub enum BeforeCall {
    /// Go on as it is.
    Proceed,
    /// Go on with other arguments.
    Change(Value),
    /// Stop, for this reason.
    Reject(String),
}
