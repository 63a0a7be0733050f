//! A rule of a Gemini CLI policy file as it is written.

use crate::decision::Decision;
use crate::import::node::{Node, Value};
use crate::import::report::ImportError;

/// A rule, its types checked.
#[derive(Debug, Clone)]
pub(crate) struct ForeignRule {
    pub(crate) line: usize,
    pub(crate) tool_names: Option<Vec<String>>,
    pub(crate) mcp_name: Option<String>,
    pub(crate) subagent: Option<String>,
    pub(crate) args_pattern: Option<String>,
    pub(crate) command_prefix: Option<Vec<String>>,
    pub(crate) command_regex: Option<String>,
    pub(crate) decision: Decision,
    pub(crate) priority: u16,
    pub(crate) modes: Vec<String>,
    /// Annotations and their values, where those are switches.
    pub(crate) annotations: Vec<(String, Option<bool>)>,
    pub(crate) interactive: Option<bool>,
    pub(crate) allow_redirection: bool,
    pub(crate) deny_message: Option<String>,
    /// The checker of the rule, or the one that it stands for.
    pub(crate) checker: Option<Checker>,
    /// Keys that nobody documents.
    pub(crate) unknown: Vec<String>,
}

/// A program that is shown a call and may refuse it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checker {
    /// Refuses paths outside the workspace.
    AllowedPath,
    /// Refuses what nobody knows.
    Other,
}

fn read_checker_table(node: &Node) -> Result<Checker, ImportError> {
    let entries = node.table("checker")?;
    let is = |key: &str, text: &str| {
        entries.iter().any(|entry| entry.key == key && entry.node.text(key) == Ok(text))
    };
    // With settings of its own it may allow more, or refuse more.
    let is_plain = !entries.iter().any(|entry| entry.key == "config");
    let is_path = is("type", "in-process") && is("name", "allowed-path") && is_plain;
    Ok(if is_path { Checker::AllowedPath } else { Checker::Other })
}

impl ForeignRule {
    /// Reads a `[[rule]]`.
    pub(crate) fn read(node: &Node) -> Result<Self, ImportError> {
        let mut rule = Self::blank(node);
        let (mut decision, mut priority) = (None, None);
        for entry in node.table("rule")? {
            let value = &entry.node;
            match entry.key.as_str() {
                "decision" => decision = Some(read_decision(value)?),
                "priority" => priority = Some(read_priority(value)?),
                "subagent" => rule.subagent = Some(value.text("subagent")?.to_owned()),
                "interactive" => rule.interactive = Some(value.bool("interactive")?),
                "allowRedirection" | "allow_redirection" => {
                    rule.allow_redirection = value.bool(&entry.key)?;
                }
                "denyMessage" | "deny_message" => {
                    rule.deny_message = Some(value.text(&entry.key)?.to_owned());
                }
                "safety_checker" | "safetyChecker" => {
                    rule.checker = Some(read_checker_table(value)?);
                }
                key => rule.read_condition(key, value)?,
            }
        }
        rule.decision = decision.ok_or_else(|| node.error("the rule has no `decision`"))?;
        rule.priority = priority.ok_or_else(|| node.error("the rule has no `priority`"))?;
        Ok(rule)
    }

    /// Reads a `[[safety_checker]]` as a rule that denies what the checker would be shown.
    pub(crate) fn read_checker(node: &Node) -> Result<Self, ImportError> {
        let mut rule = Self::blank(node);
        for entry in node.table("safety_checker")? {
            match entry.key.as_str() {
                "checker" => rule.checker = Some(read_checker_table(&entry.node)?),
                "priority" => {}
                key => rule.read_condition(key, &entry.node)?,
            }
        }
        Ok(rule)
    }

    fn blank(node: &Node) -> Self {
        Self {
            line: node.line,
            tool_names: None,
            mcp_name: None,
            subagent: None,
            args_pattern: None,
            command_prefix: None,
            command_regex: None,
            decision: Decision::Deny,
            priority: 999,
            modes: Vec::new(),
            annotations: Vec::new(),
            interactive: None,
            allow_redirection: false,
            deny_message: None,
            checker: None,
            unknown: Vec::new(),
        }
    }

    fn read_condition(&mut self, key: &str, value: &Node) -> Result<(), ImportError> {
        match key {
            "toolName" => self.tool_names = Some(value.one_or_more(key)?),
            "mcpName" => self.mcp_name = Some(value.text(key)?.to_owned()),
            "argsPattern" => self.args_pattern = Some(value.text(key)?.to_owned()),
            "commandPrefix" => self.command_prefix = Some(value.one_or_more(key)?),
            "commandRegex" => self.command_regex = Some(value.text(key)?.to_owned()),
            "modes" => {
                self.modes =
                    value.texts(key)?.into_iter().map(|(mode, _)| mode.to_owned()).collect();
            }
            "toolAnnotations" => {
                for entry in value.table(key)? {
                    let switch = match entry.node.value {
                        Value::Bool(switch) => Some(switch),
                        _ => None,
                    };
                    self.annotations.push((entry.key.clone(), switch));
                }
            }
            other => self.unknown.push(other.to_owned()),
        }
        Ok(())
    }

    /// Where it came from, for the comment above its successor.
    pub(crate) fn origin(&self) -> String {
        format!("line {}: priority {}", self.line, self.priority)
    }

    /// The rule in a few words, for the loss report.
    pub(crate) fn describe(&self) -> String {
        let tools = match (&self.tool_names, &self.mcp_name) {
            (Some(names), Some(server)) => format!("{} of {server}", names.join(", ")),
            (Some(names), None) => names.join(", "),
            (None, Some(server)) => format!("tools of {server}"),
            (None, None) => "no tool".to_owned(),
        };
        format!("{} rule for {tools}", self.decision)
    }
}

fn read_decision(node: &Node) -> Result<Decision, ImportError> {
    match node.text("decision")? {
        "allow" => Ok(Decision::Allow),
        "ask_user" => Ok(Decision::Ask),
        "deny" => Ok(Decision::Deny),
        other => {
            Err(node.error(format!("`{other}` is no decision; expected allow, ask_user or deny")))
        }
    }
}

fn read_priority(node: &Node) -> Result<u16, ImportError> {
    match node.value {
        Value::Integer(priority @ 0..=999) => Ok(u16::try_from(priority).unwrap_or_default()),
        _ => Err(node.error("`priority` must be a whole number from 0 to 999")),
    }
}
