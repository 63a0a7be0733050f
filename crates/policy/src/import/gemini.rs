//! Gemini CLI's policy files.
//!
//! Its rules look like ours and the highest priority wins in both. What differs
//! are the names of tools and parameters, the flavour of regular expressions,
//! and who wins among equals.

mod order;
mod pattern;
mod rule;
mod target;

use super::draft::{Draft, Matcher, Rule};
use super::node::{self, Entry, Node};
use super::report::{ImportError, Imported};
use crate::decision::Decision;
use pattern::Pattern;
use rule::{Checker, ForeignRule};
use target::Target;

/// What has to be said about a rule: why, and what was done.
type Remark = (String, String);

/// Converts a policy file; TOML.
///
/// # Errors
/// When the text is not TOML, or a rule is one that Gemini CLI refuses.
pub fn gemini(text: &str, name: &str) -> Result<Imported, ImportError> {
    let root = node::parse_toml(text)?;
    let mut draft = Draft::new("Gemini CLI", name);
    let mut rules = Vec::new();
    for entry in root.table("policy")? {
        match entry.key.as_str() {
            "rule" => {
                for node in entry.node.list("rule")? {
                    let foreign = checked(ForeignRule::read(node)?, &mut draft);
                    rules.extend(convert(&foreign, &mut draft));
                }
            }
            "safety_checker" => {
                for node in entry.node.list("safety_checker")? {
                    // Ahead of the rules: among equals the first wins.
                    rules.splice(0..0, checker(node, entry, &mut draft)?);
                }
            }
            other => draft.lose(entry.line, other, "Toolgate does not know this key", "left out"),
        }
    }
    rules.extend(stricter_without_a_rule());
    order::settle(&mut rules, &mut draft);
    for rule in rules {
        draft.add_rule(rule);
    }
    Ok(draft.finish())
}

/// What Gemini CLI asks about or denies without any rule and Toolgate, by itself, does not.
fn stricter_without_a_rule() -> [Rule; 3] {
    let rule = |tools: &[&str], decision, modes: &[&str]| {
        let origin = "Gemini CLI is stricter about these unless a rule says otherwise";
        let mut rule = Rule::new(origin, [], decision, 0);
        rule.tools = tools.iter().map(|&tool| tool.to_owned()).collect();
        rule.modes = modes.iter().map(|&mode| mode.to_owned()).collect();
        rule
    };
    let files_and_memory = ["read_many_files", "memory", "remember"];
    [
        rule(&files_and_memory, Decision::Deny, &["plan"]),
        rule(&files_and_memory, Decision::Ask, &["default", "ask", "accept_edits", "dont_ask"]),
        rule(
            &["activate_skill"],
            Decision::Ask,
            &["default", "ask", "accept_edits", "plan", "dont_ask"],
        ),
    ]
}

/// A rule with a checker of its own: what the checker would refuse must not run.
fn checked(mut foreign: ForeignRule, draft: &mut Draft) -> ForeignRule {
    match foreign.checker {
        None => {}
        Some(Checker::AllowedPath) => draft.note(format!(
            "safety_checker allowed-path (line {}): holds, files outside the workspace ask",
            foreign.line
        )),
        Some(Checker::Other) if foreign.decision == Decision::Deny => {}
        Some(Checker::Other) => {
            draft.lose(
                foreign.line,
                format!("{} with a safety_checker", foreign.describe()),
                "a checker is a program, and what it would refuse cannot be known",
                "made stricter: every call it would have been shown is denied",
            );
            foreign.decision = Decision::Deny;
        }
    }
    foreign
}

/// A checker is a program that may refuse any call it is shown; so all of them are refused.
fn checker(node: &Node, entry: &Entry, draft: &mut Draft) -> Result<Vec<Rule>, ImportError> {
    let foreign = ForeignRule::read_checker(node)?;
    let line = foreign.line.max(entry.line);
    if foreign.checker == Some(Checker::AllowedPath) {
        draft.note(format!(
            "safety_checker allowed-path (line {line}): holds, files outside the workspace ask"
        ));
        return Ok(Vec::new());
    }
    draft.lose(
        line,
        "safety_checker",
        "a checker is a program, and what it would refuse cannot be known",
        "made stricter: every call it would have been shown is denied",
    );
    Ok(convert(&foreign, draft))
}

fn convert(foreign: &ForeignRule, draft: &mut Draft) -> Vec<Rule> {
    let mut remarks: Vec<Remark> = Vec::new();
    let rules = convert_parts(foreign, &mut remarks);
    let mut said: Vec<Remark> = Vec::new();
    for remark in remarks {
        if said.contains(&remark) {
            continue;
        }
        let (why, instead) = remark.clone();
        said.push(remark);
        draft.lose(foreign.line, foreign.describe(), why, instead);
    }
    rules
}

