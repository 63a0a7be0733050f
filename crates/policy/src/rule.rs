//! A rule: which calls it is about, and what it says about them.

use std::cmp::Ordering;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize, Serializer};

use crate::decision::Decision;
use crate::effect::{Effect, Hints, Risk, Scope};
use crate::mode::Modes;
use crate::name::{Specificity, ToolName, ToolPattern};
use crate::needs::Need;
use crate::pattern::{
    CommandPattern, Condition, DomainPattern, FolderPattern, PathPattern, Regular,
};
use crate::question::Question;
use crate::wildcard::Wildcard;

/// Which calls, and what about them.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// What people call it.
    pub name: Option<Arc<str>>,
    /// The tools; any of them.
    pub tools: Vec<ToolPattern>,
    /// Narrows the rule by what is asked for.
    pub matcher: Matcher,
    /// The modes it holds in.
    pub modes: Modes,
    /// What it says.
    pub decision: Decision,
    /// Its rank among all rules.
    pub priority: Priority,
    /// What to tell whoever asked.
    pub message: Option<Arc<str>>,
    /// The risk calls it is about have.
    pub risk: Option<Risk>,
    /// What such a call may reach when it runs.
    pub grant: Grant,
    /// When it ends, in seconds since 1970.
    pub expires: Option<i64>,
    /// The grant it was given with, when it was given for a time rather than written down.
    pub given: Option<Arc<str>>,
    /// Where it stands.
    pub origin: Origin,
}

/// What a call must be like; every part that says something must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Matcher {
    /// Simple commands of a shell line; any of them.
    pub commands: Vec<CommandPattern>,
    /// Paths the call touches; any of them.
    pub paths: Vec<PathPattern>,
    /// Folders that a command runs in; any of them.
    pub folders: Vec<FolderPattern>,
    /// Whose the file is that it touches; any of them.
    pub scopes: Vec<Scope>,
    /// Hosts it reaches; any of them.
    pub domains: Vec<DomainPattern>,
    /// Subagents it starts; any of them.
    pub agents: Vec<Wildcard>,
    /// Conditions on parameters; all of them.
    pub conditions: Vec<Condition>,
    /// An expression over the canonical JSON of the arguments.
    pub args: Option<Regular>,
    /// Whether the call only looks.
    pub read_only: Option<bool>,
    /// What else the tool must be like.
    pub hints: Hints,
    /// The subagent that makes the call.
    pub caller: Option<String>,
    /// Whether somebody can be asked.
    pub interactive: Option<bool>,
}

/// What a call may reach when it runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Grant {
    /// The sandbox profile, when the rule names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<Sandbox>,
    /// Hosts it may reach.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub network: Vec<String>,
    /// Folders beside the workspace that it may write in.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub write: Vec<PathBuf>,
    /// The needs of its programs, in a verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    /// Files and folders outside of the workspace that it reads, in a verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<PathBuf>,
    /// Files that a sandbox hides from it because a rule denies them, in a verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<PathBuf>,
    /// Files and folders that a sandbox keeps from being changed because a rule denies it, in a
    /// verdict.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guarded: Vec<PathBuf>,
    /// Whether an allowed command may write to files by redirection, too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub redirection: bool,
}

impl Grant {
    /// Returns `true` if the rule itself says what a command runs with. Then the needs of its
    /// programs add no hosts.
    pub fn is_explicit(&self) -> bool {
        self.sandbox.is_some()
    }
}

/// How far a command may reach. Later variants reach further.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sandbox {
    /// Reads, and writes nowhere.
    ReadOnly,
    /// Writes in the workspace.
    WorkspaceWrite,
    /// Is not confined.
    Full,
}

impl Sandbox {
    /// Every one, the narrowest first.
    pub const ALL: [Self; 3] = [Self::ReadOnly, Self::WorkspaceWrite, Self::Full];

    /// What files call it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::WorkspaceWrite => "workspace_write",
            Self::Full => "full",
        }
    }
}

impl fmt::Display for Sandbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The name of a sandbox that nobody knows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no sandbox `{0}`: it is `read_only`, `workspace_write` or `full`")]
pub struct UnknownSandbox(String);

impl FromStr for Sandbox {
    type Err = UnknownSandbox;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|sandbox| sandbox.name() == text);
        known.ok_or_else(|| UnknownSandbox(text.to_owned()))
    }
}

/// Who a rule comes from. Later variants are stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Built in.
    Default,
    /// A trusted workspace.
    Workspace,
    /// The user.
    User,
    /// Whoever runs the machine.
    Admin,
}

/// A rank among all rules, in ten-thousandths: 2.95 is 29,500.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Priority(u32);

