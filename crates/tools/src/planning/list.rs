//! Lists of things to do, as models read them.

use serde_json::{Value, json};
use toolgate_core::context::CallContext;
use toolgate_core::keeping::{Todo, TodoStatus};
use toolgate_core::result::ToolResult;
use toolgate_core::visible;

use crate::keeping::{counted, listed, moment};

/// How many characters a task may have.
pub(super) const LONGEST_TASK: usize = 2_000;

/// Everything on a list.
pub(super) fn rendered(context: &CallContext, todos: &[Todo]) -> ToolResult {
    let mut collector = context.collector();
    for todo in todos {
        collector.item(&format!("{}\n", line(todo)));
    }
    if todos.is_empty() {
        collector.push("There is nothing to do on the list.");
    }
    let done = todos.iter().filter(|todo| todo.status == TodoStatus::Completed).count();
    ToolResult::bounded(collector.finish())
        .with_display(format!("{}, {done} completed", counted(todos.len(), "todo")))
        .with_structured(listed("todos", todos, data))
}

/// One thing, in a line.
pub(super) fn line(todo: &Todo) -> String {
    let task = visible::line(&todo.task);
    match todo.status {
        TodoStatus::Pending => format!("[ ] {}: {task}", todo.id),
        TodoStatus::InProgress => format!("[~] {}: {task}", todo.id),
        TodoStatus::Completed => format!("[x] {}: {task}", todo.id),
    }
}

/// One thing, for programs.
pub(super) fn data(todo: &Todo) -> Value {
    let mut data = json!({
        "id": todo.id.to_string(),
        "task": todo.task,
        "status": todo.status,
        "completed": todo.status == TodoStatus::Completed,
        "createdAt": moment(todo.created),
    });
    if let (Some(form), Value::Object(fields)) = (&todo.active_form, &mut data) {
        fields.insert("activeForm".to_owned(), form.as_str().into());
    }
    data
}