fn convert_parts(foreign: &ForeignRule, remarks: &mut Vec<Remark>) -> Vec<Rule> {
    let allow = foreign.decision == Decision::Allow;
    for key in &foreign.unknown {
        let instead = if allow { "the rule is left out" } else { "the rule holds without it" };
        remarks.push((format!("Toolgate does not know the key `{key}`"), instead.to_owned()));
    }
    if allow && !foreign.unknown.is_empty() {
        return Vec::new();
    }
    let Some(template) = template(foreign, remarks) else { return Vec::new() };

    let mut rules = Vec::new();
    for target in target::targets(foreign, remarks) {
        for pattern in pattern::patterns(foreign, &target, remarks) {
            rules.push(assemble(&template, &target, pattern));
        }
    }
    rules
}

/// Everything of the rule but its tool and its arguments.
fn template(foreign: &ForeignRule, remarks: &mut Vec<Remark>) -> Option<Rule> {
    let mut rule = Rule::new(foreign.origin(), [], foreign.decision, foreign.priority);
    rule.line = foreign.line;
    rule.subagent.clone_from(&foreign.subagent);
    rule.interactive = foreign.interactive;
    rule.message.clone_from(&foreign.deny_message);
    rule.allow_redirection = foreign.allow_redirection && foreign.decision == Decision::Allow;
    modes(foreign, &mut rule, remarks)?;
    annotations(foreign, &mut rule, remarks)?;
    Some(rule)
}

fn modes(foreign: &ForeignRule, rule: &mut Rule, remarks: &mut Vec<Remark>) -> Option<()> {
    let allow = foreign.decision == Decision::Allow;
    let mut modes: Vec<&str> = Vec::new();
    for mode in &foreign.modes {
        match (mode.as_str(), allow) {
            ("default", true) => modes.push("default"),
            // Toolgate's modes that their program does not have are at least as strict.
            ("default", false) => modes.extend(["default", "ask", "dont_ask"]),
            ("autoEdit", true) => modes.push("accept_edits"),
            ("autoEdit", false) => {
                modes.extend(["accept_edits", "autorun_no_public", "autorun_all"]);
            }
            ("plan", _) => modes.push("plan"),
            ("yolo", _) => modes.push("yolo"),
            (other, true) => {
                remarks.push((format!("there is no mode `{other}`"), "left out of `modes`".into()));
            }
            (other, false) => {
                let instead = "made broader: it holds in every mode".to_owned();
                remarks.push((format!("there is no mode `{other}`"), instead));
                rule.broadened = true;
            }
        }
    }
    let all = ["default", "accept_edits", "plan", "yolo"].iter().all(|mode| modes.contains(mode));
    if foreign.modes.is_empty() || rule.broadened || (all && !allow) {
        return Some(());
    }
    rule.modes = modes.into_iter().map(str::to_owned).collect();
    (!rule.modes.is_empty()).then_some(())
}

/// Only the hints of the MCP standard are known, and only as switches.
fn annotations(foreign: &ForeignRule, rule: &mut Rule, remarks: &mut Vec<Remark>) -> Option<()> {
    const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];
    for (name, value) in &foreign.annotations {
        match (HINTS.into_iter().find(|hint| hint == name), value) {
            (Some(hint), Some(value)) => rule.annotations.push((hint, *value)),
            _ if foreign.decision == Decision::Allow => {
                let why = format!("Toolgate does not know the annotation `{name}`");
                remarks.push((why, "the rule is left out".to_owned()));
                return None;
            }
            _ => {
                let why = format!("Toolgate does not know the annotation `{name}`");
                remarks.push((why, "made broader: it holds whatever that says".to_owned()));
                rule.broadened = true;
            }
        }
    }
    Some(())
}

fn assemble(template: &Rule, target: &Target, pattern: Pattern) -> Rule {
    let mut rule = template.clone();
    rule.tools.clone_from(&target.tools);
    rule.mcp.clone_from(&target.mcp);
    if let Some(agent) = &target.agent {
        rule.equals.push(("agent".to_owned(), agent.clone()));
    }
    rule.broadened |= target.broadened || pattern.broadened;
    rule.matcher = pattern.matcher;
    if rule.matcher == Matcher::Any && !rule.tools.iter().any(|tool| tool == "shell" || tool == "*")
    {
        rule.allow_redirection = false;
    }
    rule
}
