//! The question asked of a policy, and its answer.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::facts::{Facts, Risk};
use crate::mode::Mode;

/// Decides about calls. Implementations are pure: the same facts, the same verdict.
pub trait Policy: fmt::Debug + Send + Sync {
    /// Decides about one call.
    fn decide(&self, facts: &Facts) -> Verdict;
}

/// What may happen to a call. Later variants are stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// It runs.
    Allow,
    /// A person decides.
    Ask,
    /// It does not run.
    Deny,
}

impl fmt::Display for Decision {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        })
    }
}

/// A decision and why it came out that way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What may happen.
    pub decision: Decision,
    /// The risk the decision was based on.
    pub risk: Risk,
    /// The mode in force.
    pub mode: Mode,
    /// Why, one sentence each, the deciding one first.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// The deciding reason.
    pub fn reason(&self) -> &str {
        self.reasons.first().map_or("no reason given", String::as_str)
    }
}
