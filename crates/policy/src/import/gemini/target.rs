//! Gemini CLI's tool names as ours.

use super::rule::ForeignRule;
use crate::decision::Decision;

/// Tools that one of our rules is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) tools: Vec<String>,
    pub(crate) mcp: Option<String>,
    /// The subagent that is started, for rules that name it as if it were a tool.
    pub(crate) agent: Option<String>,
    /// The tool as the original calls it, when it is one that is built in.
    pub(crate) original: Option<&'static str>,
    pub(crate) broadened: bool,
}

/// Their built-in tools, what an allow rule for them covers, and what ask and deny rules cover.
const BUILT_IN: &[(&str, &[&str], &[&str])] = &[
    ("run_shell_command", &["shell"], &["shell"]),
    ("read_file", &["read_file"], &["read_file"]),
    ("read_many_files", &["read_many_files"], &["read_many_files"]),
    ("write_file", &["write_file"], &["write_file"]),
    ("replace", &["edit_file"], &["edit_file", "notebook_edit"]),
    ("glob", &["glob"], &["glob"]),
    ("grep_search", &["grep"], &["grep"]),
    ("search_file_content", &["grep"], &["grep"]),
    ("list_directory", &["ls"], &["ls"]),
    ("web_fetch", &["web_fetch"], &["web_fetch"]),
    ("google_web_search", &["web_search"], &["web_search"]),
    ("save_memory", &["remember"], &["remember", "memory"]),
    ("write_todos", &["write_todos"], &["write_todos", "todo_write"]),
    ("ask_user", &["ask_user"], &["ask_user"]),
    ("activate_skill", &["activate_skill"], &["activate_skill"]),
    ("enter_plan_mode", &["enter_plan_mode"], &["enter_plan_mode"]),
    ("exit_plan_mode", &["exit_plan_mode"], &["exit_plan_mode"]),
    ("invoke_agent", &["task"], &["task", "create_subtasks"]),
];

/// What the rule is about; a remark for every name that is not carried over as it is.
pub(crate) fn targets(foreign: &ForeignRule, remarks: &mut Vec<(String, String)>) -> Vec<Target> {
    let shell_only = foreign.command_prefix.is_some() || foreign.command_regex.is_some();
    let names = match (&foreign.tool_names, &foreign.mcp_name) {
        (Some(names), None) => names.clone(),
        (names, Some(server)) => return server_targets(foreign, server, names.as_deref(), remarks),
        (None, None) if shell_only => vec!["run_shell_command".to_owned()],
        (None, None) => {
            let why = "a rule without a tool is refused by Gemini CLI".to_owned();
            let allow = foreign.decision == Decision::Allow;
            let instead = if allow { "left out" } else { "made broader: it covers every tool" };
            remarks.push((why, instead.to_owned()));
            return if allow { Vec::new() } else { vec![every_tool()] };
        }
    };
    names.iter().flat_map(|name| named(foreign.decision, name, remarks)).collect()
}

fn every_tool() -> Target {
    Target { tools: vec!["*".to_owned()], broadened: true, ..Target::default() }
}

fn tool(name: impl Into<String>) -> Target {
    Target { tools: vec![name.into()], ..Target::default() }
}

fn named(decision: Decision, name: &str, remarks: &mut Vec<(String, String)>) -> Vec<Target> {
    let allow = decision == Decision::Allow;
    if let Some((theirs, allowed, others)) = BUILT_IN.iter().find(|(theirs, ..)| *theirs == name) {
        let tools = if allow { allowed } else { others };
        let tools = tools.iter().map(|&tool| tool.to_owned()).collect();
        return vec![Target { tools, original: Some(theirs), ..Target::default() }];
    }
    if name == "*" || name.starts_with("discovered_tool_") {
        return vec![tool(name)];
    }
    if let Some(rest) = name.strip_prefix("mcp_") {
        return qualified(decision, rest, remarks);
    }
    if let Some((server, short)) = name.split_once("__") {
        let why = format!("the form `{name}` is no longer read by Gemini CLI");
        let instead = if allow { "left out" } else { "made stricter: it holds" };
        remarks.push((why, instead.to_owned()));
        return if allow { Vec::new() } else { vec![tool(format!("mcp__{server}__{short}"))] };
    }
    if allow || name.contains('*') {
        return unknown(decision, name, remarks);
    }
    let why = format!("Toolgate has no tool `{name}`");
    let instead = format!("it holds for starting a subagent `{name}`");
    remarks.push((why, instead));
    let agent = Some(name.to_owned());
    vec![Target { agent, ..tool("task") }]
}

