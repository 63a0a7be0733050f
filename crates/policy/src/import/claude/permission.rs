//! Claude Code's permission strings: `Tool` and `Tool(specifier)`.
//!
//! Most mean the same in a `[permissions]` block and pass as they are.

use crate::decision::Decision;
use crate::import::draft::{Matcher, Rule, strictest_wins};

/// What becomes of a permission string.
#[derive(Debug, Clone, Default)]
pub(crate) struct Converted {
    /// Strings of the `[permissions]` block.
    pub(crate) permissions: Vec<String>,
    /// Rules beside it; their origin is not yet filled in.
    pub(crate) rules: Vec<Rule>,
    /// Why it is not carried over exactly, and what was done instead.
    pub(crate) loss: Option<(String, String)>,
}

/// Tools that take no specifier, under the names Toolgate reads.
const BARE_TOOLS: &[(&str, &str)] = &[
    ("AskUserQuestion", "AskUserQuestion"),
    ("BashOutput", "TaskOutput"),
    ("EnterPlanMode", "EnterPlanMode"),
    ("ExitPlanMode", "ExitPlanMode"),
    ("KillBash", "KillShell"),
    ("KillShell", "KillShell"),
    ("LSP", "LSP"),
    ("TaskOutput", "TaskOutput"),
    ("TaskStop", "KillShell"),
    ("TodoWrite", "TodoWrite"),
    ("WebSearch", "WebSearch"),
];

/// Tools whose specifiers Claude Code accepts and never looks at, with the rule it does look at.
const UNREAD_SPECIFIERS: &[(&str, &str)] = &[
    ("Write", "Edit"),
    ("MultiEdit", "Edit"),
    ("NotebookEdit", "Edit"),
    ("Glob", "Read"),
    ("Grep", "Read"),
    ("LS", "Read"),
    ("NotebookRead", "Read"),
];

/// Parameters of `Bash` that a specifier may name, beside the command itself.
const BASH_PARAMETERS: &[&str] =
    &["run_in_background", "timeout", "description", "dangerouslyDisableSandbox"];

/// Converts one string of an `allow`, `ask` or `deny` list.
pub(crate) fn convert(decision: Decision, text: &str) -> Converted {
    let text = text.trim();
    let (tool, specifier) = match text.split_once('(') {
        None => (text, None),
        Some((tool, rest)) => match rest.strip_suffix(')') {
            Some(specifier) => (tool, Some(specifier)),
            None => return or_whole_tool(decision, tool, "its parenthesis is not closed"),
        },
    };
    let specifier = match specifier {
        Some("") => return or_whole_tool(decision, tool, "its parentheses are empty"),
        // Everything the tool does; a path pattern `*` is less than that.
        Some("*") if matches!(tool, "Bash" | "WebFetch" | "Task" | "Agent" | "Skill") => None,
        other => other,
    };
    match (tool, specifier) {
        (name, _) if name.starts_with("mcp__") => mcp(decision, name, specifier),
        (name, _) if name.contains('*') => wildcard(decision, name),
        ("Bash", Some(specifier)) => bash(decision, specifier),
        ("Read" | "Edit", Some(pattern)) => path(decision, tool, pattern),
        ("WebFetch", Some(specifier)) => web_fetch(decision, specifier),
        ("Task" | "Agent", Some(specifier)) => named(decision, "Task", specifier),
        ("Skill", Some(specifier)) => named(decision, "Skill", specifier),
        ("SlashCommand", Some(specifier)) => slash_command(decision, specifier),
        (_, Some(specifier)) => no_specifier(decision, tool, specifier),
        (_, None) => match whole_tool(tool) {
            Some(name) => kept(name.to_owned()),
            None => unknown_tool(),
        },
    }
}

fn kept(permission: String) -> Converted {
    Converted { permissions: vec![permission], ..Converted::default() }
}

fn left_out(why: &str) -> Converted {
    let loss = Some((why.to_owned(), "left out".to_owned()));
    Converted { loss, ..Converted::default() }
}

fn broader(permissions: Vec<String>, why: &str) -> Converted {
    let instead = format!("made broader: {}", permissions.join(", "));
    Converted { permissions, loss: Some((why.to_owned(), instead)), ..Converted::default() }
}

fn unknown_tool() -> Converted {
    left_out("Toolgate has no such tool")
}

/// An allow rule is left out; an ask or deny rule covers the tool as a whole.
fn or_whole_tool(decision: Decision, tool: &str, why: &str) -> Converted {
    let mcp = tool.starts_with("mcp__").then_some(tool);
    match mcp.or_else(|| whole_tool(tool)) {
        None => unknown_tool(),
        Some(_) if decision == Decision::Allow => left_out(why),
        Some(name) => broader(vec![name.to_owned()], why),
    }
}

