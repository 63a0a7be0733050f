//! What a decision is based on.

use std::sync::Arc;

use serde_json::Value;

pub use crate::effect::{Access, Effect, Hints, PathFact, Place, Risk};
use crate::granted::Granted;
use crate::name::ToolName;
use crate::profile::Profile;

/// What is known about one call before anything happens.
#[derive(Debug, Clone)]
pub struct Facts {
    /// The tool, by its native name.
    pub tool: ToolName,
    /// Whether the call looks, edits files, or does something else.
    pub effect: Effect,
    /// How much harm the call could do, judged for these arguments.
    pub risk: Risk,
    /// The native arguments.
    pub args: Value,
    /// The files and folders the call touches.
    pub paths: Vec<PathFact>,
    /// The subagent that makes the call, if one does.
    pub caller: Option<String>,
    /// What the tool is known to be like.
    pub hints: Hints,
    /// What whoever calls was granted for a time.
    pub granted: Option<Arc<Granted>>,
    /// Why no rule is enough for this call, and a person must see it.
    pub doubt: Option<String>,
    /// What a person who was asked chose that a command runs with, in place of what it wants.
    pub chosen: Option<Profile>,
}

impl Facts {
    /// Facts of a call that touches no path.
    pub fn new(tool: impl Into<String>, effect: Effect, risk: Risk) -> Self {
        Self {
            tool: ToolName::new(tool),
            effect,
            risk,
            args: Value::Null,
            paths: Vec::new(),
            caller: None,
            hints: Hints::default(),
            granted: None,
            doubt: None,
            chosen: None,
        }
    }

    /// The same facts with the call's arguments.
    #[must_use]
    pub fn with_args(mut self, args: Value) -> Self {
        self.args = args;
        self
    }

    /// The same facts where this was granted for a time.
    #[must_use]
    pub fn with_granted(mut self, granted: Arc<Granted>) -> Self {
        self.granted = (!granted.is_empty()).then_some(granted);
        self
    }

    /// The same facts where a person chose what a command runs with.
    #[must_use]
    pub fn with_chosen(mut self, chosen: Profile) -> Self {
        self.chosen = Some(chosen);
        self
    }

    /// The same facts with the paths the call touches.
    #[must_use]
    pub fn with_paths(mut self, paths: Vec<PathFact>) -> Self {
        self.paths = paths;
        self
    }
}
