//! What happens to calls, as a typed stream.
//!
//! Events flow out through a channel; nobody calls back in. A reader that is
//! too slow is told how many events it missed and never holds up a call.

use serde::Serialize;
use tokio::sync::broadcast;
use toolgate_policy::{Decision, Risk};

use crate::approval::{ApprovalId, Span};
use crate::error::ErrorKind;
use crate::id::{CallId, SessionId};

/// Something that happened to a call.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A call entered the gate.
    ToolCallStart {
        /// The call.
        call: CallId,
        /// The session it belongs to.
        session: SessionId,
        /// The tool as it was called.
        tool: String,
        /// What it will do, in one line.
        description: String,
    },
    /// A call is still running.
    ToolCallHeartbeat {
        /// The call.
        call: CallId,
        /// How long it has run.
        elapsed_ms: u64,
    },
    /// A running call put something out.
    ToolCallOutput {
        /// The call.
        call: CallId,
        /// What came since the last such event, made safe to show.
        text: String,
    },
    /// A running call says how far it is.
    ToolCallProgress {
        /// The call.
        call: CallId,
        /// What is done, in the tool's own words.
        message: String,
        /// How much that is, where the tool counts.
        #[serde(skip_serializing_if = "Option::is_none")]
        portion: Option<Portion>,
    },
    /// A call left the gate, whatever became of it.
    ToolCallEnd {
        /// The call.
        call: CallId,
        /// What went wrong, if anything.
        error: Option<ErrorKind>,
        /// How long it took.
        duration_ms: u64,
    },
    /// A hook changed the arguments of a call; they were validated again.
    HookChangedInput {
        /// The call.
        call: CallId,
        /// The hook.
        hook: String,
    },
    /// A person is asked.
    ToolConfirmationRequest {
        /// The request; answers name it.
        id: ApprovalId,
        /// The call.
        call: CallId,
        /// What it will do, in one line.
        description: String,
        /// How much harm it could do.
        risk: Risk,
        /// Why the policy asks.
        reason: String,
    },
    /// A person answered.
    ToolConfirmationResponse {
        /// The request.
        id: ApprovalId,
        /// The call.
        call: CallId,
        /// Whether it may run.
        approved: bool,
    },
    /// A person gave a rule.
    UpdatePolicy {
        /// The session it was given in.
        session: SessionId,
        /// The rule, as a policy file has it.
        rule: String,
        /// For how long it holds.
        span: Span,
    },
    /// The policy refused a call.
    ToolPolicyRejection {
        /// The call.
        call: CallId,
        /// The decision, `ask` when nobody could be asked.
        decision: Decision,
        /// Why.
        reason: String,
    },
    /// A tool did what it was asked to.
    ToolExecutionSuccess {
        /// The call.
        call: CallId,
    },
    /// A tool failed.
    ToolExecutionFailure {
        /// The call.
        call: CallId,
        /// The kind of failure.
        error: ErrorKind,
    },
    /// A call changed files.
    ChangedFiles {
        /// The call.
        call: CallId,
        /// Their paths, made safe to show.
        paths: Vec<String>,
    },
    /// The tools that can be called are others now.
    ToolsChanged,
    /// A call to another server began.
    McpToolCallBegin {
        /// The call.
        call: CallId,
        /// The server.
        server: String,
        /// The tool as the server calls it.
        tool: String,
    },
    /// A call to another server ended.
    McpToolCallEnd {
        /// The call.
        call: CallId,
        /// Whether it succeeded.
        succeeded: bool,
    },
    /// A batch began.
    ToolCallsBatchStart {
        /// How many calls it has.
        calls: usize,
    },
    /// A batch ended.
    ToolCallsBatchEnd {
        /// How many calls it had.
        calls: usize,
        /// How many failed.
        failed: usize,
    },
}

/// How much of something is done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Portion {
    /// What is done.
    pub done: f64,
    /// What there is to do, where that is known.
    pub total: Option<f64>,
}

/// Hands events to whoever listens.
#[derive(Debug, Clone)]
pub struct Events {
    sender: broadcast::Sender<Event>,
}

impl Events {
    /// A stream that keeps `capacity` events for slow readers.
    pub fn new(capacity: usize) -> Self {
        Self { sender: broadcast::Sender::new(capacity) }
    }

    /// Listens from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.sender.subscribe()
    }

    /// Emits an event, made only when somebody listens.
    pub(crate) fn emit(&self, event: impl FnOnce() -> Event) {
        if self.sender.receiver_count() > 0 {
            // The last reader may have left since; then nobody misses it.
            drop(self.sender.send(event()));
        }
    }
}

impl Default for Events {
    fn default() -> Self {
        Self::new(512)
    }
}