impl Priority {
    /// Below every other rule.
    pub const LEAST: Self = Self(0);
    /// "Always allow", given by a person at run time.
    pub const ALWAYS_ALLOW: Self = Self(29_500);
    /// MCP servers that are excluded.
    pub const SERVER_EXCLUDED: Self = Self(29_000);
    /// `--exclude-tools`.
    pub const EXCLUDED_TOOLS: Self = Self(24_000);
    /// `--allowed-tools`.
    pub const ALLOWED_TOOLS: Self = Self(23_000);
    /// What the user's policy files ask about or deny of MCP servers, at least.
    pub const SERVER_RESTRICTED: Self = Self(22_600);
    /// Single tools of MCP servers, as the settings say: above what they say of the whole server.
    pub const SERVER_TOOL: Self = Self(22_500);
    /// MCP servers the owner trusts.
    pub const SERVER_TRUSTED: Self = Self(22_000);
    /// MCP servers on the allow list.
    pub const SERVER_ALLOWED: Self = Self(21_000);
    /// Hosts that the settings allow: below every rule of the user's own, above the workspace's.
    pub const CONFIGURED_HOST: Self = Self(19_996);
    /// Whatever is encrypted, when the settings allow that.
    pub const CONFIGURED_HTTPS: Self = Self(19_992);

    /// The rank of a rule with a priority of its own, 0 to 999, in its tier.
    pub fn in_tier(tier: Tier, own: u16) -> Self {
        let own = u32::from(own.min(999));
        Self(match tier {
            Tier::Admin => 30_000 + own * 10,
            Tier::User => 20_000 + own * 10,
            Tier::Workspace => 15_000 + own,
            Tier::Default => 10_000 + own * 10,
        })
    }
}

impl fmt::Display for Priority {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{}.{:04}", self.0 / 10_000, self.0 % 10_000);
        let short = text.trim_end_matches('0');
        formatter.write_str(if short.ends_with('.') {
            text.get(..short.len() + 1).unwrap_or(short)
        } else {
            short
        })
    }
}

impl Serialize for Priority {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 10_000.0)
    }
}

/// Where a rule stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The file, or what else it came from.
    pub source: Arc<str>,
    /// The line, counted from 1; 0 when it stands in no file.
    pub line: usize,
    /// Who it comes from.
    pub tier: Tier,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => formatter.write_str(&self.source),
            line => write!(formatter, "{}:{line}", self.source),
        }
    }
}

impl Rule {
    /// A rule about whole tools.
    pub fn about(
        tools: Vec<ToolPattern>,
        decision: Decision,
        priority: Priority,
        origin: Origin,
    ) -> Self {
        Self {
            name: None,
            tools,
            matcher: Matcher::default(),
            modes: Modes::ALL,
            decision,
            priority,
            message: None,
            risk: None,
            grant: Grant::default(),
            expires: None,
            given: None,
            origin,
        }
    }

    /// Whether the rule is about what is asked.
    pub fn matches(&self, question: &Question<'_>) -> bool {
        self.mismatch(question).is_none()
    }

    /// The first thing that keeps the rule from being about what is asked.
    pub fn mismatch(&self, question: &Question<'_>) -> Option<Mismatch> {
        let matcher = &self.matcher;
        if !self.tools.iter().any(|tool| tool.matches(question.tool, self.decision)) {
            return Some(Mismatch::Tool);
        }
        if !self.modes.contains(question.mode) {
            return Some(Mismatch::Mode);
        }
        if self.expires.is_some_and(|end| question.now >= end) {
            return Some(Mismatch::Expired);
        }
        if matcher.interactive.is_some_and(|wanted| wanted != question.interactive) {
            return Some(Mismatch::Interactive);
        }
        if matcher.read_only.is_some_and(|wanted| wanted != (question.effect == Effect::Read)) {
            return Some(Mismatch::Effect);
        }
        if !has_hints(matcher.hints, question.hints, self.decision) {
            return Some(Mismatch::Hints);
        }
        if matcher.caller.as_deref().is_some_and(|caller| question.caller != Some(caller)) {
            return Some(Mismatch::Caller);
        }
        if !matcher.commands.is_empty() && !question.is_command(&matcher.commands, self.decision) {
            return Some(Mismatch::Command);
        }
        if !matcher.paths.is_empty() && !question.is_path(&matcher.paths, self.decision) {
            return Some(Mismatch::Path);
        }
        if !matcher.folders.is_empty() && !question.is_in(&matcher.folders, self.decision) {
            return Some(Mismatch::Folder);
        }
        let scope = question.path.and_then(|path| path.scope);
        if !matcher.scopes.is_empty() && !scope.is_some_and(|scope| matcher.scopes.contains(&scope))
        {
            return Some(Mismatch::Scope);
        }
        if !matcher.domains.is_empty() && !question.is_host(&matcher.domains, self.decision) {
            return Some(Mismatch::Domain);
        }
        if !matcher.agents.is_empty()
            && !question
                .agent
                .is_some_and(|name| matcher.agents.iter().any(|pattern| pattern.matches(name)))
        {
            return Some(Mismatch::Agent);
        }
        let fails = |condition: &Condition| !question.holds(condition, self.decision);
        if let Some(position) = matcher.conditions.iter().position(fails) {
            return Some(Mismatch::Condition(position));
        }
        let found = |pattern: &Regular| question.has_args(pattern, self.decision);
        if !matcher.args.as_ref().is_none_or(found) {
            return Some(Mismatch::Args);
        }
        None
    }

