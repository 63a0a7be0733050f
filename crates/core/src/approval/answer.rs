//! What a person may answer.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "answer", rename_all = "snake_case")]
pub enum Answer {
    /// This call may run.
    Once,
    /// This call may run, and others like it.
    Grant {
        /// Which of the proposed rules, counted from 0.
        proposal: usize,
        /// For how long.
        span: Span,
    },
    /// It may run with other arguments; they are validated and judged again.
    Edit {
        /// The native arguments.
        args: Value,
    },
    /// It may not, with a note that reaches the model.
    Deny {
        /// Why not, or what to do instead.
        note: Option<String>,
    },
    /// There is nobody to ask here.
    Nobody,
}

impl Answer {
    /// A refusal with a note for the model.
    pub fn deny(note: impl Into<String>) -> Self {
        Self::Deny { note: Some(note.into()) }
    }

    /// A refusal without a word.
    pub fn refuse() -> Self {
        Self::Deny { note: None }
    }
}

/// For how long a rule holds that a person gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// Until the session ends.
    Session,
    /// For ever: it is saved in the user's policies.
    Always,
    /// For some minutes.
    Minutes(u32),
    /// For some calls, this one included.
    Uses(u32),
}
