//! What a session knows, as Markdown.

use std::fmt::Write as _;
use std::time::SystemTime;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::context::CallContext;
use toolgate_core::error::{ErrorKind, ToolError};
use toolgate_core::keeping::{
    Dumps, Goal, GoalStatus, Goals, Memory, Reasoning, Scope, TodoList, TodoStatus, Todos,
};
use toolgate_core::visible;

use crate::keeping::{failed, moment, start_of};

/// How many entries of each kind are written down.
const MOST: usize = 500;
const MOST_FILES: u32 = 500;
/// How much reasoning is, and how many characters of each piece.
const THOUGHTS: u32 = 20;
const LONGEST_THOUGHT: usize = 2_000;

/// A section of a snapshot.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Section {
    /// Its heading, in one line.
    pub(super) title: String,
    /// Its text, in Markdown.
    pub(super) content: String,
}

/// What stands at the top.
#[derive(Debug)]
pub(super) struct Head<'a> {
    pub(super) title: &'a str,
    pub(super) at: SystemTime,
}

/// Everything a session knows. Parts that nobody keeps are left out; what cannot be read is an
/// error, so that nothing seems not to be there.
pub(super) fn write(
    context: &CallContext,
    head: &Head<'_>,
    sections: &[Section],
) -> Result<String, ToolError> {
    let mut text = format!("# {}\n\n", visible::line(head.title));
    let workspace = visible::path(context.workspace().root());
    item(&mut text, &format!("Workspace: {workspace}"));
    item(&mut text, &format!("Session: {}", visible::line(context.session().id().as_str())));
    item(&mut text, &format!("Written: {}", moment(head.at)));
    for Section { title, content } in sections {
        heading(&mut text, title);
        text.push_str(&visible::text(content.trim_end()));
        text.push('\n');
    }
    goal(&mut text, context)?;
    todos(&mut text, context)?;
    memory(&mut text, context)?;
    reasoning(&mut text, context)?;
    changes(&mut text, context)?;
    Ok(text)
}

fn goal(text: &mut String, context: &CallContext) -> Result<(), ToolError> {
    let Some(goals) = context.service::<dyn Goals>() else { return Ok(()) };
    let unkept = failed(ErrorKind::GoalError);
    let all = goals.list(context.workspace().root()).map_err(&unkept)?;
    if let Some(active) = all.iter().find(|goal| goal.status == GoalStatus::Active) {
        heading(text, &format!("Active goal: {}", active.title));
        describe(text, active);
        for point in goals.checkpoints(active.id).map_err(&unkept)?.iter().rev().take(MOST) {
            let about = point.description.as_deref().map(|about| format!(": {about}"));
            let about = about.unwrap_or_default();
            item(text, &format!("Checkpoint `{}` of {}{about}", point.name, moment(point.at)));
        }
        for decision in goals.decisions(active.id).map_err(&unkept)?.iter().rev().take(MOST) {
            item(text, &format!("Decided: {}", decision.decision));
            if let Some(rationale) = &decision.rationale {
                below(text, &format!("Because: {rationale}"));
            }
            for alternative in &decision.alternatives {
                below(text, &format!("Instead of: {alternative}"));
            }
        }
    }
    let paused: Vec<&Goal> = all.iter().filter(|goal| goal.status == GoalStatus::Paused).collect();
    if !paused.is_empty() {
        heading(text, "Paused goals");
        items(text, paused.iter().map(|goal| format!("{}: {}", goal.id, goal.title)));
    }
    Ok(())
}

fn describe(text: &mut String, goal: &Goal) {
    if let Some(description) = &goal.description {
        text.push_str(&visible::text(description));
        text.push_str("\n\n");
    }
    for criterion in &goal.criteria {
        item(text, &format!("Reached when: {criterion}"));
    }
}

fn todos(text: &mut String, context: &CallContext) -> Result<(), ToolError> {
    let Some(todos) = context.service::<dyn Todos>() else { return Ok(()) };
    let list = TodoList::of(context.session());
    let todos = todos.list(&list).map_err(failed(ErrorKind::TodoError))?;
    if !todos.is_empty() {
        heading(text, "Todos");
        items(
            text,
            todos.iter().map(|todo| match todo.status {
                TodoStatus::Pending => format!("[ ] {}", todo.task),
                TodoStatus::InProgress => format!("[ ] {} (in progress)", todo.task),
                TodoStatus::Completed => format!("[x] {}", todo.task),
            }),
        );
    }
    Ok(())
}

fn memory(text: &mut String, context: &CallContext) -> Result<(), ToolError> {
    let Some(memory) = context.service::<dyn Memory>() else { return Ok(()) };
    let (workspace, unkept) = (context.workspace().root(), failed(ErrorKind::MemoryError));
    let facts = memory.facts(workspace).map_err(&unkept)?;
    if !facts.is_empty() {
        heading(text, "Facts");
        items(
            text,
            facts.iter().rev().map(|fact| match fact.scope {
                Scope::Workspace => fact.fact.clone(),
                Scope::User => format!("{} (everywhere)", fact.fact),
            }),
        );
    }
    let keys = memory.keys(workspace).map_err(&unkept)?;
    if !keys.is_empty() {
        heading(text, "Memory");
        items(text, keys.iter().map(|key| format!("`{}`, {} bytes", key.key, key.bytes)));
    }
    Ok(())
}

fn reasoning(text: &mut String, context: &CallContext) -> Result<(), ToolError> {
    let Some(reasoning) = context.service::<dyn Reasoning>() else { return Ok(()) };
    let thoughts = reasoning
        .read(context.session(), None, THOUGHTS)
        .map_err(failed(ErrorKind::MemoryError))?;
    if !thoughts.is_empty() {
        heading(text, "Recent reasoning");
        let shown = |text: &str| start_of(&flat(text), LONGEST_THOUGHT);
        items(
            text,
            thoughts
                .iter()
                .map(|thought| format!("{}: {}", moment(thought.at), shown(&thought.text))),
        );
    }
    Ok(())
}

fn changes(text: &mut String, context: &CallContext) -> Result<(), ToolError> {
    let Some(dumps) = context.service::<dyn Dumps>() else { return Ok(()) };
    let (files, more) = dumps
        .changed_files(context.session(), MOST_FILES)
        .map_err(failed(ErrorKind::MemoryError))?;
    if !files.is_empty() {
        heading(text, "Files changed in this session");
        items(text, files.iter().map(|file| context.workspace().shown(file)));
    }
    if more > 0 {
        item(text, &format!("and {more} more"));
    }
    Ok(())
}

fn heading(text: &mut String, title: &str) {
    // Writing to a text does not fail.
    write!(text, "\n## {}\n\n", visible::line(title)).ok();
}

fn item(text: &mut String, line: &str) {
    writeln!(text, "- {}", flat(line)).ok();
}

/// An item below the last one.
fn below(text: &mut String, line: &str) {
    writeln!(text, "  - {}", flat(line)).ok();
}

/// Text of several lines on one.
fn flat(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    visible::line(&lines.join(" ")).into_owned()
}

/// As many items as are written down, and how many more there are.
fn items(text: &mut String, lines: impl ExactSizeIterator<Item = String>) {
    let more = lines.len().saturating_sub(MOST);
    for line in lines.take(MOST) {
        item(text, &line);
    }
    if more > 0 {
        item(text, &format!("and {more} more"));
    }
}
