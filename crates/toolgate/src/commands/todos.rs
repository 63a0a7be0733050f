//! `toolgate todos`: what models have to do.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolgate_core::id::SessionId;
use toolgate_core::keeping::{Todo, TodoList, TodoStatus, Todos};
use toolgate_store::Shelf;

use crate::app;
use crate::global::GlobalArgs;
use crate::home;
use crate::output::{one_line, print_json, print_text};

/// Show what models have to do in this workspace
///
/// Sessions that were joined by `--session ID` have lists of their own, which
/// are shown below that of the workspace.
#[derive(Debug, clap::Args)]
pub(crate) struct TodosArgs {}

pub(crate) fn run(global: &GlobalArgs, _args: &TodosArgs) -> anyhow::Result<ExitCode> {
    let workspace = app::workspace(global)?;
    let root = workspace.root();
    let shelf = Shelf::open_existing(&home::state()?)?;
    let lists = lists(shelf.as_ref(), root, global.session.as_deref())?;
    let (mut data, mut text) = (Vec::new(), String::new());
    for list in lists {
        let todos = shelf.as_ref().map(|shelf| Todos::list(shelf, &list));
        let todos = todos.transpose()?.unwrap_or_default();
        write_list(&mut text, &list, &todos);
        let session = list.session.as_ref();
        data.push(
            json!({ "session": session, "todos": todos.iter().map(todo_json).collect::<Vec<_>>() }),
        );
    }
    if global.json {
        print_json(&data)?;
    } else if text.is_empty() {
        print_text("There is nothing to do.\n")?;
    } else {
        print_text(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The list of a session, or else that of the workspace and those of all its sessions.
fn lists(
    shelf: Option<&Shelf>,
    root: &Path,
    session: Option<&str>,
) -> anyhow::Result<Vec<TodoList>> {
    let of = |id: SessionId| TodoList { session: Some(id), ..TodoList::of_workspace(root) };
    if let Some(id) = session {
        return Ok(vec![of(id.into())]);
    }
    let sessions = shelf.map(|shelf| shelf.sessions_with_todos(root)).transpose()?;
    let own = std::iter::once(TodoList::of_workspace(root));
    Ok(own.chain(sessions.unwrap_or_default().into_iter().map(of)).collect())
}

fn write_list(text: &mut String, list: &TodoList, todos: &[Todo]) {
    // Writing to a text does not fail.
    if let Some(session) = &list.session
        && !todos.is_empty()
    {
        let between = if text.is_empty() { "" } else { "\n" };
        writeln!(text, "{between}Session {}:", one_line(session.as_str())).ok();
    }
    for todo in todos {
        let mark = match todo.status {
            TodoStatus::Pending => ' ',
            TodoStatus::InProgress => '~',
            TodoStatus::Completed => 'x',
        };
        writeln!(text, "[{mark}] {}: {}", todo.id, one_line(&todo.task)).ok();
    }
}

fn todo_json(todo: &Todo) -> Value {
    json!({
        "id": todo.id.to_string(),
        "task": todo.task,
        "status": todo.status,
        "activeForm": todo.active_form,
    })
}
