//! Claude Code's `settings.json`.

mod permission;
mod sandbox;

use super::draft::{Draft, Rule, strictest_wins};
use super::node::{self, Entry, Node};
use super::report::{ImportError, Imported};
use crate::decision::Decision;

/// Modes in which Claude Code asks where Toolgate would not; yolo asks in neither.
const ASKING_MODES: [&str; 5] = ["default", "ask", "accept_edits", "plan", "dont_ask"];

/// Converts the `permissions` of a settings file; JSON with comments.
///
/// # Errors
/// When the text is not JSON, or a permission setting is not of its type.
pub fn claude(text: &str, name: &str) -> Result<Imported, ImportError> {
    let root = node::parse_json(text)?;
    let mut draft = Draft::new("Claude Code", name);
    draft.add_rule(asked_without_a_rule());
    for entry in root.table("settings")? {
        setting(entry, &mut draft)?;
    }
    Ok(draft.finish())
}

/// What Claude Code asks about without any rule and Toolgate, by itself, does not.
fn asked_without_a_rule() -> Rule {
    let origin = "Claude Code asks about these unless a rule allows them";
    let mut rule = Rule::new(origin, ["web_search", "activate_skill"], Decision::Ask, 0);
    rule.modes = ASKING_MODES.map(str::to_owned).into();
    rule
}

fn setting(entry: &Entry, draft: &mut Draft) -> Result<(), ImportError> {
    match entry.key.as_str() {
        "$schema" => {}
        "permissions" => permissions(&entry.node, draft)?,
        "sandbox" => sandbox::sandbox(&entry.node, draft)?,
        "disabledMcpjsonServers" => {
            for (server, line) in entry.node.texts("disabledMcpjsonServers")? {
                deny_server(server, line, draft);
            }
        }
        "deniedMcpServers" => denied_servers(&entry.node, draft)?,
        "hooks" => draft.lose(
            entry.line,
            "hooks",
            "a hook is a program, and what it would block cannot be known",
            "left out: set the hooks up in Toolgate before relying on this policy",
        ),
        "allowedMcpServers" | "enabledMcpjsonServers" | "enableAllProjectMcpServers" => draft.lose(
            entry.line,
            entry.key.as_str(),
            "it says which servers are started, not which calls may run",
            "left out: Toolgate starts only the servers of its own configuration",
        ),
        other => draft.lose(
            entry.line,
            other,
            "it is not a permission setting that Toolgate knows",
            "left out",
        ),
    }
    Ok(())
}

fn permissions(node: &Node, draft: &mut Draft) -> Result<(), ImportError> {
    for entry in node.table("permissions")? {
        let value = &entry.node;
        match entry.key.as_str() {
            "allow" => strings(Decision::Allow, value, draft)?,
            "ask" => strings(Decision::Ask, value, draft)?,
            "deny" => strings(Decision::Deny, value, draft)?,
            "defaultMode" => mode(value.text("defaultMode")?, entry.line, draft),
            "additionalDirectories" => {
                for (path, line) in value.texts("additionalDirectories")? {
                    draft.add_directory(path, line);
                }
            }
            "disableBypassPermissionsMode" => no_bypass(entry.line, draft),
            "disableAutoMode" => draft.note(format!(
                "disableAutoMode (line {}): holds, Toolgate has no mode that lets a model approve",
                entry.line
            )),
            other => draft.lose(
                entry.line,
                format!("permissions.{other}"),
                "Toolgate does not know this key",
                "left out",
            ),
        }
    }
    Ok(())
}

fn strings(decision: Decision, node: &Node, draft: &mut Draft) -> Result<(), ImportError> {
    for (text, line) in node.texts(&format!("permissions.{decision}"))? {
        let converted = permission::convert(decision, text);
        let origin = match &converted.loss {
            Some(_) => format!("line {line}, was {text}"),
            None => format!("line {line}"),
        };
        for permission in converted.permissions {
            draft.add_permission(decision, permission, &origin);
        }
        for mut rule in converted.rules {
            rule.origin = format!("line {line}: {decision} {text}");
            draft.add_rule(rule);
        }
        if let Some((why, instead)) = converted.loss {
            draft.lose(line, format!("{decision} `{text}`"), why, instead);
        }
    }
    Ok(())
}

fn mode(mode: &str, line: usize, draft: &mut Draft) {
    let (ours, why) = match mode {
        "default" | "manual" => ("default", None),
        "acceptEdits" => ("accept_edits", None),
        "plan" => ("plan", None),
        "dontAsk" => ("dont_ask", None),
        "bypassPermissions" => ("yolo", None),
        "auto" => ("default", Some("Toolgate has no model that approves calls")),
        _ => ("plan", Some("Toolgate does not know this mode")),
    };
    draft.set_mode(ours);
    if let Some(why) = why {
        let instead = format!("made stricter: `default_mode = \"{ours}\"`");
        draft.lose(line, format!("defaultMode `{mode}`"), why, instead);
    }
}

/// Without its bypass, yolo runs what rules allow and asks about the rest.
fn no_bypass(line: usize, draft: &mut Draft) {
    let origin = format!("line {line}: disableBypassPermissionsMode");
    let mut rule = Rule::new(origin, ["*"], Decision::Ask, 0);
    rule.modes = vec!["yolo".to_owned()];
    draft.add_rule(rule);
}

fn denied_servers(node: &Node, draft: &mut Draft) -> Result<(), ImportError> {
    for item in node.list("deniedMcpServers")? {
        for entry in item.table("deniedMcpServers[]")? {
            if entry.key == "serverName" {
                deny_server(entry.node.text("serverName")?, entry.line, draft);
            } else {
                draft.lose(
                    entry.line,
                    format!("deniedMcpServers.{}", entry.key),
                    "Toolgate knows a server by its name, not by how it is reached",
                    "left out: name the server in a deny rule",
                );
            }
        }
    }
    Ok(())
}

fn deny_server(server: &str, line: usize, draft: &mut Draft) {
    let origin = format!("line {line}: server {server} is switched off");
    let mut rule = Rule::new(origin, [], Decision::Deny, strictest_wins(Decision::Deny));
    rule.mcp = Some(server.to_owned());
    draft.add_rule(rule);
}
