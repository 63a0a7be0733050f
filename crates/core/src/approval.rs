//! Asking a person.

use std::fmt;

use async_trait::async_trait;
use toolgate_policy::Verdict;

use crate::id::{CallId, SessionId};
use crate::tool::{Location, Preview};

/// Whoever answers when the policy asks.
#[async_trait]
pub trait Approver: fmt::Debug + Send + Sync {
    /// Whether somebody may answer at all; if not, nothing is prepared to be shown.
    fn is_anybody_there(&self) -> bool {
        true
    }

    /// Answers one request. Dropping the future withdraws the request.
    async fn ask(&self, request: &ApprovalRequest) -> Answer;
}

/// What a person needs to know to answer.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The call.
    pub call: CallId,
    /// Who asks.
    pub session: SessionId,
    /// The tool's native name.
    pub tool: String,
    /// What it will do, in one line made safe to show.
    pub description: String,
    /// What it touches.
    pub locations: Vec<Location>,
    /// What the change looks like, made safe to show.
    pub preview: Preview,
    /// Why the policy asks, and the risk it saw.
    pub verdict: Verdict,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// This call may run.
    Once,
    /// It may not, with a note that reaches the model.
    Deny {
        /// Why not, or what to do instead.
        note: Option<String>,
    },
    /// There is nobody to ask.
    Nobody,
}

impl Answer {
    /// A refusal with a note for the model.
    pub fn deny(note: impl Into<String>) -> Self {
        Self::Deny { note: Some(note.into()) }
    }
}

/// Never approves anything, because nobody is there.
#[derive(Debug, Clone, Copy, Default)]
pub struct NobodyThere;

#[async_trait]
impl Approver for NobodyThere {
    fn is_anybody_there(&self) -> bool {
        false
    }

    async fn ask(&self, _request: &ApprovalRequest) -> Answer {
        Answer::Nobody
    }
}
