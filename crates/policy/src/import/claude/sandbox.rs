//! Claude Code's `sandbox` settings.

use super::permission;
use crate::decision::Decision;
use crate::host;
use crate::import::draft::{Draft, Grant, Rule};
use crate::import::node::{Entry, Node, Value};
use crate::import::report::ImportError;

/// Folders that hold those of all users, too much for a command to write in.
const TOO_WIDE: [&str; 8] = ["", "~", "~/", "/", "//", "/home", "/root", "/Users"];

/// Converts the `sandbox` table.
pub(crate) fn sandbox(node: &Node, draft: &mut Draft) -> Result<(), ImportError> {
    let table = node.table("sandbox")?;
    let mut grant = Grant { sandbox: Some("workspace_write"), ..Grant::default() };
    let (mut enabled, mut auto_allow) = (None, true);
    for entry in table {
        match entry.key.as_str() {
            "filesystem" => filesystem(&entry.node, &mut grant, draft)?,
            "network" => network(&entry.node, &mut grant, draft)?,
            "enabled" => {
                enabled = entry.node.bool("sandbox.enabled")?.then_some(entry.line);
            }
            "excludedCommands" => excluded(&entry.node, draft)?,
            "autoAllowBashIfSandboxed" => auto_allow = entry.node.bool(&entry.key)?,
            _ => lose(entry, "sandbox", draft),
        }
    }
    let Some(line) = enabled else { return Ok(()) };
    if auto_allow {
        let origin =
            format!("line {line}: sandbox.enabled, commands run without a question in the sandbox");
        let mut rule = Rule::new(origin, ["shell"], Decision::Allow, 0);
        rule.grant = grant.clone();
        draft.add_rule(rule);
    }
    draft.set_grant(grant);
    Ok(())
}

/// Claude Code runs these commands outside the sandbox, and asks before it does.
fn excluded(node: &Node, draft: &mut Draft) -> Result<(), ImportError> {
    for (command, line) in node.texts("excludedCommands")? {
        let converted = permission::convert(Decision::Ask, &format!("Bash({command})"));
        let origin = format!("line {line}, sandbox.excludedCommands");
        for permission in converted.permissions {
            draft.add_permission(Decision::Ask, permission, &origin);
        }
        for mut rule in converted.rules {
            rule.origin.clone_from(&origin);
            draft.add_rule(rule);
        }
        let why = "a command leaves the sandbox only for a rule with `sandbox = \"full\"`";
        let instead = "made stricter: it asks, and stays in the sandbox";
        draft.lose(line, format!("excludedCommands `{command}`"), why, instead);
    }
    Ok(())
}

fn filesystem(node: &Node, grant: &mut Grant, draft: &mut Draft) -> Result<(), ImportError> {
    for entry in node.table("sandbox.filesystem")? {
        let tools: &[&str] = match entry.key.as_str() {
            "denyRead" => &["Read", "Edit"],
            "denyWrite" => &["Edit"],
            "allowWrite" => {
                for (path, line) in entry.node.texts("allowWrite")? {
                    writable(path, line, grant, draft);
                }
                continue;
            }
            _ => {
                lose(entry, "sandbox.filesystem", draft);
                continue;
            }
        };
        for (path, line) in entry.node.texts(&entry.key)? {
            let origin = format!("line {line}, sandbox.filesystem.{}", entry.key);
            draft.deny_tree(tools, &pattern(path), &origin);
        }
    }
    Ok(())
}

/// Adds a folder that commands may write in. Two slashes are the root, as in a permission.
fn writable(path: &str, line: usize, grant: &mut Grant, draft: &mut Draft) {
    let folder = path.trim_end_matches("/**").trim_end_matches("/*");
    let folder = if folder.starts_with("//") { folder.trim_start_matches('/') } else { folder };
    let folder = if path.starts_with("//") { format!("/{folder}") } else { folder.to_owned() };
    if TOO_WIDE.contains(&folder.trim_end_matches('/')) || folder.contains('*') {
        let why = "a command may write in single folders only";
        draft.lose(line, format!("allowWrite `{path}`"), why, "left out");
    } else {
        grant.write.push(folder);
    }
}

/// A sandbox path as a pattern: a single slash there is the root.
fn pattern(path: &str) -> String {
    match path.strip_prefix('/') {
        Some(rest) if !rest.starts_with('/') => format!("//{rest}"),
        _ => path.to_owned(),
    }
}

fn network(node: &Node, grant: &mut Grant, draft: &mut Draft) -> Result<(), ImportError> {
    for entry in node.table("sandbox.network")? {
        match entry.key.as_str() {
            "deniedDomains" => {
                for (domain, line) in entry.node.texts("deniedDomains")? {
                    deny_domain(domain, line, draft);
                }
            }
            "allowedDomains" => {
                for (domain, line) in entry.node.texts("allowedDomains")? {
                    if host::parse_granted(domain).is_ok() {
                        grant.network.push(domain.to_owned());
                    } else {
                        let why = "a host is understood by its name, or as `*.` in front of one";
                        draft.lose(line, format!("allowedDomains `{domain}`"), why, "left out");
                    }
                }
            }
            _ => lose(entry, "sandbox.network", draft),
        }
    }
    Ok(())
}

fn deny_domain(domain: &str, line: usize, draft: &mut Draft) {
    let host = domain.strip_prefix("*.").unwrap_or(domain);
    if host.is_empty() || host.contains('*') {
        draft.add_permission(Decision::Deny, "WebFetch".to_owned(), &format!("line {line}"));
        let why = "a wildcard is understood only as `*.` in front";
        draft.lose(line, format!("deniedDomains `{domain}`"), why, "made broader: deny WebFetch");
    } else {
        draft.block_domain(host, line);
    }
}

fn lose(entry: &Entry, table: &str, draft: &mut Draft) {
    // Settings that are off or empty grant nothing.
    let is_nothing = match &entry.node.value {
        Value::Bool(switch) => !switch,
        Value::List(items) => items.is_empty(),
        _ => false,
    };
    if is_nothing {
        return;
    }
    let why = "Toolgate's sandbox has no such setting";
    let instead = "left out: the sandbox stays as strict as Toolgate's own";
    draft.lose(entry.line, format!("{table}.{}", entry.key), why, instead);
}