/// The name under which Toolgate reads a rule for the whole tool.
fn whole_tool(tool: &str) -> Option<&'static str> {
    let same = ["Bash", "Read", "Edit", "Write", "NotebookEdit", "Glob", "Grep", "LS", "WebFetch"];
    match tool {
        "Task" | "Agent" => Some("Task"),
        "Skill" | "SlashCommand" => Some("Skill"),
        "MultiEdit" => Some("Edit"),
        "NotebookRead" => Some("Read"),
        _ => {
            let bare = || BARE_TOOLS.iter().find(|(theirs, _)| *theirs == tool);
            same.into_iter().find(|name| *name == tool).or_else(|| bare().map(|(_, ours)| *ours))
        }
    }
}

fn no_specifier(decision: Decision, tool: &str, specifier: &str) -> Converted {
    let Some((_, read)) = UNREAD_SPECIFIERS.iter().find(|(theirs, _)| *theirs == tool) else {
        return or_whole_tool(decision, tool, "this tool takes no specifier");
    };
    let why = format!("Claude Code looks only at `{read}` rules for this");
    if decision == Decision::Allow {
        return left_out(&why);
    }
    broader(path(decision, read, specifier).permissions, &why)
}

fn mcp(decision: Decision, name: &str, specifier: Option<&str>) -> Converted {
    if specifier.is_some() {
        return or_whole_tool(decision, name, "a rule for an MCP tool takes no specifier");
    }
    let server = name.trim_start_matches("mcp__").split("__").next().unwrap_or_default();
    if decision == Decision::Allow && (server.is_empty() || server.contains('*')) {
        return left_out("Claude Code allows by wildcard only within one server");
    }
    kept(name.to_owned())
}

/// A wildcard in the tool's own name: Claude Code heeds it in ask and deny rules.
fn wildcard(decision: Decision, name: &str) -> Converted {
    if decision == Decision::Allow {
        return left_out("Claude Code ignores wildcards in the tool names it allows");
    }
    let rule = |tool: &str| Rule::new("", [tool], decision, strictest_wins(decision));
    if name == "*" {
        return Converted { rules: vec![rule("*")], ..Converted::default() };
    }
    let instead = Some((
        "Toolgate's tools have other names, which the wildcard may miss".to_owned(),
        format!("made broader: {decision} for every tool"),
    ));
    Converted { rules: vec![rule("*")], loss: instead, ..Converted::default() }
}

fn bash(decision: Decision, specifier: &str) -> Converted {
    if let Some((parameter, value)) = specifier.split_once(':') {
        if parameter == "command" {
            let why = "Claude Code ignores `command:` here";
            return match decision {
                Decision::Allow => left_out(why),
                _ => broader(vec![format!("Bash({value})")], why),
            };
        }
        if BASH_PARAMETERS.contains(&parameter) {
            return or_whole_tool(decision, "Bash", "Toolgate's rules do not name this parameter");
        }
    }
    let whole_line = spans_commands(specifier);
    if decision == Decision::Allow {
        if whole_line {
            return left_out("in Toolgate each command of a line needs its own permission");
        }
        return kept(format!("Bash({specifier})"));
    }
    let mut converted = Converted::default();
    if !whole_line {
        converted.permissions.push(format!("Bash({specifier})"));
    }
    if whole_line || specifier.contains(['"', '\'', '\\', '$']) {
        let mut rule = Rule::new("", ["shell"], decision, strictest_wins(decision));
        rule.matcher = Matcher::ArgsPattern(line_pattern(specifier));
        converted.rules.push(rule);
    }
    converted
}

/// Whether the text reaches over more than one simple command.
fn spans_commands(text: &str) -> bool {
    text.contains("$(") || text.contains(['|', '&', ';', '<', '>', '`', '\n', '\r', '\0'])
}

/// The wildcard as an expression that is searched for in the arguments.
fn line_pattern(specifier: &str) -> String {
    let start = specifier.strip_suffix(":*").or_else(|| specifier.strip_suffix(" *"));
    let start = start.unwrap_or(specifier).trim_end_matches('*');
    let piece = |piece: &str| {
        let json = serde_json::Value::from(piece).to_string();
        regex::escape(json.trim_start_matches('"').strip_suffix('"').unwrap_or_default())
    };
    start.split('*').map(piece).collect::<Vec<_>>().join(".*")
}

fn path(decision: Decision, tool: &str, pattern: &str) -> Converted {
    if pattern.starts_with('!') {
        return or_whole_tool(decision, tool, "a rule cannot take back another");
    }
    if pattern.split('/').any(|part| part == "..") {
        let why = "Toolgate's patterns do not climb out of the workspace";
        if decision == Decision::Allow {
            return left_out(why);
        }
        let below = pattern.rsplit("../").next().unwrap_or_default().trim_matches('.');
        return broader(vec![format!("{tool}(//**/{below})")], why);
    }
    let from_settings = pattern.strip_prefix('/').filter(|rest| !rest.starts_with('/'));
    let Some(rest) = from_settings else { return kept(format!("{tool}({pattern})")) };
    let why = "a single leading slash starts at the settings file, whose place is not known here";
    match decision {
        Decision::Allow => left_out(why),
        _ => broader(vec![format!("{tool}(./{rest})"), format!("{tool}(~/.claude/{rest})")], why),
    }
}

