//! The approval and sandbox keys of Codex's `config.toml`.

use super::profile;
use super::servers;
use crate::decision::Decision;
use crate::import::draft::{Draft, Rule, strictest_wins};
use crate::import::node::{self, Entry, Node, Value};
use crate::import::report::{ImportError, Imported};

/// When Codex asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Approval {
    Untrusted,
    OnFailure,
    OnRequest,
    Never,
    /// Some questions are answered with no before they are put.
    SomeRefused,
}

/// What a command may touch there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sandbox {
    ReadOnly,
    WorkspaceWrite,
    Full,
}

/// The keys that decide together.
#[derive(Debug, Default)]
struct Settings<'a> {
    approval: Option<(Approval, usize)>,
    sandbox: Option<(Sandbox, usize)>,
    workspace_write: Option<&'a Entry>,
    default_permissions: Option<&'a Entry>,
    permissions: Option<&'a Entry>,
}

/// Converts a `config.toml`.
pub(crate) fn config(text: &str, name: &str) -> Result<Imported, ImportError> {
    let root = node::parse_toml(text)?;
    let entries = root.table("config")?;
    let mut draft = Draft::new("Codex", name);
    let mut settings = Settings::default();
    for entry in entries {
        setting(entry, &mut settings, &mut draft)?;
    }
    // The chosen profile overrides what stands at the top.
    if let Some(profile) = chosen_profile(entries, &mut draft)? {
        for entry in profile {
            setting(entry, &mut settings, &mut draft)?;
        }
    }
    profile::permissions(settings.default_permissions, settings.permissions, &mut draft)?;
    if settings.sandbox.is_none() {
        settings.sandbox = built_in_profile(settings.default_permissions);
    }
    workspace_write(&settings, &mut draft)?;
    mode(&settings, &mut draft)?;
    Ok(draft.finish())
}

fn setting<'a>(
    entry: &'a Entry,
    settings: &mut Settings<'a>,
    draft: &mut Draft,
) -> Result<(), ImportError> {
    let line = entry.line;
    match entry.key.as_str() {
        "approval_policy" => settings.approval = Some((approval(&entry.node, draft)?, line)),
        "sandbox_mode" => settings.sandbox = Some((sandbox(&entry.node)?, line)),
        "sandbox_workspace_write" => settings.workspace_write = Some(entry),
        "default_permissions" => settings.default_permissions = Some(entry),
        "permissions" => settings.permissions = Some(entry),
        "mcp_servers" => servers::servers(&entry.node, draft)?,
        "web_search" => web_search(&entry.node, line, draft),
        "tools" => tools(&entry.node, draft)?,
        "profile" | "profiles" => {}
        "approvals_reviewer" if entry.node.value == Value::Text("user".to_owned()) => {
            draft.note(format!("approvals_reviewer (line {line}): holds, a person is asked"));
        }
        "approvals_reviewer" | "auto_review" => draft.lose(
            line,
            entry.key.as_str(),
            "Toolgate has no model that approves calls",
            "made stricter: a person is asked",
        ),
        "projects" => draft.lose(
            line,
            "projects",
            "which folders are trusted is not part of a policy",
            "left out: no folder is trusted until Toolgate is told so",
        ),
        "shell_environment_policy" => draft.lose(
            line,
            "shell_environment_policy",
            "a command's environment is not part of a policy",
            "left out: Toolgate passes on what its own list allows",
        ),
        other => draft.lose(
            line,
            other,
            "it is not a permission setting that Toolgate knows",
            "left out",
        ),
    }
    Ok(())
}

fn chosen_profile<'a>(
    entries: &'a [Entry],
    draft: &mut Draft,
) -> Result<Option<&'a [Entry]>, ImportError> {
    let find = |key: &str| entries.iter().find(|entry| entry.key == key);
    let chosen = find("profile").map(|entry| entry.node.text("profile")).transpose()?;
    let Some(profiles) = find("profiles") else {
        return match find("profile") {
            Some(entry) => Err(entry.node.error("there is no such profile")),
            None => Ok(None),
        };
    };
    let mut found = None;
    for profile in profiles.node.table("profiles")? {
        if chosen == Some(profile.key.as_str()) {
            found = Some(profile.node.table("profiles")?);
        } else {
            let what = format!("profiles.{}", profile.key);
            draft.lose(profile.line, what, "it is not the profile in use", "left out");
        }
    }
    match (found, find("profile")) {
        (None, Some(entry)) => Err(entry.node.error("there is no such profile")),
        (found, _) => Ok(found),
    }
}