    /// Which of two rules about the same thing is stronger: the greater one.
    pub(crate) fn cmp_rank(&self, other: &Self) -> Ordering {
        self.priority
            .cmp(&other.priority)
            .then_with(|| self.specificity().cmp(&other.specificity()))
            .then_with(|| self.decision.cmp(&other.decision))
    }

    /// How narrow the rule is about tools.
    pub fn specificity(&self) -> Specificity {
        self.tools.iter().map(ToolPattern::specificity).min().unwrap_or(Specificity::Any)
    }

    /// Returns `true` if one of the rule's tool patterns covers a tool.
    pub(crate) fn is_about(&self, tool: &str) -> bool {
        let tool = ToolName::new(tool);
        self.tools.iter().any(|pattern| pattern.matches(&tool, self.decision))
    }

    /// What the rule is called where people see it.
    pub fn shown(&self) -> String {
        let tools: Vec<String> = self.tools.iter().map(ToString::to_string).collect();
        let mut shown = tools.join(", ");
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.matcher.commands.iter().map(ToString::to_string));
        parts.extend(self.matcher.paths.iter().map(ToString::to_string));
        parts.extend(self.matcher.scopes.iter().map(|scope| format!("{}:/", scope.name())));
        parts.extend(self.matcher.domains.iter().map(|domain| format!("domain:{domain}")));
        parts.extend(self.matcher.agents.iter().map(ToString::to_string));
        parts.extend(self.matcher.conditions.iter().map(ToString::to_string));
        parts.extend(self.matcher.args.iter().map(|args| format!("args /{args}/")));
        if self.matcher.read_only == Some(true) {
            parts.push("only looks".to_owned());
        }
        if !parts.is_empty() {
            shown.push_str(&format!("({})", parts.join(", ")));
        }
        for folder in &self.matcher.folders {
            shown.push_str(&format!(" in {folder}"));
        }
        shown
    }
}

/// Whether a tool is like a rule wants it; where nothing is known, rules that restrict hold.
fn has_hints(wanted: Hints, known: Hints, decision: Decision) -> bool {
    let pairs = [
        (wanted.destructive, known.destructive),
        (wanted.idempotent, known.idempotent),
        (wanted.open_world, known.open_world),
    ];
    pairs.into_iter().all(|(wanted, known)| match (wanted, known) {
        (None, _) => true,
        (Some(wanted), Some(known)) => wanted == known,
        (Some(_), None) => decision != Decision::Allow,
    })
}

/// Why a rule is not about what is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "named after the part of the rule")]
pub enum Mismatch {
    Tool,
    Mode,
    Expired,
    Interactive,
    Effect,
    Hints,
    Caller,
    Command,
    Path,
    Folder,
    Scope,
    Domain,
    Agent,
    Condition(usize),
    Args,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Tool => "about another tool",
            Self::Mode => "not in this mode",
            Self::Expired => "expired",
            Self::Interactive => "depends on whether somebody can be asked",
            Self::Effect => "this does more than look",
            Self::Hints => "the tool is of another kind",
            Self::Caller => "another subagent calls",
            Self::Command => "another command",
            Self::Path => "another path",
            Self::Folder => "another folder",
            Self::Scope => "a file of another scope",
            Self::Domain => "another host",
            Self::Agent => "another subagent",
            Self::Condition(_) => "a condition does not hold",
            Self::Args => "the arguments do not match",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_are_shown_as_the_design_writes_them() {
        let shown = |priority: Priority| priority.to_string();
        assert_eq!(shown(Priority::ALWAYS_ALLOW), "2.95");
        assert_eq!(shown(Priority::in_tier(Tier::User, 0)), "2.0");
        assert_eq!(shown(Priority::in_tier(Tier::Default, 15)), "1.015");
        assert_eq!(shown(Priority::in_tier(Tier::Default, 999)), "1.999");
        assert_eq!(shown(Priority::in_tier(Tier::Workspace, 20)), "1.502");
        assert!(Priority::in_tier(Tier::Workspace, 999) < Priority::in_tier(Tier::User, 0));
    }
}
