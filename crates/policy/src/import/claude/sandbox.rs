//! Claude Code's `sandbox` settings: what they forbid is carried over, what they
//! grant is not.

use crate::decision::Decision;
use crate::import::draft::Draft;
use crate::import::node::{Entry, Node};
use crate::import::report::ImportError;

/// Converts the `sandbox` table.
pub(crate) fn sandbox(node: &Node, draft: &mut Draft) -> Result<(), ImportError> {
    for entry in node.table("sandbox")? {
        match entry.key.as_str() {
            "filesystem" => filesystem(&entry.node, draft)?,
            "network" => network(&entry.node, draft)?,
            "enabled" => draft.note(format!(
                "sandbox.enabled (line {}): holds, whatever runs without a question is sandboxed",
                entry.line
            )),
            _ => grant(entry, "sandbox", draft),
        }
    }
    Ok(())
}

fn filesystem(node: &Node, draft: &mut Draft) -> Result<(), ImportError> {
    for entry in node.table("sandbox.filesystem")? {
        let tools: &[&str] = match entry.key.as_str() {
            "denyRead" => &["Read", "Edit"],
            "denyWrite" => &["Edit"],
            _ => {
                grant(entry, "sandbox.filesystem", draft);
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

/// A sandbox path as a pattern: a single slash there is the root.
fn pattern(path: &str) -> String {
    match path.strip_prefix('/') {
        Some(rest) if !rest.starts_with('/') => format!("//{rest}"),
        _ => path.to_owned(),
    }
}

fn network(node: &Node, draft: &mut Draft) -> Result<(), ImportError> {
    for entry in node.table("sandbox.network")? {
        if entry.key == "deniedDomains" {
            for (domain, line) in entry.node.texts("deniedDomains")? {
                deny_domain(domain, line, draft);
            }
        } else {
            grant(entry, "sandbox.network", draft);
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

fn grant(entry: &Entry, table: &str, draft: &mut Draft) {
    draft.lose(
        entry.line,
        format!("{table}.{}", entry.key),
        "what a sandboxed command may do is granted rule by rule in Toolgate",
        "left out: the sandbox stays as strict as Toolgate's own",
    );
}