fn approval(node: &Node, draft: &mut Draft) -> Result<Approval, ImportError> {
    if let Value::Table(entries) = &node.value {
        let granular = match entries.as_slice() {
            [entry] if entry.key == "granular" => entry.node.table("granular")?,
            _ => return Err(node.error("`approval_policy` takes a name or a `granular` table")),
        };
        return granular_approval(granular, draft);
    }
    match node.text("approval_policy")? {
        "untrusted" | "unless-trusted" => Ok(Approval::Untrusted),
        "on-failure" => Ok(Approval::OnFailure),
        "on-request" => Ok(Approval::OnRequest),
        "never" => Ok(Approval::Never),
        other => Err(node.error(format!("there is no approval policy `{other}`"))),
    }
}

fn granular_approval(entries: &[Entry], draft: &mut Draft) -> Result<Approval, ImportError> {
    const QUESTIONS: [&str; 5] =
        ["sandbox_approval", "rules", "mcp_elicitations", "request_permissions", "skill_approval"];
    for entry in entries.iter().filter(|entry| !QUESTIONS.contains(&entry.key.as_str())) {
        let what = format!("approval_policy.granular.{}", entry.key);
        draft.lose(entry.line, what, "Toolgate does not know this key", "left out");
    }
    let mut asked = 0;
    for entry in entries.iter().filter(|entry| QUESTIONS.contains(&entry.key.as_str())) {
        asked += usize::from(entry.node.bool(&entry.key)?);
    }
    Ok(if asked == QUESTIONS.len() { Approval::OnRequest } else { Approval::SomeRefused })
}

fn sandbox(node: &Node) -> Result<Sandbox, ImportError> {
    match node.text("sandbox_mode")? {
        "read-only" => Ok(Sandbox::ReadOnly),
        "workspace-write" => Ok(Sandbox::WorkspaceWrite),
        "danger-full-access" => Ok(Sandbox::Full),
        other => Err(node.error(format!("there is no sandbox mode `{other}`"))),
    }
}

fn built_in_profile(default_permissions: Option<&Entry>) -> Option<(Sandbox, usize)> {
    let entry = default_permissions?;
    let sandbox = match entry.node.text("default_permissions").ok()? {
        ":read-only" => Sandbox::ReadOnly,
        ":workspace" => Sandbox::WorkspaceWrite,
        ":danger-full-access" => Sandbox::Full,
        _ => return None,
    };
    Some((sandbox, entry.line))
}

fn workspace_write(settings: &Settings<'_>, draft: &mut Draft) -> Result<(), ImportError> {
    let Some(table) = settings.workspace_write else { return Ok(()) };
    let in_force = matches!(settings.sandbox, Some((Sandbox::WorkspaceWrite, _)));
    for entry in table.node.table("sandbox_workspace_write")? {
        let what = format!("sandbox_workspace_write.{}", entry.key);
        match entry.key.as_str() {
            "writable_roots" if in_force => {
                for (path, line) in entry.node.texts("writable_roots")? {
                    draft.add_directory(path, line);
                }
            }
            "writable_roots" => {
                let why = "it counts only with `sandbox_mode = \"workspace-write\"`";
                draft.lose(entry.line, what, why, "left out");
            }
            "network_access" if !entry.node.bool("network_access")? => {
                draft.note(format!("{what} (line {}): holds, there is no network", entry.line));
            }
            "network_access" => {
                let why = "Toolgate does not open the whole network";
                let instead = "made stricter: programs reach the hosts that they need";
                draft.lose(entry.line, what, why, instead);
            }
            "exclude_tmpdir_env_var" | "exclude_slash_tmp" => draft.note(format!(
                "{what} (line {}): a sandboxed command has a temporary folder of its own",
                entry.line
            )),
            _ => draft.lose(entry.line, what, "Toolgate does not know this key", "left out"),
        }
    }
    Ok(())
}

