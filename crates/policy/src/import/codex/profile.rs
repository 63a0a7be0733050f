//! Codex's permission profiles: what they forbid is carried over, what they
//! grant is not.

use crate::decision::Decision;
use crate::import::draft::Draft;
use crate::import::node::{Entry, Node, Value};
use crate::import::report::ImportError;

/// Converts the profile that `default_permissions` names.
pub(crate) fn permissions(
    chosen: Option<&Entry>,
    profiles: Option<&Entry>,
    draft: &mut Draft,
) -> Result<(), ImportError> {
    let name = chosen.map(|entry| entry.node.text("default_permissions")).transpose()?;
    let mut found = name.is_none_or(|name| name.starts_with(':'));
    let Some(profiles) = profiles else { return missing(chosen, found) };
    let table = profiles.node.table("permissions")?;
    let mut in_use: Vec<&str> = name.into_iter().collect();
    // A profile holds together with those it extends.
    while let Some(parent) = parent(table, &in_use) {
        in_use.push(parent);
    }
    for profile in table {
        if in_use.contains(&profile.key.as_str()) {
            found = true;
            convert(profile, draft)?;
        } else {
            let what = format!("permissions.{}", profile.key);
            draft.lose(profile.line, what, "it is not the profile in use", "left out");
        }
    }
    missing(chosen, found)
}

fn missing(chosen: Option<&Entry>, found: bool) -> Result<(), ImportError> {
    match chosen {
        Some(entry) if !found => Err(entry.node.error("there is no such permission profile")),
        _ => Ok(()),
    }
}

/// A profile that one in use extends and that is not yet in use itself.
fn parent<'a>(table: &'a [Entry], in_use: &[&str]) -> Option<&'a str> {
    let profiles = table.iter().filter(|profile| in_use.contains(&profile.key.as_str()));
    let mut parents = profiles.filter_map(|profile| {
        let entries = profile.node.table("permissions").ok()?;
        let entry = entries.iter().find(|entry| entry.key == "extends")?;
        entry.node.text("extends").ok()
    });
    parents.find(|parent| !in_use.contains(parent))
}

fn convert(profile: &Entry, draft: &mut Draft) -> Result<(), ImportError> {
    let name = format!("permissions.{}", profile.key);
    for entry in profile.node.table(&name)? {
        match entry.key.as_str() {
            "description" | "extends" => {}
            "filesystem" => {
                for rule in entry.node.table("filesystem")? {
                    file_rule(&name, "", rule, draft);
                }
            }
            "network" => network(&name, &entry.node, draft)?,
            other => lose(&format!("{name}.{other}"), entry.line, draft),
        }
    }
    Ok(())
}

fn lose(what: &str, line: usize, draft: &mut Draft) {
    let why = "what a sandboxed command may do is granted rule by rule in Toolgate";
    draft.lose(line, what, why, "left out: the sandbox stays as strict as Toolgate's own");
}

/// `path = "read" | "write" | "deny"`, or a table of such below a path.
fn file_rule(profile: &str, base: &str, rule: &Entry, draft: &mut Draft) {
    let what = format!("{profile}.filesystem \"{}\"", rule.key);
    match &rule.node.value {
        Value::Table(rules) => {
            for below in rules {
                file_rule(profile, &rule.key, below, draft);
            }
        }
        Value::Text(access) if access == "deny" || access == "none" => {
            let Some(pattern) = pattern(base, &rule.key) else {
                let why = "outside the workspace Toolgate asks anyway";
                draft.lose(rule.line, what, why, "left out: calls there still ask");
                return;
            };
            let origin = format!("line {}, {profile}", rule.line);
            draft.deny_tree(&["Read", "Edit"], &pattern, &origin);
        }
        _ => lose(&what, rule.line, draft),
    }
}

/// The path as a pattern of a permission; nothing for places that only Codex has names for.
fn pattern(base: &str, key: &str) -> Option<String> {
    let workspace = matches!(base, ":workspace_roots" | ":project_roots" | ":cwd");
    match key {
        ":workspace_roots" | ":project_roots" | ":cwd" => Some("./**".to_owned()),
        "." if workspace => Some("./**".to_owned()),
        _ if key.starts_with(':') => None,
        _ if key.starts_with("~/") => Some(key.to_owned()),
        _ if key.starts_with('/') => Some(format!("/{key}")),
        _ if workspace || base.is_empty() => Some(format!("./{}", key.trim_start_matches("./"))),
        _ if base.starts_with('/') => Some(format!("/{base}/{key}")),
        _ if base.starts_with("~/") => Some(format!("{base}/{key}")),
        _ => Some(format!("//**/{key}")),
    }
}

fn network(profile: &str, node: &Node, draft: &mut Draft) -> Result<(), ImportError> {
    for entry in node.table("network")? {
        if entry.key == "domains" {
            for domain in entry.node.table("domains")? {
                domain_rule(profile, domain, draft);
            }
        } else if entry.key == "enabled" && entry.node.value == Value::Bool(false) {
            let line = entry.line;
            draft.note(format!(
                "{profile}.network.enabled (line {line}): holds, there is no network"
            ));
        } else {
            lose(&format!("{profile}.network.{}", entry.key), entry.line, draft);
        }
    }
    Ok(())
}

fn domain_rule(profile: &str, rule: &Entry, draft: &mut Draft) {
    let what = format!("{profile}.network.domains \"{}\"", rule.key);
    let denied = matches!(&rule.node.value, Value::Text(access) if access == "deny");
    let host = rule.key.trim_start_matches("**.").trim_start_matches("*.");
    if !denied {
        lose(&what, rule.line, draft);
    } else if host.is_empty() || host.contains('*') {
        let origin = format!("line {}, {what}", rule.line);
        draft.add_permission(Decision::Deny, "WebFetch".to_owned(), &origin);
        let why = "a wildcard is understood only as `*.` in front";
        draft.lose(rule.line, what, why, "made broader: deny WebFetch");
    } else {
        draft.block_domain(host, rule.line);
    }
}
