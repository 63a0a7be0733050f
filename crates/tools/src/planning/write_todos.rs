//! `write_todos`: one thing to do at a time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolgate_core::keeping::{NewTodo, Todo, TodoFault, TodoId, TodoList, TodoStatus, Todos};
use toolgate_core::prelude::*;
use toolgate_core::visible;

use super::list;
use crate::keeping::{Form, checked, failed, required, service};

/// Manage the todo list: `add` a task, `complete` or `remove` one by its id, or `list` all. `[ ]` is open, `[~]` in progress, `[x]` completed.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WriteTodosParams {
    /// What to do: add, complete, remove or list.
    action: TodoAction,
    /// The task; needed by add.
    #[serde(skip_serializing_if = "Option::is_none")]
    task: Option<String>,
    /// The id of a task, as add and list say it; needed by complete and remove.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

/// What to do with a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum TodoAction {
    Add,
    Complete,
    Remove,
    List,
}

/// A `write_todos` call.
#[derive(Debug)]
pub enum WriteTodos {
    /// Put a task on the list.
    Add {
        /// The task.
        task: String,
    },
    /// Mark a task as done.
    Complete {
        /// Its id.
        id: String,
    },
    /// Take a task off the list.
    Remove {
        /// Its id.
        id: String,
    },
    /// Look at the list.
    List,
}

impl Invocation for WriteTodos {
    type Params = WriteTodosParams;
    const NAME: &'static str = "write_todos";
    const TITLE: &'static str = "Manage Todos";
    const GROUP: Group = Group::Meta;
    const ANNOTATIONS: Annotations = Annotations::CHANGES;
    const SHAPE: Shape = Shape::Listing;

    fn prepare(params: WriteTodosParams, context: &CallContext) -> Result<Self, ToolError> {
        let WriteTodosParams { action, task, id } = params;
        let id = |action: &str| required(context, id, "id", action);
        match action {
            TodoAction::Add => {
                let task = required(context, task, "task", "add")?;
                let task = checked(context, "task", &task, Form::Text, list::LONGEST_TASK)?;
                Ok(Self::Add { task })
            }
            TodoAction::Complete => Ok(Self::Complete { id: id("complete")? }),
            TodoAction::Remove => Ok(Self::Remove { id: id("remove")? }),
            TodoAction::List => Ok(Self::List),
        }
    }

    fn describe(&self) -> String {
        match self {
            Self::Add { task } => format!("Add a todo: {task}"),
            Self::Complete { id } => format!("Complete todo {id}"),
            Self::Remove { id } => format!("Remove todo {id}"),
            Self::List => "List the todos".to_owned(),
        }
    }

    fn only_looks(&self) -> bool {
        matches!(self, Self::List)
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        context.blocking(move |context| self.carry_out(context)).await
    }
}

impl WriteTodos {
    fn carry_out(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let todos = service::<dyn Todos>(context, ErrorKind::TodoError)?;
        let list = TodoList::of(context.session());
        let found = |id: &str| TodoId::parse(id).ok_or_else(|| unknown(&*todos, &list, id));
        let (done, todo) = match self {
            Self::List => {
                let all = todos.list(&list).map_err(failed(ErrorKind::TodoError))?;
                return Ok(list::rendered(context, &all));
            }
            Self::Add { task } => {
                let new = NewTodo { task, status: TodoStatus::Pending, active_form: None };
                ("Added", todos.add(&list, new))
            }
            Self::Complete { id } => ("Completed", todos.complete(&list, found(&id)?)),
            Self::Remove { id } => ("Removed", todos.remove(&list, found(&id)?)),
        };
        match todo {
            Ok(todo) => Ok(changed(done, &todo)),
            Err(TodoFault::NoSuch(id)) => Err(unknown(&*todos, &list, &id.to_string())),
            Err(fault) => Err(ToolError::new(ErrorKind::TodoError, fault.to_string())),
        }
    }
}

fn changed(done: &str, todo: &Todo) -> ToolResult {
    let text = format!("{done} todo {}: {}", todo.id, visible::line(&todo.task));
    ToolResult::text(text).with_structured(json!({ "todo": list::data(todo) }))
}

/// What to say about an id that nothing on the list has.
fn unknown(todos: &dyn Todos, list: &TodoList, id: &str) -> ToolError {
    const SHOWN: usize = 10;
    let open = match todos.list(list) {
        Ok(all) => all,
        Err(error) => return failed(ErrorKind::TodoError)(error),
    };
    let ids: Vec<String> = open.iter().take(SHOWN).map(|todo| todo.id.to_string()).collect();
    let next = if ids.is_empty() {
        "the list is empty; put something on it with action `add`".to_owned()
    } else {
        let more = if open.len() > SHOWN { ", …" } else { "" };
        format!("there are: {}{more}; see them with action `list`", ids.join(", "))
    };
    let message = format!("there is no todo `{}`; {next}", visible::line(id));
    ToolError::new(ErrorKind::TodoError, message)
}