fn mode(settings: &Settings<'_>, draft: &mut Draft) -> Result<(), ImportError> {
    let (approval, sandbox) = (settings.approval, settings.sandbox);
    let mode = match (approval.map(|(approval, _)| approval), sandbox.map(|(sandbox, _)| sandbox)) {
        (None, None) => return Ok(()),
        (Some(Approval::Untrusted), _) => "ask",
        (Some(Approval::Never | Approval::SomeRefused), _) => "dont_ask",
        // What acts on other machines asks in mode `sandbox`, and everything else runs.
        (_, Some(Sandbox::Full)) => "sandbox",
        (_, Some(Sandbox::WorkspaceWrite)) if network_access(settings)? => "sandbox",
        (_, Some(Sandbox::WorkspaceWrite)) => "accept_edits",
        (Some(Approval::OnFailure | Approval::OnRequest) | None, _) => "default",
    };
    draft.set_mode(mode);
    report_approval(settings, mode, draft);
    commands(settings, mode, draft)
}

fn report_approval(settings: &Settings<'_>, mode: &str, draft: &mut Draft) {
    let Some((approval, line)) = settings.approval else { return };
    let why = match approval {
        Approval::Untrusted | Approval::OnRequest | Approval::Never => return,
        Approval::OnFailure => "Toolgate asks before a command leaves the sandbox",
        Approval::SomeRefused => "Toolgate refuses all questions or none",
    };
    let instead = format!("made stricter: `default_mode = \"{mode}\"`");
    draft.lose(line, "approval_policy", why, instead);
}

/// Adds the rule for commands that Codex runs unasked because its sandbox holds them.
fn commands(settings: &Settings<'_>, mode: &str, draft: &mut Draft) -> Result<(), ImportError> {
    let Some((sandbox, line)) = settings.sandbox else { return Ok(()) };
    if sandbox == Sandbox::Full {
        draft.lose(
            line,
            "sandbox danger-full-access",
            "Toolgate leaves its sandbox only for a rule with `sandbox = \"full\"` or by a person's yes",
            "made stricter: commands may write in the workspace and reach the hosts that they need",
        );
    }
    // Untrusted commands ask, in whatever sandbox, and mode `sandbox` needs no rule.
    if matches!(mode, "ask" | "sandbox") {
        return Ok(());
    }
    let has_network = sandbox == Sandbox::Full || network_access(settings)?;
    let (name, grant) = match sandbox {
        Sandbox::ReadOnly => ("read-only", Some("read_only")),
        // Without a word about the sandbox, a command reaches the hosts that it needs.
        Sandbox::WorkspaceWrite if has_network => ("workspace-write with network", None),
        Sandbox::WorkspaceWrite => ("workspace-write", Some("workspace_write")),
        Sandbox::Full => ("danger-full-access", None),
    };
    let origin = format!("line {line}: commands run without a question in sandbox {name}");
    let mut rule = Rule::new(origin, ["shell"], Decision::Allow, 0);
    rule.grant.sandbox = grant;
    draft.add_rule(rule);
    if sandbox != Sandbox::ReadOnly && mode == "dont_ask" {
        let origin = format!("line {line}: edits run without a question in sandbox {name}");
        let edits = ["write_file", "edit_file", "notebook_edit"];
        draft.add_rule(Rule::new(origin, edits, Decision::Allow, 0));
    }
    Ok(())
}

fn network_access(settings: &Settings<'_>) -> Result<bool, ImportError> {
    let Some(table) = settings.workspace_write else { return Ok(false) };
    let entries = table.node.table("sandbox_workspace_write")?;
    let entry = entries.iter().find(|entry| entry.key == "network_access");
    entry.map_or(Ok(false), |entry| entry.node.bool("network_access"))
}

fn tools(node: &Node, draft: &mut Draft) -> Result<(), ImportError> {
    for entry in node.table("tools")? {
        match entry.key.as_str() {
            "web_search" => web_search(&entry.node, entry.line, draft),
            other => {
                let what = format!("tools.{other}");
                draft.lose(entry.line, what, "Toolgate has no such tool", "left out");
            }
        }
    }
    Ok(())
}

fn web_search(node: &Node, line: usize, draft: &mut Draft) {
    let disabled = matches!(&node.value, Value::Text(mode) if mode == "disabled");
    if disabled || node.value == Value::Bool(false) {
        let origin = format!("line {line}: web_search is disabled");
        let priority = strictest_wins(Decision::Deny);
        draft.add_rule(Rule::new(origin, ["web_search"], Decision::Deny, priority));
    } else {
        let why = "Toolgate searches with the provider of its own configuration";
        draft.lose(line, "web_search", why, "left out");
    }
}
