//! Permissions of the short form: `Read`, `Bash(git status)`, `WebFetch(domain:docs.rs)`.

use std::ops::Range;

use super::rules::Reader;
use crate::decision::Decision;
use crate::name::ToolPattern;
use crate::pattern::path::Slash;
use crate::pattern::{
    CommandPattern, Condition, DomainPattern, FolderPattern, Operator, PathPattern,
};
use crate::rule::Matcher;
use crate::wildcard::Wildcard;

/// Reads one permission and adds its rule.
pub(super) fn read(reader: &mut Reader<'_>, text: &str, decision: Decision, span: Range<usize>) {
    let Some((tool, matcher)) = parse(reader, text, decision, span.clone()) else { return };
    let mut rule = reader.begin_permission(vec![tool], decision, span.start);
    rule.name = Some(text.trim().into());
    rule.matcher = matcher;
    reader.push(rule);
}

/// What a permission is about.
pub(super) fn parse(
    reader: &mut Reader<'_>,
    text: &str,
    decision: Decision,
    span: Range<usize>,
) -> Option<(ToolPattern, Matcher)> {
    let (text, folder) = in_folder(text.trim());
    let (name, inner) = match text.split_once('(') {
        Some((name, rest)) => {
            let Some(inner) = rest.strip_suffix(')') else {
                let message = format!("`{text}` has no closing parenthesis");
                reader.error(span, message, "ends too early").help =
                    Some(format!("write `{text})`"));
                return None;
            };
            (name.trim(), Some(inner.trim()))
        }
        None => (text, None),
    };
    let tool = tool(reader, name, span.clone())?;
    let mut matcher = matcher(reader, name, &tool, inner, decision, span.clone())?;
    match folder.map(|folder| FolderPattern::parse(folder, reader.places)).transpose() {
        Ok(folder) => matcher.folders.extend(folder),
        Err(why) => {
            reader.error(span, why, "not a folder").help =
                Some(format!("write `{text} in /the/folder`"));
            return None;
        }
    }
    Some((tool, matcher))
}

/// A permission, and the folder it is limited to: `Bash(make test) in ~/site`.
fn in_folder(text: &str) -> (&str, Option<&str>) {
    let folder = match text.rsplit_once(") in ") {
        Some((_, folder)) => folder,
        None => match text.split_once(" in ") {
            Some((name, folder)) if !name.contains('(') => folder,
            _ => return (text, None),
        },
    };
    if folder.ends_with(')') {
        return (text, None);
    }
    let permission = text.strip_suffix(folder).and_then(|text| text.strip_suffix(" in "));
    (permission.unwrap_or(text), Some(folder))
}

/// `Read` and `Edit` stand for whatever reads and edits.
fn tool(reader: &mut Reader<'_>, name: &str, span: Range<usize>) -> Option<ToolPattern> {
    match name {
        "Read" => Some(ToolPattern::Reading),
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" => Some(ToolPattern::Editing),
        name => reader.tool(name, span),
    }
}

fn matcher(
    reader: &mut Reader<'_>,
    name: &str,
    tool: &ToolPattern,
    inner: Option<&str>,
    decision: Decision,
    span: Range<usize>,
) -> Option<Matcher> {
    let mut matcher = Matcher::default();
    let Some(inner) = inner.filter(|inner| !matches!(*inner, "*" | ":*")) else {
        return Some(matcher);
    };
    if inner.is_empty() {
        reader.error(span, format!("`{name}()` says nothing"), "empty").help =
            Some(format!("write `{name}` for all of it"));
        return None;
    }
    match tool {
        ToolPattern::Exact(tool) if tool == "shell" => {
            matcher.commands.push(CommandPattern::parse(inner));
        }
        ToolPattern::Exact(tool) if tool == "web_fetch" => {
            let Some(domain) = inner.strip_prefix("domain:") else {
                reader.error(span, format!("`{name}` takes a domain"), "not a domain").help =
                    Some(format!("write `{name}(domain:{inner})`"));
                return None;
            };
            matcher.domains.push(DomainPattern::parse(domain));
        }
        ToolPattern::Exact(tool) if tool == "task" => matcher.agents.push(Wildcard::new(inner)),
        ToolPattern::Exact(tool) if tool == "activate_skill" => {
            matcher.conditions.push(skill(inner, decision));
        }
        ToolPattern::Reading | ToolPattern::Editing => {
            matcher.paths.push(path(reader, inner, decision, span)?);
        }
        ToolPattern::Exact(tool) if takes_path(tool) => {
            matcher.paths.push(path(reader, inner, decision, span)?);
        }
        _ => {
            reader
                .error(span, format!("`{name}` takes nothing in parentheses"), "not understood")
                .help = Some(format!("write `{name}`, or a `[[rule]]` with conditions"));
            return None;
        }
    }
    Some(matcher)
}

/// Returns the condition that a skill has this name. `Skill(name *)` is about its arguments, too,
/// and `Skill(name*)` about every skill that begins so. An ask or deny rule covers both.
fn skill(inner: &str, decision: Decision) -> Condition {
    let inner = inner.trim();
    let name = inner.strip_suffix(":*").or_else(|| inner.strip_suffix(" *")).unwrap_or(inner);
    let begin = name.split('*').next().unwrap_or_default();
    let is_prefix = name.strip_suffix('*') == Some(begin);
    let operator = match decision {
        _ if name == inner && !name.contains('*') => Operator::Equals(name.into()),
        // A wildcard in the middle allows nothing: no skill has a `*` in its name.
        Decision::Allow if !is_prefix => Operator::Equals(name.into()),
        _ => Operator::StartsWith(begin.to_owned()),
    };
    Condition { param: "name".to_owned(), operator }
}

/// Tools of their own that a path may narrow.
fn takes_path(tool: &str) -> bool {
    matches!(tool, "glob" | "grep" | "ls" | "delete_file")
}

fn path(
    reader: &mut Reader<'_>,
    text: &str,
    decision: Decision,
    span: Range<usize>,
) -> Option<PathPattern> {
    match PathPattern::parse(text, reader.places, Slash::Workspace, decision) {
        Ok(pattern) => Some(pattern),
        Err(error) => {
            reader.error(span, format!("invalid path pattern: {}", error.kind()), "here");
            None
        }
    }
}
