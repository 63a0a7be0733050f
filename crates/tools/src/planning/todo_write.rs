//! `todo_write`: the whole list at once.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolgate_core::keeping::{NewTodo, TodoList, TodoStatus, Todos};
use toolgate_core::prelude::*;

use super::list;
use crate::keeping::{Form, checked, service};

/// Replace the todo list in one step. Send every todo, also those that did not change; what is left out is removed. At most one may be in progress.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TodoWriteParams {
    /// The whole list, in order.
    #[schemars(length(max = 1000))]
    todos: Vec<TodoItem>,
}

/// One thing to do.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TodoItem {
    /// What to do.
    content: String,
    /// How far it is: `pending`, `in_progress` or `completed`.
    status: ItemStatus,
    /// What to call it while it is being done, such as "Running tests".
    #[serde(skip_serializing_if = "Option::is_none")]
    active_form: Option<String>,
}

/// How far something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ItemStatus {
    Pending,
    InProgress,
    Completed,
}

/// A `todo_write` call.
#[derive(Debug)]
pub struct TodoWrite {
    todos: Vec<NewTodo>,
}

impl Invocation for TodoWrite {
    type Params = TodoWriteParams;
    const NAME: &'static str = "todo_write";
    const TITLE: &'static str = "Write Todos";
    const GROUP: Group = Group::Meta;
    const ANNOTATIONS: Annotations = Annotations { idempotent: true, ..Annotations::CHANGES };
    const SHAPE: Shape = Shape::Listing;

    fn faces() -> Vec<Face> {
        vec![
            Face::renamed::<TodoWriteParams>(Dialect::Claude, "TodoWrite"),
            Face::renamed::<TodoWriteParams>(Dialect::Camel, "todoWrite"),
        ]
    }

    fn prepare(params: TodoWriteParams, context: &CallContext) -> Result<Self, ToolError> {
        let active: Vec<&str> = params
            .todos
            .iter()
            .filter(|item| item.status == ItemStatus::InProgress)
            .map(|item| item.content.as_str())
            .collect();
        if active.len() > 1 {
            return Err(ToolError::invalid(format!(
                "`{}` has {} items in progress, and at most one may be: {}",
                context.parameter("todos"),
                active.len(),
                crate::keeping::in_a_row(active.into_iter().take(5)),
            )));
        }
        let todos = params.todos.into_iter().map(|item| item.checked(context));
        Ok(Self { todos: todos.collect::<Result<_, _>>()? })
    }

    fn describe(&self) -> String {
        match self.todos.len() {
            0 => "Clear the todo list".to_owned(),
            1 => "Replace the todo list by 1 todo".to_owned(),
            count => format!("Replace the todo list by {count} todos"),
        }
    }

    fn risk(&self) -> Risk {
        Risk::Low
    }

    fn preview(&self, _context: &CallContext) -> Preview {
        let lines =
            self.todos.iter().map(|todo| format!("{}: {}\n", todo.status.name(), todo.task));
        Preview::Text(lines.collect())
    }

    async fn execute(self, context: &CallContext) -> Result<ToolResult, ToolError> {
        let work = move |context: &CallContext| {
            let todos = service::<dyn Todos>(context, ErrorKind::TodoError)?;
            let all = todos
                .replace(&TodoList::of(context.session()), self.todos)
                .map_err(|fault| ToolError::new(ErrorKind::TodoError, fault.to_string()))?;
            Ok(list::rendered(context, &all))
        };
        context.blocking(work).await
    }
}

impl TodoItem {
    fn checked(self, context: &CallContext) -> Result<NewTodo, ToolError> {
        let text = |parameter: &str, given: &str| {
            checked(context, parameter, given, Form::Text, list::LONGEST_TASK)
        };
        let status = match self.status {
            ItemStatus::Pending => TodoStatus::Pending,
            ItemStatus::InProgress => TodoStatus::InProgress,
            ItemStatus::Completed => TodoStatus::Completed,
        };
        let named = self.active_form.as_deref().filter(|form| !form.trim().is_empty());
        let active_form = named.map(|form| text("todos[].activeForm", form));
        Ok(NewTodo {
            task: text("todos[].content", &self.content)?,
            status,
            active_form: active_form.transpose()?,
        })
    }
}