fn unknown(decision: Decision, name: &str, remarks: &mut Vec<(String, String)>) -> Vec<Target> {
    if decision == Decision::Allow {
        remarks.push((format!("Toolgate has no tool `{name}`"), "left out".to_owned()));
        return Vec::new();
    }
    let instead = "made broader: it covers every tool".to_owned();
    remarks.push((format!("Toolgate does not know the wildcard `{name}`"), instead));
    vec![every_tool()]
}

/// `server_tool`, `server_*`, `*_tool` or `*`, after the leading `mcp_`.
fn qualified(decision: Decision, name: &str, remarks: &mut Vec<(String, String)>) -> Vec<Target> {
    if name == "*" {
        return vec![tool("mcp__*")];
    }
    // The server's name ends at the first underscore, so theirs have none.
    let Some((server, short)) = name.split_once('_') else {
        return unknown(decision, &format!("mcp_{name}"), remarks);
    };
    let allow = decision == Decision::Allow;
    match (server, short) {
        ("*", _) if allow => {
            let why = "a tool's name says nothing about the server it is on".to_owned();
            remarks.push((why, "left out".to_owned()));
            Vec::new()
        }
        ("", _) | (_, "") => unknown(decision, &format!("mcp_{name}"), remarks),
        (_, "*") => vec![Target { mcp: Some(server.to_owned()), ..Target::default() }],
        _ if allow => vec![tool(format!("mcp__{server}__{short}"))],
        // A server with an underscore in its name could be meant just as well.
        _ => {
            let splits = name.match_indices('_').filter_map(|(at, _)| {
                let (server, short) = (name.get(..at)?, name.get(at + 1..)?);
                (!server.is_empty() && !short.is_empty()).then(|| format!("mcp__{server}__{short}"))
            });
            vec![Target { tools: splits.collect(), ..Target::default() }]
        }
    }
}

fn server_targets(
    foreign: &ForeignRule,
    server: &str,
    names: Option<&[String]>,
    remarks: &mut Vec<(String, String)>,
) -> Vec<Target> {
    let mut names: Vec<&str> = names.unwrap_or_default().iter().map(String::as_str).collect();
    let whole_server = names.is_empty() || names.contains(&"*");
    if foreign.decision == Decision::Allow && !whole_server {
        let given = names.len();
        names.retain(|name| !name.contains('*'));
        if names.len() < given {
            let why = "Gemini CLI reads no wildcard in the name of a server's tool".to_owned();
            remarks.push((why, "that name is left out".to_owned()));
        }
        if names.is_empty() {
            return Vec::new();
        }
    }
    match (server, whole_server) {
        ("*", true) => vec![tool("mcp__*")],
        ("*", false) if foreign.decision == Decision::Allow => {
            let why = "a tool's name says nothing about the server it is on".to_owned();
            remarks.push((why, "left out".to_owned()));
            Vec::new()
        }
        ("*", false) => names.iter().map(|name| tool(format!("mcp__*__{name}"))).collect(),
        (_, true) => vec![Target { mcp: Some(server.to_owned()), ..Target::default() }],
        (_, false) => vec![Target {
            mcp: Some(server.to_owned()),
            tools: names.iter().map(|&name| name.to_owned()).collect(),
            ..Target::default()
        }],
    }
}