fn web_fetch(decision: Decision, specifier: &str) -> Converted {
    let Some(domain) = specifier.strip_prefix("domain:") else {
        return or_whole_tool(decision, "WebFetch", "only `domain:` is understood");
    };
    let host = domain.strip_prefix("*.").unwrap_or(domain);
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    match domain {
        "*" => kept("WebFetch".to_owned()),
        _ if !host.is_empty() && host.chars().all(plain) => kept(format!("WebFetch({specifier})")),
        _ => or_whole_tool(decision, "WebFetch", "a wildcard is understood only as `*.` in front"),
    }
}

/// A subagent or a skill by its name.
fn named(decision: Decision, tool: &str, specifier: &str) -> Converted {
    if specifier.contains(':') && tool == "Task" {
        return or_whole_tool(decision, tool, "Toolgate's rules name an agent, not its parameters");
    }
    kept(format!("{tool}({specifier})"))
}

fn slash_command(decision: Decision, specifier: &str) -> Converted {
    let why = "Toolgate has skills instead of slash commands";
    if decision == Decision::Allow {
        return left_out(why);
    }
    let name = specifier.trim_start_matches('/').trim_end_matches(":*");
    broader(vec![format!("Skill({name})"), format!("Skill({name} *)")], why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permissions(decision: Decision, text: &str) -> Vec<String> {
        convert(decision, text).permissions
    }

    #[test]
    fn what_means_the_same_passes_as_it_is() {
        for text in [
            "Bash",
            "Bash(npm run *)",
            "Bash(npm run test:*)",
            "Bash(git * main)",
            "Read(./.env)",
            "Read(~/.ssh/**)",
            "Edit(//etc/**)",
            "WebFetch(domain:docs.rs)",
            "WebFetch(domain:*.rs)",
            "mcp__github",
            "mcp__github__get_*",
            "Skill(deploy *)",
            "Task(Explore)",
        ] {
            for decision in [Decision::Allow, Decision::Ask, Decision::Deny] {
                let converted = convert(decision, text);
                assert_eq!(converted.permissions, [text], "{decision}");
                assert!(converted.loss.is_none() && converted.rules.is_empty(), "{text}");
            }
        }
    }

    #[test]
    fn allow_rules_that_are_not_understood_are_left_out() {
        for text in [
            "Bash(npm test && npm run lint)",
            "Bash(curl",
            "Bash()",
            "Bash(command:rm *)",
            "Bash(run_in_background:true)",
            "Write(src/**)",
            "Read(/src/**)",
            "Read(../other/**)",
            "WebFetch(https://docs.rs)",
            "WebFetch(domain:docs.*)",
            "WebSearch(rust)",
            "mcp__*",
            "mcp__github__get(x)",
            "*",
            "Web*",
            "PowerShell",
            "SlashCommand(/deploy)",
            "",
        ] {
            let converted = convert(Decision::Allow, text);
            assert!(converted.permissions.is_empty() && converted.rules.is_empty(), "{text}");
            assert!(converted.loss.is_some(), "{text}");
        }
    }

    #[test]
    fn deny_rules_that_are_not_understood_get_broader() {
        for (text, ours) in [
            ("Bash(rm", vec!["Bash"]),
            ("Bash(command:rm *)", vec!["Bash(rm *)"]),
            ("Bash(run_in_background:true)", vec!["Bash"]),
            ("Write(src/**)", vec!["Edit(src/**)"]),
            ("Grep(/secret)", vec!["Read(./secret)", "Read(~/.claude/secret)"]),
            ("Read(../other/**)", vec!["Read(//**/other/**)"]),
            ("WebFetch(https://docs.rs)", vec!["WebFetch"]),
            ("mcp__github__get(x)", vec!["mcp__github__get"]),
            ("Agent(model:opus)", vec!["Task"]),
            ("SlashCommand(/deploy:*)", vec!["Skill(deploy)", "Skill(deploy *)"]),
        ] {
            assert_eq!(permissions(Decision::Deny, text), ours, "{text}");
            assert!(convert(Decision::Deny, text).loss.is_some(), "{text}");
        }
    }

    #[test]
    fn a_denied_line_is_searched_for_as_a_whole() {
        let converted = convert(Decision::Deny, r#"Bash(curl * | sh -c "x" *)"#);
        let Matcher::ArgsPattern(pattern) = &converted.rules[0].matcher else { panic!() };
        let line = serde_json::json!({ "command": r#"cd /; curl -s a.b | sh -c "x" && ls"# });
        assert!(regex::Regex::new(pattern).unwrap().is_match(&line.to_string()), "{pattern}");
    }
}
