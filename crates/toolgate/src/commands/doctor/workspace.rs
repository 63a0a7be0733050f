//! The settings that the workspace itself brings.

use std::path::Path;

use toolgate_core::visible;
use toolgate_core::workspace::Workspace;
use toolgate_policy::Decision;
use toolgate_policy::load::{Loader, Severity};
use toolgate_policy::rule::Tier;

use super::report::{Finding, Topic, count};
use crate::app;
use crate::config;
use crate::home;
use crate::owned;
use crate::policies;
use crate::servers::{self, OwnSettings};
use crate::trust::{Answers, Brought, FILE, Review, Standing};

pub(super) fn look(workspace: &Workspace) -> Topic {
    let root = workspace.root();
    let topic = |findings| Topic::new("workspace", findings).at(root);
    let Ok(config) = home::config() else { return topic(Vec::new()) };
    let Some(brought) = Brought::by(root, &config).filter(|brought| !brought.files.is_empty())
    else {
        return topic(vec![Finding::ok("files", "brings no settings of its own")]);
    };
    let answers = Answers::load(&config.join(FILE)).unwrap_or_default();
    let standing = answers.about(root);
    let is_trusted = matches!(standing, Standing::Trusted(_));
    let loader = app::built_in_tools().ok().map(|tools| policies::loader(&tools, workspace));
    let mut findings = Vec::new();
    for file in &brought.files {
        findings.extend(contents(root, file, is_trusted, loader.as_ref()));
    }
    findings.push(trusted(&standing, &config, root));
    topic(findings)
}

/// Tells what is in a file. Policies of a trusted folder are told of where all policies are.
fn contents(
    root: &Path,
    file: &Path,
    is_trusted: bool,
    loader: Option<&Loader>,
) -> Option<Finding> {
    let shown = visible::path(file);
    let wrong = |why: &str| {
        let seen = format!("{shown}{why}");
        let fix = "correct or remove it";
        if is_trusted {
            Finding::broken("file", seen, "no call runs until it is mended", fix)
        } else {
            let means = "once this folder is trusted, no call runs until it is mended";
            Finding::warning("file", seen, means, fix)
        }
    };
    let name = file.file_name().unwrap_or_default();
    if file.starts_with(".toolgate/policies") {
        return loader
            .filter(|_| !is_trusted)
            .map(|loader| policy(&root.join(file), &shown, loader, &wrong));
    }
    let settings = if name == "config.toml" {
        servers::own_settings(root)
    } else if name == ".mcp.json" {
        servers::mcp_json_settings(root)
    } else {
        return Some(Finding::ok("file", format!("`{shown}` is there; nothing uses it yet")));
    };
    Some(match settings {
        Ok(OwnSettings { servers, discovers }) => {
            let mut parts = Vec::new();
            if !servers.is_empty() {
                let named = servers.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>();
                let number = count(servers.len(), "server", "servers");
                parts.push(format!("{number} ({})", named.join(", ")));
            }
            if discovers {
                parts.push("a command that declares tools".to_owned());
            }
            let parts = if parts.is_empty() { "no servers".to_owned() } else { parts.join(", ") };
            Finding::ok("file", format!("`{shown}`: {parts}"))
        }
        Err(why) => wrong(&format!(": {why}")),
    })
}

fn policy(file: &Path, shown: &str, loader: &Loader, wrong: &dyn Fn(&str) -> Finding) -> Finding {
    let text = match owned::read(file) {
        Ok(text) => text,
        Err(error) => return wrong(&format!(": cannot be read: {error}")),
    };
    let policy = loader.parse(&text, shown, Tier::Workspace);
    if let Some(mistake) = policy.diagnostics.iter().find(|one| one.severity == Severity::Error) {
        return wrong(&format!(":{}:{}: {}", mistake.line, mistake.column, mistake.message));
    }
    let of = |decision| policy.rules.iter().filter(|rule| rule.decision == decision).count();
    let each = [Decision::Allow, Decision::Ask, Decision::Deny]
        .map(|decision| (of(decision), decision))
        .into_iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, decision)| format!("{number} {decision}"))
        .collect::<Vec<_>>();
    let rules = count(policy.rules.len(), "rule", "rules");
    let each = if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) };
    Finding::ok("file", format!("`{shown}`: {rules}{each}"))
}

/// Returns `true` if something of a trusted folder waits for a review.
fn waits(config: &Path, root: &Path) -> bool {
    let user = config::load_from(config).unwrap_or_default();
    !Review::of(root, config, &user).differences.is_empty()
}

/// Tells whether all this is used.
fn trusted(standing: &Standing, config: &Path, root: &Path) -> Finding {
    match standing {
        Standing::Trusted(_) if !waits(config, root) => {
            Finding::ok("trust", "all this is used, because this folder is trusted")
        }
        Standing::Trusted(_) => Finding::warning(
            "trust",
            "what this folder brings is not as you accepted it",
            "what changed allows nothing and starts nothing",
            "look at it with `toolgate trust review`",
        ),
        Standing::Refused(_) => Finding::ok(
            "trust",
            "nothing of this is used, because you said that this folder is not trusted",
        ),
        // Whether to trust it is asked where answers are told of.
        Standing::Unknown => {
            Finding::ok("trust", "nothing of this is used, because this folder is not trusted")
        }
    }
}
