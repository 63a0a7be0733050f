//! The answer of a policy.

use std::fmt::{self, Write};
use std::sync::Arc;

use serde::Serialize;

use crate::decision::Decision;
use crate::effect::Risk;
use crate::level::Level;
use crate::mode::Mode;
use crate::profile::Profile;
use crate::rule::{Grant, Priority, Rule};
use crate::shell::ShellRisk;

/// A decision and why it came out that way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// What may happen.
    pub decision: Decision,
    /// The rule that decided, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleName>,
    /// The risk of the call.
    pub risk: Risk,
    /// The mode in force.
    pub mode: Mode,
    /// What no ordinary rule could lower.
    pub floors: Vec<Floor>,
    /// Why, one sentence each, the deciding one first.
    pub reasons: Vec<String>,
    /// Dangers found in a shell line.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub risks: Vec<ShellRisk>,
    /// What the call may reach when it runs; where a person is asked, what a yes grants.
    pub grant: Grant,
    /// The grants whose rules decided a part of the call; a call that runs uses them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<Arc<str>>,
    /// The shell line that was judged, fully quoted: what runs when nobody is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<String>,
    /// What of the grant can be enforced on this machine; told of commands that may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
}

impl Verdict {
    /// A verdict for one reason.
    pub fn new(decision: Decision, risk: Risk, mode: Mode, reason: impl Into<String>) -> Self {
        Self {
            decision,
            rule: None,
            risk,
            mode,
            floors: Vec::new(),
            reasons: vec![reason.into()],
            risks: Vec::new(),
            grant: Grant::default(),
            grants: Vec::new(),
            judged: None,
            level: None,
        }
    }

    /// What a command would run with; nothing for other calls.
    pub fn profile(&self) -> Option<Profile> {
        self.level.and_then(|_| Profile::granted(&self.grant))
    }

    /// Whether a call runs with all that another verdict on it grants.
    pub(crate) fn reaches_as_far_as(&self, other: &Self) -> bool {
        match (self.profile(), other.profile()) {
            (Some(own), Some(other)) => own.covers(&other),
            (_, other) => other.is_none(),
        }
    }

    /// The deciding reason.
    pub fn reason(&self) -> &str {
        self.reasons.first().map_or("no reason given", String::as_str)
    }
}

/// A rule, as verdicts name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RuleName {
    /// Its name, or what it is about.
    pub name: Arc<str>,
    /// The file it stands in.
    pub source: Arc<str>,
    /// The line there.
    pub line: usize,
    /// Its rank.
    pub priority: Priority,
}

impl RuleName {
    /// The name of a rule.
    pub fn of(rule: &Rule) -> Self {
        Self {
            name: rule.name.clone().unwrap_or_else(|| rule.shown().into()),
            source: Arc::clone(&rule.origin.source),
            line: rule.origin.line,
            priority: rule.priority,
        }
    }

    /// Adds the name to a text, with the place it stands at.
    pub(crate) fn push_to(&self, text: &mut String) {
        for piece in ["`", &self.name, "` (", &self.source] {
            text.push_str(piece);
        }
        if self.line > 0 {
            // Writing to a text does not fail.
            write!(text, ":{}", self.line).ok();
        }
        text.push(')');
    }

    /// Whether the rule is one of ours.
    pub fn is_built_in(&self) -> bool {
        self.source.starts_with("built-in ")
    }
}

impl fmt::Display for RuleName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::new();
        self.push_to(&mut text);
        formatter.write_str(&text)
    }
}

/// Something no ordinary rule can lower, and what it asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Floor {
    /// Which one.
    pub kind: FloorKind,
    /// What it asks for.
    pub decision: Decision,
    /// Why, in a sentence.
    pub reason: String,
}

/// The floors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum FloorKind {
    /// Files that are never written, or that govern another program.
    Protected,
    /// Keys, credentials, tokens.
    Sensitive,
    /// Outside of the workspace.
    Outside,
    /// Several names for one file.
    HardLinks,
    /// A shell line that is not fully understood, or dangerous.
    Shell,
    /// A name that could be another's.
    Identity,
    /// An address that is not public.
    Web,
    /// What the mode insists on.
    Mode,
    /// What the workspace insists on.
    Workspace,
    /// A sandbox that is not there, or not understood.
    Sandbox,
}

impl FloorKind {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Self::Protected => "protected paths",
            Self::Sensitive => "sensitive paths",
            Self::Outside => "outside the workspace",
            Self::HardLinks => "hard links",
            Self::Shell => "shell",
            Self::Identity => "identity",
            Self::Web => "web",
            Self::Mode => "mode",
            Self::Workspace => "workspace",
            Self::Sandbox => "sandbox",
        }
    }
}
