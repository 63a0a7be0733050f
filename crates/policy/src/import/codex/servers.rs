//! MCP servers of Codex's `config.toml`: which of their tools may be called.

use crate::decision::Decision;
use crate::import::draft::{Draft, Rule};
use crate::import::node::{Entry, Node, Value};
use crate::import::report::ImportError;

/// A tool's own setting stands above its server's, and what is switched off above both.
const OFF: u16 = 600;
const TOOL: u16 = 590;
const LISTED: u16 = 580;
const SERVER: u16 = 570;

/// Converts the `mcp_servers` table.
pub(crate) fn servers(node: &Node, draft: &mut Draft) -> Result<(), ImportError> {
    for server in node.table("mcp_servers")? {
        let mut reading = Server { name: &server.key, ..Server::default() };
        for entry in server.node.table("mcp_servers")? {
            reading.read(entry, draft)?;
        }
        reading.finish(server.line, draft);
    }
    Ok(())
}

#[derive(Debug, Default)]
struct Server<'a> {
    name: &'a str,
    enabled: Option<(Vec<String>, usize)>,
    /// How a tool without a setting of its own is approved.
    approval: Option<(Decision, usize)>,
    tools: Vec<(String, Decision, usize)>,
    /// Keys about how the server is started.
    connection: bool,
}

impl Server<'_> {
    fn read(&mut self, entry: &Entry, draft: &mut Draft) -> Result<(), ImportError> {
        let line = entry.line;
        match entry.key.as_str() {
            "enabled" if entry.node.bool("enabled")? => {}
            "enabled" => draft.add_rule(self.rule(&[], Decision::Deny, OFF, line)),
            "disabled_tools" => {
                let tools = entry.node.one_or_more("disabled_tools")?;
                if !tools.is_empty() {
                    draft.add_rule(self.rule(&tools, Decision::Deny, OFF, line));
                }
            }
            "enabled_tools" => {
                self.enabled = Some((entry.node.one_or_more("enabled_tools")?, line));
            }
            "default_tools_approval_mode" => {
                self.approval = Some((self.approval_mode(entry, draft)?, line));
            }
            "tools" => {
                for tool in entry.node.table("tools")? {
                    self.read_tool(tool, draft)?;
                }
            }
            _ => self.connection = true,
        }
        Ok(())
    }

    fn read_tool(&mut self, tool: &Entry, draft: &mut Draft) -> Result<(), ImportError> {
        let name = std::slice::from_ref(&tool.key);
        for entry in tool.node.table("tools")? {
            match (entry.key.as_str(), &entry.node.value) {
                ("approval_mode", _) => {
                    let decision = self.approval_mode(entry, draft)?;
                    self.tools.push((tool.key.clone(), decision, entry.line));
                }
                ("enabled", Value::Bool(false)) => {
                    draft.add_rule(self.rule(name, Decision::Deny, OFF, entry.line));
                }
                ("enabled", _) => {}
                (other, _) => {
                    let what = format!("mcp_servers.{}.tools.{}.{other}", self.name, tool.key);
                    draft.lose(entry.line, what, "Toolgate does not know this key", "left out");
                }
            }
        }
        Ok(())
    }

    fn approval_mode(&self, entry: &Entry, draft: &mut Draft) -> Result<Decision, ImportError> {
        match entry.node.text(&entry.key)? {
            "approve" => Ok(Decision::Allow),
            "prompt" => Ok(Decision::Ask),
            "auto" => {
                let what = format!("mcp_servers.{}: {} `auto`", self.name, entry.key);
                let why = "Toolgate does not trust what a tool says about itself";
                draft.lose(entry.line, what, why, "made stricter: it asks");
                Ok(Decision::Ask)
            }
            other => Err(entry.node.error(format!("there is no approval mode `{other}`"))),
        }
    }

    fn rule(&self, tools: &[String], decision: Decision, priority: u16, line: usize) -> Rule {
        let origin = format!("line {line}: mcp_servers.{}", self.name);
        let mut rule = Rule::new(origin, [], decision, priority);
        rule.tools = tools.to_vec();
        rule.mcp = Some(self.name.to_owned());
        rule
    }

    fn finish(&self, line: usize, draft: &mut Draft) {
        let offered = |tool: &String| match &self.enabled {
            Some((tools, _)) => tools.contains(tool),
            None => true,
        };
        for (tool, decision, line) in self.tools.iter().filter(|(tool, ..)| offered(tool)) {
            let tool = std::slice::from_ref(tool);
            draft.add_rule(self.rule(tool, *decision, TOOL, *line));
        }
        match (&self.enabled, self.approval) {
            (Some((tools, line)), approval) => {
                if !tools.is_empty() {
                    let decision = approval.map_or(Decision::Ask, |(decision, _)| decision);
                    draft.add_rule(self.rule(tools, decision, LISTED, *line));
                }
                draft.add_rule(self.rule(&[], Decision::Deny, SERVER, *line));
            }
            (None, Some((decision, line))) => {
                draft.add_rule(self.rule(&[], decision, SERVER, line));
            }
            (None, None) => {}
        }
        if self.connection {
            let why = "how a server is started is not part of a policy";
            draft.lose(
                line,
                format!("mcp_servers.{}", self.name),
                why,
                "left out: add the server to Toolgate",
            );
        }
    }
}
