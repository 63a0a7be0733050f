//! Why a model did what it did, in its own words.

use std::fmt;
use std::time::SystemTime;

use serde::Serialize;

use super::fault::KeepingError;
use crate::context::Session;

/// Keeps reasoning, as long as there is room for it.
pub trait Reasoning: fmt::Debug + Send + Sync {
    /// Writes down what was thought in a session. What is very long is cut, with a mark.
    ///
    /// # Errors
    ///
    /// When it cannot be written down.
    fn record(&self, session: &Session, text: &str) -> Result<(), KeepingError>;

    /// What was thought in a session, the newest first, as many as asked for at most. With a
    /// query, only where each of its words is the beginning of a word, in any case.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    fn read(
        &self,
        session: &Session,
        query: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Thought>, KeepingError>;
}

/// Something that was thought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thought {
    /// What.
    pub text: String,
    /// Of which kind.
    pub kind: ThoughtKind,
    /// When.
    pub at: SystemTime,
}

/// How reasoning came to be written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ThoughtKind {
    /// It came with a call.
    Thought,
    /// It is why something was decided.
    Decision,
}

impl ThoughtKind {
    /// Every kind.
    pub const ALL: [Self; 2] = [Self::Thought, Self::Decision];

    /// The kind in a word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Thought => "thought",
            Self::Decision => "decision",
        }
    }
}
